"""Our measures against those of the authors' released code (see README.md)."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.types import Candidate, Record, Sample, Trial
from metrics.auxiliary import auxiliary_ok
from metrics.best_of_n import released_picks
from metrics.caption_criteria import Auxiliary, Crossmodal, Distance, Unimodal
from metrics.distance import PUBLISHED_LIMITS, within, word_distance
from metrics.diversity import (
    EditDiversity,
    distinct_1,
    edit_tokens,
    entropy,
    is_open_class,
    normalized_entropy,
)
from metrics.rates import SuccessRates
from metrics.score_mac import score_pairs
from metrics.tagger_spacy import SpacyTagger
from tests.fakes import FakeDataset
from tests.unit.metrics.metric_fakes import FakeJudge, FakeRun, RecordedTagger

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "mac_scoring.json").read_text(encoding="utf-8")
)
PAIRS: list[dict[str, Any]] = GOLDEN["pairs"]
PIPELINE: dict[str, Any] = GOLDEN["pipeline"]

each_pair = pytest.mark.parametrize(
    "pair", PAIRS, ids=[f"{pair['id']}-{pair['note']}" for pair in PAIRS]
)


def analysed(tokens: list[list[str]]) -> list[tuple[str, str]]:
    """(text, part of speech, lemma) as stored -> (lemma, part of speech)."""
    return [(lemma, part_of_speech) for _, part_of_speech, lemma in tokens]


@each_pair
def test_distance(pair: dict[str, Any]) -> None:
    distance = word_distance(pair["gt"], pair["gen"])
    assert distance == pair["distance"]
    assert within(distance, PUBLISHED_LIMITS[pair["dataset"]]) is pair["distance_ok"]


@each_pair
def test_auxiliary(pair: dict[str, Any]) -> None:
    # The reference cannot say anything of count-replace; ours does not check it.
    expected = True if pair["lexical_ok"] is None else pair["lexical_ok"]
    assert auxiliary_ok(pair["gt"], pair["gen"], pair["type"]) is expected


@each_pair
def test_edit_tokens(pair: dict[str, Any]) -> None:
    before, after = analysed(pair["gt_spacy"]), analysed(pair["gen_spacy"])
    assert edit_tokens(before, after) == pair["op_pos_lemma"]
    found = edit_tokens(before, after, with_substitutions=True)
    assert found == pair["op_pos_lemma_with_sub"]


def test_spacy_analyses() -> None:
    texts = [pair[key] for pair in PAIRS for key in ("gt", "gen")]
    expected = [analysed(pair[key]) for pair in PAIRS for key in ("gt_spacy", "gen_spacy")]
    assert SpacyTagger().tag(texts) == expected


def test_scoring_a_file_end_to_end(tmp_path: Path) -> None:
    pairs = [pair for pair in PAIRS if pair["dataset"] == "coco"]
    lines = [
        {
            "id": pair["id"],
            "text": pair["gt"],
            "adversarial": pair["gen"],
            "operation": pair["type"],
        }
        for pair in pairs
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    summary = score_pairs(path, "coco", SpacyTagger(), tmp_path)
    written = (tmp_path / "scores.jsonl").read_text(encoding="utf-8")
    scores = [json.loads(line) for line in written.split("\n") if line]
    for pair, line in zip(pairs, scores, strict=True):
        assert line["distance"] == pair["distance"]
        assert line["edit_tokens"] == pair["op_pos_lemma"]
    counted = Counter(
        token
        for pair in pairs
        if pair["distance_ok"]
        for token in pair["op_pos_lemma"]
        if is_open_class(token)
    )
    assert summary["tokens"] == counted.total()
    assert summary["unique_tokens"] == len(counted)


def test_statistics_of_a_selection() -> None:
    """Entropies of the final selection of the reference's Gibbs procedure (all parts of speech)."""
    final = GOLDEN["gibbs_final"]
    counts = list(final["counts"].values())
    assert entropy(counts) == pytest.approx(final["entropy"], abs=1e-12)
    assert normalized_entropy(counts) == pytest.approx(final["normalized_entropy"], abs=1e-12)
    assert distinct_1(counts) == pytest.approx(final["distinct_1"], abs=1e-12)


def test_random_generator() -> None:
    rng = GOLDEN["rng"]
    assert released_picks([[False] * 4] * 12, rng["seed"]) == rng["randint_0_3"]
    chosen = [("a", "b", "c").index(value) for value in _choices(rng["seed"])]
    assert chosen == rng["choice_of_3"] == released_picks([[True] * 3] * 12, rng["seed"])


def _choices(seed: int) -> Iterator[str]:
    draw = random.Random(seed)
    return (draw.choice(("a", "b", "c")) for _ in range(12))


# The pipeline: 4 contents of 2 captions of 4 candidates.


def trials() -> list[list[Trial]]:
    """The candidates of each caption, in file order."""
    return [
        [
            Trial(
                Sample(f"{content}-{row}", text, group=content),
                Candidate(text=rewrite, perturbation={"operation": "general"}),
                data["cross_gt"][row],
                score,
            )
            for rewrite, score in zip(data["gen"][row], data["cross_gen"][row], strict=True)
        ]
        for content, data in PIPELINE["input"]["contents"].items()
        for row, text in enumerate(data["gt"])
    ]


