"""Looking at a textured solid in any pose: the tree of triangles is built once, and the rays are moved.

Everything is in camera axes (x right, y up, z towards the viewer) and in pixels of the picture, the focal
length included, so a thing at depth `focal` is as large as it looks. Turning the object by R, scaling it
by s and moving it to t is the same as casting the rays o' = R^T (o - t) / s, d' = R^T d.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cv2
import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from numpy.typing import NDArray

from attacks.advdreamer.imaging import blurred, dilated, resized
from attacks.advdreamer.pose import Pose
from attacks.advdreamer.stages import Rendering

Floats = NDArray[np.float32]

FOV_DEG = 38.0
"""Field of view along the longer side. One picture does not tell; this is a normal lens."""

_SUBSAMPLES = np.array([[-0.25, -0.25], [0.25, -0.25], [-0.25, 0.25], [0.25, 0.25]], np.float32)
_SHADOW_PX = 128
_FOLD = 1024


def focal_of(shape: tuple[int, int]) -> float:
    """Focal length in pixels of a picture of (height, width)."""
    return 0.5 * max(shape) / float(np.tan(np.radians(FOV_DEG) / 2))


@dataclass(frozen=True, slots=True)
class Solid:
    """A closed textured surface.

    vertices: Shape (n, 3), relative to the pivot that it turns about.
    faces: Shape (m, 3), anticlockwise as seen from outside.
    places: Shape (m, 3, 2), where each corner's colour is in the texture: (column, row), pixel centres
        at whole numbers.
    texture: Shape (rows, columns, 3), 0..1.
    pivot: Shape (3,), where the pivot is in the camera's frame.
    ribs: Shape (k, 3), points on faces that are too long for their corners to cast a dense shadow.
    """

    vertices: Floats
    faces: NDArray[np.int32]
    places: Floats
    texture: Floats
    pivot: Floats
    ribs: Floats


@dataclass(frozen=True, slots=True)
class Ground:
    """A plane that the object stands on, whatever its pose, and the light that falls on it.

    normal: Unit vector that points up from the plane. light: Unit vector that points to the light.
    """

    normal: Floats
    light: Floats

    @classmethod
    def of(cls, camera_elevation_deg: float, azimuth_deg: float, elevation_deg: float) -> "Ground":
        """The plane seen by a camera that looks down on it, and a light.

        The light's azimuth is 0 at the right, 90 behind the viewer and 180 at the left.
        """
        tilt, turn, rise = np.radians([camera_elevation_deg, azimuth_deg, elevation_deg])
        up = np.array([0, np.cos(tilt), np.sin(tilt)])
        right, near = np.array([1, 0, 0]), np.array([0, -np.sin(tilt), np.cos(tilt)])
        light = np.sin(rise) * up + np.cos(rise) * (np.cos(turn) * right + np.sin(turn) * near)
        return cls(up.astype(np.float32), light.astype(np.float32))


class SolidModel:
    """A solid that can be seen in any pose, with its shadow on the ground. Deterministic."""

    def __init__(
        self, solid: Solid, shape: tuple[int, int], ground: Ground, focal: float | None = None
    ) -> None:
        self.solid = solid
        self._shape = shape
        self.ground = ground
        self._focal = focal_of(shape) if focal is None else focal
        self._corners = solid.places[:, 0]
        self._sides = solid.places[:, 1:] - solid.places[:, :1]
        # Every second corner is dense enough for a shadow, which is soft.
        self._points = np.concatenate([solid.vertices[::2], solid.ribs])

    @cached_property
    def _tree(self) -> EmbreeScene:
        scene = EmbreeScene()
        TriangleMesh(scene, self.solid.vertices, self.solid.faces)
        return scene

    def render(self, pose: Pose) -> Rendering:
        """The object in a pose, in the size of its picture; empty where it is out of sight."""
        height, width = self._shape
        rotation = pose.rotation.astype(np.float32)
        centre = self._centre(pose)
        corners = self.solid.vertices @ rotation.T * np.float32(pose.scale) + centre
        rgba = np.zeros((height, width, 4), np.float32)
        depth = np.full((height, width), np.inf, np.float32)
        window = self._window(corners)
        if window is not None:
            self._cast(rotation, centre, pose.scale, window, rgba, depth)
        return Rendering(rgba, depth, self.shadow(self.posed(pose), self.ground))

    def shadow(self, points: Floats, ground: Ground) -> Floats:
        """The share of light that points (n, 3) of a closed surface take from the ground below them.

        The plane goes through the lowest of them. The shadow is their projection along the light, made
        dense and soft, and darker in the corner between object and ground, where little sky is seen.
        """
        height, width = self._shape
        scale = min(1.0, _SHADOW_PX / max(height, width))
        rows, columns = max(1, round(height * scale)), max(1, round(width * scale))
        above = points @ ground.normal
        above -= above.min()
        across = ground.light / float(ground.light @ ground.normal)
        cast = self._splat(points - above[:, None] * across, None, (rows, columns), scale)
        foot = points - above[:, None] * ground.normal
        near = np.exp(-((above / (0.04 * self._focal)) ** 2))
        contact = self._splat(foot, near, (rows, columns), scale)
        kernel = np.ones((5, 5), np.uint8)
        closed = cv2.morphologyEx(np.minimum(cast, 1), cv2.MORPH_CLOSE, kernel)
        dense = np.asarray(closed, np.float32)
        corner = blurred(dilated(contact > 0.3, 1).astype(np.float32), 2.5)
        shade = 1 - (1 - blurred(dense, 0.9)) * (1 - 0.5 * corner)
        return np.asarray(resized(shade, (height, width)), np.float32)

    def posed(self, pose: Pose) -> Floats:
        """The points that cast the shadow, in the camera's frame, shape (n, 3)."""
        turned = self._points @ pose.rotation.astype(np.float32).T * np.float32(pose.scale)
        return np.asarray(turned + self._centre(pose), np.float32)

    def _centre(self, pose: Pose) -> Floats:
        shift = np.array([pose.dx, pose.dy, 0]) * max(self._shape)
        return self.solid.pivot + shift.astype(np.float32)

    def _project(self, points: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Column, row, and whether the point is before the camera at all."""
        height, width = self._shape
        depth = -points[:, 2]
        seen = depth > 0.05 * self._focal
        ratio = np.float32(self._focal) / np.where(seen, depth, np.float32(1))
        column = width / 2 + points[:, 0] * ratio
        row = height / 2 - points[:, 1] * ratio
        return column.astype(np.float32), row.astype(np.float32), seen

    def _window(self, points: Floats) -> tuple[int, int, int, int] | None:
        """top, bottom, left, right of the pixels that may show the object."""
        height, width = self._shape
        column, row, seen = self._project(points)
        if not seen.all():
            return 0, height, 0, width
        left, right = max(0, int(column.min())), min(width, int(column.max()) + 1)
        top, bottom = max(0, int(row.min())), min(height, int(row.max()) + 1)
        return (top, bottom, left, right) if left < right and top < bottom else None

    def _cast(
        self,
        rotation: Floats,
        centre: Floats,
        scale: float,
        window: tuple[int, int, int, int],
        rgba: Floats,
        depth: Floats,
    ) -> None:
        """One ray a pixel of the window, and four where the outline passes; writes rgba and depth."""
        top, bottom, left, right = window
        eye = np.asarray(-centre @ rotation / scale, np.float32)
        row, column = (a.ravel() for a in np.mgrid[top:bottom, left:right].astype(np.float32) + 0.5)
        hit = self._rays(column, row, rotation, eye)
        seen = hit["primID"] >= 0
        shape = bottom - top, right - left
        flat = np.zeros((seen.size, 4), np.float32)
        flat[seen, :3], flat[seen, 3] = self._colours(hit, seen), 1
        covered = seen.reshape(shape).astype(np.uint8)
        cross = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
        padded = np.pad(covered, 1)
        outline = (cv2.dilate(padded, cross) != cv2.erode(padded, cross))[1:-1, 1:-1].ravel()
        if outline.any():
            flat[outline] = self._smooth(column[outline], row[outline], rotation, eye)
        rgba[top:bottom, left:right] = flat.reshape(*shape, 4)
        distance = np.where(seen, hit["tfar"] * np.float32(scale), np.float32(np.inf))
        depth[top:bottom, left:right] = distance.reshape(shape)

    def _smooth(self, column: Floats, row: Floats, rotation: Floats, eye: Floats) -> Floats:
        """Colour and coverage of pixels on the outline, from four rays each."""
        four = len(_SUBSAMPLES)
        columns = (column[:, None] + _SUBSAMPLES[:, 0]).ravel()
        rows = (row[:, None] + _SUBSAMPLES[:, 1]).ravel()
        hit = self._rays(columns, rows, rotation, eye)
        seen = hit["primID"] >= 0
        flat = np.zeros((seen.size, 4), np.float32)
        flat[seen, :3], flat[seen, 3] = self._colours(hit, seen), 1
        total = flat.reshape(-1, four, 4).sum(axis=1)
        total[:, :3] /= np.maximum(total[:, 3:], 1)
        total[:, 3] /= four
        return np.asarray(total, np.float32)

    def _rays(
        self, column: Floats, row: Floats, rotation: Floats, eye: Floats
    ) -> dict[str, NDArray[Any]]:
        height, width = self._shape
        direction = np.empty((column.size, 3), np.float32)
        direction[:, 0] = (column - width / 2) / self._focal
        direction[:, 1] = (height / 2 - row) / self._focal
        direction[:, 2] = -1
        direction = np.ascontiguousarray(direction @ rotation)
        found: dict[str, NDArray[Any]] = self._tree.run(
            np.broadcast_to(eye, direction.shape).copy(), direction, output=True
        )
        return found

    def _colours(self, hit: dict[str, NDArray[Any]], seen: NDArray[np.bool_]) -> Floats:
        """Texture under the rays that hit, shape (n, 3)."""
        face = hit["primID"][seen]
        if not face.size:
            return np.zeros((0, 3), np.float32)
        u, v = hit["u"][seen, None], hit["v"][seen, None]
        sides = self._sides[face]
        place = self._corners[face] + u * sides[:, 0] + v * sides[:, 1]
        # remap takes no picture of more than 32767 columns or rows: the list of places is folded.
        folded = np.zeros((2, -(-len(place) // _FOLD) * _FOLD), np.float32)
        folded[:, : len(place)] = place.T
        columns, rows = folded.reshape(2, -1, _FOLD)
        colours = cv2.remap(
            self.solid.texture, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        return np.asarray(colours, np.float32).reshape(-1, 3)[: len(place)]

    def _splat(
        self, points: Floats, weight: Floats | None, shape: tuple[int, int], scale: float
    ) -> Floats:
        """How much falls into each cell of a picture of `shape`."""
        column, row, seen = self._project(points)
        x, y = (column * scale).astype(np.int64), (row * scale).astype(np.int64)
        seen &= (x >= 0) & (x < shape[1]) & (y >= 0) & (y < shape[0])
        amount = None if weight is None else weight[seen]
        total = np.bincount(y[seen] * shape[1] + x[seen], amount, shape[0] * shape[1])
        return total.reshape(shape).astype(np.float32)
