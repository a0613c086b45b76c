"""Fakes of what goes beyond scores of pairs: options, questions, advice, reports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmark.assembly import Parts
from benchmark.config import Execution, RunConfig
from benchmark.protocols import Search
from benchmark.types import (
    JSON,
    Ask,
    Candidate,
    ModelInfo,
    Pixels,
    Sample,
    Sampling,
    Score,
    Submission,
    Trial,
)
from tests import fakes
from tests.fakes import FakeEncoder, unit


@dataclass
class FakeAnswerer:
    """Answers questions about pictures. `enqueue` fixes the answer to one, or an error for it."""

    info: ModelInfo = field(default_factory=lambda: ModelInfo("fake-answerer", weights="a0"))
    history: list[list[str]] = field(default_factory=list)
    samplings: list[Sampling] = field(default_factory=list)
    script: dict[str, str | Exception] = field(default_factory=dict)

    def enqueue(self, prompt: str, answer: str | Exception) -> None:
        self.script[prompt] = answer

    def answer(
        self, images: Sequence[Pixels], prompts: Sequence[str], sampling: Sampling
    ) -> list[str]:
        self.history.append(list(prompts))
        self.samplings.append(sampling)
        answers = []
        for image, prompt in zip(images, prompts, strict=True):
            answer = self.script.get(prompt, f"{unit(image.tobytes(), prompt):.9f}")
            if isinstance(answer, Exception):
                raise answer
            answers.append(answer)
        return answers


@dataclass
class FakeSeer(FakeEncoder):
    """A target that gives scores and answers."""

    answerer: FakeAnswerer = field(default_factory=FakeAnswerer)

    def answer(
        self, images: Sequence[Pixels], prompts: Sequence[str], sampling: Sampling
    ) -> list[str]:
        return self.answerer.answer(images, prompts, sampling)


@dataclass
class FakeAdviser:
    """A tool that is asked about items, by default how bright a picture is."""

    info: ModelInfo = field(default_factory=lambda: ModelInfo("fake-adviser", weights="n0"))
    rule: Callable[[Any], Any] = lambda item: float(np.mean(item))
    history: list[int] = field(default_factory=list)

    def ask(self, items: Sequence[Any]) -> list[Any]:
        self.history.append(len(items))
        return [self.rule(item) for item in items]


@dataclass
class FakePainter:
    """Paints noise by a hash of text and seed; declines the texts in `declined`."""

    info: ModelInfo = field(default_factory=lambda: ModelInfo("fake-painter", weights="p0"))
    declined: set[str] = field(default_factory=set)
    history: list[list[tuple[str, int]]] = field(default_factory=list)

    def paint(self, texts: Sequence[str], seeds: Sequence[int]) -> list[Pixels | None]:
        asked = list(zip(texts, seeds, strict=True))
        self.history.append(asked)
        return [
            None if text in self.declined else fakes.picture(int(2**32 * unit(text, seed)))
            for text, seed in asked
        ]


@dataclass
class PoseAttack:
    """Offers options and a question, asks an adviser, and reports on what it found."""

    name: str = "pose"
    version: str = "1"
    candidates: int = 3
    reports: int = 2
    scenes: list[tuple[str, Any]] = field(default_factory=list)
    """("search" or "report", the scene that it saw), in order."""

    def options(self, sample: Sample) -> Sequence[str]:
        return (sample.text, "a photo of nothing", "a photo of a duck")

    def question(self, sample: Sample) -> str | None:
        return "What is it?"

    def fitness(self, trial: Trial) -> float | None:
        """By how much the best wrong option beats the true one."""
        if not trial.option_scores:
            return None
        return max(trial.option_scores[1:]) - trial.option_scores[0]

    def search(self, sample: Sample, rng: np.random.Generator) -> Search:
        self.scenes.append(("search", sample.scene))
        assert sample.image is not None
        clean, angles = sample.image.load(), []
        for step in range(self.candidates):
            noisy = _noisy(clean, rng)
            (light,) = yield Ask("nature", (noisy,))
            feedback = yield Score((Candidate(image=noisy, perturbation={"step": step}),))
            if not feedback:
                break
            angles.append(float(str(light)))
        return Submission(found={"angles": [*angles]}, pictures={"mask": 255 - clean})

    def report(self, sample: Sample, found: Mapping[str, JSON], rng: np.random.Generator) -> Search:
        self.scenes.append(("report", sample.scene))
        assert sample.image is not None
        clean = sample.image.load()
        drawn = [_noisy(clean, rng) for _ in range(2 * self.reports)]
        feedback = yield Score(
            tuple(
                Candidate(image=one, perturbation={"condition": ("found", "random")[n % 2]})
                for n, one in enumerate(drawn)
            ),
            purpose="report",
        )
        return Submission(
            found={"truth": sample.scene, "reported": len(feedback)},
            pictures={"reference": drawn[0]} if drawn else {},
        )


def _noisy(clean: Pixels, rng: np.random.Generator) -> Pixels:
    return (clean + rng.integers(-64, 65, clean.shape, dtype=np.int64)).clip(0, 255).astype("u1")


def build(config: RunConfig, execution: Execution) -> Parts:
    """Parts of `fakes.build` with a `PoseAttack` on a target that gives scores and answers."""
    parts = fakes.build(replace(config, attack="edit"), execution)
    return replace(
        parts,
        attack=PoseAttack(candidates=int(config.settings["candidates"])),  # type: ignore[arg-type]
        target=FakeSeer(),
        tools={"nature": FakeAdviser()},
    )
