"""Training pictures of the embedded world, rendered once into a work folder and kept there."""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from benchmark.toybox.render import render, render_many
from benchmark.toybox.sampling import scenes
from benchmark.toybox.scene import Scene
from benchmark.types import Pixels

PICTURE_PX = 64
BLOCK = 2_000


@cache
def world_digest() -> str:
    """sha256 of some rendered pixels: pictures of a world that looks different are not reused."""
    probe = scenes("train", 24)
    digest = hashlib.sha256()
    for scene in probe:
        digest.update(render(scene, px=PICTURE_PX).tobytes())
    return digest.hexdigest()


def pictures(
    split: str,
    n: int,
    work: Path,
    *,
    kind: str | None = None,
    workers: int | None = None,
    report: Callable[[str], None] = print,
) -> tuple[Pixels, list[Scene]]:
    """The first n scenes of a split with their pictures, shape (n, 64, 64, 3).

    Rendered in blocks that are kept in `work`, so a killed rendering goes on where it stopped.
    """
    folder = work / f"{split}-{kind or 'all'}-{PICTURE_PX}px-{world_digest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    all_scenes = scenes(split, n, kind=kind)
    out = np.empty((n, PICTURE_PX, PICTURE_PX, 3), np.uint8)
    for start in range(0, n, BLOCK):
        block = all_scenes[start : start + BLOCK]
        path = folder / f"{start:07d}-{len(block)}.npy"
        if not path.exists():
            rendered = render_many(block, px=PICTURE_PX, workers=workers)
            partial = path.with_suffix(".partial")
            with partial.open("wb") as file:
                np.save(file, rendered)
            partial.replace(path)
            report(f"rendered {start + len(block)} of {n} pictures ({split})")
        out[start : start + len(block)] = np.load(path)
    return out, all_scenes
