"""Paired bootstrap of a mean, by whole groups."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

REPLICATES = 9999
LEAST = 20
"""Fewer groups say too little about the spread between groups: nothing is drawn from them."""

Floats: TypeAlias = npt.NDArray[np.float64]


def replicates(
    values_by_group: Mapping[str, Sequence[float]], seed: int = 0, count: int = REPLICATES
) -> Floats:
    """Means of so many resamples of whole groups, shape (count,); empty of fewer than `LEAST` groups."""
    groups = [values for _, values in sorted(values_by_group.items()) if values]
    if len(groups) < LEAST:
        return np.empty(0)
    sums = np.array([sum(values) for values in groups], np.float64)
    sizes = np.array([len(values) for values in groups], np.float64)
    rng = np.random.default_rng(seed)
    drawn = np.empty(count)
    for start in range(0, count, 500):  # a block at a time: groups may be many
        rows = rng.integers(len(groups), size=(min(500, count - start), len(groups)))
        drawn[start : start + len(rows)] = sums[rows].sum(axis=1) / sizes[rows].sum(axis=1)
    return drawn


def p_value(beyond: npt.NDArray[np.bool_]) -> float:
    """Share of the replicates where the hypothesis holds, never 0; 1 without any replicate."""
    return float((beyond.sum() + 1) / (len(beyond) + 1))


def bounds(drawn: Floats, alpha: float) -> tuple[float, float] | None:
    """Percentile interval of two-sided confidence 1 - 2 alpha; None without any replicate."""
    if not len(drawn):
        return None
    low, high = np.percentile(drawn, [100 * alpha, 100 * (1 - alpha)])
    return float(low), float(high)
