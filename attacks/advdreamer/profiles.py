"""How deep an object is, guessed from its silhouette alone.

Three guesses, from the outline's straight edges:

- "round": the union of the largest balls that fit into the silhouette (cf. Twarog, Tappen and Adelson 2012,
  "Playing with Puffball"). A disc becomes a ball, a bar a cylinder, a trapezium a cone.
- "flat": the same, cut off at a third of its height: sails, wings, boards.
- "standing": an upright thing on the ground, as boxes, vehicles, houses, mugs, tables are. The lower outline
  is where it touches the ground, and a row of the ground is a depth (Hoiem, Efros and Hebert 2005,
  "Automatic photo pop-up"), so the outline gives the front half of the footprint. The back half is its
  point reflection; above it, the top recedes until it meets the upper outline.

Depths are in pixels, positive towards the viewer, relative to the plane through the object's middle.
"""

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from attacks.advdreamer.imaging import dilated, hull, largest, opened_by_disc, outline
from attacks.advdreamer.stages import Mask

Floats = NDArray[np.float64]
Shape = Literal["round", "flat", "standing"]

ELEVATION_DEG = 17.0
"""How far the camera is assumed to look down on the ground."""

_STEEPEST = 2.0
"""Depth a pixel along the footprint: where the outline rises more, it has left the ground."""

_LEAST_DEPTH, _MOST_DEPTH = 0.55, 1.2
"""Of the shorter side: how deep a thing is that shows one face only. Of the width: how deep at most."""

_FLAT = 0.35
"""Height of flat things, as a share of the largest inscribed radius."""

_FRAME = 0.62
"""Share of its box below which an upright thing is a frame: a board on legs."""


@dataclass(frozen=True, slots=True)
class Profile:
    """front, back: Shape (h, w), front above back wherever the silhouette is.

    closed: Both meet at the outline; else walls join them. centre: The column, in pixels of the
    silhouette's crop, about which the back is the front turned round; None if the back is its mirror image.
    """

    front: Floats
    back: Floats
    closed: bool
    centre: float | None


@dataclass(frozen=True, slots=True)
class Outline:
    """What the outline says of a shape. Lengths are shares of the silhouette's longer side.

    straight: Share of the outline in long straight edges. longest: Mean of the three longest edges.
    upright: Sum of the long upright ones. solidity: Area over that of the convex hull. symmetry: Overlap
    with the mirror image. aspect: Width over height.
    """

    straight: float
    longest: float
    upright: float
    solidity: float
    symmetry: float
    aspect: float

    @classmethod
    def of(cls, silhouette: Mask) -> "Outline":
        """Measure a silhouette that fills its array."""
        height, width = silhouette.shape
        size = max(height, width)
        contour = outline(silhouette)
        corners = cv2.approxPolyDP(contour, max(0.8, 0.012 * size), True)[:, 0].astype(np.float64)
        edges = np.roll(corners, -1, axis=0) - corners
        lengths = np.hypot(edges[:, 0], edges[:, 1]) / size
        long = lengths > 0.16
        upright = long & (np.abs(edges[:, 0]) < 0.2 * np.abs(edges[:, 1]))
        convex = cv2.contourArea(cv2.convexHull(contour))
        flipped = silhouette[:, ::-1]
        return cls(
            straight=float(lengths[long].sum() / lengths.sum()),
            longest=float(np.sort(lengths)[-3:].mean()),
            upright=float(lengths[upright].sum()),
            solidity=float(silhouette.sum() / max(convex, 1.0)),
            symmetry=float((silhouette & flipped).sum() / (silhouette | flipped).sum()),
            aspect=width / height,
        )

    @property
    def shape(self) -> Shape:
        """The guess that suits it."""
        box = self.solidity > 0.91 and self.longest > 0.33 and self.upright > 0.3
        frame = self.upright > 1.3 and self.straight > 0.62 and self.longest > 0.3
        vehicle = self.aspect > 1.25 and 0.84 < self.solidity < 0.99 and self.straight > 0.5
        turned = self.aspect < 0.6 and self.symmetry > 0.85  # on a lathe: bottles, lamps
        if (box or frame or vehicle) and not turned:
            return "standing"
        plate = self.straight > 0.55 and self.longest > 0.33 and self.symmetry < 0.85
        return "flat" if plate else "round"


