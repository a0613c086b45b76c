"""Pictures of scenes, by ray casting: the same scene gives the same pixels, in any order or process.

One ray a sample finds what is seen; one more towards the sun finds shadows. Soft shadows come from a
fixed pattern of sun points within each pixel, not from chance, so there is no noise to average out.
"""

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.toybox.lights import LIGHTS
from benchmark.toybox.render_geometry import Mesh, View
from benchmark.toybox.sampling import split_of
from benchmark.toybox.scene import Scene
from benchmark.toybox.shading import object_colours, shadow_ground, surroundings

Pixels = NDArray[np.uint8]

_IN_PROCESS = 24
"""Below this many scenes a pool of workers costs more than it saves."""


def render(scene: Scene, px: int = 64, samples: int = 2, ambient_occlusion: bool = False) -> Pixels:
    """The picture of a scene.

    Args:
        scene: What to draw.
        px: Width and height of the picture.
        samples: Rays a pixel along each side, so samples**2 in all.
        ambient_occlusion: Also cast one ray a sample for nearby surfaces that block skylight. It is
            slower and grainier; the shadow where an object touches the ground is always drawn.

    Returns:
        Pixels of shape (px, px, 3), sRGB.

    Raises:
        ValueError: If px or samples is below 1.
    """
    if px < 1 or samples < 1:
        raise ValueError(f"px={px}, samples={samples}: a picture needs at least 1 of each")
    light = LIGHTS[scene.light]
    view = View.of(scene.camera, px, samples)
    mesh = Mesh.of(scene)
    hit = mesh.caster.run(*view.rays(), output=True)
    seen = np.flatnonzero(hit["primID"] >= 0)
    colour, depth, is_ground = surroundings(scene, view, light)
    shadow_ground(colour, is_ground, scene, mesh, view, light, seen, ambient_occlusion)
    colour = colour.reshape(-1, 3)
    if seen.size:
        colour[seen] = object_colours(hit, seen, mesh, view, light, ambient_occlusion)
        depth[seen] = hit["tfar"][seen]
    if light.fog:
        start = np.float32(0.55 * scene.camera.distance)
        rate = np.float32(light.fog / scene.camera.distance)
        clear = np.exp(-np.maximum(depth - start, 0) * rate)[:, None]
        colour = light.horizon + (colour - light.horizon) * clear
    np.clip(colour, 0.0, 1.0, out=colour)
    mean = colour.reshape(px, samples, px, samples, 3).mean(axis=(1, 3))
    return np.asarray(mean ** np.float32(1 / 2.2) * 255 + 0.5).astype(np.uint8)


def render_many(
    scenes: Sequence[Scene],
    px: int = 64,
    samples: int = 2,
    workers: int | None = None,
    ambient_occlusion: bool = False,
) -> Pixels:
    """The pictures of many scenes, shape (n, px, px, 3), in order; the same for any `workers`.

    Workers (default: one a CPU core) are started afresh, never forked, so threads of the calling
    process do no harm. A few scenes are drawn in this process.
    """
    workers = workers or os.cpu_count() or 1
    out = np.empty((len(scenes), px, px, 3), np.uint8)
    if workers == 1 or len(scenes) < _IN_PROCESS:
        for i, scene in enumerate(scenes):
            out[i] = render(scene, px, samples, ambient_occlusion)
        return out
    size = min(512, -(-len(scenes) // (2 * workers)))
    starts = range(0, len(scenes), size)
    jobs = [(scenes[i : i + size], px, samples, ambient_occlusion) for i in starts]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(jobs)), mp_context=context) as pool:
        for start, part in zip(starts, pool.map(_render_chunk, jobs), strict=True):
            out[start : start + len(part)] = part
    return out


@dataclass(frozen=True, slots=True)
class SceneImage:
    """A picture that is drawn when it is needed: a scene and how to draw it."""

    scene: Scene
    px: int = 64
    samples: int = 2
    ambient_occlusion: bool = False

    @property
    def name(self) -> str:
        """Where the scene's seed belongs, such as "toybox/test/11000003"."""
        return f"toybox/{split_of(self.scene.seed)}/{self.scene.seed}"

    def load(self) -> Pixels:
        """The pixels, shape (px, px, 3)."""
        return render(self.scene, self.px, self.samples, self.ambient_occlusion)


def _render_chunk(job: tuple[Sequence[Scene], int, int, bool]) -> Pixels:
    scenes, px, samples, ambient_occlusion = job
    return np.stack([render(scene, px, samples, ambient_occlusion) for scene in scenes])
