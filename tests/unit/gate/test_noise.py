"""The noise floor, by hand."""

import pytest

from benchmark.gate.noise import measure
from tests.gate_runs import record


def test_three_seeds_by_hand() -> None:
    # Of four samples, 1, 2 and 1 are fooled: .25 .5 .25. Flips between the pairs of seeds: 1, 2, 3 of 4;
    # differences .25, 0, .25.
    fooled = [{"a"}, {"a", "b"}, {"c"}]
    runs = [
        (seed, [record(id, "success" if id in ids else "failure") for id in "abcd"])
        for seed, ids in enumerate(fooled)
    ]
    found = measure(runs)
    assert [one.rate for one in found.repeats] == [0.25, 0.5, 0.25]
    assert found.mean == pytest.approx(1 / 3)
    assert found.spread == pytest.approx(((2 * (1 / 12) ** 2 + (1 / 6) ** 2) / 2) ** 0.5)
    assert found.flips == pytest.approx((0.25 + 0.5 + 0.75) / 3)
    assert found.greatest == 0.25
    # Half of four samples flip: the difference of two counts has variance 2, of two rates 2 / 16.
    assert found.expected == pytest.approx((2 / 16) ** 0.5)
    assert found.floor == pytest.approx(1.645 * (2 / 16) ** 0.5)


def test_errors_are_left_out() -> None:
    runs = [
        (0, [record("a", "success"), record("b", "error")]),
        (1, [record("a", "failure"), record("b", "failure")]),
    ]
    found = measure(runs)
    assert [(one.fooled, one.n) for one in found.repeats] == [(1, 1), (0, 2)]
    assert found.flips == 1.0


def test_one_run_has_no_noise() -> None:
    found = measure([(0, [record("a", "success")])])
    assert (found.mean, found.spread, found.flips, found.greatest, found.floor) == (
        1.0, None, None, None, None,
    )  # fmt: skip


def test_no_samples_have_no_rate() -> None:
    found = measure([(0, []), (1, [])])
    assert (found.mean, found.spread, found.flips) == (None, None, None)
    assert found.to_json()["repeats"] == [
        {"seed": 0, "fooled": 0, "n": 0, "rate": None},
        {"seed": 1, "fooled": 0, "n": 0, "rate": None},
    ]
