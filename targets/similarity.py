"""A dual encoder as a tool: how alike two pictures, two texts, or a picture and a text are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmark import registry
from benchmark.cache import pixels_digest
from benchmark.errors import UserError
from benchmark.protocols import DualEncoder, Embeddings
from benchmark.types import JSON, SCORE_DIGITS

_BATCH = 32
"""Every call of the encoder has this many rows: the last digits of its kernels depend on it."""


class Similarity:
    """`similarity:TARGET`: the cosine of the embeddings of two things.

    The argument is a target as one types it outright, such as `miniature:clip-mini`. An item is a pair
    (a, b); each of them is a picture (height, width, 3) or a text.

    Raises:
        UserError: There is no such target, or it embeds nothing.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        if not argument:
            raise UserError("tool 'similarity' needs a target: similarity:miniature:clip-mini")
        model = registry.create("targets", argument, settings)
        if not isinstance(model, DualEncoder):
            raise UserError(
                f"target {argument} embeds nothing: name a dual encoder, such as a CLIP"
            )
        self._encoder = model
        self.info = replace(model.info, id=f"similarity:{model.info.id}")

    def ask(self, items: Sequence[tuple[Any, Any]]) -> list[float]:
        """The cosine of each pair, to `SCORE_DIGITS` digits."""
        if not items:
            return []
        sides = [side for pair in items for side in pair]
        keys = [side if isinstance(side, str) else pixels_digest(side).encode() for side in sides]
        unique = dict(zip(keys, sides, strict=True))  # the clean picture is in many pairs
        texts = {key: side for key, side in unique.items() if isinstance(side, str)}
        images = {key: side for key, side in unique.items() if not isinstance(side, str)}
        vectors: dict[str | bytes, npt.NDArray[np.float32]] = {}
        for group, encode in ((texts, self._encoder.encode_texts), (images, self._images)):
            if group:
                vectors |= dict(zip(group, _padded(list(group.values()), encode), strict=True))
        ends = [vectors[key].astype(np.float64) for key in keys]
        pairs = zip(ends[::2], ends[1::2], strict=True)
        return [round(float(a @ b), SCORE_DIGITS) for a, b in pairs]

    def _images(self, images: Sequence[Any]) -> Embeddings:
        return self._encoder.encode_images(images)


def _padded(group: Sequence[Any], encode: Any) -> list[npt.NDArray[np.float32]]:
    rows: list[npt.NDArray[np.float32]] = []
    for start in range(0, len(group), _BATCH):
        batch = list(group[start : start + _BATCH])
        filled = batch + [batch[-1]] * (_BATCH - len(batch))
        rows += list(np.asarray(encode(filled), dtype=np.float32))[: len(batch)]
    return rows
