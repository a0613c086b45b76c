"""An attack that renames colours, and a target that sees nothing else.

Source: made for the tests of Trident.

Deviations: none.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

import numpy as np

from benchmark.protocols import Embeddings, RunContext, Search
from benchmark.types import JSON, Candidate, ModelInfo, Pixels, Sample, Score, Trial

COLOURS = {
    "red": (220, 40, 40),
    "green": (40, 160, 60),
    "blue": (40, 80, 220),
    "yellow": (240, 210, 40),
    "white": (240, 240, 240),
    "black": (20, 20, 20),
}


class Repaint:
    """Replaces the first colour of a caption by others, as many as the setting `tries` says."""

    name = "repaint"
    version = "1"
    defaults: ClassVar[Mapping[str, JSON]] = {"tries": 3}

    def __init__(self, run: RunContext) -> None:
        self._tries = int(run.settings["tries"])

    def search(self, sample: Sample, rng: np.random.Generator) -> Search:
        """Score the caption in other colours; leave the choice to the harness."""
        words = sample.text.split()
        at = next((i for i, word in enumerate(words) if word in COLOURS), 0)
        others = [colour for colour in COLOURS if colour != words[at]]
        chosen = rng.permutation(others)[: self._tries].tolist()
        texts = [" ".join([*words[:at], colour, *words[at + 1 :]]) for colour in chosen]
        yield Score(tuple(Candidate(text, perturbation={"place": at}) for text in texts))
        return None

    def fitness(self, trial: Trial) -> float | None:
        """How much better the new colour matches."""
        if trial.score is None or trial.clean_score is None:
            return None
        return trial.score - trial.clean_score


class Colours:
    """A dual encoder of mean colours: of a picture's pixels, and of a caption's colour words."""

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        del argument, settings
        self.info = ModelInfo(id="colours", revision="1")

    def encode_images(self, images: Sequence[Pixels]) -> Embeddings:
        """Mean colours, shape (n, 4)."""
        return _unit([image.mean(axis=(0, 1)).tolist() for image in images])

    def encode_texts(self, texts: Sequence[str]) -> Embeddings:
        """Mean colours, shape (n, 4); grey where there are none."""
        named = [[COLOURS[word] for word in text.split() if word in COLOURS] for text in texts]
        return _unit([np.mean(colours or [(128, 128, 128)], axis=0).tolist() for colours in named])


def _unit(colours: Sequence[Sequence[float]]) -> Embeddings:
    vectors = np.array([[*colour, 64.0] for colour in colours]).reshape(-1, 4)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return cast("Embeddings", (vectors / lengths).astype(np.float32))