def run() -> FakeRun:
    """Judge and tagger say what was recorded; the data set is as long as COCO."""
    contents = PIPELINE["input"]["contents"].values()
    answers = {
        (text, rewrite): [data["uni"][model][row][column] for model in data["uni"]]
        for data in contents
        for row, text in enumerate(data["gt"])
        for column, rewrite in enumerate(data["gen"][row])
    }
    tags = {
        text: [(lemma, pos) for lemma, pos in analysis]
        for text, analysis in GOLDEN["pipeline_tags"].items()
    }
    return FakeRun(
        {"ties": "released", "unimodal": "released", "judge": "fake", "tagger": "fake"},
        FakeDataset([], mean_words=10.431),
        {"judges": FakeJudge(answers, models=3), "taggers": RecordedTagger(tags)},
    )


def verdicts() -> list[list[dict[str, bool | None]]]:
    criteria = [kind(run()) for kind in (Crossmodal, Unimodal, Distance, Auxiliary)]
    by_caption = []
    for caption in trials():
        columns = {criterion.name: criterion.verdicts(caption) for criterion in criteria}
        by_caption.append(
            [{name: column[i] for name, column in columns.items()} for i in range(len(caption))]
        )
    return by_caption


@pytest.mark.parametrize(
    ("reference", "ours"),
    [
        ("cross", "crossmodal"),
        ("uni", "unimodal"),
        ("distance", "distance"),
        ("lexical", "auxiliary"),
    ],
)
def test_pipeline_verdicts(reference: str, ours: str) -> None:
    expected = [
        flags for content in PIPELINE["is_deceptive"].values() for flags in content[reference]
    ]
    assert [[verdict[ours] for verdict in caption] for caption in verdicts()] == expected


def test_pipeline_has_ties_that_only_the_released_code_counts() -> None:
    strict = Crossmodal(FakeRun({"ties": "paper"}))
    lenient = Crossmodal(FakeRun({"ties": "released"}))
    flat = [trial for caption in trials() for trial in caption]
    assert sum(map(bool, lenient.verdicts(flat))) == 19
    assert sum(map(bool, strict.verdicts(flat))) < 19


def records() -> list[Record]:
    """What is picked for each caption."""
    found = verdicts()
    flags = [[all(verdict.values()) for verdict in caption] for caption in found]
    return [
        Record(
            id=caption[pick].sample.id,
            group=caption[pick].sample.group,
            status="success" if flags[row][pick] else "failure",
            text=caption[pick].sample.text,
            adversarial_text=caption[pick].text,
            verdicts=found[row][pick],
            clean_score=caption[pick].clean_score,
            score=caption[pick].score,
            picked=pick,
        )
        for row, (caption, pick) in enumerate(zip(trials(), released_picks(flags), strict=True))
    ]


def test_pipeline_picks() -> None:
    expected = [index for content in PIPELINE["selected_index"].values() for index in content]
    texts = [text for content in PIPELINE["selected"].values() for text in content]
    assert [record.picked for record in records()] == expected
    assert [record.adversarial_text for record in records()] == texts


def test_pipeline_rates() -> None:
    measures = {m.metric: m for m in SuccessRates(run()).measures(records())}
    names = {"cross": "cross", "uni": "uni", "dist": "distance", "aux": "lexical", "total": "total"}
    for ours, reference in names.items():
        value = measures[ours].value
        assert value is not None
        # "deception rate (cross) = 62.5% (5/8)"
        text = PIPELINE["global_results_overall"][reference]
        assert f"= {round(100 * value, 2)}% ({round(8 * value)}/{measures[ours].n})" in text
    gap = measures["cross_gap"].value
    assert gap is not None
    assert PIPELINE["global_results_overall"]["cross-gap"].endswith(f"= {gap:.4f}")


def test_pipeline_rates_over_all_candidates() -> None:
    flat = [verdict for caption in verdicts() for verdict in caption]
    assert "(8/32)" in PIPELINE["local_results_overall"]["total"]
    assert sum(all(verdict.values()) for verdict in flat) == 8
    gaps = [
        (trial.score or 0) - (trial.clean_score or 0)
        for caption, row in zip(trials(), verdicts(), strict=True)
        for trial, verdict in zip(caption, row, strict=True)
        if all(verdict.values())
    ]
    assert PIPELINE["local_results_overall"]["cross-gap"].endswith(f"= {np.mean(gaps):.4f}")


def test_pipeline_diversity() -> None:
    measures = {m.metric: m.value for m in EditDiversity(run()).measures(records())}
    expected = PIPELINE["global_diversity_overall"]
    assert f"{measures['V']:.0f}" == expected["unique_keys"]
    assert f"{measures['T']:.0f}" == expected["total_operations"]
    assert f"{measures['H']:.4f}" == expected["entropy"]
    assert f"{measures['H_hat']:.4f}" == expected["normalized_entropy"]


def test_pipeline_diversity_with_substitutions() -> None:
    tags = GOLDEN["pipeline_tags"]
    counts = Counter(
        token
        for record in records()
        for token in edit_tokens(
            tags[record.text], tags[record.adversarial_text], with_substitutions=True
        )
        if is_open_class(token)
    )
    expected = PIPELINE["global_diversity_overall_with_sub"]
    assert str(len(counts)) == expected["unique_keys"]
    assert str(counts.total()) == expected["total_operations"]
    assert f"{entropy(list(counts.values())):.4f}" == expected["entropy"]
