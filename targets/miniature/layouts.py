"""Which object each cell of a training picture shows, computed once into the work folder and kept there."""

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmark.toybox.objects import template
from benchmark.toybox.render_geometry import Mesh, View
from benchmark.toybox.scene import Scene
from targets.miniature.pyramid import CELLS
from targets.miniature.world_data import world_digest

Layout = npt.NDArray[np.int8]

RAYS = 4
"""Rays along each side of a cell."""
LEAST = 4
"""A cell shows an object if at least this many of its 16 rays hit one."""
_CHUNK = 1_000


def layout(scene: Scene) -> Layout:
    """Shape (8, 8): the index of the object that covers most of a cell, or -1 for the background."""
    mesh = Mesh.of(scene)
    hit = mesh.caster.run(*View.of(scene.camera, CELLS * RAYS, 1).rays(), output=True)["primID"]
    ends = np.cumsum([len(template(o.cls).corners) for o in scene.objects])
    shown = np.where(hit >= 0, np.searchsorted(ends, hit, side="right"), -1)
    shown = shown.reshape(CELLS, RAYS, CELLS, RAYS).swapaxes(1, 2).reshape(CELLS, CELLS, -1)
    hits = np.stack([(shown == i).sum(-1) for i in range(len(scene.objects))], axis=-1)
    return np.where(hits.sum(-1) >= LEAST, hits.argmax(-1), -1).astype(np.int8)


def layouts(all_scenes: Sequence[Scene], work: Path, workers: int = 2) -> Layout:
    """Shape (n, 8, 8), kept in `work` under the world's digest and the number of scenes."""
    first = all_scenes[0].seed
    path = work / f"layouts-{first}-{len(all_scenes)}-{world_digest()[:12]}.npy"
    if not path.exists():
        parts = [all_scenes[i : i + _CHUNK] for i in range(0, len(all_scenes), _CHUNK)]
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(workers, len(parts)), mp_context=context) as pool:
            made = np.concatenate(list(pool.map(_chunk, parts)))
        partial = path.with_suffix(".partial")
        with partial.open("wb") as file:
            np.save(file, made)
        partial.replace(path)
    loaded: Layout = np.load(path)
    return loaded


def _chunk(part: Sequence[Scene]) -> Layout:
    return np.stack([layout(scene) for scene in part])
