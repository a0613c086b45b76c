"""Exact tests of a drop in accuracy on paired samples, against a margin.

Of n pairs, b are *broken* (the baseline held, the new model did not) and c are *mended*. (b, c) is
trinomial with probabilities (q_b, q_c), and the drop is D = q_b - q_c. Two one-sided questions are asked:

- `p_worse`: of H0 D <= margin. Small values say that the drop exceeds the margin.
- `p_no_worse`: of H0 D >= margin. Small values say that it stays below: non-inferiority.

With a margin of 0 the first is the exact sign test on the discordant pairs (McNemar's, one-sided), so is
the second. Else outcomes are ordered by Tango's score statistic (Statistics in Medicine 17, 1998)

    Z = (b - c - n margin) / sqrt(n (2 x + margin - margin^2)),

x the likeliest q_c with D = margin, and the p-value is the exact probability of an outcome at least as
extreme, maximised over q_c (Hsueh, Liu and Chen, Biometrics 57, 2001). Z grows with b and falls with c,
so the maximum over H0 lies on its boundary, and both tests keep their level whatever the share of
discordant pairs. The maximum is sought on a grid that is refined twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Side = Literal["worse", "no worse"]
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

_TIE = 1e-9
"""Outcomes whose Z differs by less are equally extreme."""
_GRID = 65
_NEGLIGIBLE = 1e-13


@dataclass(frozen=True, slots=True)
class Pairs:
    """Counts of paired outcomes: `kept` and `lost` have the same outcome on both sides."""

    kept: int = 0
    lost: int = 0
    broken: int = 0
    mended: int = 0

    def __post_init__(self) -> None:
        if min(self.kept, self.lost, self.broken, self.mended) < 0:
            raise ValueError(f"{self} has a negative count: give counts of 0 or more")

    @property
    def n(self) -> int:
        """How many pairs."""
        return self.kept + self.lost + self.broken + self.mended

    @property
    def baseline(self) -> float | None:
        """Accuracy of the baseline, None of no pairs."""
        return (self.kept + self.broken) / self.n if self.n else None

    @property
    def new(self) -> float | None:
        """Accuracy of the new model, None of no pairs."""
        return (self.kept + self.mended) / self.n if self.n else None

    @property
    def drop(self) -> float | None:
        """Baseline less new, None of no pairs."""
        return (self.broken - self.mended) / self.n if self.n else None


def p_worse(pairs: Pairs, margin: float) -> float:
    """Exact p-value of H0: the drop is at most `margin`. 1 for no pairs."""
    return _p_value(pairs.broken, pairs.mended, pairs.n, _checked(margin), "worse")


def p_no_worse(pairs: Pairs, margin: float) -> float:
    """Exact p-value of H0: the drop is at least `margin`. 1 for no pairs."""
    return _p_value(pairs.broken, pairs.mended, pairs.n, _checked(margin), "no worse")


def interval(pairs: Pairs, alpha: float) -> tuple[float, float] | None:
    """All drops that neither test refuses at level `alpha`: two-sided confidence 1 - 2 alpha."""
    drop = pairs.drop
    if drop is None:
        return None
    b, c, n = pairs.broken, pairs.mended, pairs.n
    # By the score statistic for every margin, 0 too, so that the bounds do not jump there.
    low = _bisected(lambda at: _score_p(b, c, n, at, "worse") > alpha, drop, -1.0)
    high = _bisected(lambda at: _score_p(b, c, n, at, "no worse") > alpha, drop, 1.0)
    return low, high


def score(broken: npt.ArrayLike, mended: npt.ArrayLike, n: int, margin: float) -> Floats:
    """Tango's Z of each outcome; 0 where nothing speaks for either side."""
    b, c = np.asarray(broken, np.float64), np.asarray(mended, np.float64)
    linear = b + c + margin * (b - c - 2 * n)
    root = np.sqrt(np.maximum(linear**2 + 8 * n * c * margin * (1 - margin), 0))
    likeliest = np.maximum((linear + root) / (4 * n), max(0.0, -margin))
    variance = n * (2 * likeliest + margin - margin**2)
    excess = b - c - n * margin
    with np.errstate(divide="ignore", invalid="ignore"):
        z = excess / np.sqrt(variance)
    # At variance 0 the restricted model allows a single outcome.
    infinite = np.where(excess > 0, np.inf, -np.inf)
    return np.where(variance > 1e-12, z, np.where(np.abs(excess) < _TIE, 0.0, infinite))


@lru_cache(maxsize=4096)
def _p_value(b: int, c: int, n: int, margin: float, side: Side) -> float:
    if n == 0:
        return 1.0
    return _sign_p(b, c, side) if margin == 0 else _score_p(b, c, n, margin, side)


def _sign_p(b: int, c: int, side: Side) -> float:
    from scipy.special import bdtr

    against = c if side == "worse" else b
    return float(bdtr(against, b + c, 0.5))


def _score_p(b: int, c: int, n: int, margin: float, side: Side) -> float:
    if abs(margin) >= 1:  # the only outcome it allows is that all pairs are broken, or all mended
        return float(b - c == margin * n)
    z = float(score(b, c, n, margin))
    return _size(_score_region(n, margin, z, side), n, margin, side)


