"""Confidence intervals. What cannot be known is None: no interval of no data, none from one cluster."""

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval | None:
    """Wilson's score interval of a rate (Wilson 1927, no continuity correction).

    With p = successes / n and z the normal quantile, its bounds are

        (p + z^2 / 2n  -+  z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    Raises:
        ValueError: `successes` is not between 0 and `n`, or `confidence` not between 0 and 1.

    >>> low, high = wilson(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}: give between 0 and n of them")
    if n == 0:
        return None
    z = NormalDist().inv_cdf(0.5 + _checked(confidence) / 2)
    p = successes / n
    centre = p + z * z / (2 * n)
    margin = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # The exact bounds at the ends are 0 and 1, which rounding errors would miss.
    low = 0.0 if successes == 0 else (centre - margin) / scale
    high = 1.0 if successes == n else (centre + margin) / scale
    return Interval(low, high)


def clustered_bootstrap(
    values_by_group: Mapping[str, Sequence[T]],
    statistic: Callable[[Sequence[T]], float | None],
    seed: int,
    replicates: int = 1000,
    confidence: float = 0.95,
) -> Interval | None:
    """Percentile interval of any statistic, resampling whole groups (all captions of one image).

    Groups are drawn in the order of their names, so the order of the records changes nothing.
    Replicates for which `statistic` is None or NaN are left out. None for fewer than two groups
    that hold values: one cluster says nothing about the spread between clusters.
    """
    _checked(confidence)
    groups = [list(values) for _, values in sorted(values_by_group.items()) if len(values)]
    if len(groups) < 2:
        return None
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(groups), size=(replicates, len(groups)))
    statistics = [
        result
        for row in drawn
        if (result := statistic([value for group in row for value in groups[group]])) is not None
    ]
    return _percentiles(np.array(statistics, dtype=np.float64), confidence)


def mean_interval(
    values_by_group: Mapping[str, Sequence[float]],
    seed: int,
    replicates: int = 1000,
    confidence: float = 0.95,
) -> Interval | None:
    """`clustered_bootstrap` of the mean, the same numbers, without a Python loop."""
    _checked(confidence)
    groups = [list(values) for _, values in sorted(values_by_group.items()) if len(values)]
    if len(groups) < 2:
        return None
    sums = np.array([sum(group) for group in groups], dtype=np.float64)
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(groups), size=(replicates, len(groups)))
    return _percentiles(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), confidence)


def _percentiles(
    statistics: np.ndarray[tuple[int], np.dtype[np.float64]], confidence: float
) -> Interval | None:
    finite = statistics[np.isfinite(statistics)]
    if not len(finite):
        return None
    tail = 50 * (1 - confidence)
    low, high = np.percentile(finite, [tail, 100 - tail])
    return Interval(float(low), float(high))


def _checked(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not a probability: give one such as 0.95")
    return confidence
