"""The camera that TripoSR's object is seen by: assumed, fitted to the mask, and moved by a pose.

World as in TripoSR: x towards the camera, y to the right, z up; the camera on the x axis. These are the
axes that the pose's angles are about, and rays are moved instead of the object.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from attacks.advdreamer.pose import Pose
from attacks.advdreamer.stages import Box, Mask

Floats = NDArray[np.float64]

DISTANCE, FOV_DEG = 1.9, 40.0
"""Of the camera that TripoSR's renders are made with by default, the first of which is the input view."""

_AXES = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
"""(x, y, z) of the world -> right, up and towards the viewer, the axes of `Pose.rotation`."""

_FIT_SIDE = 128
"""Pixels along each side at which the silhouette and the mask are compared."""
_FIT_WIDER = 1.4
"""The silhouette is looked for in a view so much wider than the picture's."""
_ZOOMS = (0.25, 4.0)


@dataclass(frozen=True, slots=True)
class View:
    """A camera at (DISTANCE, 0, 0) that looks at the origin. Lengths in pixels of the picture.

    focal: Focal length.
    x, y: Where the optical axis meets the picture.
    """

    focal: float
    x: float
    y: float

    @classmethod
    def assumed(cls, box: Box, ratio: float) -> Self:
        """The camera that TripoSR was shown an object in `box` by, which fills `ratio` of its square."""
        left, top, width, height = box
        side = max(width, height) / ratio
        focal = 0.5 * side / math.tan(math.radians(FOV_DEG / 2))
        return cls(focal, left + width / 2, top + height / 2)

    def directions(self, columns: Floats, rows: Floats) -> Floats:
        """Rays (h, w, 3) through points of the picture, x = -1 each: a hit's distance is its depth."""
        rays = np.empty((len(rows), len(columns), 3))
        rays[..., 0] = -1.0
        rays[..., 1] = (columns[None, :] - self.x) / self.focal
        rays[..., 2] = -(rows[:, None] - self.y) / self.focal
        return rays

    def project(self, points: Floats) -> Floats:
        """Columns and rows (n, 2) of world points (n, 3), all of them before the camera."""
        depth = DISTANCE - points[:, 0]
        return np.stack(
            [
                self.x + self.focal * points[:, 1] / depth,
                self.y - self.focal * points[:, 2] / depth,
            ],
            axis=1,
        )

    def point(self, column: float, row: float, x: float) -> Floats:
        """The world point that is seen at a place of the picture and has that `x`."""
        per_pixel = (DISTANCE - x) / self.focal
        return np.array([x, (column - self.x) * per_pixel, -(row - self.y) * per_pixel])


@dataclass(frozen=True, slots=True)
class Placement:
    """An object in a pose: turned and scaled about `pivot`, then moved by `shift`, in world units."""

    turn: Floats
    scale: float
    pivot: Floats
    shift: Floats

    @classmethod
    def of(cls, pose: Pose, pivot: Floats, longer_side: int, view: View) -> Self:
        """What a pose means for an object whose pivot is seen by `view` (AdvDreamer sec. 3.2.1)."""
        turn = _AXES.T @ pose.rotation @ _AXES
        per_pixel = (DISTANCE - pivot[0]) / view.focal
        shift = np.array([0.0, pose.dx, pose.dy]) * longer_side * per_pixel
        return cls(turn, pose.scale, pivot, shift)

    def placed(self, points: Floats) -> Floats:
        """Points (n, 3) of the object where the pose puts them."""
        placed: Floats = self.scale * (points - self.pivot) @ self.turn.T + self.pivot + self.shift
        return placed

    def seen_by_object(self, directions: Floats) -> tuple[Floats, Floats]:
        """The eye (3,) and rays (..., 3) as they are for the unmoved object; depths stay as they are."""
        eye = np.array([DISTANCE, 0.0, 0.0])
        moved = (eye - self.shift - self.pivot) @ self.turn / self.scale + self.pivot
        return moved, directions @ self.turn / self.scale


class Fit(NamedTuple):
    """How the assumed view has to change for the silhouette to cover the mask."""

    view: View
    zoom: float
    overlap: float
    """Intersection over union of silhouette and mask."""


class Outline(NamedTuple):
    """A silhouette on a square grid about the optical axis, `half` pixels of the picture to each side."""

    alpha: NDArray[np.float32]
    half: float


def outline_grid(view: View, box: Box, ratio: float) -> tuple[Floats, Floats, float]:
    """Columns and rows to cast rays through for an `Outline`, and its `half`."""
    half = _FIT_WIDER * max(box[2:]) / ratio / 2
    steps = ((np.arange(_FIT_SIDE) + 0.5) / _FIT_SIDE * 2 - 1) * half
    return view.x + steps, view.y + steps, half


def fitted(outline: Outline, mask: Mask, view: View) -> Fit | None:
    """The zoom and shift of the image plane that lay the outline best over the mask.

    Starts from equal areas and centroids and climbs by a pattern search, so it is exact to a small part of
    a pixel and the same every time. None if there is no outline.
    """
    seen = outline.alpha > 0.5
    if not seen.any():
        return None
    stride = max(1, -(-max(mask.shape) // _FIT_SIDE))
    wanted = mask[::stride, ::stride]
    rows, columns = (np.arange(n) * stride + 0.5 for n in wanted.shape)
    pixel = 2 * outline.half / _FIT_SIDE

    def overlap(zoom: float, x: float, y: float) -> float:
        # Where, in the outline's grid, the pixels of the picture come from.
        across = ((columns - view.x - x) / zoom + outline.half) / pixel - 0.5
        down = ((rows - view.y - y) / zoom + outline.half) / pixel - 0.5
        where = np.broadcast_arrays(down[:, None], across[None, :])
        covered = map_coordinates(outline.alpha, where, order=1, cval=0.0) > 0.5
        either = np.count_nonzero(covered | wanted)
        return np.count_nonzero(covered & wanted) / either if either else 0.0

    zoom = math.sqrt(mask.sum() / (seen.sum() * pixel**2))
    zoom = min(max(zoom, _ZOOMS[0]), _ZOOMS[1])
    there = (np.argwhere(seen).mean(axis=0) + 0.5) * pixel - outline.half
    here = np.argwhere(mask).mean(axis=0) + 0.5 - (view.y, view.x)
    y, x = here - zoom * there
    best = (zoom, float(x), float(y))
    score = overlap(*best)
    size = math.sqrt(mask.sum())
    step = 0.1
    while step > 0.002:
        tried = [
            (best[0] * factor, best[1] + right * size, best[2] + down * size)
            for factor, right, down in (
                (1 + step, 0, 0), (1 / (1 + step), 0, 0),
                (1, step, 0), (1, -step, 0), (1, 0, step), (1, 0, -step),
            )
        ]  # fmt: skip
        scores = [overlap(*one) if _ZOOMS[0] <= one[0] <= _ZOOMS[1] else 0.0 for one in tried]
        if max(scores) > score:
            score = max(scores)
            best = tried[scores.index(score)]
        else:
            step /= 2
    moved = replace(view, focal=view.focal * best[0], x=view.x + best[1], y=view.y + best[2])
    return Fit(moved, best[0], float(score))
