from typing import Any

import pytest

from benchmark.types import JSON, Measure, Record
from metrics.pose_rates import PoseAccuracy
from tests.unit.metrics.metric_fakes import FakeRun


def counts(n: int, fooled: int) -> dict[str, JSON]:
    return {"n": n, "fooled": fooled, "valid": fooled, "score": None, "fitness": None}


def record(
    index: int, conditions: dict[str, tuple[int, int]], status: Any = "success", **found: Any
) -> Record:
    return Record(
        id=f"s{index}",
        group=f"g{index}",
        status=status,
        text="cat",
        queries=300,
        found=found,
        conditions={name: counts(*pair) for name, pair in conditions.items()},
    )


def measures(*records: Record) -> dict[tuple[str, str], Measure]:
    return {(m.slice, m.metric): m for m in PoseAccuracy(FakeRun()).measures(records)}


FIRST = record(
    0,
    {
        "clean": (1, 0), "random": (10, 4), "distribution": (10, 8), "center": (1, 1),
        "true/random": (10, 3), "true/distribution": (10, 6),
    },
    reproduced={"random": {"n": 10, "picture": 4, "true": 3, "both": 2}},
    naturalness={"random": {"fidelity": 4.0, "plausibility": 3.0}},
)  # fmt: skip
SECOND = record(
    1,
    {
        "clean": (1, 0), "random": (10, 2), "distribution": (10, 10), "center": (1, 0),
        "true/random": (10, 1), "true/distribution": (10, 10),
    },
    "failure",
    reproduced={"random": {"n": 10, "picture": 2, "true": 1, "both": 1}},
    naturalness={"random": {"fidelity": 5.0, "plausibility": 1.0}},
)  # fmt: skip


def test_accuracy_is_a_mean_over_samples() -> None:
    found = measures(FIRST, SECOND)
    random = found["condition=random", "accuracy"]
    # (6/10 + 8/10) / 2; resampling two samples gives 0.6 and 0.8 at the ends.
    assert random.value == pytest.approx(0.7)
    assert random.n == 2
    assert [random.ci_low, random.ci_high] == pytest.approx([0.6, 0.8])
    assert found["condition=clean", "accuracy"].value == 1.0
    assert found["condition=center", "accuracy"].value == 0.5
    assert found["condition=random", "accuracy_reproduced"].value == pytest.approx(0.8)
    assert ("condition=clean", "accuracy_reproduced") not in found
    assert ("condition=true/random", "accuracy") not in found


def test_reproduction_is_conditional_and_pooled() -> None:
    rate = measures(FIRST, SECOND)["condition=random", "reproduction_rate"]
    assert (rate.value, rate.n, rate.flags) == (0.5, 2, "poses=6")  # (2 + 1) of (4 + 2)


def test_nothing_fooled_is_no_rate() -> None:
    nothing = record(
        0, {"random": (5, 0)}, reproduced={"random": {"n": 5, "picture": 0, "true": 2, "both": 0}}
    )
    assert ("condition=random", "reproduction_rate") not in measures(nothing)


def test_naturalness_is_the_mean_of_its_two_scores() -> None:
    found = measures(FIRST, SECOND)
    assert found["condition=random", "fidelity"].value == 4.5
    assert found["condition=random", "plausibility"].value == 2.0
    assert found["condition=random", "naturalness"].value == 3.25
    assert found["condition=random", "naturalness"].unit == "score"
    assert ("condition=center", "naturalness") not in found


def test_differences_are_paired_and_say_when_they_are_a_tie() -> None:
    found = measures(FIRST, SECOND)
    gap = found["pair=random - distribution", "accuracy_difference"]
    # .6 - .2 and .8 - 0
    assert gap.value == pytest.approx(0.6)
    assert gap.flags == ""
    real = found["pair=random - distribution", "accuracy_reproduced_difference"]
    assert real.value == pytest.approx(0.6)  # .7 - .4 and .9 - 0
    centre = found["pair=distribution - center", "accuracy_difference"]
    # .2 - 0 and 0 - 1: the interval reaches from -1 to .2.
    assert centre.value == pytest.approx(-0.4)
    assert centre.flags == "tie"
    assert ("pair=corner - center", "accuracy_difference") not in found


def test_errors_are_counted_and_left_out() -> None:
    broken = Record(id="s9", group="g9", status="error", text="cat", error="no foreground")
    found = measures(FIRST, SECOND, broken)
    assert found["", "errors"].value == 1
    assert found["", "success"].value == 0.5
    assert found["", "success"].n == 2
    assert found["", "success_of_recognised"].n == 2
    assert found["", "queries"].value == 300
    assert found["condition=random", "accuracy"].n == 2


def test_conditions_come_in_reading_order() -> None:
    order = [
        m.slice
        for m in PoseAccuracy(FakeRun()).measures(
            [record(0, dict.fromkeys(("zoom", "center", "identity", "clean"), (1, 0)))]
        )
        if m.metric == "accuracy"
    ]
    assert order == [f"condition={name}" for name in ("clean", "identity", "center", "zoom")]


def test_no_records_give_no_numbers() -> None:
    for measure in PoseAccuracy(FakeRun()).measures([]):
        assert (measure.value, measure.n) == (None, 0)
