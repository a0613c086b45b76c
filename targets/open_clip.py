"""Dual encoders of open_clip: published weights, a checkpoint on disk, or a folder that open_clip wrote.

Every picture goes through the model's own evaluation transform (PIL, bicubic unless the model says
otherwise), texts through its own tokenizer; embeddings are normalised. Nothing is put around a caption.
"""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from urllib.error import URLError

import numpy as np
import open_clip
import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
from open_clip.pretrained import download_pretrained_from_hf
from PIL import Image
from PIL import __version__ as pillow_version
from safetensors import SafetensorError

from benchmark.errors import UserError
from benchmark.protocols import Embeddings
from benchmark.types import JSON, ModelInfo, Pixels
from targets.options import Options
from targets.weights import sha256_of

_CONFIG = "open_clip_config.json"
_CHECKPOINTS = (".pt", ".pth", ".bin", ".safetensors")
_PREPROCESSING = ("size", "mode", "mean", "std", "interpolation", "resize_mode", "fill_color")


class OpenClip:
    """A dual encoder of open_clip, in float32 and evaluation mode unless told otherwise.

    The argument is one of
        MODEL/PRETRAINED, such as `ViT-B-32/laion2b_s34b_b79k`;
        MODEL/FILE, a checkpoint (.pt, .safetensors, ...) whose weights alone are read, no code;
        FOLDER or local-dir:FOLDER, written by open_clip;
        hf-hub:ORG/NAME, such a folder on the hub.

    Settings:
        revision: Commit, tag or branch on the hub.
        dtype, device, batch_size: See `targets.options`.
        quick_gelu: For a checkpoint trained with OpenAI's activation (published ones are known).

    Raises:
        UserError: The model, its weights or the file do not exist; likely names are given.
        ConnectionError: The weights are not on this machine and cannot be fetched.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        self._options = Options.of(settings)
        source = _source(argument, self._options.revision, bool(settings.get("quick_gelu", False)))
        try:
            model, self._transform = open_clip.create_model_from_pretrained(
                source.model,
                pretrained=source.pretrained,
                force_quick_gelu=source.quick_gelu,
                **_renamed(source.preprocessing),
            )
            self._tokenizer = open_clip.get_tokenizer(source.model)
        except (UnpicklingError, SafetensorError, EOFError) as error:
            raise UserError(
                f"open_clip cannot load {argument!r}: its file is no checkpoint of weights alone,"
                " or is damaged: save the state_dict as .safetensors"
            ) from error
        except OSError as error:  # a model's tokenizer may be elsewhere than its weights
            raise ConnectionError(
                f"open_clip lacks a file of {argument!r} ({_reason(error)}): connect to the network,"
                " or give a folder that open_clip wrote"
            ) from error
        except (RuntimeError, ValueError, KeyError) as error:
            raise UserError(
                f"open_clip cannot load {argument!r} ({_reason(error)}): check that weights and model match"
            ) from error
        self.model: Any = model.to(self._options.device, self._options.dtype).eval()
        self._width = int(self._encode(self.model.encode_text, self._tokenizer([""])).shape[1])
        self.info = ModelInfo(
            id=f"open_clip:{argument}",
            revision=source.revision,
            weights=sha256_of(source.weights),
            dtype=self._options.dtype_name,
            preprocessing=self._preprocessing(),
        )

    def encode_images(self, images: Sequence[Pixels]) -> Embeddings:
        """Unit vectors, shape (n, width), of pictures of any size."""
        rows = [
            self._encode(
                self.model.encode_image,
                torch.stack([self._transform(Image.fromarray(pixels)) for pixels in batch]),
            )
            for batch in self._options.batches(images)
        ]
        return self._stacked(rows)

    def encode_texts(self, texts: Sequence[str]) -> Embeddings:
        """Unit vectors, shape (n, width); a text is cut at the model's context length."""
        rows = [
            self._encode(self.model.encode_text, self._tokenizer(list(batch)))
            for batch in self._options.batches(texts)
        ]
        return self._stacked(rows)

    def _encode(self, encode: Any, batch: torch.Tensor) -> Embeddings:
        batch = batch.to(self._options.device)
        if batch.is_floating_point():
            batch = batch.to(self._options.dtype)
        with torch.inference_mode():
            features = torch.nn.functional.normalize(encode(batch).float(), dim=-1)
        embeddings: Embeddings = features.cpu().numpy()
        return embeddings

    def _stacked(self, rows: list[Embeddings]) -> Embeddings:
        return np.concatenate(rows) if rows else np.empty((0, self._width), np.float32)

    def _preprocessing(self) -> str:
        """Everything between the pixels or the text and the first layer, as text."""
        visual = self.model.visual
        described = {
            "image": {key: visual.preprocess_cfg.get(key) for key in _PREPROCESSING},
            "pillow": pillow_version,
            "tokenizer": type(self._tokenizer).__name__,
            "context_length": self._tokenizer.context_length,
        }
        return json.dumps(described, sort_keys=True)


