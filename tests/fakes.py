"""Scripted models, attacks and data: what they will say is enqueued, what they were asked is in `history`.

Unscripted, they answer by a hash of what they are asked, so any input has a stable answer.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmark.assembly import Parts
from benchmark.config import Execution, RunConfig
from benchmark.protocols import Embeddings, Metric, Search
from benchmark.stats import wilson
from benchmark.types import (
    Candidate,
    Complete,
    Measure,
    ModelInfo,
    Pixels,
    Record,
    Reply,
    Request,
    Role,
    Sample,
    Sampling,
    Score,
    Submission,
    Trial,
)


def unit(*parts: object) -> float:
    """A number in [0, 1) that is a function of `parts`."""
    return int.from_bytes(sha256(repr(parts).encode()).digest()[:6], "big") / 2**48


def picture(seed: int, size: int = 8) -> Pixels:
    """Noise of shape (size, size, 3)."""
    return np.random.default_rng(seed).integers(0, 256, (size, size, 3), dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Picture:
    """An image source; `error` is raised instead of decoding."""

    seed: int
    error: Exception | None = None

    @property
    def name(self) -> str:
        return f"picture {self.seed}"

    def load(self) -> Pixels:
        if self.error is not None:
            raise self.error
        return picture(self.seed)


def samples(n: int, pictures: int = 5) -> list[Sample]:
    """`n` samples with captions of their own; every `pictures`-th shares a picture and a group."""
    return [
        Sample(
            id=f"s{index:03}",
            text=f"a photo of thing {index}",
            image=Picture(index % pictures),
            group=f"g{index % pictures}",
            scene={"truth": index},
        )
        for index in range(n)
    ]


@dataclass
class FakeDataset:
    """Samples in a list."""

    items: Sequence[Sample]
    info: ModelInfo = field(default_factory=lambda: ModelInfo("fake-data", weights="d0"))
    mean_words: float = 5.0

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass
class FakeTarget:
    """Scores pairs. `enqueue` fixes the score of a text, or an error for it."""

    info: ModelInfo = field(default_factory=lambda: ModelInfo("fake-target", weights="t0"))
    delay: float = 0.0
    history: list[list[str]] = field(default_factory=list)
    script: dict[str, float | Exception] = field(default_factory=dict)

    def enqueue(self, text: str, score: float | Exception) -> None:
        self.script[text] = score

    def match(self, images: Sequence[Pixels], texts: Sequence[str]) -> npt.NDArray[np.float64]:
        self.history.append(list(texts))
        time.sleep(self.delay)
        return np.array([self._score(*pair) for pair in zip(images, texts, strict=True)])

    def _score(self, image: Pixels, text: str) -> float:
        scripted = self.script.get(text)
        if isinstance(scripted, Exception):
            raise scripted
        return unit(image.tobytes(), text) if scripted is None else scripted


@dataclass
class FakeEncoder:
    """A dual encoder of random projections: real float32 products, whose digits depend on shapes."""

    info: ModelInfo = field(
        default_factory=lambda: ModelInfo("fake-encoder", weights="e0", preprocessing="none")
    )
    width: int = 32
    images: list[int] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list)
    delay: float = 0.0

    def encode_images(self, images: Sequence[Pixels]) -> Embeddings:
        self.images.append(len(images))
        means = np.stack([image.reshape(-1, 3)[:64].ravel() for image in images]) / 255 - 0.5
        return self._project(means.astype(np.float32))

    def encode_texts(self, texts: Sequence[str]) -> Embeddings:
        self.texts.append(list(texts))
        time.sleep(self.delay)
        letters = [[unit(text, place) - 0.5 for place in range(64)] for text in texts]
        return self._project(np.array(letters, dtype=np.float32))

    def _project(self, features: npt.NDArray[np.float32]) -> Embeddings:
        rng = np.random.default_rng(0)
        matrix = rng.standard_normal((features.shape[1], self.width)).astype(np.float32)
        vectors = features @ matrix
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


@dataclass
class FakeTool:
    """Answers prompts. `enqueue` fixes the reply to a prompt, or an error for it."""

    info: ModelInfo = field(default_factory=lambda: ModelInfo("fake-tool", weights="w0"))
    history: list[list[tuple[str, int]]] = field(default_factory=list)
    script: dict[str, str | Exception] = field(default_factory=dict)

    def enqueue(self, prompt: str, reply: str | Exception) -> None:
        self.script[prompt] = reply

    def complete(
        self, prompts: Sequence[str], seeds: Sequence[int], sampling: Sampling
    ) -> list[str]:
        self.history.append(list(zip(prompts, seeds, strict=True)))
        replies = []
        for prompt, seed in zip(prompts, seeds, strict=True):
            reply = self.script.get(prompt, f"{prompt} ({seed % 1000})")
            if isinstance(reply, Exception):
                raise reply
            replies.append(reply)
        return replies


class _Gain:
    """Fitness: how much better the candidate matches than the clean sample."""

    version = "1"

    def fitness(self, trial: Trial) -> float | None:
        if trial.score is None:
            return None
        return trial.score - (trial.clean_score or 0.0)


@dataclass
class ScriptedAttack(_Gain):
    """Yields what was enqueued, for every sample the same; replies go into `history` by sample id."""

    name: str = "scripted"
    requests: list[Any] = field(default_factory=list)
    choice: Any = None
    history: dict[str, list[Reply]] = field(default_factory=dict)
    seen: list[Sample] = field(default_factory=list)

    def enqueue(self, *requests: Request | Any) -> None:
        self.requests += requests

    def search(self, sample: Sample, rng: np.random.Generator) -> Search:
        self.seen.append(sample)
        replies = self.history.setdefault(sample.id, [])
        for request in self.requests:
            replies.append((yield request))
        choice: Submission | int | None = self.choice
        return choice


@dataclass
class EditAttack(_Gain):
    """Has a tool write captions, `sequential`ly if each is to build on the last, and scores them."""

    name: str = "edit"
    candidates: int = 4
    sequential: bool = False

    def search(self, sample: Sample, rng: np.random.Generator) -> Search:
        seeds = [int(seed) for seed in rng.integers(2**31, size=self.candidates)]
        if not self.sequential:
            texts = yield Complete("writer", (sample.text,) * len(seeds), tuple(seeds))
            yield Score(tuple(Candidate(text=str(text), perturbation={"n": 1}) for text in texts))
            return None
        text = sample.text
        for step, seed in enumerate(seeds):
            (reply,) = yield Complete("writer", (text,), (seed,))
            feedback = yield Score((Candidate(text=str(reply), perturbation={"step": step}),))
            if not feedback:
                return None
            text = str(reply)[-40:]
        return None


@dataclass
class NoiseAttack(_Gain):
    """Adds noise to the picture, drawing every candidate into one and the same array."""

    name: str = "noise"
    candidates: int = 3

    def search(self, sample: Sample, rng: np.random.Generator) -> Search:
        assert sample.image is not None
        clean = sample.image.load()
        canvas = clean.copy()
        for step in range(self.candidates):
            canvas[:] = clean + rng.integers(-8, 9, clean.shape, dtype=np.int64)
            yield Score((Candidate(image=canvas, perturbation={"step": step}),))
        canvas[:] = 0
        return None


@dataclass
class OverspendingAttack(_Gain):
    """Broken on purpose: goes on asking whatever comes back."""

    name: str = "overspending"

    def search(self, sample: Sample, rng: np.random.Generator) -> Search:
        while True:
            yield Score((Candidate(text=f"{sample.text} {rng.integers(1000)}"),))


@dataclass
class MutatingAttack(_Gain):
    """Broken on purpose: draws into the picture that it was given."""

    name: str = "mutating"

    def search(self, sample: Sample, rng: np.random.Generator) -> Search:
        assert sample.image is not None
        pixels = sample.image.load()
        pixels[:] = 0
        yield Score((Candidate(image=pixels),))
        return None


@dataclass
class FakeCriterion:
    """A verdict by `rule`, by default whether the score rose."""

    name: str = "fooled"
    role: Role = "criterion"
    rule: Callable[[Trial], bool | None] = lambda trial: (
        None if trial.score is None else trial.score > (trial.clean_score or 0.0)
    )
    history: list[int] = field(default_factory=list)

    def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
        self.history.append(len(trials))
        return [self.rule(trial) for trial in trials]


@dataclass
class FakeMetric:
    """The success rate, and the mean score."""

    def measures(self, records: Sequence[Record]) -> list[Measure]:
        decided = [record for record in records if record.status in ("success", "failure")]
        wins = sum(record.status == "success" for record in decided)
        low, high = wilson(wins, len(decided)) or (None, None)
        rate = wins / len(decided) if decided else None
        scores = [record.score for record in decided if record.score is not None]
        mean = float(np.mean(scores)) if scores else None
        return [
            Measure("asr", rate, low, high, len(decided)),
            Measure("score", mean, n=len(scores)),
        ]


def config(**changes: Any) -> RunConfig:
    """A config of fakes."""
    values: dict[str, Any] = {
        "attack": "edit",
        "target_name": "fake",
        "target": "fake:target",
        "preset": "mini",
        "dataset_name": "fake",
        "dataset": "fake:data",
        "samples": None,
        "seed": 7,
        "access": "score",
        "query_budget": None,
        "settings": {"candidates": 4},
    }
    return RunConfig(**{**values, **changes})


ATTACKS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "edit": lambda settings: EditAttack(candidates=settings.get("candidates", 4)),
    "sequential": lambda settings: EditAttack(
        candidates=settings.get("candidates", 4), sequential=True
    ),
    "noise": lambda settings: NoiseAttack(candidates=settings.get("candidates", 4)),
    "overspending": lambda settings: OverspendingAttack(),
    "mutating": lambda settings: MutatingAttack(),
}


def build(config: RunConfig, execution: Execution) -> Parts:
    """Parts of fakes: `config.settings` may hold "n" samples and a "delay" for each model call."""
    target = FakeEncoder(delay=float(config.settings.get("delay", 0)))  # type: ignore[arg-type]
    tool = FakeTool()
    dataset = FakeDataset(samples(int(config.settings.get("n", 20))))  # type: ignore[arg-type]
    metrics: list[Metric] = [FakeMetric()]
    return Parts(
        attack=ATTACKS[config.attack](config.settings),
        target=target,
        tools={"writer": tool},
        criteria=[
            FakeCriterion(),
            FakeCriterion("long", "observation", lambda trial: len(trial.text) > 30),
        ],
        metrics=metrics,
        dataset=dataset,
        infos={"target": target.info, "tool writer": tool.info, "data set": dataset.info},
    )
