from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from benchmark.protocols import Dataset
from benchmark.stats import mean_interval, wilson
from benchmark.types import Measure, Record, Status
from metrics.answer_rates import AnswerAccuracy
from tests import quiz


def record(number: int, wrong: bool | None, status: Status = "failure", **details: Any) -> Record:
    asked = {"task": "choice", "choices": ["a", "b", "c", "d"], "source": "digital"} | details
    return Record(
        f"q{number}",
        f"g{number}",
        status,
        "duck",
        perturbation={} if status == "error" else asked,
        verdicts={} if status == "error" else {"misanswered": wrong},
    )


@dataclass
class Context:
    settings: Mapping[str, Any] = field(default_factory=dict)
    dataset: Dataset = field(default_factory=quiz.questions)
    seed: int = 3

    def model(self, kind: str, spec: str) -> Any:
        raise AssertionError(f"{kind} {spec} is not needed")


def measures(*records: Record) -> dict[tuple[str, str], Measure]:
    found = AnswerAccuracy(Context()).measures(records)
    return {(measure.metric, measure.slice): measure for measure in found}


def test_accuracy_is_of_what_could_be_read() -> None:
    found = measures(
        record(0, False),
        record(1, True),
        record(2, False),
        record(3, None),
        record(4, None, "error"),
    )
    accuracy = found["accuracy", ""]
    assert accuracy.value == pytest.approx(2 / 3)
    assert (accuracy.n, accuracy.flags) == (3, "unread=1")
    assert accuracy.ci_low is not None
    assert accuracy.ci_high is not None
    assert 0 < accuracy.ci_low < 2 / 3 < accuracy.ci_high < 1
    assert (found["errors", ""].value, found["errors", ""].n) == (1, 5)


def test_intervals_are_over_what_pictures_were_made_from() -> None:
    alone = [record(n, n % 3 == 0) for n in range(12)]
    one = measures(*alone)["accuracy", ""]
    assert (one.ci_low, one.ci_high) == wilson(8, 12)
    groups = [replace(each, group=f"g{n // 3}") for n, each in enumerate(alone)]
    one = measures(*groups[:6], replace(groups[6], group="g1"))["accuracy", ""]
    values = {"g0": [0.0, 1, 1], "g1": [0.0, 1, 1, 0]}
    assert (one.ci_low, one.ci_high) == mean_interval(values, 3)


def test_chance_is_of_the_choices_shown() -> None:
    found = measures(record(0, False), record(1, True, choices=["a", "b"]))
    assert found["chance", ""].value == pytest.approx(0.375)  # (1/4 + 1/2) / 2
    assert measures(record(0, False, task="free"))["chance", ""].value is None


def test_parts_are_told_apart() -> None:
    found = measures(
        record(0, False, source="digital", label="duck"),
        record(1, True, source="physical", label="duck"),
        record(2, False, source="physical", label="duck"),
    )
    assert found["accuracy", "source=digital"].value == 1
    assert found["accuracy", "source=physical"].value == 0.5
    assert not any(part.startswith(("label", "orientation")) for _, part in found)


def test_too_many_parts_are_left_out() -> None:
    found = measures(*(record(n, False, orientation=f"{n} degrees") for n in range(31)))
    assert not any(part.startswith("orientation") for _, part in found)


def test_nothing_is_missing_not_zero() -> None:
    found = measures()
    assert {key: (one.value, one.n) for key, one in found.items()} == {
        ("accuracy", ""): (None, 0),
        ("chance", ""): (None, 0),
        ("errors", ""): (None, 0),
    }
    assert measures(record(0, None))["accuracy", ""].value is None