@dataclass(frozen=True, slots=True)
class _Source:
    """What to give to open_clip, and the files that will be read."""

    model: str
    pretrained: str | None
    weights: tuple[Path, ...]
    revision: str = ""
    quick_gelu: bool = False
    preprocessing: Mapping[str, Any] = field(default_factory=dict)


def _source(argument: str, revision: str | None, quick_gelu: bool) -> _Source:
    """Find the weights of an argument, fetching them if they are on the hub and not yet here."""
    if argument.startswith("hf-hub:"):
        name = argument.removeprefix("hf-hub:")
        folder = _fetch(
            name, lambda: snapshot_download(name, revision=revision, allow_patterns=_of_folder())
        )
        return _folder(Path(folder), Path(folder).name)
    path = Path(argument.removeprefix("local-dir:"))
    if argument.startswith("local-dir:") or path.is_dir():
        return _folder(path, "")
    model, _, pretrained = argument.partition("/")
    known = open_clip.list_models()
    if model not in known:
        raise UserError(f"unknown open_clip model {model!r}: {_likely(model, known)}")
    if open_clip.is_pretrained_cfg(model, pretrained):
        return _published(model, pretrained, revision)
    if pretrained.endswith(_CHECKPOINTS):
        file = Path(pretrained)
        if not file.is_file():
            raise UserError(f"no checkpoint {pretrained!r}: correct the path after {model}/")
        return _Source(model, str(file), (file,), quick_gelu=quick_gelu)
    tags = open_clip.list_pretrained_tags_by_model(model)
    if not pretrained:
        options = ", ".join(tags) or "none is published"
        raise UserError(f"open_clip:{model} lacks weights: use {model}/PRETRAINED ({options})")
    raise UserError(
        f"unknown weights {pretrained!r} of open_clip model {model}: {_likely(pretrained, tags)}"
        f" (a checkpoint ends in {' or '.join(_CHECKPOINTS)})"
    )


def _published(model: str, tag: str, revision: str | None) -> _Source:
    config = open_clip.get_pretrained_cfg(model, tag)
    hub = str(config.get("hf_hub", ""))
    if revision is not None and not hub:
        raise UserError(f"{model}/{tag} is not on the hub: leave out target.revision")
    if hub:
        repository, _, file_name = hub.rpartition("/")
        fetched = _fetch(
            f"{model}/{tag}",
            lambda: download_pretrained_from_hf(
                repository, filename=file_name or None, revision=revision
            ),
        )
        commit = _commit(Path(fetched))
    else:
        fetched = _fetch(f"{model}/{tag}", lambda: open_clip.download_pretrained(config))
        commit = ""
    preprocessing = {key: config[key] for key in _PREPROCESSING if key in config}
    quick_gelu = bool(config.get("quick_gelu", False))
    return _Source(model, fetched, (Path(fetched),), commit, quick_gelu, preprocessing)


def _folder(folder: Path, revision: str) -> _Source:
    if not (folder / _CONFIG).is_file():
        raise UserError(f"no open_clip model in {str(folder)!r}: it lacks {_CONFIG}")
    # Which of several files open_clip reads is its own affair, so all of them are hashed.
    weights = tuple(path for path in sorted(folder.iterdir()) if path.suffix in _CHECKPOINTS)
    if not weights:
        raise UserError(f"no weights in {str(folder)!r}: looked for *{', *'.join(_CHECKPOINTS)}")
    return _Source(f"local-dir:{folder}", None, weights, revision)


def _of_folder() -> list[str]:
    """The files of a hub repository that are an open_clip folder, and not other formats' weights."""
    return ["*.json", "*.txt", "*.model", "open_clip_*.safetensors", "open_clip_*.bin"]


def _fetch(name: str, fetch: Any) -> str:
    try:
        return str(fetch())
    except (FileNotFoundError, LocalEntryNotFoundError, HfHubHTTPError, URLError) as error:
        raise ConnectionError(
            f"weights of {name} are not on this machine and cannot be fetched ({_reason(error)}):"
            " connect to the network, or give a local checkpoint"
        ) from error


def _reason(error: Exception) -> str:
    """The first line of a library's message."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".:")


def _commit(path: Path) -> str:
    """The commit in a path of the hub's cache (.../snapshots/COMMIT/file)."""
    parts = path.parts
    return parts[parts.index("snapshots") + 1] if "snapshots" in parts else ""


def _renamed(preprocessing: Mapping[str, Any]) -> dict[str, Any]:
    """What a published tag says of its preprocessing, under the names of create_model's options."""
    names = {
        "mean": "image_mean",
        "std": "image_std",
        "interpolation": "image_interpolation",
        "resize_mode": "image_resize_mode",
    }
    return {names[key]: value for key, value in preprocessing.items() if key in names}


def _likely(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known)}"
