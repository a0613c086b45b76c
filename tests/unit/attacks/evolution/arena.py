"""An engine whose evaluator is a function: for tests of searches, without painter and target."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from attacks.evolution.engine import Engine, Found
from attacks.evolution.evaluation import Evaluator
from attacks.evolution.grammar_operators import GrammarOperators
from attacks.evolution.individuals import Asking, Evaluation, Individual, paint_seed
from attacks.evolution.operators import Operators
from benchmark.types import Note
from tests.unit.attacks.evolution.asking import result

Scoring = Callable[[str, int], float | None]
"""CAPTURE of a caption's picture of that number; None is a refusal."""

SETTINGS: dict[str, Any] = {
    "selection": "robust",
    "tie_breaking": "random",
    "operators": "grammar",
    "population": "4,3,2",
    "survivors": "4,3,2",
    "islands": 3,
    "parents": 2,
    "lance_accept": "greedy",
    "word_reduction": True,
}


class Scored:
    """In the place of an `Evaluator`; `shown` is what was evaluated, in order."""

    def __init__(self, score: Scoring, limit: int | None) -> None:
        self.score = score
        self.limit = limit
        self.used = 0
        self.shown: list[tuple[str, int]] = []
        self.counted: Counter[str] = Counter()

    @property
    def left(self) -> int | None:
        return None if self.limit is None else max(0, self.limit - self.used)

    def evaluate(
        self, individuals: Sequence[Individual], replicas: Sequence[int] = (0,)
    ) -> Asking[list[Evaluation]]:
        return (yield from self.evaluate_pairs([(one, n) for one in individuals for n in replicas]))

    def evaluate_pairs(self, pairs: Sequence[tuple[Individual, int]]) -> Asking[list[Evaluation]]:
        done = []
        for one, replica in pairs:
            if self.left == 0:
                break
            self.used += 1
            self.shown.append((one.text, replica))
            capture = self.score(one.text, replica)
            status = "refused" if capture is None else "scored"
            self.counted[status] += 1
            seed = paint_seed(0, one.text, replica)
            done.append(
                Evaluation(one, replica, seed, cast("Any", status), capture, "an answer", 0)
            )
        return done
        yield


def engine(
    score: Scoring,
    *,
    budget: int = 120,
    pool: int = 24,
    seed: int = 0,
    operators: Operators | None = None,
    **settings: Any,
) -> tuple[Engine, Scored]:
    """An engine with a scored pool, and its evaluator."""
    made = operators or GrammarOperators()
    texts = result(GrammarOperators().initial(pool, np.random.default_rng(99)))
    individuals = [Individual(n, text, "initial") for n, text in enumerate(texts)]
    evaluator = Scored(score, budget)
    scored = result(evaluator.evaluate(individuals))
    return (
        Engine(
            cast("Evaluator", evaluator),
            made,
            SETTINGS | settings,
            np.random.default_rng(seed),
            individuals,
            scored,
            budget,
        ),
        evaluator,
    )


def run(search: Callable[[Engine], Asking[Found]], one: Engine) -> tuple[Found, list[str]]:
    """What a search finds, and what it told whoever watches."""
    told: list[str] = []

    def reply(request: Any) -> list[Any]:
        assert isinstance(request, Note)
        told.append(request.text)
        return []

    return result(search(one), reply), told
