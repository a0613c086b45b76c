"""The exact tests against brute force, hand computation and scipy."""

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.stats import binomtest

from benchmark.gate.exact import (
    Pairs,
    Side,
    interval,
    p_no_worse,
    p_worse,
    power,
    rejection,
    score,
)


def outcomes(n: int) -> list[tuple[int, int]]:
    return [(b, c) for b, c in product(range(n + 1), repeat=2) if b + c <= n]


def trinomial(n: int, b: int, c: int, q_b: float, q_c: float) -> float:
    rest = 1 - q_b - q_c
    ways = comb(n, b) * comb(n - b, c)
    return float(ways * q_b**b * q_c**c * rest ** (n - b - c))


def pairs(n: int, b: int, c: int) -> Pairs:
    return Pairs(kept=n - b - c, broken=b, mended=c)


def test_rates() -> None:
    counted = Pairs(kept=6, lost=1, broken=2, mended=1)
    assert (counted.n, counted.baseline, counted.new) == (10, 0.8, 0.7)
    assert counted.drop == pytest.approx(0.1)


def test_no_pairs_have_no_rates_and_decide_nothing() -> None:
    nothing = Pairs()
    assert (nothing.baseline, nothing.new, nothing.drop) == (None, None, None)
    assert (p_worse(nothing, 0.02), p_no_worse(nothing, 0.02)) == (1.0, 1.0)
    assert interval(nothing, 0.05) is None
    assert power(0, 0.1, 0.0, 0.02, 0.05, "worse") == 0.0


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="negative count: give counts of 0 or more"):
        Pairs(kept=-1)


@pytest.mark.parametrize("margin", [-0.1, 1.0])
def test_margins_that_are_no_share_are_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="give a share from 0 to below 1"):
        p_worse(Pairs(kept=1), margin)


@pytest.mark.parametrize(("b", "c"), [(0, 0), (5, 1), (1, 5), (9, 9), (40, 22)])
def test_without_a_margin_it_is_the_sign_test(b: int, c: int) -> None:
    expected = binomtest(b, b + c, 0.5, "greater").pvalue if b + c else 1.0
    assert p_worse(pairs(80, b, c), 0.0) == pytest.approx(expected)
    expected = binomtest(b, b + c, 0.5, "less").pvalue if b + c else 1.0
    assert p_no_worse(pairs(80, b, c), 0.0) == pytest.approx(expected)


def test_the_score_statistic_by_hand() -> None:
    # b = 5, c = 3, n = 20, margin 0.1. 2n x^2 - [b + c + 0.1 (b - c - 2n)] x - 0.09 c = 0, that is
    # 40 x^2 - 4.2 x - 0.27 = 0: x = (4.2 + sqrt(17.64 + 43.2)) / 80 = 0.1500. Variance
    # 20 (0.3 + 0.1 - 0.01) = 7.8 and Z = (2 - 2) / 2.79 = 0; with b = 6 the numerator is 1.
    assert float(score(5, 3, 20, 0.1)) == pytest.approx(0.0)
    x = (5.3 + np.sqrt(5.3**2 + 8 * 20 * 3 * 0.09)) / 80
    assert float(score(6, 3, 20, 0.1)) == pytest.approx(1 / np.sqrt(20 * (2 * x + 0.09)))
    # McNemar's statistic where there is no margin.
    assert float(score(9, 4, 50, 0.0)) == pytest.approx(5 / np.sqrt(13))


@pytest.mark.parametrize("margin", [-0.2, 0.0, 0.02, 0.3])
def test_the_statistic_grows_with_broken_and_falls_with_mended(margin: float) -> None:
    n = 25
    table = {(b, c): float(score(b, c, n, margin)) for b, c in outcomes(n)}
    for (b, c), z in table.items():
        if (b + 1, c) in table:
            assert table[b + 1, c] >= z - 1e-12
        if (b, c + 1) in table:
            assert table[b, c + 1] <= z + 1e-12


