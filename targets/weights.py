"""Which weights they were: files on disk, by sha256."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from huggingface_hub import try_to_load_from_cache

from benchmark.errors import UserError

_CHUNK = 1 << 20

_NAMES = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
"""Where transformers looks for weights, in its order."""


def sha256_of(paths: Iterable[Path]) -> str:
    """sha256 of one file's bytes; of several, the sha256 of their "name digest" lines in name order.

    Raises:
        ValueError: There are no files.
    """
    digests = {path.name: _digest(path) for path in paths}
    if not digests:
        raise ValueError("no weight files to hash")
    if len(digests) == 1:
        return next(iter(digests.values()))
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


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


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
