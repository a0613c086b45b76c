from dataclasses import replace
from typing import Any

import pytest

from benchmark.stats import wilson
from benchmark.types import Measure, Record, Status
from metrics.rates import SuccessRates
from tests.unit.metrics.metric_fakes import FakeRun


def record(index: int, status: Status, verdicts: dict[str, bool | None], **more: Any) -> Record:
    names = {"c": "crossmodal", "u": "unimodal", "d": "distance", "a": "auxiliary"}
    names |= {"f": "false_of_image", "t": "tie"}
    decided = {names[key]: value for key, value in verdicts.items()}
    return Record(f"s{index}", f"g{index}", status, "a", "b", verdicts=decided, **more)


ALL = {"c": True, "u": True, "d": True, "a": True}
RECORDS = [
    record(
        0,
        "success",
        {**ALL, "f": True, "t": False},
        clean_score=0.2,
        score=0.5,
        queries_to_success=1,
        perturbation={"operation": "object-swap", "operation_found": "swap-objects"},
    ),
    record(
        1,
        "success",
        {**ALL, "f": False, "t": False},
        clean_score=0.2,
        score=0.3,
        queries_to_success=4,
        perturbation={"operation": "count-replace"},
    ),
    record(
        2,
        "failure",
        {"c": True, "u": False, "d": True, "a": True, "f": False, "t": False},
        clean_score=0.1,
        score=0.9,
        perturbation={"operation": "object-swap", "operation_found": "swap-objects"},
    ),
    record(3, "failure", {"c": False, "u": None, "d": True, "a": False, "f": None, "t": True}),
    record(4, "error", {}),
    record(5, "skipped", {}),
    record(6, "skipped", {}),
]


def measured(records: list[Record]) -> dict[tuple[str, str], Measure]:
    found = SuccessRates(FakeRun()).measures(records)
    table = {(measure.metric, measure.slice): measure for measure in found}
    assert len(table) == len(found)
    return table


@pytest.mark.parametrize(
    ("metric", "true", "n", "flags"),
    [
        ("cross", 3, 4, ""),
        ("uni", 2, 3, "undecided=1"),
        ("dist", 4, 4, ""),
        ("aux", 3, 4, ""),
        ("total", 2, 4, ""),
        ("total_all", 2, 7, ""),
        ("false_of_image", 1, 2, ""),
        ("cross_but_true", 2, 3, ""),
    ],
)
def test_rates(metric: str, true: int, n: int, flags: str) -> None:
    interval = wilson(true, n)
    assert interval is not None
    assert measured(RECORDS)[metric, ""] == Measure(
        metric, true / n, interval.low, interval.high, n=n, unit="rate", flags=flags
    )


def test_counts_and_queries() -> None:
    table = measured(RECORDS)
    assert table["ties", ""] == Measure("ties", 1.0, n=4, unit="samples")
    assert table["errors", ""] == Measure("errors", 1.0, n=7, unit="samples")
    assert table["skipped", ""] == Measure("skipped", 2.0, n=7, unit="samples")
    # The median of 1 and 4.
    assert table["queries_to_success", ""] == Measure(
        "queries_to_success", 2.5, n=2, unit="queries"
    )


def test_gap_is_over_successes_only() -> None:
    gap = measured(RECORDS)["cross_gap", ""]
    assert gap.value == pytest.approx((0.3 + 0.1) / 2)
    assert gap.n == 2
    assert gap.ci_low == pytest.approx(0.1)
    assert gap.ci_high == pytest.approx(0.3)
    alone = measured(RECORDS[:1])["cross_gap", ""]
    assert alone.value == pytest.approx(0.3)
    assert alone.ci_low is None


def test_slices_by_the_operation_found_or_else_asked_for() -> None:
    table = measured(RECORDS)
    assert {part for _, part in table} == {
        "",
        "operation=count-replace",
        "operation=swap-objects",
    }
    swap = table["total", "operation=swap-objects"]
    assert (swap.value, swap.n) == (0.5, 2)
    assert table["cross", "operation=swap-objects"].value == 1.0
    assert table["total", "operation=count-replace"].value == 1.0


def test_no_records_is_no_number() -> None:
    table = measured([])
    assert all(part == "" for _, part in table)
    for measure in table.values():
        assert (measure.value, measure.ci_low, measure.ci_high, measure.n) == (None, None, None, 0)


def test_nothing_but_errors_is_no_rate() -> None:
    table = measured([replace(RECORDS[4], id=f"e{index}") for index in range(3)])
    assert table["total", ""].value is None
    assert table["errors", ""].value == 3
    total = table["total_all", ""]
    assert (total.value, total.n) == (0.0, 3)


def test_verdicts_that_were_not_asked_for_are_missing() -> None:
    table = measured([record(0, "success", {"c": True})])
    assert table["cross", ""].value == 1.0
    for metric in ("uni", "dist", "aux", "false_of_image", "ties"):
        assert table[metric, ""].value is None
