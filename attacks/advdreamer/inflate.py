"""A closed textured surface from one silhouette: the embedded substitute of a reconstruction network.

The corners of the silhouette's pixels are moved along the rays through them: forth to the front of the
object, and back to its far side, by the depths of `profiles`. So the identity pose shows the picture
again, whatever the guess is. The picture is the texture; where it says nothing (the far side, the walls
between front and back, the underside), it is continued by what is known nearby, in shade.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from attacks.advdreamer.background import cast_shadow
from attacks.advdreamer.imaging import Floats, blurred, blurred_within, extent
from attacks.advdreamer.pose import IDENTITY
from attacks.advdreamer.profiles import (
    ELEVATION_DEG,
    Outline,
    Profile,
    Shape,
    flat_profile,
    round_profile,
    standing_profile,
)
from attacks.advdreamer.raycast import Ground, Solid, SolidModel, focal_of
from attacks.advdreamer.stages import Mask
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Pixels

FINEST = 120
"""Cells along the silhouette's longer side at most; larger silhouettes get larger cells."""

_EDGE = 2
"""Cells around the silhouette in its textures, so that sampling never leaves them."""

_AZIMUTHS = tuple(range(0, 360, 30))
_RISES = (25.0, 40.0, 55.0)
_AGAINST_LIGHT = 0.7
"""Lights behind the object have to fit so much better: few pictures are taken against the light."""

_USUAL_LIGHT = (135.0, 50.0)
_RIBS = np.linspace(0, 1, 10, dtype=np.float32)[1:-1]


class Inflation:
    """Builds solids; the argument forces a shape: "round", "flat", "standing", "auto" (default).

    Raises:
        UserError: There is no such shape.
    """

    def __init__(self, argument: str = "", settings: Mapping[str, JSON] | None = None) -> None:
        del settings
        shape = argument or "auto"
        if shape not in ("auto", *get_args(Shape)):
            known = ", ".join(("auto", *get_args(Shape)))
            raise UserError(f"shape {shape!r} is unknown: use one of {known}")
        self._shape = shape
        self.info = ModelInfo(id=f"inflation:{shape}", revision="version 1")

    def build(self, pixels: Pixels, mask: Mask) -> SolidModel:
        """The model of what the mask covers, lit as the shadow in the picture says.

        Raises:
            ValueError: The mask is empty or has another shape than the picture.
        """
        shape = pixels.shape[:2]
        if mask.shape != shape or not mask.any():
            raise ValueError(
                f"mask of shape {mask.shape} for a picture of {shape}, or nothing in it"
            )
        crop = _Crop.of(mask)
        outline = Outline.of(crop.silhouette)
        kind = outline.shape if self._shape == "auto" else self._shape
        if kind == "standing":
            profile = standing_profile(crop.silhouette, crop.slope(shape))
        else:
            profile = (round_profile if kind == "round" else flat_profile)(crop.silhouette)
        solid = _solid(pixels, crop, profile)
        model = SolidModel(solid, shape, Ground.of(ELEVATION_DEG, *_USUAL_LIGHT))
        return SolidModel(solid, shape, _lit(model, pixels, mask))


