"""The A/A noise floor: how much two runs of one target differ when only the seed does."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import sqrt

from benchmark.gate.verdict import Outcome, count
from benchmark.types import JSON, Record

REACH = 1.645
"""Of a normal distribution: beyond it lies one in twenty."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """One run of the target: its seed, and how many of its samples fooled it."""

    seed: int
    fooled: int
    n: int

    @property
    def rate(self) -> float | None:
        """Attack success rate, None of no samples."""
        return self.fooled / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Noise:
    """What chance alone does.

    `spread` is the standard deviation of the success rate over the repeats, `flips` the mean share of
    samples whose outcome differs between two of them, `greatest` the greatest difference of two rates.
    `expected` is the standard deviation of such a difference if samples flip independently, sqrt(flips /
    n): a few repeats say how many samples flip, but hardly how far rates spread. None where there are too
    few repeats or samples.
    """

    repeats: tuple[Repeat, ...]
    mean: float | None
    spread: float | None
    flips: float | None
    greatest: float | None
    expected: float | None

    def to_json(self) -> dict[str, JSON]:
        """Plain data."""
        return {
            **asdict(self),
            "repeats": [{**asdict(one), "rate": one.rate} for one in self.repeats],
        }

    @property
    def floor(self) -> float | None:
        """A drop that chance exceeds in one of twenty comparisons of different seeds."""
        return None if self.expected is None else REACH * self.expected


def measure(runs: Sequence[tuple[int, Sequence[Record]]]) -> Noise:
    """Noise of (seed, records) of several runs of one target. Errors and skipped samples are left out."""
    repeats, outcomes = [], []
    for seed, records in runs:
        held = {one.id: one.status == "failure" for one in records if _is_decided(one)}
        outcomes.append(held)
        repeats.append(Repeat(seed, len(held) - sum(held.values()), len(held)))
    rates = [one.rate for one in repeats if one.rate is not None]
    mean = sum(rates) / len(rates) if rates else None
    spread = None
    if mean is not None and len(rates) > 1:
        spread = sqrt(sum((rate - mean) ** 2 for rate in rates) / (len(rates) - 1))
    compared = [
        count(Outcome(id, id, one[id], two[id]) for id in one.keys() & two.keys())
        for one, two in combinations(outcomes, 2)
    ]
    compared = [pairs for pairs in compared if pairs.n]
    flips = _mean([(pairs.broken + pairs.mended) / pairs.n for pairs in compared])
    sizes = _mean([float(pairs.n) for pairs in compared])
    drops = [abs(pairs.drop) for pairs in compared if pairs.drop is not None]
    return Noise(
        repeats=tuple(repeats),
        mean=mean,
        spread=spread,
        flips=flips,
        greatest=max(drops, default=None),
        expected=None if flips is None or sizes is None else sqrt(flips / sizes),
    )


def _is_decided(record: Record) -> bool:
    return record.status in ("success", "failure")


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
