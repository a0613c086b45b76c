"""Which published model it was: its name and commit on the hub, or the hash of a folder's weights."""

import hashlib
from pathlib import Path
from typing import Any

from benchmark.types import ModelInfo


def pinned(spec: str) -> tuple[str, str]:
    """Name and revision of "ORG/NAME@REVISION"; the revision is "" where there is none."""
    name, _, revision = spec.partition("@")
    return (spec, "") if Path(spec).exists() else (name, revision)


def hub_info(name: str, revision: str, config: Any, preprocessing: str) -> ModelInfo:
    """What loaded: the commit that the configuration came from, or else the revision asked for."""
    commit = getattr(config, "_commit_hash", None)
    return ModelInfo(name, commit or revision, weights_sha256(name), preprocessing=preprocessing)


def weights_sha256(name: str) -> str:
    """Hash of the weight files of a folder; "" for a model from the hub, which its commit pins."""
    digest = hashlib.sha256()
    files = sorted(p for p in Path(name).glob("*") if p.suffix in (".safetensors", ".bin"))
    for file in files:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest() if files else ""
