from dataclasses import replace
from math import log

import numpy as np
import pytest

from benchmark.types import Measure, Record
from metrics.diversity import (
    EditDiversity,
    distinct_1,
    edit_tokens,
    entropy,
    is_open_class,
    normalized_entropy,
)
from tests.unit.metrics.metric_fakes import FakeRun, RecordedTagger


def tags(text: str) -> list[tuple[str, str]]:
    """Nouns, but for articles."""
    return [(word, "DET" if word in ("a", "the") else "NOUN") for word in text.split()]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a dog", "a cat", "D_NOUN_dog I_NOUN_cat"),
        ("a dog runs", "a dog", "D_NOUN_runs"),
        ("a dog", "a dog runs", "I_NOUN_runs"),
        ("a dog", "a dog", ""),
        # The traceback stops at the border: what is added or removed in front goes unseen.
        ("dogs", "two dogs", ""),
        ("two dogs", "dogs", ""),
        ("", "a dog", ""),
        ("a dog", "", ""),
        # A substitution in front is on the diagonal and is seen.
        ("dog runs", "cat runs", "D_NOUN_dog I_NOUN_cat"),
        # From the end to the start.
        ("a x b y", "a p b q", "D_NOUN_y I_NOUN_q D_NOUN_x I_NOUN_p"),
        # "b" is deleted before "c" is met; deletion wins over insertion and diagonal.
        ("a b c", "a c b", "D_NOUN_c I_NOUN_c"),
        ("a dog a", "a", "D_DET_a D_NOUN_dog"),
    ],
)
def test_edit_tokens(before: str, after: str, expected: str) -> None:
    assert edit_tokens(tags(before), tags(after)) == expected.split()


def test_alignment_is_over_lemmas() -> None:
    before, after = [("a", "DET"), ("run", "NOUN")], [("a", "DET"), ("run", "VERB")]
    assert edit_tokens(before, after) == []


def test_substitutions_as_tokens_of_their_own() -> None:
    before, after = tags("a dog sat"), tags("a cat sat down")
    assert edit_tokens(before, after, with_substitutions=True) == ["I_NOUN_down", "S_NOUN_cat"]


def test_open_class() -> None:
    tokens = ["D_NOUN_a_b", "I_PROPN_x", "D_ADP_with", "I_NUM_two", "I_VERB_", "D_X_NOUN"]
    assert [is_open_class(token) for token in tokens] == [True, True, False, False, True, False]


@pytest.mark.parametrize(
    ("counts", "h", "h_hat", "d1"),
    [
        # p = 1/2, 1/4, 1/4: 1/2 ln 2 + 2 * 1/4 ln 4 = 3/2 ln 2; 3 of 4 tokens differ.
        ([2, 1, 1], 1.5 * log(2), 1.5 * log(2) / log(3), 0.75),
        ([1, 1], log(2), 1.0, 1.0),
        ([5, 5, 5, 5], log(4), 1.0, 0.2),
        ([7], 0.0, 0.0, 1 / 7),
        ([2, 0, 1, 1], 1.5 * log(2), 1.5 * log(2) / log(3), 0.75),
        ([], 0.0, 0.0, 0.0),
        ([0], 0.0, 0.0, 0.0),
    ],
)
def test_statistics(counts: list[int], h: float, h_hat: float, d1: float) -> None:
    assert entropy(counts) == pytest.approx(h, abs=1e-12)
    assert normalized_entropy(counts) == pytest.approx(h_hat, abs=1e-12)
    assert distinct_1(counts) == pytest.approx(d1)


def record(index: int, text: str, adversarial: str | None, group: str = "") -> Record:
    return Record(f"s{index}", group or f"g{index}", "failure", text, adversarial, picked=0)


def run(*texts: str, limit: int = 2) -> tuple[FakeRun, RecordedTagger]:
    tagger = RecordedTagger({text: tags(text) for text in texts})
    settings = {"tagger": "fake", "max_distance": limit}
    return FakeRun(settings, models={"taggers": tagger}, seed=3), tagger