def _score_region(n: int, margin: float, z: float, side: Side) -> Ints:
    """By c: the least b with Z >= z ("worse"), or the greatest b with Z <= z ("no worse").

    n - c + 1, or -1, where there is none. Z grows with b, so all are found by halving at once.
    """
    c = np.arange(n + 1)
    low, high = np.full(n + 1, -1), n - c + 1
    while np.any(high - low > 1):
        middle = (low + high) // 2
        inside = (middle >= 0) & (middle <= n - c)
        value = score(np.clip(middle, 0, n - c), c, n, margin)
        above = value >= z - _TIE if side == "worse" else value > z + _TIE
        high = np.where((high - low > 1) & inside & above, middle, high)
        low = np.where((high - low > 1) & inside & ~above, middle, low)
    return high if side == "worse" else low


def _sign_region(n: int, alpha: float, side: Side) -> Ints:
    """By c: the b for which the sign test's p-value is at most alpha, as in `_score_region`."""
    from scipy.special import bdtr

    c = np.arange(n + 1)
    if side == "worse":
        b = np.arange(n + 1)
        table = bdtr(c[:, None].astype(float), c[:, None] + b[None, :], 0.5) <= alpha
        least = np.where(table.any(axis=1), table.argmax(axis=1), n + 1)
        limit: Ints = np.minimum(least, n - c + 1)
        return limit
    b = np.arange(n + 1)
    table = bdtr(b[None, :].astype(float), c[:, None] + b[None, :], 0.5) <= alpha
    limit = np.minimum(table.sum(axis=1) - 1, n - c)
    return limit


def _probability(region: Ints, n: int, q_b: Floats, q_c: Floats, side: Side) -> Floats:
    """Exact probability of a region, for each (q_b, q_c): c is binomial, and b given c is."""
    from scipy.special import bdtr, bdtrc, gammaln, xlog1py, xlogy

    c = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(c + 1) - gammaln(n - c + 1)
    mass = np.exp(ways + xlogy(c, q_c[:, None]) + xlog1py(n - c, -q_c[:, None]))
    rate = np.clip(q_b / np.maximum(1 - q_c, 1e-300), 0, 1)
    at, by = np.nonzero(mass > _NEGLIGIBLE)
    limit, rest, chance = region[by], n - by, rate[at]
    if side == "worse":
        tail = np.where(limit > 0, bdtrc(np.maximum(limit - 1, 0.0), rest, chance), 1.0)
        tail = np.where(limit > rest, 0.0, tail)
    else:
        tail = np.where(limit >= 0, bdtr(np.clip(limit, 0.0, rest), rest, chance), 0.0)
    total = np.bincount(at, weights=mass[at, by] * tail, minlength=len(q_c))
    return np.minimum(total, 1.0)


def _size(region: Ints, n: int, margin: float, side: Side) -> float:
    """The greatest probability of the region where D = margin."""
    low, high = max(0.0, -margin), (1 - margin) / 2

    def at(t: Floats) -> Floats:
        q_c = low + (high - low) * t**2  # denser where few pairs are discordant
        return _probability(region, n, q_c + margin, q_c, side)

    t = np.linspace(0.0, 1.0, _GRID)
    best = 0.0
    for _ in range(3):
        values = at(t)
        peak = int(values.argmax())
        best = max(best, float(values[peak]))
        t = np.linspace(t[max(peak - 1, 0)], t[min(peak + 1, len(t) - 1)], 9)
    return best


@cache
def rejection(n: int, margin: float, alpha: float, side: Side) -> tuple[int, ...]:
    """By c: the limit of b up to (or from) which the p-value is at most `alpha`."""
    if _checked(margin) == 0:
        return tuple(_sign_region(n, alpha, side).tolist())
    sign = 1 if side == "worse" else -1
    loose, strict = 0.5, 12.0  # |Z|: sizes above and below any alpha of use
    for _ in range(18):
        middle = (loose + strict) / 2
        region = _score_region(n, margin, sign * middle, side)
        if _size(region, n, margin, side) <= alpha:
            strict = middle
        else:
            loose = middle
    return tuple(_score_region(n, margin, sign * strict, side).tolist())


def power(n: int, q_b: float, q_c: float, margin: float, alpha: float, side: Side) -> float:
    """How often the test of `side` decides if pairs break and mend with these probabilities."""
    if n == 0:
        return 0.0
    region = np.array(rejection(n, margin, alpha, side))
    return float(_probability(region, n, np.array([q_b]), np.array([q_c]), side)[0])


def _bisected(accepted: Callable[[float], bool], inside: float, outside: float) -> float:
    """The last accepted value between one that is and one that may not be."""
    if accepted(outside):
        return outside
    for _ in range(14):
        middle = (inside + outside) / 2
        if accepted(middle):
            inside = middle
        else:
            outside = middle
    return inside


def _checked(margin: float) -> float:
    if not 0 <= margin < 1:
        raise ValueError(f"margin {margin} cannot be used: give a share from 0 to below 1")
    return margin
