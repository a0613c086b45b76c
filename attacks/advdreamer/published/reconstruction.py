"""TripoSR as a reconstruction: `triposr:CHECKPOINT`, the published one by default.

One forward pass of the network a picture; then every pose is rendered without it: on a GPU by marching
rays through the field, on a CPU by casting rays at its mesh. TripoSR guesses the camera it is shown, so
its object, seen from where the network assumes the camera, is not quite where and as large as the picture
has it: scale and shift are fitted to the mask once, as a zoom and a shift of that camera's image plane.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from attacks.advdreamer.pose import Pose
from attacks.advdreamer.published.hub import described, device_of, dtype_of, pinned, read
from attacks.advdreamer.published.surfaces import (
    Floats,
    Hits,
    MarchedSurface,
    MeshSurface,
    Singles,
    Surface,
    dense_box,
)
from attacks.advdreamer.published.viewing import (
    DISTANCE,
    Fit,
    Outline,
    Placement,
    View,
    fitted,
    outline_grid,
)
from attacks.advdreamer.stages import Box, ForegroundError, Mask, Rendering
from attacks.advdreamer.triposr import TripoSR
from attacks.advdreamer.triposr_checkpoint import PUBLISHED_REPOSITORY
from attacks.advdreamer.triposr_config import PUBLISHED
from attacks.advdreamer.triposr_image import FOREGROUND_RATIO
from attacks.advdreamer.triposr_network import Position
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Pixels

_COARSE = 64
"""Grid points along each side that find where a marched field's object begins and ends."""
_NEAREST = DISTANCE - 0.05
"""Corners of a box with a greater x are as good as behind the camera."""


@dataclass(frozen=True, slots=True)
class TripoSettings:
    """What `TripoReconstruction` can be told.

    model, revision: A repository on the hub (its checkpoint is checked by hash), a folder or a file.
    config: A JSON file {"config": ..., "vit_config": ...} of a checkpoint that is not the published one.
    position: "4.35" or "5", the version of transformers whose interpolation is used.
    dtype: Of the transformers; the decoder is always in float32.
    renderer: "march", "mesh", or "auto": march on an accelerator, mesh on a CPU.
    resolution, threshold: Of the mesh: grid points along each side, and density at the surface.
    samples: Rays a pixel along each side, for a mesh; a marched field has soft edges of its own.
    min_overlap: Intersection over union of silhouette and mask below which the object was not recovered.
    """

    model: str = PUBLISHED_REPOSITORY
    revision: str = ""
    config: str = ""
    position: str = "4.35"
    device: str = "cpu"
    dtype: str = "float32"
    renderer: str = "auto"
    resolution: int = 256
    threshold: float = 25.0
    samples: int = 2
    min_overlap: float = 0.5


class TripoReconstruction:
    """Makes a 3D model from one view by TripoSR (`Reconstruction`).

    Raises:
        UserError: A setting cannot be used, or the checkpoint is none, or cannot be fetched.
    """

    info: ModelInfo

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        chosen = self._settings = read(TripoSettings, argument, settings)
        if chosen.renderer not in ("auto", "march", "mesh"):
            raise UserError(f"renderer {chosen.renderer!r} is unknown: use auto, march or mesh")
        if chosen.samples < 1:
            raise UserError(f"samples = {chosen.samples}: give at least 1 ray a pixel")
        device = device_of(chosen.device)
        dtype = dtype_of(chosen.dtype, device)
        revision = pinned(chosen.model, chosen.revision)
        try:
            model = TripoSR.load(
                chosen.model,
                revision=revision,
                position=cast("Position", chosen.position),
                device=str(device),
                **_configuration(chosen.config),
            )
        except ConnectionError as error:
            raise UserError(str(error)) from error
        self._model = model if dtype is torch.float32 else model.reduce_precision(dtype)
        marches = chosen.renderer == "march" or (chosen.renderer == "auto" and device.type != "cpu")
        self._renderer = "march" if marches else "mesh"
        self.info = ModelInfo(
            id=f"triposr:{chosen.model}",
            revision=revision or "",
            weights=model.sha256,
            dtype=chosen.dtype,
            preprocessing=described(replace(chosen, renderer=self._renderer)),
            license="MIT" if chosen.model == PUBLISHED_REPOSITORY else "",
        )

    def build(self, pixels: Pixels, mask: Mask) -> "TripoModel":
        """The model of what `mask` covers; at the identity pose its silhouette lies over the mask.

        Raises:
            ForegroundError: The object is too small, or TripoSR does not recover it.
        """
        rgba = np.dstack([pixels, mask.astype(np.uint8) * 255])
        try:
            conditioning = self._model.preprocess(rgba)
        except UserError as error:
            raise ForegroundError(f"TripoSR cannot use the mask: {error}") from error
        surface = self._surface(self._model.scene_codes(conditioning))
        fit = _fit(surface, mask)
        if fit.overlap < self._settings.min_overlap:
            raise ForegroundError(
                f"TripoSR's object overlaps the mask by {fit.overlap:.2f} only, though"
                f" {self._settings.min_overlap:g} is needed: give a better mask, or lower min_overlap"
            )
        samples = 1 if self._renderer == "march" else self._settings.samples
        return TripoModel(surface, fit, _box(mask), (mask.shape[0], mask.shape[1]), samples)

    def _surface(self, scene_code: torch.Tensor) -> Surface:
        chosen, model = self._settings, self._model
        if self._renderer == "mesh":
            mesh = model.mesh(scene_code, chosen.resolution, chosen.threshold, adaptive=True)
            if mesh.is_empty:
                raise ForegroundError(_nothing(mesh.peak, mesh.threshold))
            return MeshSurface(mesh)
        density = model.grid_density(scene_code, _COARSE).cpu().numpy()
        peak = float(density.max())
        threshold = chosen.threshold if peak > chosen.threshold else 0.5 * peak
        box = dense_box(density, threshold, model.config.radius)
        if box is None:
            raise ForegroundError(_nothing(peak, threshold))
        return MarchedSurface(model, scene_code, box)


