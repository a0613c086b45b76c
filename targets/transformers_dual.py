"""Dual encoders of transformers: CLIP, SigLIP and others with text and image features of one width.

Texts are padded to the model's full length and cut there, as the released code of MAC does; SigLIP was
trained so and gives other embeddings without the padding. No code from a model's repository is run.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from transformers import AutoImageProcessor, AutoModel, AutoTokenizer

from benchmark.errors import UserError
from benchmark.protocols import Embeddings
from benchmark.types import JSON, ModelInfo, Pixels
from targets.options import Options
from targets.pretrained import loading, pinned, placed, transformers_weights
from targets.weights import sha256_of

_LENGTHS = {"clip": 77, "siglip": 64, "siglip2": 64}
"""Text lengths to pad to where the configuration does not say."""


class TransformersDualEncoder:
    """A dual encoder of transformers, in float32 and evaluation mode unless told otherwise.

    The argument is a repository on the hub (`google/siglip-so400m-patch14-384`, with `@COMMIT` pinned)
    or a local folder.

    Settings:
        revision: Commit, tag or branch on the hub.
        dtype, device, batch_size: See `targets.options`.

    Raises:
        UserError: The model is no dual encoder, or does not exist, or is not on this machine and the
            network is not there.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        self._options = Options.of(settings)
        argument, revision = pinned(argument, self._options.revision)
        load: dict[str, Any] = {"revision": revision, "trust_remote_code": False}
        with loading(argument):
            model = AutoModel.from_pretrained(argument, dtype=self._options.dtype, **load)
            self._tokenizer: Any = AutoTokenizer.from_pretrained(argument, **load)
            # PIL resizes as the published numbers were made; torchvision's antialiasing differs.
            images: Any = AutoImageProcessor
            self._processor: Any = images.from_pretrained(argument, backend="pil", **load)
        if not hasattr(model, "get_text_features") or not hasattr(model, "get_image_features"):
            kind = model.config.model_type
            raise UserError(f"{argument} is a {kind!r} model, no dual encoder: give CLIP or SigLIP")
        self._model = placed(model, self._options)
        text = model.config.text_config
        self._length = int(
            getattr(text, "max_position_embeddings", 0) or _LENGTHS.get(model.config.model_type, 77)
        )
        self._width = int(self._text_rows([""]).shape[1])
        self.info = ModelInfo(
            id=f"transformers:{argument}",
            revision=getattr(model.config, "_commit_hash", None) or "",
            weights=sha256_of(transformers_weights(argument, revision)),
            dtype=self._options.dtype_name,
            preprocessing=self._preprocessing(),
        )

    def encode_images(self, images: Sequence[Pixels]) -> Embeddings:
        """Unit vectors, shape (n, width), of pictures of any size."""
        return self._stacked([self._image_rows(batch) for batch in self._options.batches(images)])

    def encode_texts(self, texts: Sequence[str]) -> Embeddings:
        """Unit vectors, shape (n, width); a text is cut at the model's length."""
        return self._stacked([self._text_rows(batch) for batch in self._options.batches(texts)])

    def _image_rows(self, images: Sequence[Pixels]) -> Embeddings:
        pixels = self._processor(images=list(images), return_tensors="pt")["pixel_values"]
        pixels = pixels.to(self._options.device, self._options.dtype)
        with torch.inference_mode():
            return _unit(self._model.get_image_features(pixel_values=pixels))

    def _text_rows(self, texts: Sequence[str]) -> Embeddings:
        inputs = self._tokenizer(
            list(texts),
            padding="max_length",
            max_length=self._length,
            truncation=True,
            return_tensors="pt",
        )
        with torch.inference_mode():
            return _unit(self._model.get_text_features(**inputs.to(self._options.device)))

    def _stacked(self, rows: list[Embeddings]) -> Embeddings:
        return np.concatenate(rows) if rows else np.empty((0, self._width), np.float32)

    def _preprocessing(self) -> str:
        """Everything between the pixels or the text and the first layer, as text."""
        described = {
            "image": json.loads(self._processor.to_json_string()),
            "image_processor": type(self._processor).__name__,
            "tokenizer": type(self._tokenizer).__name__,
            "context_length": self._length,
        }
        return json.dumps(described, sort_keys=True)


def _unit(features: Any) -> Embeddings:
    """Rows of length 1; newer versions of transformers wrap the features in an output object."""
    tensor = features if isinstance(features, torch.Tensor) else features.pooler_output
    embeddings: Embeddings = torch.nn.functional.normalize(tensor.float(), dim=-1).cpu().numpy()
    return embeddings
