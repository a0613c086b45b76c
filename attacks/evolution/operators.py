"""What makes captions: the initialisation operator I, crossover E and mutation M (sec. 3.2).

Two implementations: `prompt_operators` drives a language model, `grammar_operators` the embedded world's
grammar. An operator returns None in place of a caption that it could not make.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from attacks.evolution.individuals import Asking
from attacks.evolution.tasks import Question

ASPECTS = ("subject", "object", "attribute", "background", "weather", "domain")
"""What `rewrite` can be told to change, as LANCE names it."""


class Operators(Protocol):
    """Makes captions. One object serves one search."""

    calls: int
    """Calls of a language model so far, repeated ones included."""
    failures: int
    """Captions that could not be made."""

    @property
    def exhausted(self) -> bool:
        """Whether the cap on calls of the language model is reached."""
        ...

    def initial(self, n: int, rng: np.random.Generator) -> Asking[list[str]]:
        """About n different captions, of all categories."""
        ...

    def explore(
        self, groups: Sequence[Sequence[str]], rng: np.random.Generator
    ) -> Asking[list[str | None]]:
        """Crossover E: one new caption from each group of parents."""
        ...

    def mutate(
        self, groups: Sequence[Sequence[str]], rng: np.random.Generator
    ) -> Asking[list[list[str | None]]]:
        """Mutation M: one mutant of each caption of each group."""
        ...

    def rewrite(
        self, texts: Sequence[str], aspects: Sequence[str], rng: np.random.Generator
    ) -> Asking[list[str | None]]:
        """Each caption with the one aspect changed that stands beside it, of `ASPECTS`."""
        ...

    def questions(self, texts: Sequence[str], seeds: Sequence[int]) -> Asking[list[list[Question]]]:
        """Questions about a picture of each caption, with their answers; a function of its seed."""
        ...
