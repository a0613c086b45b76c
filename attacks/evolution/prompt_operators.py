"""The operators that ask a language model (sec. 3.2, eqs. 2 and 3), with prompts from files.

P_E is the task, the parents, the wish for something different and the format; P_M is the task, the
individuals with a direction each, and the format; P_I is the task, a category and the format. What the target
made of the parents is not told: feedback acts through selection, as in EoH.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from attacks.evolution.individuals import Asking, normalised
from attacks.evolution.replies import captions_in, questions_in
from attacks.evolution.tasks import MADE, Question
from benchmark.errors import UserError
from benchmark.types import JSON, Complete, Sampling

T = TypeVar("T")

TEMPLATES = ("task", "format", "initial", "explore", "mutate", "rewrite", "questions")
BUILT_IN = "trident"

CATEGORIES = ("a human being", "an animal", "an object", "an environment")
"""Table 7: human, animal, object, environment."""
DIRECTIONS = (
    "the appearance of the subject",
    "the setting, the weather or the light",
    "an action or how things relate to each other",
    "add something unusual",
    "the style or medium of the picture",
)
_ASPECTS = {
    "subject": "the main subject",
    "object": "an object other than the subject",
    "attribute": "an attribute of a thing, such as its colour, material or age",
    "background": "the background or place",
    "weather": "the weather",
    "domain": "the medium or style of the picture",
}

_A_CALL = 23
"""Captions asked for in each initial call: 50 calls gave 1,150 on average."""
_TRIES = 3
_WARMER = 0.2
"""By so much the temperature grows with each try."""

_ROOT = Path(__file__).parent / "prompts"


@dataclass(frozen=True, slots=True)
class Templates:
    """Templates by name, and the sha256 of each file."""

    name: str
    texts: Mapping[str, str]
    digests: Mapping[str, str]

    def fill(self, template: str, **values: object) -> str:
        """A prompt: the placeholders that are named are filled, in one pass and literally."""
        filled = self.texts[template]
        parts = {"task": self.texts["task"], "format": self.texts["format"], **values}
        marks = {f"{{{key}}}": str(value).strip() for key, value in parts.items()}
        out, rest = "", filled
        while True:
            found = [(rest.find(mark), mark) for mark in marks if mark in rest]
            if not found:
                return (out + rest).strip() + "\n"
            at, mark = min(found)
            out += rest[:at] + marks[mark]
            rest = rest[at + len(mark) :]

    def describe(self) -> dict[str, JSON]:
        """For the run's record: which templates they were."""
        return {"set": self.name, "sha256": dict(self.digests)}


def load_templates(name: str) -> Templates:
    """The built-in templates, or those in a folder.

    Raises:
        UserError: There is no such folder, or a file is missing.
    """
    folder = _ROOT / name if name == BUILT_IN else Path(name)
    if not folder.is_dir():
        raise UserError(
            f"prompts {name!r} is no folder: give {BUILT_IN!r} or a folder of templates"
        )
    texts, digests = {}, {}
    for template in TEMPLATES:
        file = folder / f"{template}.txt"
        if not file.is_file():
            raise UserError(
                f"prompts {name!r} lack {template}.txt: start from a copy of {_ROOT / BUILT_IN}"
            )
        data = file.read_bytes()
        texts[template] = data.decode("utf-8")
        digests[template] = hashlib.sha256(data).hexdigest()
    return Templates(name, texts, digests)


