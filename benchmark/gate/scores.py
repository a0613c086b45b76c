"""By how much fitness changed on paired samples."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmark.gate.bootstrap import bounds, p_value, replicates
from benchmark.gate.verdict import Verdict, holm


@dataclass(frozen=True, slots=True)
class Change:
    """Mean fitness of the new model less the baseline's, higher is more adversarial.

    `interval` has two-sided confidence 1 - 2 alpha, None of too few groups. The verdict is None
    where no margin was given.
    """

    attack: str
    mode: str
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
    mode: str
    changes: Mapping[str, Sequence[float]]


def decide(questions: Sequence[Scores], margin: float | None, alpha: float) -> list[Change]:
    """One change for each question that has values, with a verdict if there is a margin.

    p-values are shares of the replicates beyond the margin; those of REGRESSION are corrected by Holm.
    """
    asked = [one for one in questions if any(one.changes.values())]
    means = [replicates(one.changes) for one in asked]
    beyond = 0.0 if margin is None else margin
    worse = holm([p_value(drawn <= beyond) for drawn in means])
    found = []
    for question, drawn, p_worse in zip(asked, means, worse, strict=True):
        p_no_worse = p_value(drawn >= beyond)
        values = [value for group in question.changes.values() for value in group]
        verdict: Verdict | None = None
        if margin is not None:
            verdict = "INCONCLUSIVE"
            if p_worse <= alpha:
                verdict = "REGRESSION"
            elif p_no_worse <= alpha:
                verdict = "PASS"
        found.append(
            Change(
                attack=question.attack,
                mode=question.mode,
                n=len(values),
                mean=float(np.mean(values)),
                interval=bounds(drawn, alpha),
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
