"""What the target is asked about a picture, and how its answers are scored against the caption.

caption: it describes the picture; CAPTURE of caption and description is the fitness' negative.
vqa: five questions. Two are fixed (subject, setting), whose joined answers are scored as one description;
three are made from the caption, each with its answer as a sentence, against which the target's is scored.
The score is the mean of these four. Short answers lack whole types of facts, so `empty = "renormalise"`
is the rule to score them by.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Protocol, cast

from attacks.evolution.individuals import Asking, Status, normalised, paint_seed, plain
from benchmark.answer_guards import answer_status, capture_of
from benchmark.types import JSON, Ask, Feedback

CAPTURE = "capture"
"""The tool's name. It is asked (reference, candidate) and says the scores and both graphs."""

SUBJECT = "What is the main subject of the image?"
SETTING = "Describe the environment or setting."
MADE = 3
"""So many questions are made from each caption."""
_OF_QUESTIONS = -1
"""Stands in place of a picture's number in the seed of a caption's questions."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a picture.

    `reference` is the sentence that answers it right, None if only all answers together can be judged.
    """

    text: str
    reference: str | None


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of one picture's answers."""

    status: Status
    capture: float | None = None
    answer: str | None = None
    breakdown: Mapping[str, JSON] | None = None


class QuestionMaker(Protocol):
    """Makes questions from captions."""

    def questions(self, texts: Sequence[str], seeds: Sequence[int]) -> Asking[list[list[Question]]]:
        """Up to `MADE` questions from each caption and seed, with their answers."""
        ...


class Task(Protocol):
    """What is asked about pictures, and what the answers are worth."""

    def prepare(self, texts: Sequence[str]) -> Asking[None]:
        """Make ready what is asked about pictures of these captions."""
        ...

    def questions(self, text: str) -> tuple[Question, ...]:
        """What is asked about a picture of a caption that was prepared."""
        ...

    def judge(self, groups: Sequence[tuple[str, Sequence[Feedback]]]) -> Asking[list[Judged]]:
        """Score the answers to all questions about each picture."""
        ...


class Captioning:
    """The target describes the picture."""

    def __init__(self, question: str, least_words: int) -> None:
        self._question = question
        self._least_words = least_words

    def prepare(self, texts: Sequence[str]) -> Asking[None]:
        """Nothing is to be done."""
        del texts
        return
        yield

    def questions(self, text: str) -> tuple[Question, ...]:
        """The one request to describe it."""
        return (Question(self._question, text),)

    def judge(self, groups: Sequence[tuple[str, Sequence[Feedback]]]) -> Asking[list[Judged]]:
        """CAPTURE of each description."""
        statuses = [
            answer_status(said.output, said.refusal, self._least_words) for _, (said,) in groups
        ]
        rows = [n for n, status in enumerate(statuses) if status == "scored"]
        scores = yield from captures(
            [(groups[n][0], groups[n][1][0].output or "") for n in rows],
        )
        judged = [
            Judged(status, answer=said.output)
            for status, (_, (said,)) in zip(statuses, groups, strict=True)
        ]
        for n, score in zip(rows, scores, strict=True):
            judged[n] = _scored(score, judged[n].answer)
        return judged


class Answering:
    """The target answers five questions about the picture."""

    def __init__(self, maker: QuestionMaker, seed: int) -> None:
        self._maker = maker
        self._seed = seed
        self._made: dict[str, list[Question]] = {}

    def prepare(self, texts: Sequence[str]) -> Asking[None]:
        """Make the questions of captions that are new."""
        new = {normalised(text): text for text in texts}
        missing = [key for key in new if key not in self._made]
        if missing:
            made = yield from self._maker.questions(
                [new[key] for key in missing],
                [paint_seed(self._seed, key, _OF_QUESTIONS) % 2**31 for key in missing],
            )
            self._made |= {
                key: questions[:MADE] for key, questions in zip(missing, made, strict=True)
            }

    def questions(self, text: str) -> tuple[Question, ...]:
        """Subject, setting, then what was made from the caption."""
        fixed = (Question(SUBJECT, None), Question(SETTING, None))
        return (*fixed, *self._made[normalised(text)])

    def judge(self, groups: Sequence[tuple[str, Sequence[Feedback]]]) -> Asking[list[Judged]]:
        """The mean CAPTURE of the joined fixed answers and of each made question's answer."""
        statuses = [_first_failure([answer_status(f.output, f.refusal, 1) for f in said])
                    for _, said in groups]  # fmt: skip
        rows = [n for n, status in enumerate(statuses) if status == "scored"]
        pairs: list[tuple[str, str]] = []
        for n in rows:
            text, said = groups[n]
            answers = [one.output or "" for one in said]
            pairs.append((text, " ".join(answer.strip().rstrip(".") for answer in answers[:2])))
            pairs += [
                (question.reference or text, answer)
                for question, answer in zip(self.questions(text)[2:], answers[2:], strict=True)
            ]
        scores = iter((yield from captures(pairs)))
        judged = [
            Judged(status, answer=_transcript(self.questions(text), said))
            for status, (text, said) in zip(statuses, groups, strict=True)
        ]
        for n in rows:
            text, said = groups[n]
            whole = next(scores)
            parts = [next(scores) for _ in said[2:]]
            judged[n] = self._mean(judged[n].answer, whole, parts, text, said)
        return judged

    def _mean(
        self,
        answer: str | None,
        whole: Mapping[str, Any],
        parts: Sequence[Mapping[str, Any]],
        text: str,
        said: Sequence[Feedback],
    ) -> Judged:
        judged = _scored(whole, answer)
        if judged.status != "scored":
            return judged
        values = [value for one in (whole, *parts) if (value := capture_of(one)) is not None]
        right = [
            normalised(question.reference or "") in normalised(one.output or "")
            for question, one in zip(self.questions(text)[2:], said[2:], strict=True)
        ]
        breakdown = {**plain(whole), "accuracy": fmean(right) if right else None}
        return Judged("scored", fmean(values), answer, breakdown)


def captures(pairs: Sequence[tuple[str, str]]) -> Asking[list[Mapping[str, Any]]]:
    """What the tool `capture` says of (reference, candidate) pairs."""
    if not pairs:
        return []
    return cast("list[Mapping[str, Any]]", (yield Ask(CAPTURE, tuple(pairs))))


def _scored(score: Mapping[str, Any], answer: str | None) -> Judged:
    """The score, unless the answer names nothing at all."""
    capture = capture_of(score)
    status: Status = "malformed" if capture is None else "scored"
    return Judged(status, capture, answer, plain(score))


def _first_failure(statuses: Sequence[Status]) -> Status:
    return next((status for status in statuses if status != "scored"), "scored")


def _transcript(questions: Sequence[Question], said: Sequence[Feedback]) -> str:
    return "\n".join(
        f"{question.text} {one.output or one.refusal}"
        for question, one in zip(questions, said, strict=True)
    )
