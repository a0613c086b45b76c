"""What the adapters of transformers share: loading, its errors, and which files the weights are in."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from huggingface_hub import try_to_load_from_cache
from huggingface_hub.utils.tqdm import are_progress_bars_disabled, enable_progress_bars
from transformers.utils import logging

from benchmark.errors import UserError
from targets.options import Options

_NAMES = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
"""Where transformers looks for weights, in its order."""


@contextmanager
def loading(argument: str) -> Iterator[None]:
    """Around `from_pretrained`: no progress bars but those of downloads; errors in one line.

    Raises:
        UserError: What transformers refuses, with the remedy.
    """
    library: Any = logging  # without types
    bars, downloads = library.is_progress_bar_enabled(), not are_progress_bars_disabled()
    library.disable_progress_bar()  # of the hub too, so those come back
    if downloads:
        enable_progress_bars()
    try:
        yield
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".:")
        remedy = "check the name, give a local folder, or connect to the network"
        if Path(argument).is_dir():
            remedy = "the folder must be one that save_pretrained wrote"
        raise UserError(f"transformers cannot load {argument!r} ({reason}): {remedy}") from error
    finally:
        if bars:
            library.enable_progress_bar()


def pinned(argument: str, revision: str | None) -> tuple[str, str | None]:
    """Repository and revision of `ORG/NAME@COMMIT`; `revision` holds where the argument has none."""
    if Path(argument).exists():
        return argument, revision
    name, _, commit = argument.partition("@")
    return name, commit or revision


def placed(model: Any, options: Options) -> Any:
    """The model on its device and in evaluation mode."""
    return model.to(options.device).eval()


def transformers_weights(source: str, revision: str | None) -> list[Path]:
    """The weight files that transformers loads for a folder, or for a hub id that is in its cache.

    Raises:
        UserError: There are none.
    """
    for name in _NAMES:
        path = _stored(source, name, revision)
        if path is None:
            continue
        if path.suffix != ".json":
            return [path]
        shards = sorted(set(json.loads(path.read_text("utf-8"))["weight_map"].values()))
        found = [_stored(source, shard, revision) for shard in shards]
        return [shard for shard in found if shard is not None]
    raise UserError(f"{source}: no weights, looked for {' or '.join(_NAMES)}")


def _stored(source: str, name: str, revision: str | None) -> Path | None:
    if Path(source).is_dir():
        path = Path(source) / name
        return path if path.is_file() else None
    cached = try_to_load_from_cache(source, name, revision=revision)
    return Path(cached) if isinstance(cached, str) else None
