from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from attacks.advdreamer.attack import AdvDreamer
from attacks.advdreamer.cmaes import Gaussian
from attacks.advdreamer.losses import isp
from attacks.advdreamer.pose import IDENTITY, PRESETS, Pose
from benchmark.errors import UserError
from benchmark.flight import Outcome
from benchmark.scheduler import Scheduler
from benchmark.serving import Target
from benchmark.tool import Tool
from benchmark.types import Candidate, Record, Sample, ThreatModel, Trial
from metrics.pose_criteria import Misclassified
from tests import fakes
from tests.unit.attacks.advdreamer import stage_fakes
from tests.unit.attacks.advdreamer.stage_fakes import LikesItLarge, Run, cats, settings


def outcomes(
    samples: Sequence[Sample],
    run: Run | None = None,
    *,
    target: object = None,
    threat_model: ThreatModel | None = None,
    batch_size: int = 4,
    **changes: Any,
) -> list[Outcome]:
    """The attack's outcomes on `samples`, in the order of their ids."""
    run = run or Run(settings(**changes))
    attack = AdvDreamer(run)
    scheduler = Scheduler(
        attack,
        Target(target or stage_fakes.LeftIsBetter(), batch_size=batch_size),
        {"naturalness": Tool(LikesItLarge(), batch_size=batch_size)},
        [Misclassified(run)],
        threat_model or ThreatModel(),
        seed=5,
        batch_size=batch_size,
    )
    found = sorted(scheduler.run(samples), key=lambda outcome: outcome.record.id)
    for outcome in found:
        if outcome.exception is not None and outcome.record.status != "error":
            raise outcome.exception
    return found


def record_of(outcome: Outcome) -> Record:
    assert outcome.record.error is None, outcome.record.error
    return outcome.record


def test_it_finds_the_weakness() -> None:
    (outcome,) = outcomes(cats(1), generations=12, population=20, shortlist=10, parents=5)
    record = record_of(outcome)
    centre = Pose.from_json(cast(Any, record.found["center"]))
    # The target fails as the object goes right; its score falls below 0.25 near dx = 0.08.
    assert centre.dx > 0.1
    assert record.status == "success"
    assert record.queries == 240
    generations = cast("list[dict[str, float]]", record.found["generations"])
    assert len(generations) == 12
    assert generations[-1]["fooled"] > generations[0]["fooled"] + 0.3
    assert generations[-1]["loss"] > generations[0]["loss"]
    conditions = record.conditions
    assert conditions["clean"]["fooled"] == conditions["identity"]["fooled"] == 0
    assert conditions["center"]["fooled"] == 1
    assert conditions["distribution"]["fooled"] == 4


def test_every_picture_of_the_search_is_one_query() -> None:
    (outcome,) = outcomes(cats(1))
    record = record_of(outcome)
    assert record.queries == record.found["queries"] == 36
    searched = [entry for entry in outcome.trace if entry.purpose == "search"]
    assert [entry.perturbation["generation"] for entry in searched] == [0] * 12 + [1] * 12 + [
        2
    ] * 12
    assert {name: counts["n"] for name, counts in record.conditions.items()} == {
        "clean": 1, "identity": 1, "random": 4, "corner": 4, "best_of_random": 3,
        "best_of_search": 3, "distribution": 4, "center": 1,
    }  # fmt: skip
    # As many random poses as queries, before the best three of them are shown again.
    baseline = [e for e in outcome.trace if e.perturbation.get("baseline") == "best_of_random"]
    assert len(baseline) == 36


@pytest.mark.parametrize("budget", [0, 1, 7, 12, 13])
def test_budgets(budget: int) -> None:
    (outcome,) = outcomes(cats(1), threat_model=ThreatModel(query_budget=budget))
    record = record_of(outcome)
    assert record.queries == budget
    whole = budget // 12
    assert len(cast("list[object]", record.found["generations"])) == whole
    start = Gaussian.from_json(cast(Any, record.found["distribution"]))
    assert start.mean.any() == bool(whole)
    if not whole:
        assert record.found["center"] == IDENTITY.to_json()
        assert start.sigma == 0.5
    assert record.conditions["center"]["n"] == 1
    selected = min(budget, 3)
    for condition in ("best_of_random", "best_of_search"):
        assert record.conditions.get(condition, {"n": 0})["n"] == selected
    assert set(outcome.pictures) >= {"mask", "background", "identity", "center"}