class TripoModel:
    """An object that can be turned (`Model3D`).

    `fit` says how well its silhouette covers the mask at the identity pose. It turns about the centre of
    the mask's box, in the middle of its own depth.
    """

    def __init__(
        self, surface: Surface, fit: Fit, box: Box, size: tuple[int, int], samples: int
    ) -> None:
        self.fit = fit
        self._surface = surface
        self._size = size
        self._samples = samples
        left, top, width, height = box
        middle = float(surface.box[:, 0].mean())
        self._pivot = fit.view.point(left + width / 2, top + height / 2, middle)

    def render(self, pose: Pose) -> Rendering:
        """Its look in a pose, in the size of the picture it was built from. Deterministic."""
        height, width = self._size
        rgba = np.zeros((height, width, 4), np.float32)
        depth = np.full((height, width), np.inf, np.float32)
        view = self.fit.view
        placement = Placement.of(pose, self._pivot, max(self._size), view)
        rows, columns = self._window(placement)
        if rows.start < rows.stop and columns.start < columns.stop:
            down, across = (_samples(part, self._samples) for part in (rows, columns))
            origin, rays = placement.seen_by_object(view.directions(across, down))
            hits = self._surface.cast(origin, rays.reshape(-1, 3))
            rgba[rows, columns], units = _gathered(hits, len(down), len(across), self._samples)
            # At the pivot a pixel is as wide as it is deep, so that the focal length is its depth.
            depth[rows, columns] = units * (view.focal / (DISTANCE - self._pivot[0]))
        return Rendering(rgba, depth)

    def _window(self, placement: Placement) -> tuple[slice, slice]:
        """Rows and columns of the picture that the object can be seen in."""
        height, width = self._size
        low, high = self._surface.box
        corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, 8).T
        placed = placement.placed(corners)
        if (placed[:, 0] > _NEAREST).any():  # a corner is behind the camera
            return slice(0, height), slice(0, width)
        seen = self.fit.view.project(placed)
        (left, top), (right, bottom) = np.floor(seen.min(axis=0)), np.ceil(seen.max(axis=0))
        return (
            slice(int(np.clip(top - 1, 0, height)), int(np.clip(bottom + 1, 0, height))),
            slice(int(np.clip(left - 1, 0, width)), int(np.clip(right + 1, 0, width))),
        )


def _box(mask: Mask) -> Box:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    left, top = int(columns[0]), int(rows[0])
    return left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1


def _fit(surface: Surface, mask: Mask) -> Fit:
    """The view at the identity pose.

    Raises:
        ForegroundError: Nothing is to be seen from where the picture was taken.
    """
    box = _box(mask)
    view = View.assumed(box, FOREGROUND_RATIO)
    columns, rows, half = outline_grid(view, box, FOREGROUND_RATIO)
    rays = view.directions(columns, rows)
    hits = surface.cast(np.array([DISTANCE, 0.0, 0.0]), rays.reshape(-1, 3))
    fit = fitted(Outline(hits.alpha.reshape(rays.shape[:2]), half), mask, view)
    if fit is None:
        raise ForegroundError(
            "TripoSR's object cannot be seen from the camera that it assumes: give a better mask"
        )
    return fit


def _nothing(peak: float, threshold: float) -> str:
    return (
        f"TripoSR found no object: the greatest density is {peak:.3g} and no surface is at"
        f" {threshold:.3g}; give a better mask"
    )


def _samples(part: slice, per_pixel: int) -> Floats:
    """Where in the picture the rays of these pixels pass."""
    n = (part.stop - part.start) * per_pixel
    return np.asarray(part.start + (np.arange(n) + 0.5) / per_pixel)


def _gathered(hits: Hits, height: int, width: int, per_pixel: int) -> tuple[Singles, Singles]:
    """Straight RGBA (h, w, 4) and depth (h, w) of pixels from their rays."""
    shape = (height // per_pixel, per_pixel, width // per_pixel, per_pixel)
    alpha = hits.alpha.reshape(shape)
    premultiplied = hits.colour.reshape(*shape, 3) * alpha[..., None]
    share = alpha.mean(axis=(1, 3))
    divisor = np.where(share > 0, share, 1)[..., None]
    colour = premultiplied.mean(axis=(1, 3)) / divisor
    depth = hits.depth.reshape(shape)
    seen = np.isfinite(depth)
    total = np.where(seen, depth, 0).sum(axis=(1, 3))
    count = seen.sum(axis=(1, 3))
    mean = np.where(count > 0, total / np.maximum(count, 1), np.inf)
    rgba = np.concatenate([colour, share[..., None]], axis=2)
    return rgba.astype(np.float32), mean.astype(np.float32)


def _configuration(path: str) -> dict[str, Any]:
    """`TripoSR.load`'s arguments from a JSON file, or none for the published configuration.

    Raises:
        UserError: The file is not there, or is no JSON object with "config".
    """
    if not path:
        return {"config": PUBLISHED}
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        return {"config": data["config"], "vit_config": data.get("vit_config")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f'config {path!r} cannot be used ({error}): give a JSON file {{"config": ...}}'
        ) from error
