"""What options, questions and reports may never change: counts, picks, and other samples."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.cache import Cache
from benchmark.flight import Outcome
from benchmark.scheduler import Scheduler
from benchmark.serving import Target
from benchmark.tool import Tool
from benchmark.types import Candidate, Feedback, Sample, Score, Submission, ThreatModel
from tests.fakes import FakeCriterion, ScriptedAttack, picture, samples
from tests.report_fakes import FakeAdviser, FakeAnswerer, FakeSeer, PoseAttack

few = settings(max_examples=20, deadline=None)


def outcomes(
    attack: Any,
    population: Sequence[Sample],
    batch_size: int = 64,
    budget: int | None = None,
    cache: Cache | None = None,
    model: object | None = None,
) -> dict[str, Outcome]:
    scheduler = Scheduler(
        attack,
        Target(model or FakeSeer(), cache, batch_size),
        {"nature": Tool(FakeAdviser(), cache, batch_size)},
        [FakeCriterion(), FakeCriterion("bright", "constraint", lambda trial: trial.score != 0)],
        ThreatModel("output", budget),
        7,
        batch_size,
    )
    return {outcome.record.id: outcome for outcome in scheduler.run(population)}


def assert_close(left: Any, right: Any) -> None:
    """Equal, but for a float kernel's last digits."""
    if isinstance(left, float) and isinstance(right, float):
        assert left == pytest.approx(right, abs=1e-5)
    elif isinstance(left, Mapping):
        assert list(left) == list(right)
        for key, value in left.items():
            assert_close(value, right[key])
    elif isinstance(left, list | tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_close(one, other)
    else:
        assert left == right


def assert_same(left: Outcome, right: Outcome) -> None:
    assert_close(asdict(replace(left.record, seconds=0)), asdict(replace(right.record, seconds=0)))
    assert_close([asdict(one) for one in left.trace], [asdict(one) for one in right.trace])
    assert list(left.pictures) == list(right.pictures)
    for name, pixels in left.pictures.items():
        np.testing.assert_array_equal(pixels, right.pictures[name])


@few
@given(
    order=st.randoms(use_true_random=False),
    size=st.integers(1, 12),
    batch_size=st.sampled_from([1, 3, 7]),
)
def test_neither_order_nor_company_nor_batch_size_changes_anything(
    order: random.Random, size: int, batch_size: int
) -> None:
    population = samples(12)
    expected = outcomes(PoseAttack(), population)
    some = order.sample(population, size)
    found = outcomes(PoseAttack(), some, batch_size)
    assert found.keys() == {sample.id for sample in some}
    for sample_id, outcome in found.items():
        assert outcome.record.status != "error"
        assert_same(outcome, expected[sample_id])


@few
@given(
    candidates=st.integers(0, 5), reports=st.integers(0, 4), budget=st.none() | st.integers(0, 6)
)
def test_a_report_changes_neither_counts_nor_picks(
    candidates: int, reports: int, budget: int | None
) -> None:
    population = samples(4)
    silent = outcomes(PoseAttack(candidates=candidates, reports=0), population, budget=budget)
    loud = outcomes(PoseAttack(candidates=candidates, reports=reports), population, budget=budget)
    spent = candidates if budget is None else min(candidates, budget)
    for sample_id, outcome in loud.items():
        record, other = outcome.record, silent[sample_id].record
        assert record.queries == spent
        assert len(outcome.trace) == spent + 2 * reports
        assert record.found["reported"] == 2 * reports  # never cut by the budget
        free = {"conditions": {}, "found": {}, "seconds": 0}
        assert replace(record, **free) == replace(other, **free)  # type: ignore[arg-type]
        assert outcome.trace[:spent] == silent[sample_id].trace
        assert (record.picked is None) == (spent == 0)


@few
@given(
    searched=st.lists(st.integers(0, 3), max_size=3),
    reported=st.lists(st.integers(0, 3), max_size=3),
    budget=st.none() | st.integers(0, 6),
)
def test_a_report_within_the_search_is_not_counted_either(
    searched: list[int], reported: list[int], budget: int | None
) -> None:
    attack = ScriptedAttack(choice=Submission())
    purposes: list[Any] = ["search"] * len(searched) + ["report"] * len(reported)
    for step, (size, purpose) in enumerate(zip(searched + reported, purposes, strict=True)):
        seeds = [10 * step + n for n in range(size)]
        attack.enqueue(Score(tuple(Candidate(image=picture(seed)) for seed in seeds), purpose))
    (outcome,) = outcomes(attack, samples(1), budget=budget).values()
    queries = sum(searched) if budget is None else min(sum(searched), budget)
    record, replies = outcome.record, attack.history["s000"]
    assert record.queries == queries
    assert [len(reply) for reply in replies[len(searched) :]] == reported
    indices = [one.index for reply in replies for one in reply if isinstance(one, Feedback)]
    assert indices == list(range(queries + sum(reported)))
    assert record.picked is None if queries == 0 else record.picked in range(queries)
    assert (record.queries_to_success or 0) <= queries
    assert (record.status == "success") == any(entry.success for entry in outcome.trace[:queries])


@few
@given(smaller=st.integers(0, 4), more=st.integers(0, 4))
def test_a_larger_budget_begins_with_the_same_candidates(smaller: int, more: int) -> None:
    short = outcomes(PoseAttack(candidates=6), samples(3), budget=smaller)
    long = outcomes(PoseAttack(candidates=6), samples(3), budget=smaller + more)
    for sample_id, outcome in short.items():
        queries = outcome.record.queries
        assert outcome.trace[:queries] == long[sample_id].trace[:queries]
        assert_close(
            [asdict(replace(entry, index=0)) for entry in outcome.trace[queries:]],
            [
                asdict(replace(entry, index=0))
                for entry in long[sample_id].trace[long[sample_id].record.queries :]
            ],
        )


@pytest.mark.parametrize("batch_size", [1, 7])
def test_the_report_sees_the_scene_and_the_search_never_does(batch_size: int) -> None:
    attack, population = PoseAttack(), samples(9)
    outcomes(attack, population, batch_size)
    seen = dict.fromkeys(("search", "report"), 0)
    for stage, scene in attack.scenes:
        assert (scene is None) == (stage == "search")
        seen[stage] += 1
    assert seen == {"search": 9, "report": 9}


def test_the_cache_answers_all_of_a_second_run(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "calls.sqlite", pytest.fail)
    first = outcomes(PoseAttack(), samples(6), 4, cache=cache)
    model = FakeSeer()
    second = outcomes(PoseAttack(), samples(6), 4, cache=cache, model=model)
    assert (model.images, model.texts, model.answerer.history) == ([], [], [])
    for sample_id, outcome in second.items():
        assert_same(outcome, first[sample_id])


@few
@given(
    asked=st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["What?", "Where?"])), max_size=12),
    batch_size=st.integers(1, 9),
)
def test_answers_do_not_depend_on_padding(asked: list[tuple[int, str]], batch_size: int) -> None:
    model = FakeAnswerer()
    questions = [(picture(seed), question) for seed, question in asked]
    answers = Target(model, batch_size=batch_size).answer(questions)
    assert answers == [Target(FakeAnswerer(), batch_size=1).answer([one])[0] for one in questions]
    assert all(len(batch) == batch_size for batch in model.history)
    assert len(model.history) == -(-len(set(asked)) // batch_size)
