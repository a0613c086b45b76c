"""What was tried for one sample: the candidates in order, which is picked, sums by condition."""

import json
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from benchmark.types import JSON, SCORE_DIGITS, SCORE_EPSILON, Purpose, TraceEntry, Trial

CLEAN = "clean"
"""The condition of the unperturbed picture."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the harness made of a trial.

    `fooled`: all criteria hold. `success`: all constraints do as well.
    """

    fitness: float | None
    verdicts: Mapping[str, bool | None]
    fooled: bool
    success: bool


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate without its picture, as it is recorded."""

    text: str | None
    perturbation: Mapping[str, JSON]
    score: float | None
    option_scores: tuple[float, ...]
    output: str | None
    refusal: str
    judgement: Judgement
    purpose: Purpose


class Ledger:
    """The candidates of one sample. Those of a report are kept beside the search's queries."""

    def __init__(self) -> None:
        self._tried: list[Tried] = []
        self._clean: Tried | None = None

    def __len__(self) -> int:
        return len(self._tried)

    def __getitem__(self, index: int) -> Tried:
        return self._tried[index]

    def add(self, trial: Trial, judgement: Judgement, purpose: Purpose) -> int:
        """Keep a candidate; returns its index."""
        tried = _tried(trial, judgement, purpose)
        if tried.perturbation.get("condition") == CLEAN:
            raise ValueError(
                f"the condition {CLEAN!r} is the unperturbed picture's: name the candidate's "
                "condition otherwise"
            )
        self._tried.append(tried)
        return len(self._tried) - 1

    def add_clean(self, trial: Trial, judgement: Judgement) -> None:
        """Keep the unperturbed picture, which is the condition "clean" and nothing else."""
        self._clean = _tried(trial, judgement, "report")

    @property
    def queries(self) -> int:
        """How many candidates count as queries."""
        return len(self._searched())

    @property
    def queries_to_success(self) -> int | None:
        """The queries up to and including the first success."""
        return next(
            (
                count
                for count, index in enumerate(self._searched(), start=1)
                if self._tried[index].judgement.success
            ),
            None,
        )

    def pick(self, choice: int | None) -> int | None:
        """The fittest success, or else the fittest candidate; the first one of a tie.

        A `choice` that was made already stays. None if no candidate was tried in the search.
        """
        searched = self._searched()
        if choice is not None or not searched:
            return choice
        pool = [index for index in searched if self._tried[index].judgement.success] or searched
        known = {
            index: fitness
            for index in pool
            if (fitness := self._tried[index].judgement.fitness) is not None
        }
        if not known:
            return pool[0]
        # Recorded scores are multiples of the epsilon: half of one more is what "closer" means.
        bar = max(known.values()) - 1.5 * SCORE_EPSILON
        return next(index for index, fitness in known.items() if fitness >= bar)

    def valid_choice(self, choice: Any) -> int | None:
        """The index that an attack submitted.

        Raises:
            ValueError: It is not one of a candidate of the search.
        """
        if choice is None:
            return None
        try:
            index = operator.index(choice)
        except TypeError:
            index = -1
        if isinstance(choice, bool) or not 0 <= index < len(self._tried):
            raise ValueError(
                f"the attack submitted candidate {choice!r:.80}, but it had {len(self._tried)} "
                "scored: return an index that counts them from 0, or None"
            )
        if self._tried[index].purpose == "report":
            raise ValueError(
                f"the attack submitted candidate {index}, which was scored for the report only: "
                "submit one that was paid for with a query, or None"
            )
        return index

    def trace(self, sample_id: str) -> tuple[TraceEntry, ...]:
        """Every candidate, in order."""
        return tuple(
            TraceEntry(
                id=sample_id,
                index=index,
                text=tried.text,
                perturbation=tried.perturbation,
                verdicts=tried.judgement.verdicts,
                score=tried.score,
                success=tried.judgement.success,
                purpose=tried.purpose,
                option_scores=list(tried.option_scores),
                output=tried.output,
                refusal=tried.refusal,
            )
            for index, tried in enumerate(self._tried)
        )

    def conditions(self) -> dict[str, dict[str, JSON]]:
        """Sums of the candidates by their perturbation's "condition", the clean picture first."""
        groups: dict[str, list[Tried]] = {} if self._clean is None else {CLEAN: [self._clean]}
        for tried in self._tried:
            condition = tried.perturbation.get("condition")
            if condition is not None:
                groups.setdefault(str(condition), []).append(tried)
        return {condition: _summary(group) for condition, group in groups.items()}

    def _searched(self) -> list[int]:
        return [index for index, tried in enumerate(self._tried) if tried.purpose == "search"]


def plain(data: Mapping[str, JSON], what: str) -> dict[str, JSON]:
    """A copy as JSON gives it back, so that what is recorded cannot change any more.

    Raises:
        ValueError: `data`, named by `what`, cannot be written as JSON.
    """
    try:
        copy: dict[str, JSON] = json.loads(json.dumps(dict(data), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{what} {data!r:.80} cannot be written as JSON ({error}): "
            "use numbers, texts, lists and dicts"
        ) from error
    return copy


def _tried(trial: Trial, judgement: Judgement, purpose: Purpose) -> Tried:
    return Tried(
        text=trial.candidate.text,
        perturbation=plain(trial.candidate.perturbation, "perturbation"),
        score=trial.score,
        option_scores=trial.option_scores,
        output=trial.output,
        refusal=trial.refusal,
        judgement=judgement,
        purpose=purpose,
    )


def _summary(group: Sequence[Tried]) -> dict[str, JSON]:
    return {
        "n": len(group),
        "fooled": sum(tried.judgement.fooled for tried in group),
        "valid": sum(tried.judgement.success for tried in group),
        "score": _mean([tried.score for tried in group]),
        "fitness": _mean([tried.judgement.fitness for tried in group]),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(fmean(known), SCORE_DIGITS) if known else None
