"""Tests of a drop where an outcome is the share of several tries, by a paired bootstrap of whole groups.

A bootstrap knows only the changes that it was shown: twenty samples that all stayed as they were would
PASS. So no p-value of `p_no_worse` is below that of a model that breaks altogether on a share `margin` of
the groups, none of which was among those that were seen: (1 - margin)^groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log
from statistics import NormalDist

import numpy as np

from benchmark.gate.bootstrap import bounds, p_value, replicates
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


def p_values(changes: Changes, margin: float) -> tuple[float, float]:
    """(p_no_worse, p_worse): of a mean drop that reaches `margin`, of one that does not exceed it."""
    drawn = replicates(changes)
    unseen = (1 - margin) ** len(changes)
    return max(p_value(drawn >= margin), unseen), p_value(drawn <= margin)


def facts(changes: Changes, margin: float, alpha: float) -> Facts:
    """The interval of the mean drop, the drop that is found, and how many samples would decide."""
    drawn = replicates(changes)
    if not len(drawn):
        return Facts(None, None, None)
    normal = NormalDist()
    reach = (normal.inv_cdf(1 - alpha) + normal.inv_cdf(POWER)) * float(drawn.std())
    found = margin + reach
    return Facts(
        interval=bounds(drawn, alpha),
        detectable=found if 0 < reach and found <= 1 else None,
        needed=_needed(changes, margin, alpha, reach),
    )


def _needed(changes: Changes, margin: float, alpha: float, reach: float) -> Needed | None:
    values = np.array([one for group in changes.values() for one in group], np.float64)
    distance = float(values.mean()) - margin
    if distance == 0:
        return None
    side: Side = "worse" if distance > 0 else "no worse"
    samples = len(values) * (reach / distance) ** 2
    if side == "no worse":
        if margin == 0:
            return None
        groups = log(alpha) / log(1 - margin)
        samples = max(samples, groups * len(values) / len(changes))
    return Needed(ceil(samples), side, exactly=False) if samples <= MOST else None
