"""Embeddings of phrases by a server of the OpenAI protocol (/v1/embeddings), as an encoder."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmark.errors import UserError
from benchmark.protocols import Embeddings
from benchmark.types import JSON
from targets.openai import OpenAI

PATH = "embeddings"
AT_ONCE = 256
"""Phrases in one request; OpenAI takes 2048, smaller servers fewer."""


class OpenAIEncoder:
    """`openai:MODEL` or `openai:MODEL@URL`, as of `targets.openai`, whose settings hold here too.

    Raises:
        UserError: There is no model, no key or no such address, or a setting cannot be used.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        if not argument:
            raise UserError("encoder 'openai' needs a model: openai:text-embedding-3-large")
        self._model = OpenAI(argument, settings)
        self.info = replace(self._model.info, preprocessing=f"{self._model.base_url}/{PATH}")

    def encode(self, phrases: Sequence[str]) -> Embeddings:
        """Unit vectors, shape (n, width).

        Raises:
            UserError: The server will not do: wrong key, no such model, no money left.
            ValueError: It finds the request wrong, or sends no vectors.
            ConnectionError: It could not be had.
        """
        rows: list[Embeddings] = []
        for start in range(0, len(phrases), AT_ONCE):
            batch = list(phrases[start : start + AT_ONCE])
            vectors = self._vectors(self._model.post({"input": batch}, PATH), len(batch))
            rows.append(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
        return np.concatenate(rows) if rows else np.empty((0, 0), np.float32)

    def _vectors(self, body: Mapping[str, Any], n: int) -> Embeddings:
        try:
            data = sorted(body["data"], key=lambda one: one["index"])
            vectors = np.array([one["embedding"] for one in data], dtype=np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{self.info.id} sent no embeddings ({error!r:.80}): {body!r:.100}"
            ) from error
        if vectors.ndim != 2 or len(vectors) != n:
            raise ValueError(f"{self.info.id} sent {len(vectors)} embeddings of {n} phrases")
        return vectors
