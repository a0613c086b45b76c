"""Evolution in the codec world, where the target's hole is known."""

import json
from collections import Counter
from dataclasses import replace
from statistics import fmean
from typing import Any, cast

import numpy as np
import pytest

from attacks.evolution.evolution import Schedule, schedule_of
from benchmark.errors import UserError
from benchmark.flight import Outcome
from tests.codec_world import CodecPainter, CodecTarget, context, found, outcomes, settings_with

SMALL: dict[str, Any] = {"pool": 24, "population": "4,3,2", "survivors": "4,3,2", "islands": 3}


def small(seed: int = 0, **changes: Any) -> dict[str, Any]:
    (one,) = found(context(["evolution"], seed, **{**SMALL, **changes}))
    return dict(one)


def finals_of(outcome: Outcome) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", outcome.record.found["finals"])


def comparable(one: Outcome) -> str:
    return json.dumps(replace(one.record, seconds=0.0).found, sort_keys=True)


def test_the_paper_s_schedule_makes_its_number_of_queries() -> None:
    schedule = schedule_of(settings_with())
    assert (schedule.finals, schedule.islands, schedule.parents) == (25, 5, 2)
    assert schedule.evaluations(1000, "paper") == 1650  # 1,000 + 2 operators * 65 * 5
    assert schedule.evaluations(1150, "paper") == 1800
    assert schedule.evaluations(200, "robust") == 1175  # 200 + 650 + 65 * 5 shown once more


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"population": "20,x"}, "population holds 'x': give whole numbers of 1 or more"),
        ({"survivors": "0"}, "survivors holds '0'"),
        ({"population": ""}, "population holds ''"),
        ({"population": "4,4"}, "population has 2 generations and survivors 6"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        schedule_of(settings_with(**changes))


@pytest.mark.parametrize(("selection", "evaluations"), [("paper", 78), ("robust", 105)])
def test_the_schedule_is_carried_out(selection: str, evaluations: int) -> None:
    # 24 + 2 * 3 * (4 + 3 + 2) = 78; robust shows 3 * 9 survivors once more.
    one = small(selection=selection)
    assert Schedule((4, 3, 2), (4, 3, 2), 3).evaluations(24, selection) == evaluations
    assert one["evaluations"] <= evaluations
    assert one["evaluations"] > evaluations - 6  # some offspring were there already
    assert one["stopped"] == "schedule"
    assert len(one["finals"]) == 6
    assert [row["generation"] for row in one["generations"]] == [0, 1, 2, 3]
    assert [len(row["captions"]) for row in one["generations"]] == [24, 12, 9, 6]


def test_finals_are_distinct_and_their_lineage_is_whole() -> None:
    (outcome,) = outcomes(context(["evolution"], **SMALL))
    finals = finals_of(outcome)
    assert len({final["text"] for final in finals}) == len(finals)
    born = {
        entry.perturbation["caption"]: cast("list[int]", entry.perturbation["parents"])
        for entry in outcome.trace
    }
    for final in finals:
        line = [final["id"]]
        while line:
            line += born[line.pop()]
    operators = Counter(str(entry.perturbation["operator"]) for entry in outcome.trace)
    assert {*operators} == {"initial", "explore", "mutate"}
    crossed = [e for e in outcome.trace if e.perturbation["operator"] == "explore"]
    assert all(len(entry.perturbation["parents"]) == 2 for entry in crossed)  # type: ignore[arg-type]


def test_with_the_paper_s_rule_a_caption_has_one_score_and_with_the_other_more() -> None:
    assert all(len(final["scores"]) == 1 for final in small(selection="paper")["finals"])
    for final in small(selection="robust")["finals"]:
        assert len(final["scores"]) >= 2


def test_the_paper_s_rule_selects_by_the_first_score() -> None:
    for final in small(selection="paper")["finals"]:
        assert final["selected"] == final["scores"][0]


def test_the_robust_rule_selects_by_the_shrunk_mean() -> None:
    one = small(selection="robust")
    for final in one["finals"]:
        scores = final["scores"]
        shrunk = (sum(scores) + one["pool"]["mean"]) / (len(scores) + 1)
        assert final["selected"] == pytest.approx(shrunk, abs=1e-5)


def test_the_best_survive_from_one_generation_to_the_next() -> None:
    """Elitism: with one picture each, the best of an island can only get better."""
    for seed in range(3):
        best = [row["best"] for row in small(seed, selection="paper")["generations"][1:]]
        assert best == sorted(best, reverse=True)


def test_finals_are_shown_again_on_pictures_that_no_selection_saw() -> None:
    (outcome,) = outcomes(context(["evolution"], **SMALL))
    reported = [entry for entry in outcome.trace if entry.purpose == "report"]
    searched = {entry.perturbation["seed"] for entry in outcome.trace if entry.purpose == "search"}
    assert len(reported) == 6 * 3
    assert not searched & {entry.perturbation["seed"] for entry in reported}
    assert outcome.record.conditions["fresh"]["n"] == 18
    finals = finals_of(outcome)
    for final in finals:
        assert final["capture_fresh"] == pytest.approx(fmean(final["fresh"]), abs=1e-5)
        assert final["answer"]
        assert 0 <= final["f1_object"] <= 1
    assert {*outcome.pictures} == {f"final-{n:02}" for n in range(6)}


def test_the_same_seed_gives_the_same_search_and_another_one_another() -> None:
    first, again, other = (
        comparable(outcomes(context(["evolution"], seed, **SMALL))[0]) for seed in (0, 0, 1)
    )
    assert first == again != other


def test_repeats_differ_and_each_is_what_it_is_alone() -> None:
    both = outcomes(context(["evolution"], repeats=2, **SMALL))
    assert [one.record.id for one in both] == ["evolution-0", "evolution-1"]
    assert comparable(both[0]) == comparable(outcomes(context(["evolution"], **SMALL))[0])
    pools = [one.record.found["pool"] for one in both]
    assert pools[0] != pools[1]


@pytest.mark.parametrize("limit", [0, 7, 24, 40])
def test_the_cap_on_evaluations_is_kept(limit: int) -> None:
    painter = CodecPainter()
    (outcome,) = outcomes(context(["evolution"], **SMALL, max_evaluations=limit), painter=painter)
    one = outcome.record.found
    assert one["evaluations"] == outcome.record.queries == limit
    assert one["stopped"] == "budget"
    finals = finals_of(outcome)
    assert painter.painted == limit + 3 * len(finals)


def test_a_query_budget_ends_the_search_as_well() -> None:
    (outcome,) = outcomes(context(["evolution"], **SMALL), budget=30)
    assert outcome.record.queries == 30
    assert outcome.record.found["stopped"] == "budget"


@pytest.mark.parametrize(
    ("changes", "stopped"),
    [({"stop_mean": 1.0}, "low mean"), ({"stop_similarity": 0.0}, "similar")],
)
def test_it_can_stop_early(changes: dict[str, Any], stopped: str) -> None:
    one = small(**changes)
    assert one["stopped"] == stopped
    assert len(one["generations"]) == 2
    assert len(one["finals"]) == 6


def test_watchers_are_told_of_each_generation() -> None:
    notes: list[str] = []
    outcomes(context(["evolution"], **SMALL), notes=notes)
    assert notes[0].startswith("24 captions to begin with, mean .")
    assert notes[1].startswith("generation 1/3: best .")
    assert notes[3].endswith("evaluations")
    assert notes[4].startswith("schedule after")


@pytest.mark.parametrize(
    "answer",
    ["I'm sorry, I can't help with that.", "this is no caption at all", "a a a a a a a", "a duck"],
)
def test_a_target_that_will_not_describe_something_has_no_blind_spot_there(answer: str) -> None:
    """An empty graph would score 0: without guards all finals would be of what is refused."""
    target = CodecTarget(errors=[0.1] * 5, said={"fog": answer})
    (one,) = found(context(["evolution"], **SMALL), target=target)
    assert not any("fog" in final["text"] for final in one["finals"])
    assert sum(one["counted"].values()) - one["counted"]["scored"] > 0


def test_what_the_painter_declines_is_no_blind_spot() -> None:
    painter = CodecPainter(declined=frozenset({"fog"}))
    (one,) = found(context(["evolution"], **SMALL), painter=painter)
    assert one["counted"]["unpainted"] > 0
    assert not any("fog" in final["text"] for final in one["finals"])


def test_the_pool_s_mean_is_that_of_all_its_scored_captions() -> None:
    one = small()
    scores = [score for _, score in one["pool"]["captions"]]
    assert len(scores) == one["pool"]["n"] == 24
    assert one["pool"]["mean"] == pytest.approx(np.mean(scores), abs=1e-5)


def test_evolution_climbs_a_conjunction_with_partial_credit() -> None:
    """Green snowmen at night on the beach: found from a pool in which hardly any caption holds two."""
    target = CodecTarget(errors=(0.1, 0.2, 0.4, 0.65, 0.95))
    (one,) = found(context(["evolution"], pool=100), target=target)
    fresh = fmean(final["capture_fresh"] for final in one["finals"])
    assert fresh < 0.8 * one["pool"]["mean"]
    held = Counter(
        word
        for final in one["finals"]
        for word in ("snowm", "night", "beach", "green")
        if word in final["text"]
    )
    assert sum(held.values()) > 1.5 * 25  # of 100; by chance about 23


def test_evolution_beats_random_search_where_partial_matches_pay() -> None:
    """On three of the seeds of bench/evolution.py; the mean, since one seed alone is chance."""
    means: dict[str, list[float]] = {"evolution": [], "random_search": []}
    for seed in (1, 2, 3):
        for one in found(context([*means], seed)):
            means[one["search"]].append(fmean(f["capture_fresh"] for f in one["finals"]))
    assert fmean(means["evolution"]) < fmean(means["random_search"]) - 0.05


def test_niches_bring_up_what_a_deeper_hole_hides() -> None:
    class TwoHoles(CodecTarget):
        """Fog hides everything; umbrellas are hard, but less so."""

        def error(self, held: frozenset[str]) -> float:
            return 0.9 if "fog" in held else 0.6 if "umbrella" in held else 0.1

    (without,) = found(context(["evolution"], pool=100), target=TwoHoles())
    (one,) = found(context(["evolution"], pool=100, niches=True), target=TwoHoles())

    def held(run: Any, word: str) -> float:
        return fmean(word in final["text"] for final in run["finals"])

    def clear_umbrellas(run: Any) -> int:
        texts = [final["text"] for final in run["finals"]]
        return sum("umbrella" in text and "fog" not in text for text in texts)

    assert held(without, "fog") > 0.9
    assert clear_umbrellas(without) <= 2
    assert clear_umbrellas(one) >= 6
    concepts = [niche["concept"] for niche in one["niches"]]
    assert concepts[0] == "fog"
    assert "umbrella" in concepts
    assert held(one, "fog") > 0
    assert "niches" not in without