class PromptOperators:
    """Asks language models, each prompt up to three times, for captions as JSON.

    Args:
        llms: The tools' names; each initial call draws one of them, all others ask the first.
        templates: The prompts.
        sampling: How they draw.
        max_calls: No prompt is asked beyond so many.
    """

    def __init__(
        self,
        llms: Sequence[str],
        templates: Templates,
        sampling: Sampling,
        max_calls: int | None = None,
    ) -> None:
        self.calls = 0
        self.failures = 0
        self._llms = tuple(llms)
        self._templates = templates
        self._sampling = sampling
        self._max_calls = max_calls

    @property
    def exhausted(self) -> bool:
        """Whether no prompt may be asked any more."""
        return self._max_calls is not None and self.calls >= self._max_calls

    def initial(self, n: int, rng: np.random.Generator) -> Asking[list[str]]:
        """n captions by about n / 23 calls, human, animal, object and environment in turn."""
        calls = ceil(n / _A_CALL)
        prompts = [
            self._templates.fill(
                "initial", category=CATEGORIES[call % len(CATEGORIES)], n=ceil(n / calls)
            )
            for call in range(calls)
        ]
        llms = [self._llms[int(rng.integers(len(self._llms)))] for _ in prompts]
        replies = yield from self._asked(prompts, captions_in, _seeds(len(prompts), rng), llms)
        captions: dict[str, str] = {}
        for found in replies:
            for text in found or ():
                captions.setdefault(normalised(text), text)
        return list(captions.values())[:n]

    def explore(
        self, groups: Sequence[Sequence[str]], rng: np.random.Generator
    ) -> Asking[list[str | None]]:
        """One call and one caption a group (N_e = 1)."""
        prompts = [self._templates.fill("explore", captions=_numbered(group)) for group in groups]
        replies = yield from self._asked(prompts, captions_in, _seeds(len(prompts), rng))
        return [found[0] if found else None for found in replies]

    def mutate(
        self, groups: Sequence[Sequence[str]], rng: np.random.Generator
    ) -> Asking[list[list[str | None]]]:
        """One call a group; each caption is told a direction, drawn uniformly."""
        prompts = []
        for group in groups:
            told = [
                f"{text} [change: {DIRECTIONS[int(rng.integers(len(DIRECTIONS)))]}]"
                for text in group
            ]
            prompts.append(self._templates.fill("mutate", captions=_numbered(told)))
        replies = yield from self._asked(prompts, captions_in, _seeds(len(prompts), rng))
        return [
            [*(found or ())[: len(group)], *[None] * (len(group) - len(found or ()))]
            for group, found in zip(groups, replies, strict=True)
        ]

    def rewrite(
        self, texts: Sequence[str], aspects: Sequence[str], rng: np.random.Generator
    ) -> Asking[list[str | None]]:
        """One call a caption."""
        prompts = [
            self._templates.fill("rewrite", captions=text, aspect=_ASPECTS[aspect])
            for text, aspect in zip(texts, aspects, strict=True)
        ]
        replies = yield from self._asked(prompts, captions_in, _seeds(len(prompts), rng))
        return [found[0] if found else None for found in replies]

    def questions(self, texts: Sequence[str], seeds: Sequence[int]) -> Asking[list[list[Question]]]:
        """One call a caption, three questions each."""
        prompts = [self._templates.fill("questions", captions=text, n=MADE) for text in texts]
        replies = yield from self._asked(prompts, questions_in, list(seeds))
        return [[Question(*pair) for pair in found or ()] for found in replies]

    def _asked(
        self,
        prompts: Sequence[str],
        parse: Callable[[str], list[T]],
        seeds: Sequence[int],
        llms: Sequence[str] = (),
    ) -> Asking[list[list[T] | None]]:
        """What each reply holds, None where three tries gave nothing or no call was left."""
        told = list(llms) or [self._llms[0]] * len(prompts)
        found: list[list[T] | None] = [None] * len(prompts)
        for attempt in range(_TRIES):
            warmer = self._sampling.temperature + _WARMER * attempt
            sampling = replace(self._sampling, temperature=round(warmer, 6))
            for llm in self._llms:
                rows = [n for n, got in enumerate(found) if got is None and told[n] == llm]
                if self._max_calls is not None:
                    rows = rows[: max(0, self._max_calls - self.calls)]
                if not rows:
                    continue
                self.calls += len(rows)
                replies = cast(
                    "list[str]",
                    (
                        yield Complete(
                            llm,
                            tuple(prompts[n] for n in rows),
                            tuple((seeds[n] + attempt) % 2**31 for n in rows),
                            sampling,
                        )
                    ),
                )
                for n, reply in zip(rows, replies, strict=True):
                    found[n] = parse(reply) or None
        self.failures += sum(got is None for got in found)
        return found


def _seeds(n: int, rng: np.random.Generator) -> list[int]:
    """Seeds that every server takes: below 2**31."""
    return [int(seed) for seed in rng.integers(2**31, size=n)]


def _numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))