def test_the_best_of_the_search_are_queries_of_it_and_no_worse_than_random_ones() -> None:
    (outcome,) = outcomes(cats(1), selection="loss")
    record = record_of(outcome)
    searched = {
        tuple(e.perturbation[name] for name in IDENTITY.to_json()): e.option_scores
        for e in outcome.trace
        if e.purpose == "search"
    }
    best = [tuple(theta) for theta in cast(Any, record.found["best"])]
    fitness = {pose: isp(scores) for pose, scores in searched.items()}
    assert sorted(fitness, key=lambda pose: -fitness[pose])[:3] == best
    assert record.fitness == pytest.approx(max(fitness.values()), abs=1e-6)


def test_more_budget_does_not_change_what_came_before() -> None:
    def searched(budget: int | None) -> list[Any]:
        (outcome,) = outcomes(cats(1), threat_model=ThreatModel(query_budget=budget))
        return [e.perturbation for e in outcome.trace if e.purpose == "search"]

    assert searched(None)[:25] == searched(25)


@pytest.mark.parametrize("batch_size", [1, 2, 64])
def test_batch_size_order_and_company_change_nothing(batch_size: int) -> None:
    def plain(found: Sequence[Outcome]) -> list[tuple[Record, Any]]:
        return [(replace(record_of(one), seconds=0.0), one.trace) for one in found]

    together = outcomes(cats(3), batch_size=4)
    again = outcomes(cats(3)[::-1], batch_size=batch_size)
    assert plain(together) == plain(again)
    for one, other in zip(together, again, strict=True):
        assert one.pictures.keys() == other.pictures.keys()
        for name, pixels in one.pictures.items():
            np.testing.assert_array_equal(pixels, other.pictures[name])


def test_naturalness_is_bought_with_the_second_stage() -> None:
    def mean(selection: str) -> tuple[float, float]:
        found = outcomes(
            cats(3), selection=selection, generations=8, population=20, shortlist=10, parents=5
        )
        natural = [cast(Any, one.record.found["naturalness"])["distribution"] for one in found]
        loss = [cast(Any, one.record.found["generations"])[-1]["loss"] for one in found]
        return float(np.mean([one["fidelity"] for one in natural])), float(np.mean(loss))

    with_model, its_loss = mean("two-stage")
    without, free_loss = mean("loss")
    assert with_model > without + 0.1
    assert free_loss >= its_loss


def test_without_the_model_nothing_is_asked_and_nothing_rated() -> None:
    (outcome,) = outcomes(cats(1), naturalness="none", selection="loss")
    assert "naturalness" not in record_of(outcome).found


def test_the_options_are_the_prompts_of_all_labels_the_true_one_first() -> None:
    attack = AdvDreamer(Run(settings(labels="cat, umbrella, dog")))
    sample = replace(cats(1)[0], text="umbrella")
    assert attack.options(sample) == ["an umbrella", "a cat", "a dog"]
    paper = AdvDreamer(Run(settings(labels="cat, umbrella", prompt="a photo of a {label}")))
    assert paper.options(sample) == ["a photo of a umbrella", "a photo of a cat"]


def test_fitness_is_the_loss_that_scores_give() -> None:
    trial = Trial(cats(1)[0], Candidate(text="cat"), 0.2, 0.2, option_scores=(0.2, 0.3, 0.1))
    assert AdvDreamer(Run(settings())).fitness(trial) == pytest.approx(1.101943, abs=1e-6)
    assert AdvDreamer(Run(settings(loss="mf_it"))).fitness(trial) == pytest.approx(0.8)
    assert AdvDreamer(Run(settings())).fitness(replace(trial, option_scores=())) is None


def test_a_hidden_score_leaves_success_to_go_by() -> None:
    (outcome,) = outcomes(cats(1), threat_model=ThreatModel(access="decision"), generations=6)
    record = record_of(outcome)
    assert record.queries == 72
    assert cast(Any, record.found["center"])["dx"] > 0.02
    generations = cast("list[dict[str, float]]", record.found["generations"])
    assert [one["loss"] for one in generations] == [one["fooled"] for one in generations]


