"""A language model as judge of captions and answers: GPT-Score and GPT-Acc.

Source: AdvDreamer (arXiv 2412.03002, sec. 4.1). GPT-Score is the sum of three judgements of ten points each
(semantic accuracy, tone confidence, overall coherence), so from 3 to 30. GPT-Acc is the share of answers that
the judge finds correct. The authors' prompts are not public: those in `metrics/prompts` are ours, one call a
judgement. A reply that cannot be read is asked for again; what stays unread is None, never 0 and never wrong.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from benchmark.errors import NoAnswerError
from benchmark.protocols import LanguageModel
from benchmark.types import JSON, Sampling

ASPECTS = ("semantic_accuracy", "tone_confidence", "overall_coherence")
LOWEST, HIGHEST = 1, 10

ATTEMPTS = 3
_FIRST = Sampling(temperature=0.0, top_p=1.0, max_new_tokens=512)
_AGAIN = Sampling(temperature=0.7, top_p=1.0, max_new_tokens=512)

_ROOT = Path(__file__).parent / "prompts"
_PLACEHOLDER = re.compile(r"\{(\w+)\}")

_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_NUMBER = r"(\d+(?:\.\d+)?)"
_SCALE = re.compile(r"\(?\b1\s*(?:-|\u2013|to)\s*10\b\)?")
_OUT_OF_TEN = re.compile(rf"{_NUMBER}\s*(?:/|out of)\s*10\b", re.IGNORECASE)
_MARKED_SCORE = re.compile(
    rf"\b(?:score|rating)\b(?:\W|\bis\b|\bof\b)*?(-?){_NUMBER}(?!\d|\.\d|\s*[/%])", re.IGNORECASE
)
_GIVEN = re.compile(
    rf"\b(?:give|rate|deserves)\s+(?:(?:it|this|that|an?|at|with)\s+)*{_NUMBER}(?![\d.]*\s*[/%])",
    re.IGNORECASE,
)
_WORDS = dict(
    zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True)
)

_MARKED_VERDICT = re.compile(r"\bverdict\b(?:\W|\bis\b)*(.*)", re.IGNORECASE)
_JUDGED = re.compile(
    r"\b(?P<no>not\s+(?:\w+\s+)?(?:correct|right|true)|incorrect|wrong|false|no)\b"
    r"|\b(?P<yes>correct|right|true|yes)\b",
    re.IGNORECASE,
)
_PARTLY = re.compile(r"\b(?:part(?:ly|ially)|half|mostly)\b", re.IGNORECASE)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GptScore:
    """Three judgements of a caption, 1..10 each, None where the judge's reply could not be read."""

    semantic_accuracy: float | None
    tone_confidence: float | None
    overall_coherence: float | None

    @property
    def total(self) -> float | None:
        """Their sum, 3..30; None if one is missing."""
        parts = (self.semantic_accuracy, self.tone_confidence, self.overall_coherence)
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None


