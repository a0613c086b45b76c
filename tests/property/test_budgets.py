"""What no order, batch size, budget or threat model may change."""

import random
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.flight import Outcome
from benchmark.protocols import Attack
from benchmark.scheduler import Scheduler
from benchmark.serving import Target
from benchmark.tool import Tool
from benchmark.types import Access, Candidate, Feedback, Sample, Score, ThreatModel
from tests.fakes import (
    EditAttack,
    FakeCriterion,
    FakeEncoder,
    FakeTarget,
    FakeTool,
    NoiseAttack,
    OverspendingAttack,
    ScriptedAttack,
    samples,
)

ATTACKS: dict[str, Any] = {
    "parallel": lambda n: EditAttack(candidates=n),
    "sequential": lambda n: EditAttack(candidates=n, sequential=True),
    "noise": lambda n: NoiseAttack(candidates=n),
}
few = settings(max_examples=25, deadline=None)


def outcomes(
    attack: Attack,
    population: Sequence[Sample],
    batch_size: int = 64,
    budget: int | None = None,
    access: Access = "score",
    model: object | None = None,
    seed: int = 7,
) -> dict[str, Outcome]:
    scheduler = Scheduler(
        attack,
        Target(model or FakeEncoder(), batch_size=batch_size),
        {"writer": Tool(FakeTool(), batch_size=batch_size)},
        [FakeCriterion(), FakeCriterion("long", "observation", lambda trial: len(trial.text) > 30)],
        ThreatModel(access, budget),
        seed,
        batch_size,
    )
    return {outcome.record.id: outcome for outcome in scheduler.run(population)}


def decisions(outcome: Outcome) -> tuple[Any, ...]:
    """All of an outcome that is not a float kernel's last digits or a clock's."""
    record = replace(outcome.record, seconds=0, score=None, clean_score=None, fitness=None)
    return asdict(record), [asdict(replace(entry, score=None)) for entry in outcome.trace]


def scores(outcome: Outcome) -> list[float | None]:
    record = outcome.record
    return [record.clean_score, record.score, record.fitness] + [one.score for one in outcome.trace]


def assert_same(left: dict[str, Outcome], right: dict[str, Outcome]) -> None:
    assert left.keys() == right.keys()
    for sample_id, outcome in left.items():
        assert decisions(outcome) == decisions(right[sample_id])
        assert scores(outcome) == pytest.approx(scores(right[sample_id]), abs=1e-5)


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("batch_size", [1, 7])
def test_batch_size_changes_nothing(name: str, batch_size: int) -> None:
    attack, population = ATTACKS[name](5), samples(40)
    assert_same(outcomes(attack, population, batch_size), outcomes(attack, population, 64))


@pytest.mark.parametrize("name", ATTACKS)
@few
@given(
    order=st.randoms(use_true_random=False),
    size=st.integers(1, 20),
    batch_size=st.sampled_from([1, 3, 7]),
)
def test_neither_order_nor_company_changes_anything(
    name: str, order: random.Random, size: int, batch_size: int
) -> None:
    attack, population = ATTACKS[name](3), samples(20)
    expected = outcomes(attack, population)
    some = order.sample(population, size)
    found = outcomes(attack, some, batch_size)
    assert_same(found, {sample.id: expected[sample.id] for sample in some})


@pytest.mark.parametrize("name", [*ATTACKS, "overspending"])
@pytest.mark.parametrize("budget", [0, 1, 7])
@pytest.mark.parametrize("batch_size", [1, 7])
def test_no_budget_is_exceeded(name: str, budget: int, batch_size: int) -> None:
    attack = OverspendingAttack() if name == "overspending" else ATTACKS[name](10)
    model = FakeTarget()
    found = outcomes(attack, samples(9), batch_size, budget, model=model)
    for outcome in found.values():
        assert outcome.record.queries <= budget
        assert outcome.record.queries == len(outcome.trace)
        # The attack that asks on for ever is caught; the others end when they get less.
        assert (outcome.record.status == "error") == (name == "overspending")
    computed = {text for call in model.history for text in call}
    assert len(computed) <= 9 * (budget + 1)


@few
@given(requests=st.lists(st.integers(0, 4), max_size=6), budget=st.none() | st.integers(0, 9))
def test_feedback_is_what_the_budget_leaves(requests: list[int], budget: int | None) -> None:
    attack = ScriptedAttack()
    for step, size in enumerate(requests):
        attack.enqueue(Score(tuple(Candidate(text=f"{step} {n}") for n in range(size))))
    (outcome,) = outcomes(attack, samples(1), budget=budget).values()
    left = sum(requests) if budget is None else budget
    numbers = []
    for size, reply in zip(requests, attack.history["s000"], strict=True):
        assert len(reply) == min(size, left)
        left -= len(reply)
        numbers += [one.index for one in reply if isinstance(one, Feedback)]
    assert numbers == list(range(outcome.record.queries))


@pytest.mark.parametrize("name", ATTACKS)
@few
@given(smaller=st.integers(0, 6), more=st.integers(0, 6))
def test_a_larger_budget_begins_with_the_same_candidates(
    name: str, smaller: int, more: int
) -> None:
    attack, population = ATTACKS[name](8), samples(4)
    short = outcomes(attack, population, budget=smaller)
    long = outcomes(attack, population, budget=smaller + more)
    for sample_id, outcome in short.items():
        assert outcome.trace == long[sample_id].trace[: len(outcome.trace)]
        assert outcome.record.status != "success" or long[sample_id].record.status == "success"


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("n", [0, 1, 4])
def test_more_candidates_begin_with_the_same_ones(name: str, n: int) -> None:
    few_of_them = outcomes(ATTACKS[name](n), samples(6))
    more = outcomes(ATTACKS[name](n + 3), samples(6))
    for sample_id, outcome in few_of_them.items():
        assert [entry.text for entry in outcome.trace] == [
            entry.text for entry in more[sample_id].trace[:n]
        ]


def test_decision_access_hides_all_but_the_decision() -> None:
    found: dict[str, list[Any]] = {}
    for access in ("decision", "score", "output"):
        attack = ScriptedAttack()
        attack.enqueue(Score((Candidate(text="a"), Candidate(text="b"))))
        outcomes(attack, samples(1), access=access)
        found[access] = list(attack.history["s000"][0])
    assert [one.success for one in found["decision"]] == [one.success for one in found["score"]]
    for one in found["decision"]:
        assert one == Feedback(one.index, one.success)
    assert all(one.score is not None and one.verdicts is not None for one in found["score"])
    assert found["output"] == found["score"]


def test_another_seed_draws_otherwise() -> None:
    one, other = (outcomes(ATTACKS["parallel"](4), samples(5), seed=seed) for seed in (7, 8))
    assert [entry.text for entry in one["s000"].trace] != [
        entry.text for entry in other["s000"].trace
    ]
