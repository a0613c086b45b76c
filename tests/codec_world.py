"""A world without rendering or weights: a painter that writes a caption into pixels, a target that reads it.

What the target makes of it has a hole that is known, a conjunction with partial credit: the more of the
hole's words a caption holds, the more things are misnamed. Searches can be tried on it in seconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attacks.evolution.attack import Evolution
from attacks.evolution.concepts import words_in
from attacks.evolution.tasks import SETTING, SUBJECT
from benchmark.config import resolve
from benchmark.datasets.searches import SearchesDataset
from benchmark.flight import Outcome
from benchmark.protocols import Dataset
from benchmark.scheduler import Scheduler
from benchmark.serving import Target
from benchmark.tool import Tool
from benchmark.toybox import words
from benchmark.toybox.facts import Thing
from benchmark.toybox.grammar import generate, parse
from benchmark.types import ModelInfo, Pixels, Sampling, ThreatModel
from metrics.capture.tool import CaptureTool
from metrics.evolution_criteria import Undescribed

_PX = 16
_CAPTURE = "parser=toybox,matching=exact,empty=renormalise,encoder=none"

CONJUNCTION = ("snowman", "night", "beach", "green")
ERRORS = (0.12, 0.22, 0.40, 0.65, 0.95)
"""How likely a thing is misnamed where a caption holds so many words of the conjunction."""


@dataclass
class CodecPainter:
    """Writes seed and caption into the pixels. What is in `declined` it will not paint."""

    info: ModelInfo = field(default_factory=lambda: ModelInfo("codec-painter", weights="p0"))
    declined: frozenset[str] = frozenset()
    painted: int = 0

    def paint(self, texts: Sequence[str], seeds: Sequence[int]) -> list[Pixels | None]:
        self.painted += len(texts)
        return [
            None if self.declined & words_in(text) else encoded(text, seed)
            for text, seed in zip(texts, seeds, strict=True)
        ]


@dataclass
class CodecTarget:
    """Reads the caption and says it again, with errors. `said` fixes the answer to captions with a word."""

    hole: Sequence[str] = CONJUNCTION
    errors: Sequence[float] = ERRORS
    said: Mapping[str, str] = field(default_factory=dict)
    info: ModelInfo = field(default_factory=lambda: ModelInfo("codec-target", weights="t0"))
    questions: set[str] = field(default_factory=set)

    def answer(
        self, images: Sequence[Pixels], prompts: Sequence[str], sampling: Sampling
    ) -> list[str]:
        self.questions |= {*prompts}
        return [
            _part(self._described(*decoded(image)), prompt)
            for image, prompt in zip(images, prompts, strict=True)
        ]

    def error(self, held: frozenset[str]) -> float:
        """How likely a thing is misnamed where a caption holds these words."""
        return self.errors[len(held & {*self.hole})]

    def _described(self, text: str, seed: int) -> str:
        held = words_in(text)
        for word, answer in self.said.items():
            if word in held:
                return answer
        facts = parse(text)
        assert facts is not None
        rng = np.random.default_rng([seed, len(text)])
        error = self.error(held)
        things: list[Thing] = []
        for thing in facts.things:
            taken = [one.cls for one in (*facts.things, *things)]
            if rng.random() < error:
                thing = replace(
                    thing, cls=_drawn([c for c in words.CLASSES if c not in taken], rng)
                )
            if rng.random() < error:
                thing = replace(thing, colour=_drawn(words.COLOURS, rng))
            things.append(thing)
        return generate(replace(facts, things=tuple(things)))


def _part(description: str, prompt: str) -> str:
    """What of a description answers the question."""
    facts = parse(description)
    if facts is None or prompt not in (SUBJECT, SETTING):
        return description
    subject = generate(replace(facts, place=None, light=None))
    return subject if prompt == SUBJECT else description.removeprefix(subject).strip()


def encoded(text: str, seed: int) -> Pixels:
    """A picture (16, 16, 3) that holds a caption of up to 760 bytes; the rest is noise."""
    data = text.encode()
    head = seed.to_bytes(4, "big") + len(data).to_bytes(2, "big") + data
    rest = np.random.default_rng(seed).bytes(3 * _PX * _PX - len(head))
    return np.frombuffer(head + rest, dtype=np.uint8).reshape(_PX, _PX, 3).copy()


def decoded(picture: Pixels) -> tuple[str, int]:
    """(caption, seed) of such a picture."""
    data = picture.tobytes()
    length = int.from_bytes(data[4:6], "big")
    return data[6 : 6 + length].decode(), int.from_bytes(data[:4], "big")


def _drawn(options: Sequence[str], rng: np.random.Generator) -> str:
    return options[int(rng.integers(len(options)))]


def capture_tool() -> CaptureTool:
    """CAPTURE as the preset mini has it."""
    return CaptureTool(_CAPTURE)


@dataclass
class Context:
    """What attack and criterion are built from, here."""

    settings: Mapping[str, Any]
    dataset: Dataset
    seed: int = 0
    models: dict[str, Any] = field(default_factory=dict)

    def model(self, kind: str, spec: str) -> Any:
        del kind
        if spec not in self.models:
            self.models[spec] = capture_tool()
        return self.models[spec]


def settings_with(**changes: Any) -> dict[str, Any]:
    """The settings of the preset mini, changed."""
    return {**resolve("evolution", "lvlm", preset="mini").settings, **changes}


def context(searches: Sequence[str], seed: int = 0, repeats: int = 1, **changes: Any) -> Context:
    """A run of these searches with the settings of the preset mini, changed."""
    dataset = SearchesDataset("", {"searches": list(searches), "repeats": repeats})
    return Context(settings_with(**changes), dataset, seed)


def outcomes(
    run: Context,
    target: Any = None,
    painter: Any = None,
    tools: Mapping[str, Any] | None = None,
    budget: int | None = None,
    notes: list[str] | None = None,
) -> list[Outcome]:
    """What becomes of the searches in the codec world."""
    capture = run.model("tools", str(run.settings["capture"]))
    scheduler = Scheduler(
        Evolution(run),
        Target(target or CodecTarget()),
        {
            "painter": Tool(painter or CodecPainter()),
            "capture": Tool(capture),
            **{name: Tool(model) for name, model in (tools or {}).items()},
        },
        [Undescribed(run)],
        ThreatModel("output", budget),
        run.seed,
        on_note=lambda noted: None if notes is None else notes.append(noted.text),
    )
    return sorted(scheduler.run(run.dataset), key=lambda outcome: outcome.record.id)


def found(run: Context, **how: Any) -> list[Mapping[str, Any]]:
    """What the searches found, in the order of their names; an error is raised."""
    done = outcomes(run, **how)
    for outcome in done:
        if outcome.exception is not None:
            raise outcome.exception
    return [outcome.record.found for outcome in done]
