"""An excerpt of WordNet, stored cosines, and resources that say what they are told."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nltk
import numpy as np
import numpy.typing as npt

from benchmark.types import ModelInfo

FOLDER = Path(__file__).parents[3] / "golden" / "capture"
WORDNET = FOLDER / "nltk_data"
GOLDEN: dict[str, Any] = json.loads((FOLDER / "golden.json").read_text(encoding="utf-8"))


@contextmanager
def nltk_data(folder: Path) -> Iterator[None]:
    """nltk finds data in this folder only. What it has loaded before, it keeps."""
    before = list(nltk.data.path)
    nltk.data.path[:] = [str(folder)]
    try:
        yield
    finally:
        nltk.data.path[:] = before


class StoredCosines:
    """A `Similarity` that looks cosines up, and refuses phrases that were not learnt."""

    def __init__(self, table: Mapping[str, Mapping[str, float]]) -> None:
        self._table = table
        self.learnt: set[str] = set()

    def learn(self, phrases: Sequence[str]) -> None:
        self.learnt |= set(phrases)

    def cosines(self, rows: Sequence[str], columns: Sequence[str]) -> npt.NDArray[np.float64]:
        assert self.learnt >= {*rows, *columns}
        return np.array([[self._table[row][column] for column in columns] for row in rows])


def minilm() -> StoredCosines:
    """The cosines of all-MiniLM-L6-v2, of the phrases in the golden graphs."""
    stored = json.loads((FOLDER / "minilm_cosines.json").read_text(encoding="utf-8"))
    return StoredCosines(stored["cosines"])


@dataclass
class FakeResources:
    """Says what it was told: sentences and tags by text, base forms and lemma names by word."""

    split: Mapping[str, list[str]] = field(default_factory=dict)
    tags: Mapping[str, list[tuple[str, str]]] = field(default_factory=dict)
    nouns: Mapping[str, str] = field(default_factory=dict)
    adjectives: Mapping[str, str] = field(default_factory=dict)
    synonyms: Mapping[str, set[str]] = field(default_factory=dict)
    version: str = "fake 1"
    looked_up: list[str] = field(default_factory=list)

    def sentences(self, text: str) -> list[str]:
        return self.split.get(text, [text])

    def tagged(self, text: str) -> list[tuple[str, str]]:
        return self.tags.get(text, [(word, "NN") for word in text.rstrip(".").split()])

    def noun(self, word: str) -> str:
        return self.nouns.get(word, word)

    def adjective(self, word: str) -> str:
        return self.adjectives.get(word, word)

    def lemma_names(self, word: str) -> frozenset[str]:
        self.looked_up.append(word)
        return frozenset(self.synonyms.get(word, ()))


@dataclass
class FakeEncoder:
    """Gives each phrase the vector it was told, and counts."""

    vectors: Mapping[str, Sequence[float]]
    encoded: list[str] = field(default_factory=list)
    info: ModelInfo = field(default_factory=lambda: ModelInfo("fake", "r1", "w1"))

    def encode(self, phrases: Sequence[str]) -> npt.NDArray[np.float32]:
        self.encoded += phrases
        return np.array([self.vectors[phrase] for phrase in phrases], dtype=np.float32)
