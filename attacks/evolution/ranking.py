"""How captions are ranked: by one score, or by the mean of several, shrunk towards the pool's."""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TypeVar

import numpy as np

from attacks.evolution.individuals import Evaluation
from benchmark.types import SCORE_DIGITS

T = TypeVar("T")

N0 = 1.0
"""The pool's mean weighs as much as so many pictures."""


def scores_of(evaluations: Sequence[Evaluation]) -> list[float]:
    """The scores among the evaluations of a caption; those without one say nothing."""
    return [one.capture for one in evaluations if one.capture is not None]


def shrunk(scores: Sequence[float], prior: float, n0: float = N0) -> float:
    """The mean of scores that are taken with `n0` more of the value `prior`.

    >>> round(shrunk([0.0, 0.2], 0.5), 3)
    0.233
    """
    return (sum(scores) + n0 * prior) / (len(scores) + n0)


def pool_mean(scored: Sequence[Evaluation]) -> float:
    """The mean CAPTURE of the pool; 1 if nothing in it could be scored."""
    scores = scores_of(scored)
    return fmean(scores) if scores else 1.0


def ranked(
    items: Sequence[T], value: Callable[[T], float], rng: np.random.Generator | None
) -> list[T]:
    """The items in the order of their values, lowest first.

    Values that are equal to `SCORE_DIGITS` digits are ordered by chance, so that which of many captions
    at 0 survives is no matter of age; without `rng` the earlier one wins.
    """
    breaks = [0.0] * len(items) if rng is None else rng.random(len(items)).tolist()
    keys = [
        (round(value(one), SCORE_DIGITS), ties) for one, ties in zip(items, breaks, strict=True)
    ]
    return [items[n] for n in sorted(range(len(items)), key=keys.__getitem__)]


def parent_weights(n: int) -> list[float]:
    """How likely each of n ranked captions is a parent: 1 / (r + 1 + n), r from 0 (as in EoH)."""
    weights = [1 / (rank + 1 + n) for rank in range(n)]
    total = sum(weights)
    return [weight / total for weight in weights]


def draw_parents(n: int, m: int, rng: np.random.Generator) -> list[int]:
    """The ranks of m different parents, fewer if there are not so many."""
    m = min(m, n)
    return rng.choice(n, size=m, replace=False, p=parent_weights(n)).tolist() if m else []
