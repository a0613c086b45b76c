"""Text towers of dual encoders as encoders of phrases, and the cosines of what an encoder makes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from benchmark import registry
from benchmark.errors import UserError
from benchmark.protocols import DualEncoder, Embeddings, PhraseEncoder
from benchmark.types import JSON

_BATCH = 32
"""Every call of a tower has this many rows: the last digits of its kernels depend on it."""


class TextTower:
    """`tower:TARGET`: the text side of a target that embeds, such as `tower:open_clip:ViT-B-32/openai`.

    Raises:
        UserError: There is no such target, or it embeds nothing.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        if not argument:
            raise UserError("encoder 'tower' needs a target: tower:open_clip:ViT-B-32/openai")
        model = registry.create("targets", argument, settings)
        if not isinstance(model, DualEncoder):
            raise UserError(
                f"target {argument} embeds no texts: name a dual encoder, such as a CLIP"
            )
        self._model = model
        self.info = replace(model.info, id=f"tower:{model.info.id}")

    def encode(self, phrases: Sequence[str]) -> Embeddings:
        """Unit vectors, shape (n, width)."""
        rows: list[Embeddings] = []
        for start in range(0, len(phrases), _BATCH):
            batch = list(phrases[start : start + _BATCH])
            filled = batch + [batch[-1]] * (_BATCH - len(batch))
            rows.append(np.asarray(self._model.encode_texts(filled), np.float32)[: len(batch)])
        return np.concatenate(rows) if rows else self._model.encode_texts([])


def miniature(argument: str, settings: Mapping[str, JSON]) -> TextTower:
    """`miniature:NAME`, an embedded dual encoder's text tower; clip-mini by default."""
    return TextTower(f"miniature:{argument or 'clip-mini'}", settings)


class PhraseVectors:
    """Cosines of an encoder's vectors (a `matching.Similarity`); each phrase is encoded once."""

    def __init__(self, encoder: PhraseEncoder) -> None:
        self._encoder = encoder
        self._row: dict[str, int] = {}
        self._vectors: npt.NDArray[np.float64] | None = None

    def learn(self, phrases: Sequence[str]) -> None:
        """Encode what is new. Vectors are brought to unit length."""
        new = [phrase for phrase in dict.fromkeys(phrases) if phrase not in self._row]
        if not new:
            return
        vectors = np.asarray(self._encoder.encode(new), dtype=np.float64)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        known = self._vectors
        self._vectors = vectors if known is None else np.concatenate([known, vectors])
        self._row |= {phrase: len(self._row) + i for i, phrase in enumerate(new)}

    def cosines(self, rows: Sequence[str], columns: Sequence[str]) -> npt.NDArray[np.float64]:
        """Shape (rows, columns).

        Raises:
            ValueError: Nothing has been learnt.
        """
        if self._vectors is None:
            raise ValueError("no phrase has been learnt: call learn first")
        a = self._vectors[[self._row[phrase] for phrase in rows]]
        b = self._vectors[[self._row[phrase] for phrase in columns]]
        return np.asarray(a @ b.T)
