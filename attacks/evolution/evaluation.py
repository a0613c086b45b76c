"""The evaluation of captions (sec. 3.3): paint it, ask the target, score the answer, guard every step."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import cast

import numpy as np

from attacks.evolution.guards import Limits, shows_nothing
from attacks.evolution.individuals import (
    Asking,
    Evaluation,
    Individual,
    Status,
    normalised,
    paint_seed,
)
from attacks.evolution.tasks import Judged, Task, captures
from benchmark.answer_guards import counts_of
from benchmark.types import JSON, Ask, Candidate, Feedback, Paint, Pixels, Purpose, Score

__all__ = ["Evaluation", "Evaluator", "Gate", "Individual", "Status"]

PAINTER = "painter"
GATE = "gate"
FRESH = "fresh"
"""The condition of pictures that no selection saw."""
_AT_ONCE = 128
"""So many pictures are painted, shown and let go of at a time."""


@dataclass(slots=True)
class Gate:
    """An image-text model that tells pictures which do not show their caption.

    `threshold` is the least cosine; None takes the 5th percentile of what is evaluated first, the pool.
    """

    threshold: float | None
    calibrated: bool = False


@dataclass(slots=True)
class Evaluator:
    """Evaluates captions for one search, and counts.

    An evaluation is one picture that the painter was asked for in the search, whatever came of it;
    captions that a guard stops before cost nothing. `limit` caps them. `pictures`, if it is not None,
    keeps what was shown by (caption's id, picture's number).
    """

    task: Task
    limits: Limits
    seed: int
    limit: int | None = None
    gate: Gate | None = None
    pictures: dict[tuple[int, int], Pixels] | None = None
    used: int = 0
    counted: Counter[str] = field(default_factory=Counter)
    _fit: dict[str, bool] = field(default_factory=dict)
    _cut: bool = False

    @property
    def left(self) -> int | None:
        """Evaluations that may still be made; None without a limit."""
        if self._cut:
            return 0
        return None if self.limit is None else max(0, self.limit - self.used)

    def evaluate(
        self,
        individuals: Sequence[Individual],
        replicas: Sequence[int] = (0,),
        purpose: Purpose = "search",
    ) -> Asking[list[Evaluation]]:
        """Evaluate every caption on the pictures number `replicas`, caption by caption.

        See `evaluate_pairs`.
        """
        pairs = [(one, replica) for one in individuals for replica in replicas]
        return (yield from self.evaluate_pairs(pairs, purpose))

    def evaluate_pairs(
        self, pairs: Sequence[tuple[Individual, int]], purpose: Purpose = "search"
    ) -> Asking[list[Evaluation]]:
        """Evaluate captions, each on the picture whose number stands beside it.

        Returns:
            One evaluation a pair, in order; fewer, cut at the end, once the budget is spent. A report
            costs nothing and is never cut.
        """
        yield from self._check_captions([one for one, _ in pairs])
        done: list[Evaluation] = []
        for start in range(0, len(pairs), _AT_ONCE):
            part = pairs[start : start + _AT_ONCE]
            evaluations = yield from self._evaluate_part(part, purpose)
            done += evaluations
            if len(evaluations) < len(part):
                break
        return done

    def _check_captions(self, individuals: Sequence[Individual]) -> Asking[None]:
        """Find out which captions name enough to be scored."""
        texts = {normalised(one.text): one.text for one in individuals}
        new = [key for key in texts if key not in self._fit]
        # Compared with itself, a caption shows its graph.
        said = yield from captures([(texts[key], texts[key]) for key in new])
        for key, one in zip(new, said, strict=True):
            counts = counts_of(one.get("reference"))
            self._fit[key] = self.limits.caption_fits(texts[key], counts)

    def _evaluate_part(
        self, pairs: Sequence[tuple[Individual, int]], purpose: Purpose
    ) -> Asking[list[Evaluation]]:
        evaluations = [
            Evaluation(one, replica, paint_seed(self.seed, one.text, replica), "invalid")
            for one, replica in pairs
        ]
        rows = [n for n, (one, _) in enumerate(pairs) if self._fit[normalised(one.text)]]
        kept = len(pairs)
        if purpose == "search" and self.left is not None and self.left < len(rows):
            kept = rows[self.left]
            rows = rows[: self.left]
        pictures = yield from self._paint([evaluations[n] for n in rows])
        statuses = yield from self._look_over([evaluations[n] for n in rows], pictures)
        shown = []
        for n, picture, status in zip(rows, pictures, statuses, strict=True):
            evaluations[n] = replace(evaluations[n], status=status)
            if picture is not None and status == "scored":
                shown.append((n, picture))
        answered = yield from self._show(evaluations, shown, purpose)
        if answered < len(shown):
            kept = min(kept, shown[answered][0])
            self._cut = True
        evaluations = evaluations[:kept]
        if purpose == "search":
            self.used += sum(n < kept for n in rows)
            self.counted.update(one.status for one in evaluations)
        return evaluations

    def _paint(self, evaluations: Sequence[Evaluation]) -> Asking[list[Pixels | None]]:
        if not evaluations:
            return []
        texts = tuple(one.individual.text for one in evaluations)
        seeds = tuple(one.seed for one in evaluations)
        return cast("list[Pixels | None]", (yield Paint(PAINTER, texts, seeds)))

    def _look_over(
        self, evaluations: Sequence[Evaluation], pictures: Sequence[Pixels | None]
    ) -> Asking[list[Status]]:
        """Which pictures may be shown: "scored" for those that may."""
        statuses: list[Status] = [
            "unpainted" if shows_nothing(picture) else "scored" for picture in pictures
        ]
        rows = [n for n, status in enumerate(statuses) if status == "scored"]
        if self.gate is None or not rows:
            return statuses
        items = tuple((pictures[n], evaluations[n].individual.text) for n in rows)
        cosines = cast("list[float]", (yield Ask(GATE, items)))
        if self.gate.threshold is None:
            self.gate.threshold = float(np.percentile(cosines, 5))
            self.gate.calibrated = True
        for n, cosine in zip(rows, cosines, strict=True):
            if cosine < self.gate.threshold:
                statuses[n] = "mismatched"
        return statuses

    def _show(
        self,
        evaluations: list[Evaluation],
        shown: Sequence[tuple[int, Pixels]],
        purpose: Purpose,
    ) -> Asking[int]:
        """Ask the target about the pictures, and have its answers scored, in place.

        Returns:
            How many pictures it was asked everything about.
        """
        if not shown:
            return 0
        texts = [evaluations[n].individual.text for n, _ in shown]
        yield from self.task.prepare(texts)
        candidates: list[Candidate] = []
        for (n, picture), text in zip(shown, texts, strict=True):
            candidates += self._candidates(evaluations[n], picture, text, purpose)
            if self.pictures is not None:
                key = (evaluations[n].individual.id, evaluations[n].replica)
                self.pictures[key] = picture
        feedback = iter(cast("list[Feedback]", (yield Score(tuple(candidates), purpose))))
        groups = []
        for text in texts:
            size = len(self.task.questions(text))
            said = list(islice(feedback, size))
            if len(said) < size:
                break
            groups.append((text, said))
        judged = yield from self._judge(groups)
        for (n, _), (_, said), verdict in zip(shown, groups, judged, strict=False):
            evaluations[n] = replace(
                evaluations[n],
                status=verdict.status,
                capture=verdict.capture,
                answer=verdict.answer,
                index=_index(said),
                breakdown=verdict.breakdown or {},
            )
        return len(groups)

    def _candidates(
        self, evaluation: Evaluation, picture: Pixels, text: str, purpose: Purpose
    ) -> list[Candidate]:
        individual = evaluation.individual
        said: dict[str, JSON] = {
            "caption": individual.id,
            "operator": individual.operator,
            "parents": list(individual.parents),
            "generation": individual.generation,
            "island": individual.island,
            "replica": evaluation.replica,
            "seed": evaluation.seed,
            **({"condition": FRESH} if purpose == "report" else {}),
        }
        return [
            Candidate(
                text=text,
                image=picture,
                perturbation={
                    **said,
                    "question": question.text,
                    "reference": question.reference,
                },
                question=question.text,
            )
            for question in self.task.questions(text)
        ]

    def _judge(self, groups: Sequence[tuple[str, Sequence[Feedback]]]) -> Asking[list[Judged]]:
        """The task's verdicts, or what is left to tell where the threat model hides answers."""
        hidden = [all(one.output is None and not one.refusal for one in said) for _, said in groups]
        open_ = [group for group, hides in zip(groups, hidden, strict=True) if not hides]
        judged = iter((yield from self.task.judge(open_)))
        return [
            _by_fitness(said) if hides else next(judged)
            for (_, said), hides in zip(groups, hidden, strict=True)
        ]


def _by_fitness(said: Sequence[Feedback]) -> Judged:
    """CAPTURE from the fitness; 0 for what fooled the target and 1 for the rest if that is hidden."""
    known = [-one.fitness for one in said if one.fitness is not None]
    if known:
        return Judged("scored", sum(known) / len(known))
    return Judged("scored", 1 - sum(one.success for one in said) / len(said))


def _index(said: Sequence[Feedback]) -> int:
    """The candidate that stands for a picture: the fittest of its questions, fooling ones first."""
    return max(
        said, key=lambda one: (one.success, one.fitness if one.fitness is not None else -9.0)
    ).index