@pytest.mark.parametrize("side", ["worse", "no worse"])
@pytest.mark.parametrize(("b", "c"), [(0, 0), (2, 0), (4, 1), (0, 3), (6, 6)])
def test_p_values_against_brute_force(b: int, c: int, side: Side) -> None:
    n, margin = 14, 0.1
    z = float(score(b, c, n, margin))
    sign = 1 if side == "worse" else -1
    extreme = [one for one in outcomes(n) if sign * (float(score(*one, n, margin)) - z) >= -1e-9]
    grid = np.linspace(0, (1 - margin) / 2, 1501)
    expected = max(sum(trinomial(n, *one, q_c + margin, q_c) for one in extreme) for q_c in grid)
    test = p_worse if side == "worse" else p_no_worse
    assert test(pairs(n, b, c), margin) == pytest.approx(min(expected, 1.0), abs=2e-4)


@pytest.mark.parametrize("margin", [0.0, 0.1])
@pytest.mark.parametrize("side", ["worse", "no worse"])
def test_rejection_is_where_the_p_value_is_small(margin: float, side: Side) -> None:
    n, alpha = 30, 0.05
    limits = rejection(n, margin, alpha, side)
    for b, c in outcomes(n):
        if side == "worse":
            assert (b >= limits[c]) == (p_worse(pairs(n, b, c), margin) <= alpha)
        else:
            assert (b <= limits[c]) == (p_no_worse(pairs(n, b, c), margin) <= alpha)


@pytest.mark.parametrize("margin", [0.0, 0.02, 0.1])
@pytest.mark.parametrize("side", ["worse", "no worse"])
@pytest.mark.parametrize("n", [20, 60, 240])
def test_the_level_is_kept_whatever_the_nuisance(n: int, margin: float, side: Side) -> None:
    # At the margin itself a decision is wrong; between the points of the search's grid too.
    sizes = [
        power(n, q_c + margin, q_c, margin, 0.05, side)
        for q_c in np.linspace(0, (1 - margin) / 2, 173)
    ]
    assert max(sizes) <= 0.0505
    assert max(sizes) > 0.015  # and it is not kept by deciding nothing


def test_power_by_hand() -> None:
    # No pair mends, margin 0: the sign test needs 5 broken (1/32 <= 0.05), and of 6 pairs that is
    # 6 * 0.9^5 * 0.1 + 0.9^6.
    found = power(6, 0.9, 0.0, 0.0, 0.05, "worse")
    assert found == pytest.approx(6 * 0.9**5 * 0.1 + 0.9**6)


def test_all_alike() -> None:
    # With nothing discordant, of 149 pairs 0.98^149 = 0.0493, of 148 it is 0.0503.
    assert p_no_worse(Pairs(kept=149), 0.02) == pytest.approx(0.98**149)
    assert p_no_worse(Pairs(kept=149), 0.02) < 0.05 < p_no_worse(Pairs(kept=148), 0.02)
    assert p_no_worse(Pairs(lost=149), 0.02) == p_no_worse(Pairs(kept=149), 0.02)


def test_the_interval_holds_the_drop_and_mirrors() -> None:
    low, high = interval(pairs(240, 12, 5), 0.05) or (0, 0)
    assert low < 7 / 240 < high
    back = interval(pairs(240, 5, 12), 0.05) or (0, 0)
    assert back == pytest.approx((-high, -low), abs=1e-3)


def test_the_interval_agrees_with_the_tests() -> None:
    counted = pairs(60, 9, 2)
    low, high = interval(counted, 0.05) or (0, 0)
    assert p_worse(counted, low - 0.002) <= 0.05 < p_worse(counted, low + 0.002)
    assert p_no_worse(counted, high + 0.002) <= 0.05 < p_no_worse(counted, high - 0.002)


def test_the_interval_of_extremes() -> None:
    low, high = interval(Pairs(broken=10), 0.05) or (0, 0)
    assert high == 1.0
    assert 0 < low < 1