def round_profile(silhouette: Mask, cap: float = np.inf) -> Profile:
    """Union of inscribed balls; `cap` bounds its height, as a share of the largest radius."""
    radius = _inner_distance(silhouette)
    height = _balls(silhouette, radius)
    if np.isfinite(cap):
        highest = cap * radius.max()
        height = highest * np.tanh(height / highest)
    return Profile(height, -height, closed=True, centre=None)


def flat_profile(silhouette: Mask) -> Profile:
    """As round, but with a flat top and bottom."""
    return round_profile(silhouette, _FLAT)


def standing_profile(silhouette: Mask, slope: Floats) -> Profile:
    """An upright thing on the ground.

    Args:
        silhouette: Shape (h, w), filled to its edges.
        slope: Shape (h,), the tangent of each row's elevation above the viewing axis.
    """
    height, width = silhouette.shape
    focal = 1 / float(np.mean(-np.diff(slope))) if height > 1 else 1.0
    body = _body(silhouette)
    inside = np.flatnonzero(body.any(axis=0))
    left, right = int(inside[0]), int(inside[-1]) + 1
    low, high = _lowest(silhouette)[left:right], _highest(body)[left:right]
    under = _lower_hull(np.arange(left, right), low)
    behind = _ground_depth(under, slope, focal)
    behind = _gentle(np.minimum(behind, _MOST_DEPTH * (right - left)))
    front = np.full(width, 0.0)
    front[left:right] = (behind[0] + behind[-1]) / 2 - behind
    back = np.zeros(width)
    back[left:right] = -front[left:right][::-1]
    least, deepest = _LEAST_DEPTH * min(right - left, height), float((front - back).max())
    if deepest < least:
        if deepest > 0.3 * least:  # rounded, or two faces: more of the same
            front, back = front * (least / deepest), back * (least / deepest)
        else:  # one face: a slab
            front[left:right] += (least - deepest) / 2
            back[left:right] -= (least - deepest) / 2
    deep, shallow = np.repeat(back[None], height, 0), np.repeat(front[None], height, 0)
    top = _top(ndimage.gaussian_filter1d(high.astype(float), 1.0), back[left:right], slope, focal)
    shallow[:, left:right] = np.minimum(shallow[:, left:right], top)
    shallow = np.maximum(shallow, deep + 1)
    thick = round_profile(silhouette, _FLAT).front
    rows = np.arange(height)[:, None]
    foot = np.zeros_like(body)
    foot[:, left:right] = rows > _lowest(body)[left:right]
    foot &= silhouette & ~body
    own = np.zeros(width)
    own[left:right] = front[left:right].max() - _ground_depth(low.astype(float), slope, focal)
    own = np.clip(own[None], deep + 2 * thick, shallow)
    apart = silhouette & ~body & ~foot
    shallow, deep = (
        np.where(foot, own, shallow),
        np.where(foot, np.maximum(own - 2 * thick, deep), deep),
    )
    shallow, deep = np.where(apart, thick, shallow), np.where(apart, -thick, deep)
    shallow, deep = _blurred(shallow, silhouette), _blurred(deep, silhouette)
    return Profile(np.maximum(shallow, deep + 1), deep, closed=False, centre=(left + right) / 2)


def _ground_depth(row: Floats, slope: Floats, focal: float) -> Floats:
    """How far behind the lowest of these rows the ground is that each of them shows, in pixels."""
    tilt = np.radians(ELEVATION_DEG)
    tangent = np.interp(row, np.arange(len(slope)), slope)
    depth = 1 / np.maximum(np.sin(tilt) - tangent * np.cos(tilt), 0.05)
    return np.asarray((depth / depth.min() - 1) * focal)