class Judge:
    """Asks a language model. The same question is asked once, whoever wants to know."""

    def __init__(self, model: LanguageModel, attempts: int = ATTEMPTS) -> None:
        self._model = model
        self._attempts = attempts
        self._known: dict[str, float | bool | None] = {}

    def scores(
        self, captions: Sequence[str], references: Sequence[Sequence[str]]
    ) -> list[GptScore]:
        """The three judgements of each caption.

        Raises:
            ValueError: Captions and references differ in number.
        """
        columns = [
            self._ask(
                [
                    _filled(aspect, caption=caption, references=_listed(known))
                    for caption, known in zip(captions, references, strict=True)
                ],
                "again_score",
                read_score,
            )
            for aspect in ASPECTS
        ]
        return [GptScore(*row) for row in zip(*columns, strict=True)]

    def correct(
        self, questions: Sequence[str], references: Sequence[Sequence[str]], answers: Sequence[str]
    ) -> list[bool | None]:
        """Whether each answer is right, given the right ones.

        Raises:
            ValueError: Questions, references and answers differ in number.
        """
        prompts = [
            _filled("answer", question=question, references=_listed(known), answer=answer)
            for question, known, answer in zip(questions, references, answers, strict=True)
        ]
        return self._ask(prompts, "again_answer", read_verdict)

    def _ask(
        self, prompts: Sequence[str], again: str, read: Callable[[str], T | None]
    ) -> list[T | None]:
        waiting = [prompt for prompt in dict.fromkeys(prompts) if prompt not in self._known]
        for attempt in range(self._attempts):
            if not waiting:
                break
            asked = waiting if attempt == 0 else [_filled(again, prompt=one) for one in waiting]
            replies = self._replies(asked, attempt)
            for prompt, reply in zip(waiting, replies, strict=True):
                self._known[prompt] = None if reply is None else read(reply)  # type: ignore[assignment]
            waiting = [prompt for prompt in waiting if self._known[prompt] is None]
        return [self._known[prompt] for prompt in prompts]  # type: ignore[misc]

    def _replies(self, prompts: Sequence[str], attempt: int) -> list[str | None]:
        """One reply a prompt, None where the judge would not give one."""
        sampling = _FIRST if attempt == 0 else _AGAIN
        try:
            return list(self._model.complete(prompts, [attempt] * len(prompts), sampling))
        except NoAnswerError:
            if len(prompts) == 1:
                return [None]
            return [reply for prompt in prompts for reply in self._replies([prompt], attempt)]


def read_score(reply: str) -> float | None:
    """The points in a judge's reply; None if there are none, several, or none from 1 to 10.

    >>> read_score("It misses the dog. **Score:** 7/10"), read_score("8"), read_score("2 dogs, 3 cats")
    (7.0, 8.0, None)
    """
    text = _OUT_OF_TEN.sub(r"score: \1", _SCALE.sub(" ", _THOUGHTS.sub("", reply)))
    marked = _MARKED_SCORE.findall(text)
    if marked:
        sign, number = marked[-1]
        return _in_range(f"{sign}{number}")
    *_, last = text.strip().splitlines() or [""]
    for part in (last, text):
        bare = part.strip(" \t\n*_.'\"`")
        if bare.lower() in _WORDS:
            return float(_WORDS[bare.lower()])
        if re.fullmatch(_NUMBER, bare):
            return _in_range(bare)
    given = set(_GIVEN.findall(text))
    return _in_range(given.pop()) if len(given) == 1 else None


def read_verdict(reply: str) -> bool | None:
    r"""Whether a judge's reply says that the answer is correct; None if it does not say either.

    >>> read_verdict("A mug is a cup.\nVerdict: correct"), read_verdict("No."), read_verdict("Hm.")
    (True, False, None)
    """
    text = _THOUGHTS.sub("", reply).strip()
    if marked := _MARKED_VERDICT.findall(text):
        return _judged(marked[-1])
    lines = [line for line in text.splitlines() if line.strip()]
    for line in (*lines[-1:], *lines[:1]):
        if len(line.split()) <= 4 and (said := _judged(line)) is not None:
            return said
    opening = re.match(
        r"\W*(yes|no|correct|incorrect|true|false)\b(?=\W*[,.:;\n]|\W*$)", text, re.IGNORECASE
    )
    return None if opening is None else _judged(opening[1])


def prompts_digest() -> dict[str, JSON]:
    """sha256 of each of the judge's prompts, for a run's record."""
    return {
        path.stem: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(_ROOT.glob("*.txt"))
    }


def _judged(text: str) -> bool | None:
    if _PARTLY.search(text):
        return None
    found = {match.lastgroup == "yes" for match in _JUDGED.finditer(text)}
    return found.pop() if len(found) == 1 else None


def _in_range(number: str) -> float | None:
    value = float(number)
    return value if LOWEST <= value <= HIGHEST else None


def _listed(texts: Sequence[str]) -> str:
    return "\n".join(f"- {' '.join(text.split())}" for text in texts)


@cache
def _template(name: str) -> str:
    return (_ROOT / f"{name}.txt").read_text("utf-8").rstrip("\n")


def _filled(name: str, **values: str) -> str:
    """A template in one literal pass, so that braces in a caption do no harm."""
    known: Mapping[str, str] = values
    return _PLACEHOLDER.sub(lambda found: known[found[1]], _template(name))
