"""Encoders of phrases by sentence-transformers."""

from collections.abc import Mapping, Sequence

import numpy as np
from sentence_transformers import SentenceTransformer

from benchmark.errors import UserError
from benchmark.protocols import Embeddings
from benchmark.types import JSON
from metrics.hub import hub_info, pinned

PUBLISHED = "sentence-transformers/all-mpnet-base-v2"
"""The encoder of the released code."""
BATCH = 32


class SentenceEncoder:
    """`sentence_transformers:ID`: any model of that library, by id, "id@revision" or folder.

    Settings: "device" ("cpu"), "batch_size" (32).

    Raises:
        UserError: The model cannot be loaded.
    """

    def __init__(self, argument: str = "", settings: Mapping[str, JSON] | None = None) -> None:
        settings = settings or {}
        self._batch = int(str(settings.get("batch_size", BATCH)))
        name, revision = pinned(argument or PUBLISHED)
        try:
            self._model = SentenceTransformer(
                name, revision=revision or None, device=str(settings.get("device", "cpu"))
            )
        except OSError as error:
            raise UserError(
                f"the encoder {name!r} cannot be loaded: fetch it with `hf download {name}`, give a"
                " folder that holds it, or choose another encoder (--encoder none does without)"
            ) from error
        config = getattr(getattr(self._model[0], "auto_model", None), "config", None)
        self.info = hub_info(name, revision, config, "sentence-transformers, unit length")

    def encode(self, phrases: Sequence[str]) -> Embeddings:
        """Unit vectors, shape (n, width)."""
        vectors = self._model.encode(
            list(phrases),
            batch_size=self._batch,
            convert_to_numpy=True,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)