def by_name(measures: list[Measure]) -> dict[str, Measure]:
    assert [measure.metric for measure in measures] == ["H", "H_hat", "D1", "V", "T"]
    return {measure.metric: measure for measure in measures}


def test_measures() -> None:
    context, tagger = run("a dog", "a cat", "a cow", "a dog in the sun", "the dog")
    records = [
        record(0, "a dog", "a cat"),  # dog, cat
        record(1, "a dog", "a cow"),  # dog, cow
        record(2, "a dog", "a dog in the sun"),  # three words: too far
        record(3, "a dog", "A DOG."),  # nothing changed
        record(4, "a dog", "the dog"),  # articles are no open class
    ]
    found = by_name(EditDiversity(context).measures(records))
    assert found["H"].value == pytest.approx(1.5 * log(2))
    assert found["H_hat"].value == pytest.approx(1.5 * log(2) / log(3))
    assert found["D1"].value == pytest.approx(0.75)
    assert (found["V"].value, found["T"].value) == (3, 4)
    assert {measure.n for measure in found.values()} == {5}
    assert "A DOG." not in tagger.asked


def test_success_is_no_matter_but_errors_are_left_out() -> None:
    context, _ = run("a dog", "a cat")
    good = record(0, "a dog", "a cat")
    records = [
        replace(good, status="success"),
        replace(good, id="s1", status="error", adversarial_text=None),
        replace(good, id="s2", status="skipped"),
        replace(good, id="s3", adversarial_text=None),
    ]
    found = by_name(EditDiversity(context).measures(records))
    assert (found["T"].value, found["T"].n) == (2, 1)


def test_no_records_is_no_number() -> None:
    context, _ = run()
    for measure in EditDiversity(context).measures([]):
        assert (measure.value, measure.n, measure.ci_low) == (None, 0, None)


def test_no_edit_is_no_diversity() -> None:
    context, _ = run("a dog")
    found = by_name(EditDiversity(context).measures([record(0, "a dog", "a dog")]))
    assert [measure.value for measure in found.values()] == [0, 0, 0, 0, 0]
    assert found["H"].ci_low is None


def many() -> tuple[FakeRun, list[Record]]:
    words = [f"a w{index % 7}" for index in range(60)]
    context, _ = run("a dog", *words)
    return context, [
        record(index, "a dog", word, group=f"g{index // 3}") for index, word in enumerate(words)
    ]


def test_intervals_hold_the_estimate_and_do_not_depend_on_order() -> None:
    context, records = many()
    found = by_name(EditDiversity(context).measures(records))
    for name in ("H", "H_hat", "D1"):
        value, low, high = (found[name].value, found[name].ci_low, found[name].ci_high)
        assert value is not None
        assert low is not None
        assert high is not None
        assert low <= value <= high
        # All 8 tokens are in every resample of 20 groups, so D1 = 8 / 120 does not vary.
        assert (high - low > 1e-9) == (name != "D1")
    assert by_name(EditDiversity(context).measures(records[::-1])) == found
    assert by_name(EditDiversity(replace(context, seed=4)).measures(records))["H"] != found["H"]


def test_interval_is_as_wide_as_the_spread_of_fresh_samples() -> None:
    """200 runs of 100 groups, each with one of 20 words: the spread of H against the interval."""
    rng = np.random.default_rng(0)
    words = [f"a w{index}" for index in range(20)]
    context, _ = run("a dog", *words)
    draws = rng.integers(20, size=(200, 100))
    fresh = [entropy([100, *np.bincount(row)]) for row in draws]
    low, high = np.percentile(fresh, (2.5, 97.5))
    records = [record(i, "a dog", words[w], group=f"g{i}") for i, w in enumerate(draws[0])]
    measure = by_name(EditDiversity(context).measures(records))["H"]
    assert measure.ci_low is not None
    assert measure.ci_high is not None
    width = measure.ci_high - measure.ci_low
    assert 0.6 < width / (high - low) < 1.7


def test_one_group_has_no_interval() -> None:
    context, records = many()
    measures = EditDiversity(context).measures([replace(r, group="one") for r in records])
    assert by_name(measures)["H"].ci_low is None
