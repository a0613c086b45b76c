"""By how much fitness changed on paired samples: a bootstrap that resamples whole groups."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.gate.verdict import Mode, Verdict, holm

REPLICATES = 9999


@dataclass(frozen=True, slots=True)
class Change:
    """Mean fitness of the new model less the baseline's, higher is more adversarial.

    `interval` has two-sided confidence 1 - 2 alpha, None of fewer than two groups. The verdict is None
    where no margin was given.
    """

    attack: str
    mode: Mode
    n: int
    mean: float
    interval: tuple[float, float] | None
    p_no_worse: float
    p_worse: float
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class Scores:
    """The changes of one question, by group."""

    attack: str
    mode: Mode
    changes: Mapping[str, Sequence[float]]


def decide(
    questions: Sequence[Scores], margin: float | None, alpha: float, seed: int = 0
) -> list[Change]:
    """One change for each question that has values, with a verdict if there is a margin.

    p-values are shares of the replicates beyond the margin; those of REGRESSION are corrected by Holm.
    """
    asked = [one for one in questions if any(one.changes.values())]
    means = [_replicates(one.changes, seed) for one in asked]
    beyond = 0.0 if margin is None else margin
    worse = holm([_share(drawn <= beyond) for drawn in means])
    found = []
    for question, drawn, p_worse in zip(asked, means, worse, strict=True):
        p_no_worse = _share(drawn >= beyond)
        values = [value for group in question.changes.values() for value in group]
        verdict: Verdict | None = None
        if margin is not None:
            verdict = "INCONCLUSIVE"
            if p_worse <= alpha:
                verdict = "REGRESSION"
            elif p_no_worse <= alpha:
                verdict = "PASS"
        bounds = None
        if len(drawn):
            low, high = np.percentile(drawn, [100 * alpha, 100 * (1 - alpha)])
            bounds = (float(low), float(high))
        found.append(
            Change(
                attack=question.attack,
                mode=question.mode,
                n=len(values),
                mean=float(np.mean(values)),
                interval=bounds,
                p_no_worse=p_no_worse,
                p_worse=p_worse,
                verdict=verdict,
            )
        )
    return found


def by_group(changes: Sequence[tuple[str, float]]) -> dict[str, list[float]]:
    """(group, change) pairs, gathered."""
    gathered: dict[str, list[float]] = defaultdict(list)
    for group, change in changes:
        gathered[group].append(change)
    return dict(gathered)


def _replicates(
    changes: Mapping[str, Sequence[float]], seed: int
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Means of resampled groups; none of fewer than two groups."""
    groups = [values for _, values in sorted(changes.items()) if values]
    if len(groups) < 2:
        return np.empty(0)
    sums = np.array([sum(values) for values in groups], np.float64)
    sizes = np.array([len(values) for values in groups], np.float64)
    rng = np.random.default_rng(seed)
    drawn = np.empty(REPLICATES)
    for start in range(0, REPLICATES, 500):  # a block at a time: groups may be many
        rows = rng.integers(len(groups), size=(min(500, REPLICATES - start), len(groups)))
        drawn[start : start + len(rows)] = sums[rows].sum(axis=1) / sizes[rows].sum(axis=1)
    return drawn


def _share(beyond: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    """A p-value from replicates, never 0; 1 without any."""
    return float((beyond.sum() + 1) / (len(beyond) + 1))
