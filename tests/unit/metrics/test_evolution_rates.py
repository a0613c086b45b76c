"""Numbers of searches, against ones computed by hand."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from benchmark.protocols import Embeddings
from benchmark.types import Measure, ModelInfo, Record
from metrics.evolution_rates import EvolutionRates
from tests.unit.metrics.metric_fakes import FakeRun


class Axes:
    """An encoder: captions that begin with the same letter are the same, all others at right angles."""

    info = ModelInfo("axes")

    def encode(self, phrases: Sequence[str]) -> Embeddings:
        rows = np.zeros((len(phrases), 26), np.float32)
        for row, phrase in enumerate(phrases):
            rows[row, ord(phrase[0]) - ord("a")] = 1
        return rows


def final(text: str, selected: float | None, fresh: float | None) -> dict[str, Any]:
    return {"text": text, "selected": selected, "capture_fresh": fresh}


def record(
    search: str,
    finals: Sequence[dict[str, Any]],
    *,
    repeat: int = 0,
    pool: Sequence[tuple[str, float | None]] = (("a b", 0.8), ("a b c", 0.6), ("a b c d", 0.4)),
    status: Any = "success",
    counted: dict[str, int] | None = None,
    generations: Sequence[dict[str, Any]] = (),
) -> Record:
    found: Any = {
        "search": search,
        "repeat": repeat,
        "evaluations": 10,
        "llm_calls": 4,
        "counted": counted or {"scored": 10},
        "pool": {"n": len(pool), "mean": 0.6, "captions": [list(one) for one in pool]},
        "generations": list(generations),
        "finals": list(finals),
    }
    return Record(f"{search}-{repeat}", f"repeat-{repeat}", status, search, found=found)


def table(records: Sequence[Record], encoder: str = "none") -> dict[tuple[str, str], Measure]:
    run = FakeRun({"encoder": encoder}, models={"encoders": Axes()})
    measures = EvolutionRates(run).measures(records)
    return {(measure.slice, measure.metric): measure for measure in measures}


EVOLUTION = [final("a duck", 0.1, 0.3), final("a mug", 0.2, 0.1), final("a duck", 0.0, None)]


def test_one_search_by_hand() -> None:
    measures = table([record("evolution", EVOLUTION)])
    part = "search=evolution"
    assert measures[part, "capture_random"].value == pytest.approx(0.6)
    assert measures[part, "capture_selected"].value == pytest.approx(0.1)
    assert measures[part, "capture_fresh"].value == pytest.approx(0.2)
    assert measures[part, "capture_fresh"].n == 2
    # Of the finals that have both: 0.2 and -0.1.
    assert measures[part, "gap"].value == pytest.approx(0.05)
    assert measures[part, "reduction"].value == pytest.approx(1 - 0.2 / 0.6)
    assert measures[part, "distinct"].value == 2
    assert measures[part, "evaluations"].value == 10
    assert measures[part, "llm_calls"].value == 4
    # {a, duck}, {a, mug}: 1/2; the same twice: 1.
    assert measures[part, "similarity"].value == pytest.approx((0.5 + 0.5 + 1) / 3)


def test_what_selection_saw_is_a_plain_mean_of_its_scores() -> None:
    robust = final("a duck", 0.4, 0.3) | {"scores": [0.1, None, 0.2]}
    measures = table([record("evolution", [robust])])
    assert measures["search=evolution", "capture_selected"].value == pytest.approx(0.15)
    assert measures["search=evolution", "gap"].value == pytest.approx(0.15)


def test_intervals_are_over_captions_if_there_is_one_repeat() -> None:
    fresh = table([record("evolution", EVOLUTION)])["search=evolution", "capture_fresh"]
    assert [fresh.ci_low, fresh.ci_high] == pytest.approx([0.1, 0.3])
    alone = table([record("evolution", EVOLUTION[:1])])["search=evolution", "capture_fresh"]
    assert (alone.value, alone.ci_low) == (0.3, None)


def test_intervals_are_over_repeats_if_there_are_several() -> None:
    repeats = [
        record("evolution", [final("a", 0.1, 0.2), final("b", 0.1, 0.4)], repeat=0),
        record("evolution", [final("a", 0.1, 0.5), final("b", 0.1, 0.5)], repeat=1),
    ]
    measures = table(repeats)
    fresh = measures["search=evolution", "capture_fresh"]
    assert fresh.value == pytest.approx(0.4)
    # Whole repeats are drawn, so 0.2 and 0.4 never come alone.
    assert [fresh.ci_low, fresh.ci_high] == pytest.approx([0.3, 0.5])
    reduction = measures["search=evolution", "reduction"]
    assert reduction.value == pytest.approx(1 - 0.4 / 0.6)
    assert reduction.ci_low == pytest.approx(1 - 0.5 / 0.6)
    assert reduction.ci_high == pytest.approx(1 - 0.3 / 0.6)


def test_what_gave_no_score_is_counted() -> None:
    counted = {"scored": 6, "refused": 1, "malformed": 3, "short": 0}
    unscored = table([record("evolution", EVOLUTION, counted=counted)])[
        "search=evolution", "unscored"
    ]
    assert (unscored.value, unscored.n) == (0.4, 10)
    assert unscored.flags == "malformed=3 refused=1"


def test_searches_are_compared_with_random_search() -> None:
    records = [
        record("evolution", [final(str(n), 0.1, 0.1 + n / 1000) for n in range(9)]),
        record("random_search", [final(str(n), 0.1, 0.3 + n / 1000) for n in range(9)]),
        record("lance", [final(str(n), 0.1, 0.3 + n / 1000) for n in range(9)]),
    ]
    measures = table(records)
    ours = measures["pair=evolution - random_search", "capture_fresh_difference"]
    assert ours.value == pytest.approx(-0.2)
    assert ours.ci_high is not None
    assert ours.ci_high < -0.19
    assert ours.flags == ""
    theirs = measures["pair=lance - random_search", "capture_fresh_difference"]
    assert theirs.value == pytest.approx(0)
    assert theirs.flags == "tie"
    assert ("pair=random_search - random_search", "capture_fresh_difference") not in measures


def test_repeats_are_compared_in_pairs() -> None:
    records = [
        record(search, [final("a", 0.1, 0.2 + repeat / 10 + more)], repeat=repeat)
        for search, more in (("evolution", 0.05), ("random_search", 0.0))
        for repeat in range(4)
    ]
    pair = table(records)["pair=evolution - random_search", "capture_fresh_difference"]
    # The repeats differ by far more, but always in the same way.
    assert [pair.value, pair.ci_low, pair.ci_high] == pytest.approx([0.05] * 3)


def test_evolution_by_generation() -> None:
    rows: list[dict[str, Any]] = [
        {"generation": 0, "evaluations": 3, "best": 0.4, "mean": 0.6, "similarity": 0.3},
        {
            "generation": 1, "evaluations": 9, "best": 0.1, "mean": 0.2, "similarity": 0.7,
            "captions": ["a", "ab", "c"],
        },
    ]  # fmt: skip
    records = [record("evolution", EVOLUTION, generations=rows)]
    measures = table(records, encoder="fake")
    assert measures["generation=0", "mean"].value == 0.6
    assert measures["generation=0", "similarity"].value == 0.3
    assert measures["generation=1", "evaluations"].value == 9
    assert measures["generation=1", "best"].value == 0.1
    assert measures["generation=1", "similarity"].value == pytest.approx(1 / 3)
    assert not any(part.startswith("generation") for part, _ in table([record("lance", EVOLUTION)]))


def test_overall() -> None:
    measures = table(
        [
            record("evolution", EVOLUTION),
            record("lance", EVOLUTION, status="failure"),
            Record("nl_adv-0", "repeat-0", "error", "nl_adv", error="down"),
        ]
    )
    assert (measures["", "success"].value, measures["", "success"].n) == (0.5, 2)
    assert (measures["", "errors"].value, measures["", "errors"].n) == (1, 3)
    # Two words 0.8, three 0.6, four 0.4; both searches share the pool, which counts once.
    assert measures["", "length_correlation"].value == pytest.approx(-1)
    assert measures["", "length_correlation"].n == 3
    assert "search=nl_adv" not in {part for part, _ in measures}


def test_captions_of_one_length_correlate_with_nothing() -> None:
    pool = [("a b", 0.1), ("c d", 0.2), ("e f", 0.3)]
    measure = table([record("evolution", EVOLUTION, pool=pool)])["", "length_correlation"]
    assert (measure.value, measure.n) == (None, 3)


def test_what_is_missing_is_missing() -> None:
    measures = table([record("evolution", [final("a", None, None)], pool=[("a", None)])])
    for metric in ("capture_random", "capture_fresh", "gap", "reduction", "similarity"):
        assert measures["search=evolution", metric].value is None
    assert table([])["", "success"].value is None
    assert table([])["", "errors"].value is None


def test_a_run_shown_to_another_target_has_fresh_scores_only() -> None:
    """What `replay` leaves: no generations, no evaluations, no scores of the pool or of the selection."""
    again: Any = {
        "search": "evolution",
        "repeat": 0,
        "pool": {"n": 1, "mean": None, "captions": [["a b", None]]},
        "finals": [
            {"text": "a duck", "capture_fresh": 0.3},
            {"text": "a mug", "capture_fresh": 0.5},
        ],
    }
    measures = table([Record("evolution-0", "repeat-0", "failure", "evolution", found=again)])
    part = "search=evolution"
    assert measures[part, "capture_fresh"].value == pytest.approx(0.4)
    for metric in ("capture_random", "capture_selected", "gap", "evaluations", "unscored"):
        assert measures[part, metric].value is None
    assert not any(one.startswith("generation") for one, _ in measures)
