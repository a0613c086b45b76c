"""What the baselines share: captions in the running, all their scores, and evolution's way to rank them."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from attacks.evolution.engine import Engine, Found
from attacks.evolution.evolution import schedule_of
from attacks.evolution.individuals import Asking, Entrant, Evaluation, Individual, normalised
from attacks.evolution.ranking import pool_mean, ranked, scores_of, shrunk
from benchmark.types import JSON, SCORE_DIGITS


class Contest:
    """All captions of one search, beginning with the pool's.

    Attributes:
        robust: Captions are shown again and ranked by the shrunk mean of their scores; if not, one
            picture each, whose score is kept.
        entrants: Whatever has a score, in order of birth.
    """

    def __init__(self, engine: Engine) -> None:
        settings: Mapping[str, Any] = engine.settings
        self.robust = settings["selection"] == "robust"
        self.finals = schedule_of(settings).finals
        self.entrants = [Entrant(one.individual, [one]) for one in engine.scored if _scored(one)]
        self._engine = engine
        self._prior = pool_mean(engine.scored)
        self._ties = engine.rng if settings["tie_breaking"] == "random" else None
        self._known = {normalised(one.text) for one in engine.pool}
        self._rows: list[dict[str, JSON]] = []
        self.row(self.entrants, pool=True)

    @property
    def left(self) -> int:
        """Evaluations that may still be made."""
        left = self._engine.evaluator.left
        return self._engine.budget - self._engine.evaluator.used if left is None else left

    def is_new(self, text: str) -> bool:
        """Whether no caption was like it; from now on it is known."""
        key = normalised(text)
        new = bool(key) and key not in self._known
        self._known.add(key)
        return new

    def enter(
        self, individuals: Sequence[Individual], again: Sequence[Entrant] = ()
    ) -> Asking[list[Entrant | None]]:
        """Show one picture of each; None for those that got no score, or came too late.

        Of those to be shown `again` one more picture is shown at the same time.
        """
        pairs = [(one, 0) for one in individuals]
        pairs += [(one.individual, len(one.evaluations)) for one in again]
        evaluations = yield from self._engine.evaluator.evaluate_pairs(pairs)
        for one, evaluation in zip(again, evaluations[len(individuals) :], strict=False):
            one.evaluations.append(evaluation)
        entered = [
            Entrant(one.individual, [one]) if _scored(one) else None
            for one in evaluations[: len(individuals)]
        ]
        self.entrants += [one for one in entered if one is not None]
        return [*entered, *[None] * (len(individuals) - len(entered))]

    def show_again(self, entrants: Sequence[Entrant]) -> Asking[None]:
        """Show one more picture of each, as far as the budget goes."""
        yield from self.enter((), entrants)

    def value(self, entrant: Entrant) -> float:
        """What a caption is ranked by."""
        scores = scores_of(entrant.evaluations)
        return shrunk(scores, self._prior) if self.robust else scores[0]

    def best(self, n: int, among: Iterable[Entrant] | None = None) -> list[Entrant]:
        """The n least described captions, of `among` or of all, the first one first."""
        entrants = self.entrants if among is None else list(among)
        return ranked(entrants, self.value, self._ties)[:n]

    def halve(self, sizes: Sequence[int]) -> Asking[None]:
        """Successive halving: of the best `sizes[0]` one more picture, then of the best `sizes[1]`, ...

        All are ranked again after each round, so one that was unlucky at first may come back.
        """
        for size in sizes:
            if not self.left:
                return
            chosen = self.best(size)
            yield from self.show_again(chosen)
            self.row(chosen)
            yield from self.tell()

    def row(self, entrants: Sequence[Entrant], *, pool: bool = False) -> None:
        """Write down how the search stands: `entrants` are the best captions so far."""
        values = [self.value(one) for one in entrants]
        self._rows.append(
            {
                "generation": len(self._rows),
                "evaluations": self._engine.evaluator.used,
                "best": round(min(values), SCORE_DIGITS) if values else None,
                "mean": round(fmean(values), SCORE_DIGITS) if values else None,
                "captions": [] if pool else [one.text for one in entrants],
            }
        )

    def tell(self) -> Asking[None]:
        """Tell whoever watches what the last row says."""
        row = self._rows[-1]
        best, mean = (
            f"{value:.2f}".removeprefix("0") if isinstance(value, float) else "-"
            for value in (row["best"], row["mean"])
        )
        yield from self._engine.note(
            f"round {row['generation']}: best {best}, mean {mean}, {row['evaluations']} evaluations"
        )

    def found(self, **extra: JSON) -> Found:
        """The search's end: the best captions of all that it saw."""
        finals = self.best(self.finals)
        stopped = "llm budget" if self._engine.operators.exhausted else "schedule"
        if not self.left:
            stopped = "budget"
        return Found(
            [one.evaluations for one in finals],
            self._rows,
            stopped,
            [self.value(one) for one in finals],
            extra,
        )


def rounds_of(settings: Mapping[str, Any], left: int) -> list[int]:
    """How many captions evolution shows again in each generation, as far as a third of `left` goes.

    A baseline that shows as many of its own again in the end spends its budget as evolution does. Where
    the budget is small the first, largest rounds are left out.
    """
    schedule = schedule_of(settings)
    sizes = [schedule.islands * kept for kept in schedule.kept]
    while sizes and 3 * sum(sizes) > left:
        sizes.pop(0)
    return sizes


def _scored(evaluation: Evaluation) -> bool:
    return evaluation.capture is not None
