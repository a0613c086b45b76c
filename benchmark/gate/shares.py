"""Tests of a drop where an outcome is the share of several tries, by a paired bootstrap of whole groups.

A bootstrap knows only the changes that it was shown: if twenty samples all stayed as they were it would
PASS, and rare samples that break altogether are seldom among those that were seen. So each side is
given one group more, of the worst that could have been seen: of samples that broke altogether for
`p_no_worse`, that were mended altogether for `p_worse`. Without any change the first is then about as
cautious as the exact test; Clopper and Pearson's bounds of a rate come about in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp, factorial
from statistics import NormalDist

import numpy as np

from benchmark.gate.bootstrap import LEAST, REPLICATES, Floats, p_value, replicates
from benchmark.gate.exact import Side
from benchmark.gate.power import MOST, POWER, Needed

Changes = Mapping[str, Sequence[float]]
"""Accuracy before less accuracy now of the samples of each group."""


@dataclass(frozen=True, slots=True)
class Facts:
    """As in `verdict.Answer`; normal approximations."""

    interval: tuple[float, float] | None
    detectable: float | None
    needed: Needed | None


def p_values(changes: Changes, margin: float, count: int = REPLICATES) -> tuple[float, float]:
    """(p_no_worse, p_worse): of a mean drop that reaches `margin`, of one that does not exceed it."""
    high, low = _drawn(changes, 1.0, count), _drawn(changes, -1.0, count)
    return p_value(high >= margin), p_value(low <= margin)


def facts(changes: Changes, margin: float, alpha: float) -> Facts:
    """The interval of the mean drop, the drop that is found, and how many samples would decide."""
    high, low = _drawn(changes, 1.0), _drawn(changes, -1.0)
    if not len(high):
        return Facts(None, None, None)
    normal = NormalDist()
    z = normal.inv_cdf(1 - alpha) + normal.inv_cdf(POWER)
    # The group that was added takes its part of the mean as well.
    groups = len(changes)
    found = (margin + z * float(low.std())) * (groups + 1) / groups + 1 / groups
    return Facts(
        interval=(float(np.quantile(low, alpha)), float(np.quantile(high, 1 - alpha))),
        detectable=found if found <= 1 else None,
        needed=_needed(changes, margin, alpha, z),
    )


def _drawn(changes: Changes, worst: float, count: int = REPLICATES) -> Floats:
    """Means of resamples of the groups and of one of `worst` changes; none of too few groups."""
    groups = {name: values for name, values in changes.items() if values}
    if len(groups) < LEAST:
        return np.empty(0)
    size = round(sum(map(len, groups.values())) / len(groups))
    return replicates({**groups, "\x00": [worst] * size}, count=count)


def _needed(changes: Changes, margin: float, alpha: float, z: float) -> Needed | None:
    """The least number of samples at which the bound is expected on the right side of the margin."""
    sums = np.array([sum(values) for values in changes.values()], np.float64)
    sizes = np.array([len(values) for values in changes.values()], np.float64)
    drop = float(sums.sum() / sizes.sum())
    distance = abs(drop - margin)
    side: Side = "worse" if drop > margin else "no worse"
    spread = float(np.std(sums - drop * sizes) / sizes.mean())
    added = 1 - drop if side == "no worse" else 1 + drop
    groups = 1.0
    while groups <= MOST and distance < z * spread / groups**0.5 + added / groups:
        groups *= 1.01
    if side == "no worse" and margin > 0:
        groups = max(groups, _rare(alpha) / margin)
    samples = ceil(groups * float(sizes.mean()))
    return Needed(samples, side, exactly=False) if samples <= MOST else None


def _rare(alpha: float) -> int:
    """How often the added group may be drawn: more often it is with probability `alpha` at most."""
    tail, often = 1.0, 0
    while True:
        tail -= exp(-1) / factorial(often)  # it is drawn once on average
        if tail <= alpha:
            return often
        often += 1