def _top(high: Floats, back: Floats, slope: Floats, focal: float) -> Floats:
    """Depth of a level top that meets the upper outline at the back, shape (h, w)."""
    level = np.tan(np.radians(ELEVATION_DEG))
    below = level - np.interp(high - 0.5, np.arange(len(slope)), slope)
    looks_down = np.maximum(level - slope, 1e-3)[:, None]
    depth = focal - (focal - back) * below / looks_down
    return np.asarray(np.where(below > 0.02, depth, np.inf))


def _gentle(behind: Floats) -> Floats:
    """The largest function below this one that is nowhere too steep."""
    gentle = behind.copy()
    for i in range(1, len(gentle)):
        gentle[i] = min(gentle[i], gentle[i - 1] + _STEEPEST)
    for i in range(len(gentle) - 2, -1, -1):
        gentle[i] = min(gentle[i], gentle[i + 1] + _STEEPEST)
    return gentle


def _body(silhouette: Mask) -> Mask:
    """Without handles, bows, chimneys, legs and backrests.

    That is what is within the hull of the thick parts, and of a frame its board: the rows that are wide
    and full.
    """
    if silhouette.mean() < _FRAME:
        columns = np.arange(silhouette.shape[1])
        wide = np.where(silhouette, columns, -1).max(axis=1) - silhouette.argmax(axis=1) + 1
        board = (wide > 0.75 * wide.max()) & (silhouette.sum(axis=1) > 0.6 * wide)
        if board.any():
            return largest(silhouette & board[:, None])
    thick = opened_by_disc(silhouette, 0.3 * float(_inner_distance(silhouette).max()))
    if not thick.any():
        return silhouette
    return silhouette & dilated(hull(largest(thick)), 1)


def _balls(silhouette: Mask, radius: Floats) -> Floats:
    """Height of the union of the balls around the ridge of the distance to the outline."""
    ridge = silhouette & (radius >= ndimage.maximum_filter(radius, 3) - 0.35) & (radius > 0.4)
    row, column = np.nonzero(ridge if ridge.any() else silhouette)
    square = radius[row, column] ** 2
    at_row, at_column = np.nonzero(silhouette)
    highest = np.full(at_row.size, 0.2)
    for start in range(0, at_row.size, 4096):
        part = slice(start, start + 4096)
        away = (at_row[part, None] - row) ** 2 + (at_column[part, None] - column) ** 2
        highest[part] = np.maximum((square - away).max(axis=1), 0.2)
    height = np.zeros(silhouette.shape)
    height[at_row, at_column] = np.sqrt(highest)
    return height


def _inner_distance(silhouette: Mask) -> Floats:
    """Distance of each pixel's centre to the outline."""
    distance = ndimage.distance_transform_edt(np.pad(silhouette, 1))[1:-1, 1:-1] - 0.5
    return np.asarray(np.maximum(distance, 0))


def _lowest(silhouette: Mask) -> NDArray[np.int64]:
    return np.asarray(silhouette.shape[0] - 1 - silhouette[::-1].argmax(axis=0))


def _highest(silhouette: Mask) -> NDArray[np.int64]:
    return np.asarray(silhouette.argmax(axis=0))


def _lower_hull(column: NDArray[np.int64], row: NDArray[np.int64]) -> Floats:
    """The convex curve that bounds points from below in the picture, at their columns."""
    kept: list[tuple[int, int]] = []
    for x, y in zip(column.tolist(), row.tolist(), strict=True):
        while len(kept) > 1:
            (x0, y0), (x1, y1) = kept[-2:]
            if (x1 - x0) * (y - y0) < (y1 - y0) * (x - x0):
                break
            kept.pop()
        kept.append((x, y))
    corners = np.array(kept, np.float64)
    return np.interp(column, corners[:, 0], corners[:, 1])


def _blurred(depth: Floats, silhouette: Mask) -> Floats:
    """Without the steps that whole pixels make."""
    weight = ndimage.gaussian_filter(silhouette.astype(np.float64), 0.8)
    total = ndimage.gaussian_filter(np.where(silhouette, depth, 0.0), 0.8)
    return np.where(silhouette, total / np.maximum(weight, 1e-6), 0.0)
