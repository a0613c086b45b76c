"""A run context, models and short forms for tests of criteria and metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmark.protocols import Dataset
from benchmark.types import JSON, Candidate, ModelInfo, Sample, Trial
from tests.fakes import FakeDataset


@dataclass
class FakeRun:
    """A `RunContext` whose models, one a kind, are all called "fake"."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    dataset: Dataset = field(default_factory=lambda: FakeDataset([], mean_words=10.431))
    models: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def model(self, kind: str, spec: str) -> Any:
        assert spec == "fake"
        return self.models[kind]


@dataclass
class FakeJudge:
    """Says what it was told of each pair, NaN of others; shape (n, models, 3)."""

    answers: Mapping[tuple[str, str], Sequence[Sequence[float]]]
    models: int = 1
    asked: list[tuple[str, str]] = field(default_factory=list)
    info: ModelInfo = field(default_factory=lambda: ModelInfo("fake"))

    def judge(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        self.asked += pairs
        unknown = [[np.nan] * 3] * self.models
        return np.array([self.answers.get(pair, unknown) for pair in pairs], dtype=np.float64)


@dataclass
class RecordedTagger:
    """Analyses that were stored; an unknown text is an error."""

    tags: Mapping[str, Sequence[tuple[str, str]]]
    asked: list[str] = field(default_factory=list)
    info: ModelInfo = field(default_factory=lambda: ModelInfo("fake"))

    def tag(self, texts: Sequence[str]) -> list[list[tuple[str, str]]]:
        self.asked += texts
        return [list(self.tags[text]) for text in texts]


def trial(
    text: str,
    adversarial: str,
    clean_score: float | None = None,
    score: float | None = None,
    scene: Any = None,
    **perturbation: JSON,
) -> Trial:
    """One candidate as criteria see it."""
    candidate = Candidate(text=adversarial, perturbation=perturbation)
    return Trial(Sample("s0", text, scene=scene), candidate, clean_score, score)
