"""Detectable drops and sample sizes."""

import pytest

from benchmark.gate.exact import Pairs, power
from benchmark.gate.power import detectable, needed


def test_the_detectable_drop_has_the_power_that_it_says() -> None:
    counted = Pairs(kept=230, broken=4, mended=6)
    drop = detectable(counted, 0.02, 0.05)
    assert drop is not None
    mended = 6 / 240
    assert power(240, mended + drop, mended, 0.02, 0.05, "worse") == pytest.approx(0.8, abs=0.005)


def test_more_samples_find_less() -> None:
    drops = [detectable(Pairs(kept=n), 0.02, 0.05) for n in (60, 240, 1000)]
    assert all(one is not None for one in drops)
    assert drops == sorted(drops, reverse=True)  # type: ignore[type-var]
    assert drops[1] == pytest.approx(0.052, abs=0.001)


@pytest.mark.parametrize("counted", [Pairs(), Pairs(kept=2), Pairs(mended=2)])
def test_too_few_detect_nothing(counted: Pairs) -> None:
    assert detectable(counted, 0.02, 0.05) is None


def test_samples_that_all_agree_need_149() -> None:
    found = needed(Pairs(kept=20), 0.02, 0.05)
    assert found is not None
    assert (found.samples, found.side, found.exactly) == (149, "no worse", True)


def test_the_needed_number_has_the_power_and_little_fewer_has_not() -> None:
    counted = Pairs(kept=230, broken=5, mended=5)
    found = needed(counted, 0.02, 0.05)
    assert found is not None
    assert found.side == "no worse"
    q = 5 / 240
    assert power(found.samples, q, q, 0.02, 0.05, "no worse") >= 0.8
    assert power(int(0.95 * found.samples), q, q, 0.02, 0.05, "no worse") < 0.8


def test_a_large_drop_needs_samples_to_be_called_a_regression() -> None:
    found = needed(Pairs(kept=16, broken=3, mended=1), 0.02, 0.05)
    assert found is not None
    assert found.side == "worse"
    assert power(found.samples, 0.15, 0.05, 0.02, 0.05, "worse") >= 0.8


def test_large_numbers_are_rounded_approximations_that_hold() -> None:
    found = needed(Pairs(kept=220, broken=12, mended=2), 0.05, 0.05)
    assert found is not None
    assert not found.exactly
    assert found.samples % 100 == 0
    assert power(found.samples, 12 / 234, 2 / 234, 0.05, 0.05, "no worse") >= 0.79


@pytest.mark.parametrize(
    ("counted", "margin"),
    [
        (Pairs(), 0.02),
        (Pairs(kept=98, broken=2), 0.02),
        (Pairs(kept=9_800, broken=201, mended=2), 0.02),
        (Pairs(kept=10), 0.0),
    ],
)
def test_what_no_number_decides(counted: Pairs, margin: float) -> None:
    assert needed(counted, margin, 0.05) is None
