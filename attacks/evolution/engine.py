"""What a search has to work with, and what it ends with: the same for evolution and its baselines."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from attacks.evolution.evaluation import Evaluator
from attacks.evolution.individuals import Asking, Evaluation, Individual
from attacks.evolution.operators import Operators
from benchmark.types import JSON, Note, Reply, Request


@dataclass(slots=True)
class Engine:
    """One search's means.

    Attributes:
        evaluator: Evaluates captions and counts; `evaluator.left` is what remains of the budget.
        operators: Make captions.
        settings: The attack's settings.
        rng: The search's randomness.
        pool: The initial captions, ids 0 to n-1, shared by all searches of a repeat.
        scored: One evaluation (picture 0) of each of them, already counted in `evaluator.used`.
        budget: Evaluations that every search of the run may make, the pool's among them.
    """

    evaluator: Evaluator
    operators: Operators
    settings: Mapping[str, Any]
    rng: np.random.Generator
    pool: Sequence[Individual]
    scored: Sequence[Evaluation]
    budget: int
    _ids: "count[int]" = field(init=False)

    def __post_init__(self) -> None:
        self._ids = count(len(self.pool))

    def born(
        self,
        text: str,
        operator: str,
        parents: Sequence[int] = (),
        generation: int = 0,
        island: int = -1,
    ) -> Individual:
        """A new caption with the next id."""
        return Individual(next(self._ids), text, operator, tuple(parents), generation, island)

    @property
    def spent(self) -> bool:
        """Whether the budget of evaluations is used up."""
        return self.evaluator.left == 0

    def note(self, text: str) -> Generator[Request, Reply, None]:
        """Tell whoever watches; write `yield from engine.note(...)`."""
        yield Note(text)


@dataclass(frozen=True, slots=True)
class Found:
    """What a search ends with.

    Attributes:
        finals: The captions that it found, best first: all evaluations of each.
        generations: A row for each generation: "generation", "evaluations" (so far), "best" and "mean"
            of the survivors, "captions" of the survivors.
        stopped: Why it ended: "schedule", "budget", "llm budget", "low mean", "similar".
        selected: The score that each final was selected by, in the order of `finals`; the mean of its
            scores if empty.
        extra: What else is to be in the record.
    """

    finals: Sequence[Sequence[Evaluation]]
    generations: Sequence[Mapping[str, JSON]]
    stopped: str = "schedule"
    selected: Sequence[float] = ()
    extra: Mapping[str, JSON] = field(default_factory=dict)


Search = Callable[[Engine], Asking[Found]]
