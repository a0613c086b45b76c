from typing import Any

import pytest

from benchmark.types import Measure, Record, Status
from metrics.answer_rates import AnswerAccuracy


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


def measures(*records: Record) -> dict[tuple[str, str], Measure]:
    found = AnswerAccuracy(None).measures(records)  # type: ignore[arg-type]
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
