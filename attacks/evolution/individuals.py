"""Captions that a search has, and what became of each when the target saw a picture of it."""

import hashlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np

from benchmark.answer_guards import words_of
from benchmark.types import JSON, Reply, Request

T = TypeVar("T")
Asking: TypeAlias = Generator[Request, Reply, T]
"""A step of a search that asks the scheduler on its way to a T."""

Status = Literal[
    "scored", "invalid", "unpainted", "mismatched", "refused", "short", "malformed", "repetitive",
    "error",
]  # fmt: skip
"""scored: it has a CAPTURE. All others have none, which is never a low one:

invalid: the caption names less than two objects and an attribute or relation, or is too long.
unpainted: the painter declined, or the picture is of one colour, as safety filters return it.
mismatched: an image-text model finds that the picture does not show the caption.
refused: the target would not answer, or said nothing. short: it said less than five words.
malformed: the answer names no object. repetitive: it says the same over and over.
error: the target failed.
"""
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class Individual:
    """A caption, and where it comes from. `id` counts a search's captions by birth.

    `operator` made it: "initial", "explore" (crossover), "mutate", or what a baseline does. `parents` are
    ids. `generation` is 0 for the pool, `island` -1 where there are none.
    """

    id: int
    text: str
    operator: str
    parents: tuple[int, ...] = ()
    generation: int = 0
    island: int = -1


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One picture of a caption, shown to the target.

    `replica` counts the caption's pictures, `seed` is the painter's. `index` is the candidate's among
    the sample's, None if the target was not asked. `breakdown` is what the tool `capture` says beyond the
    score.
    """

    individual: Individual
    replica: int
    seed: int
    status: Status
    capture: float | None = None
    answer: str | None = None
    index: int | None = None
    breakdown: Mapping[str, JSON] = field(default_factory=dict)


def normalised(text: str) -> str:
    """Two captions are the same if this is: case, spacing and punctuation do not matter.

    >>> normalised("A  red duck, at night.")
    'a red duck at night'
    """
    return " ".join(words_of(text))


def paint_seed(seed: int, text: str, replica: int) -> int:
    """The painter's seed, 32 bits: a function of the run's seed, the caption and the picture's number."""
    digest = hashlib.sha256(f"{seed}/{replica}/{normalised(text)}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def random_of(seed: int, *parts: object) -> np.random.Generator:
    """A source of randomness that is a function of the seed and of `parts`."""
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:8], "big")])


def short(score: object) -> str:
    """A score as one says it: .21; "-" where there is none."""
    return f"{score:.2f}".removeprefix("0") if isinstance(score, float) else "-"


def plain(breakdown: Mapping[str, Any]) -> dict[str, JSON]:
    """The numbers of what a tool said of an answer, without the graphs."""
    return {key: value for key, value in breakdown.items() if isinstance(value, int | float | None)}


@dataclass(slots=True)
class Entrant:
    """A caption with all its evaluations, of which at least one has a score."""

    individual: Individual
    evaluations: list[Evaluation] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The caption."""
        return self.individual.text
