from typing import Any

import pytest

from benchmark.ledger import Judgement, Ledger, plain
from benchmark.types import Candidate, Purpose, Sample, Trial

SAMPLE = Sample("s", "a cat")


def trial(score: float | None = 0.5, **perturbation: Any) -> Trial:
    return Trial(SAMPLE, Candidate(text="a dog", perturbation=perturbation), 0.25, score)


def judged(fitness: float | None = 0.0, *, fooled: bool = False, valid: bool = True) -> Judgement:
    return Judgement(fitness, {"fooled": fooled, "near": valid}, fooled, fooled and valid)


def ledger(*entries: tuple[Judgement, Purpose]) -> Ledger:
    made = Ledger()
    for judgement, purpose in entries:
        made.add(trial(), judgement, purpose)
    return made


def test_reports_are_neither_counted_nor_picked() -> None:
    made = ledger(
        (judged(0.9, fooled=True), "report"),
        (judged(0.1), "search"),
        (judged(0.2, fooled=True), "search"),
        (judged(0.9, fooled=True), "report"),
    )
    assert len(made) == 4
    assert (made.queries, made.queries_to_success) == (2, 2)
    assert made.pick(None) == 2
    assert [entry.purpose for entry in made.trace("s")] == ["report", "search", "search", "report"]


def test_with_nothing_but_reports_nothing_is_picked() -> None:
    made = ledger((judged(0.9, fooled=True), "report"))
    assert (made.queries, made.queries_to_success, made.pick(None)) == (0, None, None)


def test_a_report_cannot_be_submitted() -> None:
    made = ledger((judged(), "search"), (judged(fooled=True), "report"))
    assert made.valid_choice(0) == 0
    with pytest.raises(ValueError, match="submitted candidate 1, which was scored for the report"):
        made.valid_choice(1)
    with pytest.raises(ValueError, match="submitted candidate 2, but it had 2 scored"):
        made.valid_choice(2)


def test_a_choice_stays() -> None:
    made = ledger((judged(0.1), "search"), (judged(0.9, fooled=True), "search"))
    assert made.pick(0) == 0


def test_conditions_are_summed_up() -> None:
    made = Ledger()
    made.add(trial(0.5, condition="far"), judged(0.1, fooled=True), "report")
    made.add(trial(0.3), judged(0.9, fooled=True), "search")  # of no condition
    made.add(trial(0.7, condition="near"), judged(None), "search")
    made.add(trial(0.1, condition="far"), judged(0.5, fooled=True, valid=False), "report")
    made.add(trial(0.3, condition="far"), judged(0.3), "report")
    made.add_clean(trial(0.8), judged(0.0))
    assert made.conditions() == {
        "clean": {"n": 1, "fooled": 0, "valid": 0, "score": 0.8, "fitness": 0.0},
        # scores (0.5 + 0.1 + 0.3) / 3, fitness (0.1 + 0.5 + 0.3) / 3
        "far": {"n": 3, "fooled": 2, "valid": 1, "score": 0.3, "fitness": 0.3},
        "near": {"n": 1, "fooled": 0, "valid": 0, "score": 0.7, "fitness": None},
    }
    assert list(made.conditions()) == ["clean", "far", "near"]


def test_a_mean_is_of_what_is_known() -> None:
    made = Ledger()
    for score in (None, 0.1, 0.2):
        made.add(trial(score, condition="c"), judged(None), "report")
    assert made.conditions()["c"]["score"] == 0.15
    assert made.conditions()["c"]["fitness"] is None


def test_the_clean_condition_is_the_harness_own() -> None:
    with pytest.raises(ValueError, match="condition 'clean' is the unperturbed picture's"):
        Ledger().add(trial(condition="clean"), judged(), "report")


def test_a_condition_may_be_a_number_and_is_named_by_its_text() -> None:
    made = Ledger()
    made.add(trial(condition=30), judged(), "report")
    assert list(made.conditions()) == ["30"]


def test_the_trace_has_what_the_target_made_of_each() -> None:
    made = Ledger()
    seen = Trial(SAMPLE, Candidate(text="b"), 0.2, 0.4, (0.2, 0.1), (0.4, 0.3), "cat", "dog")
    made.add(seen, judged(), "report")
    (entry,) = made.trace("s")
    assert (entry.option_scores, entry.output) == ([0.4, 0.3], "dog")


def test_plain_data_is_a_copy() -> None:
    inner: list[Any] = [1]
    copy = plain({"a": inner, "b": (1, 2)}, "found")  # type: ignore[dict-item]
    inner.append(2)
    assert copy == {"a": [1], "b": [1, 2]}
    with pytest.raises(ValueError, match=r"found .* cannot be written as JSON"):
        plain({"a": float("nan")}, "found")