@dataclass(frozen=True, slots=True)
class _Crop:
    """The silhouette's box, in cells of `cell` pixels, beginning at pixel (top, left)."""

    silhouette: Mask
    top: int
    left: int
    cell: int

    @classmethod
    def of(cls, mask: Mask) -> "_Crop":
        left, top, right, bottom = extent(mask)
        inner = mask[top:bottom, left:right]
        cell = -(-max(inner.shape) // FINEST)
        if cell > 1:
            height, width = (-(-side // cell) for side in inner.shape)
            padded = np.zeros((height * cell, width * cell), np.float32)
            padded[: inner.shape[0], : inner.shape[1]] = inner
            share = padded.reshape(height, cell, width, cell).mean(axis=(1, 3))
            inner = share >= 0.5
            if not inner.any():
                inner = share >= share.max()
        return cls(inner, top, left, cell)

    def slope(self, shape: tuple[int, int]) -> NDArray[np.float64]:
        """The tangent of each row of cells above the viewing axis."""
        rows = self.top + (np.arange(self.silhouette.shape[0]) + 0.5) * self.cell
        return np.asarray((shape[0] / 2 - rows) / focal_of(shape))


def _solid(pixels: Pixels, crop: _Crop, profile: Profile) -> Solid:
    """Front, back, and walls between them along the outline, with their textures."""
    silhouette, shape = crop.silhouette, pixels.shape[:2]
    number, at = _corners(silhouette)
    count = len(at)
    front, back = _at_corners(profile, silhouette, at)
    column = crop.left + _rounded(at[:, 1], silhouette, number) * crop.cell
    row = crop.top + _rounded(at[:, 0], silhouette, number) * crop.cell
    focal = focal_of(shape)
    rays = (
        np.stack([column - shape[1] / 2, shape[0] / 2 - row, np.full(count, -focal)], axis=1)
        / focal
    )
    height, width = (side * crop.cell for side in silhouette.shape)
    pivot = np.array(
        [crop.left + width / 2 - shape[1] / 2, shape[0] / 2 - crop.top - height / 2, -focal]
    )
    sheets = [rays * (focal - depth * crop.cell)[:, None] for depth in (front, back)]
    vertices = (np.concatenate(sheets) - pivot).astype(np.float32)
    sheet = _sheet(silhouette, number)
    rim = _rim(sheet, count)
    walls = np.concatenate(
        [
            np.stack([rim[:, 1], rim[:, 0], rim[:, 0] + count], axis=1),
            np.stack([rim[:, 1], rim[:, 0] + count, rim[:, 1] + count], axis=1),
        ]
    )
    faces = np.concatenate([sheet, sheet[:, ::-1] + count, walls]).astype(np.int32)
    texture = _texture(pixels, crop, profile)
    # In cells, with pixel centres at whole numbers; the texture's tiles are front, back, wall.
    place = (at[:, ::-1] + _EDGE).astype(np.float32) - 0.5
    tile = np.array([silhouette.shape[1] + 2 * _EDGE, 0], np.float32)
    places = np.concatenate(
        [place[sheet], place[sheet[:, ::-1]] + tile, place[walls % count] + 2 * tile]
    )
    if crop.cell > 1:
        places = (places + np.float32(0.5)) * crop.cell - np.float32(0.5)
    ends = np.unique(rim)
    near, far = vertices[ends], vertices[ends + count]
    ribs = (near + _RIBS[:, None, None] * (far - near)).reshape(-1, 3)
    return Solid(vertices, faces, places, texture, pivot.astype(np.float32), ribs)


def _corners(silhouette: Mask) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number for each corner of a cell, -1 off the silhouette, and (row, column) of each number."""
    touched = np.zeros(tuple(side + 1 for side in silhouette.shape), bool)
    for down in (0, 1):
        for right in (0, 1):
            bottom, edge = touched.shape[0] - 1 + down, touched.shape[1] - 1 + right
            touched[down:bottom, right:edge] |= silhouette
    at = np.argwhere(touched)
    number = np.full(touched.shape, -1)
    number[touched] = np.arange(len(at))
    return number, at


def _at_corners(
    profile: Profile, silhouette: Mask, at: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Depth of front and back at the corners, from the cells around them."""

    def mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
        padded = np.pad(np.where(silhouette, values, 0.0), 1)
        total = padded[:-1, :-1] + padded[:-1, 1:] + padded[1:, :-1] + padded[1:, 1:]
        return np.asarray(total[at[:, 0], at[:, 1]])

    inside = mean(np.ones(silhouette.shape))
    if (
        profile.closed
    ):  # balls meet the outline at a right angle, so it is the squares that are linear
        height = np.sqrt(mean(profile.front**2) / 4) * np.where(inside < 4, 0.5, 1.0)
        return height, -height
    return mean(profile.front) / inside, mean(profile.back) / inside


def _rounded(
    coordinate: NDArray[np.int64], silhouette: Mask, number: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Corners with those on the outline moved towards their neighbours: no stairs when turned."""
    rim = _rim(_sheet(silhouette, number), len(coordinate))
    moved = coordinate.astype(np.float64)
    for _ in range(2):
        total, count = np.zeros(len(moved)), np.zeros(len(moved))
        for here, there in ((rim[:, 0], rim[:, 1]), (rim[:, 1], rim[:, 0])):
            np.add.at(total, here, moved[there])
            np.add.at(count, here, 1)
        moved = np.where(count > 0, (moved + total) / (1 + count), moved)
    return moved


def _sheet(silhouette: Mask, number: NDArray[np.int64]) -> NDArray[np.int64]:
    """Two triangles a cell, anticlockwise as seen from the front."""
    row, column = np.nonzero(silhouette)
    a, b = number[row, column], number[row, column + 1]
    c, d = number[row + 1, column], number[row + 1, column + 1]
    return np.concatenate([np.stack([a, c, b], axis=1), np.stack([b, c, d], axis=1)])


def _rim(sheet: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The edges that only one triangle has, in its direction, shape (n, 2)."""
    edges = np.concatenate([sheet[:, [0, 1]], sheet[:, [1, 2]], sheet[:, [2, 0]]])
    key, back = edges[:, 0] * count + edges[:, 1], edges[:, 1] * count + edges[:, 0]
    return edges[~np.isin(key, back)]


def _texture(pixels: Pixels, crop: _Crop, profile: Profile) -> Floats:
    """Three tiles side by side: front, back, walls."""
    cell, edge = crop.cell, _EDGE * crop.cell
    height, width = (side * cell for side in crop.silhouette.shape)
    padded = np.pad(pixels, ((edge, edge + height), (edge, edge + width), (0, 0)), mode="edge")
    window = padded[
        crop.top : crop.top + height + 2 * edge, crop.left : crop.left + width + 2 * edge
    ]
    picture = window.astype(np.float32) / 255
    inside = np.pad(np.kron(crop.silhouette, np.ones((cell, cell), bool)), edge)
    # Pixels on the outline are mixed with the background: they take their inner neighbour's colour.
    deep = ndimage.distance_transform_edt(inside)
    core = deep > 1.5
    rim = inside & ~core & (ndimage.distance_transform_edt(~core) < 3)
    front = np.where(rim[..., None], _continued(picture, core if core.any() else inside), picture)
    front = _continued(front, inside)
    size = max(height, width)
    soft = _continued(blurred_within(front, inside, max(0.5, 0.035 * size)), inside)
    down, aside = _facing(inside, 0.025 * size)
    if profile.closed:
        wall = _continued(blurred_within(front, inside, 1.5 * cell), inside) * (1 - 0.3 * down)
        shade = _steep(profile, cell, edge) * (1 - np.clip(deep / (3 * cell), 0, 1)) * inside
        under = soft * (1 - 0.3 * down)
        front = front + (under - front) * (0.8 * shade * (0.3 + 0.7 * down[..., 0]))[..., None]
    else:
        wall = soft * (1 - 0.6 * down - 0.15 * aside)
    back = front
    if profile.centre is not None:
        source = 2 * (profile.centre * cell + edge) - 1 - np.arange(inside.shape[1])
        source = np.clip(np.rint(source), 0, inside.shape[1] - 1).astype(np.int64)
        back = _continued(front[:, source], inside[:, source])
    return np.ascontiguousarray(np.concatenate([front, back, wall], axis=1), np.float32)


def _steep(profile: Profile, cell: int, edge: int) -> Floats:
    """0 where the surface faces the viewer, 1 where it turns away, so that texture is stretched."""
    down, right = np.gradient(profile.front)
    slope = np.hypot(down, right)
    steep = np.clip((slope - 1.0) / 2.0, 0, 1)
    return np.pad(np.kron(steep, np.ones((cell, cell))), edge).astype(np.float32)


def _facing(inside: Mask, sigma: float) -> tuple[Floats, Floats]:
    """How far the outline nearby faces down, and to either side, 0..1, each of shape (h, w, 1)."""
    down, across = np.gradient(blurred(inside.astype(np.float32), max(1.0, sigma)))
    down, across = -down, np.abs(across)
    length = np.hypot(down, across) + 1e-6
    return np.maximum(down / length, 0)[..., None], (across / length)[..., None]


def _continued(picture: Floats, inside: Mask) -> Floats:
    """Outside takes the colour of the nearest pixel inside."""
    row, column = ndimage.distance_transform_edt(
        ~inside, return_distances=False, return_indices=True
    )
    return np.asarray(picture[row, column])


def _lit(model: SolidModel, pixels: Pixels, mask: Mask) -> Ground:
    """The light whose shadow overlaps best with the one in the picture; a usual one if there is none."""
    seen = cast_shadow(pixels, mask)
    if seen.sum() < 0.04 * mask.sum():
        return Ground.of(ELEVATION_DEG, *_USUAL_LIGHT)
    points = model.posed(IDENTITY)
    best, most = Ground.of(ELEVATION_DEG, *_USUAL_LIGHT), 0.0
    for azimuth in _AZIMUTHS:
        for rise in _RISES:
            ground = Ground.of(ELEVATION_DEG, azimuth, rise)
            cast = (model.shadow(points, ground) > 0.5) & ~mask
            overlap = float((cast & seen).sum() / max(1, (cast | seen).sum()))
            overlap *= 1.0 if azimuth <= 180 else _AGAINST_LIGHT
            if overlap > most:
                best, most = ground, overlap
    return best
