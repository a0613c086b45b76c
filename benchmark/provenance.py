"""Where numbers come from: the versions, commit and machine that run.json names."""

import platform
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmark.config import RunConfig

_PACKAGES = (
    "accelerate", "cma", "diffusers", "embreex", "httpx", "numpy", "open_clip_torch", "pillow",
    "rapidfuzz", "scipy", "spacy", "timm", "torch", "torchvision", "transformers", "trident-vlm", "trimesh",
)  # fmt: skip


def header(config: RunConfig) -> dict[str, Any]:
    """The keys of run.json that are known before a run starts."""
    return {
        "schema": 1,
        "status": "running",
        "config": config.to_json(),
        "digest": config.digest,
        "seed": config.seed,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": _versions(),
        "git_commit": _git_commit(),
        "start": now(),
        "end": None,
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _git_commit() -> str:
    """Commit of the harness if it runs from a checkout of its own, with "+" if it was changed."""
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return ""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
        return done.stdout.strip()

    try:
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def now() -> str:
    """The time as run.json writes it: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