def test_bad_samples_become_errors_and_the_run_goes_on() -> None:
    good, nothing, unknown = cats(3)
    nothing = replace(nothing, image=stage_fakes.BoxPicture("nothing", shade=40))
    unknown = replace(unknown, text="walrus")
    records = [outcome.record for outcome in outcomes([good, nothing, unknown])]
    assert [record.status for record in records] == ["success", "error", "error"]
    assert records[1].error == "ForegroundError: no cat stands out: give a mask or a box"
    assert records[2].error is not None
    assert "label 'walrus' is not among the 3 labels (cat, dog, cow, ...)" in records[2].error


def test_pictures_for_the_sheet_only() -> None:
    (few,) = outcomes(cats(1), pictures="sheet")
    (all_,) = outcomes(cats(1))
    assert set(few.pictures) == {"mask", "background", "identity", "random/0", "center"}
    assert set(all_.pictures) == {
        *few.pictures, "random/1", "random/2", "random/3",
        *(f"distribution/{i}" for i in range(4)),
    }  # fmt: skip
    answers = cast(Any, record_of(all_).found["answers"])
    assert answers["identity"] == {"fooled": False, "answer": "cat"}
    assert answers["center"]["fooled"] == (answers["center"]["answer"] != "cat")
    assert all_.pictures["mask"].max() == 255
    assert all_.pictures["mask"].shape == (32, 32, 3)


def test_conditions_are_chosen_and_a_scaled_distribution_is_wider() -> None:
    (outcome,) = outcomes(
        cats(1), conditions=["identity", "distribution", "distribution*25"], draws=30
    )
    record = record_of(outcome)
    assert list(record.conditions) == ["clean", "identity", "distribution", "distribution*25"]
    poses = cast(Any, record.found["poses"])
    spread = {name: np.array(group).std(axis=0)[3] for name, group in poses.items()}
    assert spread["distribution*25"] > 1.5 * spread["distribution"]


def test_all_poses_stay_in_their_box() -> None:
    (outcome,) = outcomes(cats(1), bounds="mild", draws=20)
    low, high = np.array(PRESETS["mild"].low), np.array(PRESETS["mild"].high)
    names = list(IDENTITY.to_json())
    for entry in outcome.trace:
        theta = np.array([entry.perturbation[name] for name in names], dtype=np.float64)
        assert np.all((low - 1e-6 <= theta) & (theta <= high + 1e-6))


def test_what_the_run_records_of_it() -> None:
    described = cast(Any, AdvDreamer(Run(settings(bounds="upright"))).describe())
    assert described["labels"] == ["cat", "dog", "cow"]
    assert described["bounds"]["high"] == [60, 10, 10, 0.15, 0.1, 1.2]


def test_a_question_is_asked_if_there_is_one() -> None:
    assert AdvDreamer(Run(settings())).question(cats(1)[0]) is None
    asked = AdvDreamer(Run(settings(question="What is this?"))).question(cats(1)[0])
    assert asked == "What is this?"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"naturalness": "none"}, "selection two-stage needs a naturalness model"),
        ({"loss": "mf_ii"}, "loss mf_ii compares embeddings, which needs an encoder"),
        ({"loss": "hinge"}, "loss 'hinge' is unknown: use isp, mf_it"),
        ({"selection": "best"}, "selection 'best' is unknown: use two-stage or loss"),
        ({"shortlist": 13}, r"shortlist = 13: give from 3 \(parents\) to 12 \(population\)"),
        ({"shortlist": 2}, r"shortlist = 2: give from 3 \(parents\)"),
        ({"generations": 0}, "generations 0 cannot be used: give a whole number of 1 or more"),
        ({"temperature": 0}, "temperature = 0: give a number above 0"),
        ({"prompt": "a photo"}, "prompt 'a photo' does not say the label"),
        ({"prompt": "a {thing}"}, "prompt 'a {thing}' cannot be filled"),
        ({"bounds": "wide"}, "bounds 'wide' are unknown"),
        ({"conditions": ["upside_down"]}, "condition 'upside_down' is unknown: use identity"),
        ({"conditions": ["random*2"]}, r"condition 'random\*2' is unknown"),
        ({"conditions": ["distribution*inf"]}, r"condition 'distribution\*inf' is unknown"),
        ({"conditions": ["distribution*nan"]}, r"condition 'distribution\*nan' is unknown"),
        ({"conditions": ["distribution*-1"]}, r"condition 'distribution\*-1' is unknown"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        AdvDreamer(Run(settings(**changes)))


def test_a_target_that_is_a_dual_encoder_will_do() -> None:
    (outcome,) = outcomes(cats(1), target=fakes.FakeEncoder())
    assert record_of(outcome).queries == 36
