"""Completing the picture behind the object, without any model.

Scenes are mostly layered: ground, wall, horizon, sky. So "layered", the default, joins the two ends of
the hole along each row, then adds the texture of the same row, copied from beside the hole. The copy is
sheared, because what lies on the ground converges towards the horizon; the shear is the one that best
continues what is seen around the hole. "telea" and "ns" are OpenCV's inpainting at several scales, for
pictures that are not layered.
"""

from collections.abc import Mapping
from typing import Literal, get_args

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from attacks.advdreamer.imaging import (
    Floats,
    blurred,
    blurred_within,
    dilated,
    eroded,
    extent,
    opened,
    pieces,
    resized,
    to_bytes,
    to_lab,
)
from attacks.advdreamer.stages import Mask
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Pixels

Method = Literal["layered", "telea", "ns"]

HALO = 0.023
"""How far the hole reaches beyond mask and shadow, as a share of the longer side: blurred edges."""

_DARKEST, _BRIGHTEST = 0.13, 0.92
_BLUER, _REDDER = 0.30, 0.10
_OFF_DAYLIGHT = 0.16
_DIFFERS = 12.0
"""Lab units between scenery and what is not."""

_LENIENT = 0.35
"""A hole that is too large costs less than one that leaves a shadow: saturated grounds are uneven."""


class Inpainting:
    """Fills holes by the method that the argument names: "layered" (default), "telea" or "ns".

    Raises:
        UserError: There is no such method.
    """

    def __init__(self, argument: str = "", settings: Mapping[str, JSON] | None = None) -> None:
        del settings
        method = argument or "layered"
        if method not in get_args(Method):
            raise UserError(
                f"inpainting method {method!r} is unknown: use {', '.join(get_args(Method))}"
            )
        self._method = method
        self.info = ModelInfo(id=f"inpainting:{method}", revision=f"OpenCV {cv2.__version__}")

    def complete(self, pixels: Pixels, hole: Mask) -> Pixels:
        """The picture with `hole` filled; outside of it nothing changes.

        Raises:
            ValueError: The hole has another shape than the picture, or covers all of it.
        """
        if hole.shape != pixels.shape[:2]:
            raise ValueError(f"hole of shape {hole.shape} for a picture of {pixels.shape[:2]}")
        if hole.all():
            raise ValueError("the hole covers the whole picture: nothing is left to fill it from")
        if not hole.any():
            return pixels.copy()
        if self._method == "layered":
            smooth = row_fill(pixels, hole)
        else:
            flag = cv2.INPAINT_TELEA if self._method == "telea" else cv2.INPAINT_NS
            smooth = _pyramid(pixels.astype(np.float32), hole, flag)
        filled = smooth + _texture(pixels - smooth, hole)
        return np.where(hole[..., None], to_bytes(filled), pixels)


def row_fill(pixels: Pixels | Floats, hole: Mask) -> Floats:
    """The picture without its texture: blurred where known, joined along each row in the hole.

    Args:
        pixels: Shape (h, w, 3).
        hole: Shape (h, w); rows that it covers wholly take the nearest row's colours.
    """
    height, width = hole.shape
    known = (~hole).astype(np.float32)
    reach = 2 * round(0.03 * max(height, width)) + 1
    weight = np.maximum(cv2.blur(known, (reach, 3)), 1e-3)[..., None]
    smooth = np.asarray(cv2.blur(pixels * known[..., None], (reach, 3)) / weight, np.float32)
    column = np.arange(width)
    empty = []
    for row in np.flatnonzero(hole.any(axis=1)):
        ends = np.flatnonzero(~hole[row])
        if not ends.size:
            empty.append(row)
            continue
        gap = hole[row]
        for channel in range(3):
            smooth[row, gap, channel] = np.interp(column[gap], ends, smooth[row, ends, channel])
    if empty:
        rows = np.setdiff1d(np.arange(height), empty)
        for row in empty:
            smooth[row] = smooth[rows[np.abs(rows - row).argmin()]]
    return smooth


def cast_shadow(pixels: Pixels, mask: Mask) -> Mask:
    """Where the object's shadow darkens what surrounds it, as far as the picture shows that."""
    size = max(mask.shape)
    left, top, right, bottom = extent(mask)
    edge = max(2, round(0.02 * size))
    beside = right - left
    rows = slice(top + (bottom - top) // 3, bottom + round(0.06 * size))
    columns = slice(max(edge, left - beside), min(mask.shape[1] - edge, right + beside))
    around = np.zeros_like(mask)
    around[rows, columns] = True
    object_ = dilated(mask, HALO * size)
    # First against what is known for sure, then against all but what turned out to be dark.
    unknown = around | object_
    for _ in range(2):
        dark = darkened(pixels, row_fill(pixels, unknown), _LENIENT) & around & ~mask
        unknown = dilated(dark, 1) | object_
    _, piece = pieces(opened(dark, 3))
    touching = np.unique(piece[object_ & (piece > 0)])
    shadow: Mask = np.isin(piece, touching) & (piece > 0)
    return shadow


def hole_of(pixels: Pixels, mask: Mask) -> Mask:
    """What has to be filled: the object, its cast shadow, what the mask forgot, and the halo of all."""
    halo = HALO * max(mask.shape)
    hole = dilated(mask | cast_shadow(pixels, mask), halo)
    hole |= dilated(_forgotten(pixels, mask, hole), halo)
    filled: Mask = ndimage.binary_fill_holes(hole)  # pockets lie in half-shadow: not to be trusted
    return filled


def _forgotten(pixels: Pixels, mask: Mask, hole: Mask) -> Mask:
    """Parts of the object that are not in its mask: at it or below it, unlike what is around.

    What goes on beyond the surroundings of the object is scenery.
    """
    left, top, right, bottom = extent(mask)
    margin = round(0.2 * max(right - left, bottom - top)) + 2
    window = np.zeros_like(mask)
    below = max(margin, bottom - top)  # a mask that lost the foot of a lamp is half as high
    window[max(0, top - margin) : bottom + below, max(0, left - margin) : right + margin] = True
    inner = eroded(window, 3)
    background = row_fill(pixels, hole if window.all() else window | hole)
    away = np.linalg.norm(to_lab(pixels) - to_lab(background / 255), axis=2)
    count, piece = pieces((away > _DIFFERS) & window & ~mask)
    forgotten = np.zeros_like(mask)
    near = dilated(mask, 1)
    near[(top + bottom) // 2 :, left:right] = True
    for number in range(1, count + 1):
        this = piece == number
        if (this & near).any() and not (this & ~inner).any() and this.sum() < 0.5 * mask.sum():
            forgotten |= this
    return forgotten


def darkened(pixels: Pixels, background: Floats, slack: float = 0.0) -> Mask:
    """Where a picture may show its background in shadow.

    What the sun does not reach, the sky still lights: shadows are darker and bluer along the colours
    of daylight, never redder. Ratios are of linear light; `slack` widens what passes for daylight.
    """
    ratio = blurred(_linear(pixels), 0.6) / _linear(background)
    light = ratio.mean(axis=2)
    log = np.log(np.maximum(ratio, 1e-4))
    red, blue = log[..., 0] - log[..., 1], log[..., 2] - log[..., 1]
    daylight = np.abs(blue + 1.8 * red) < _OFF_DAYLIGHT + 0.25 * np.abs(red) + slack
    tinted = (red > -_BLUER) & (red < _REDDER + 0.4 * slack)
    tinted &= (blue > -0.12 - 0.2 * slack) & (blue < 2 * _BLUER + 0.6 * slack)
    dark: Mask = (light > _DARKEST) & (light < _BRIGHTEST) & daylight & tinted
    return dark


def _linear(pixels: Pixels | Floats) -> Floats:
    return np.asarray((pixels / 255 + 0.01) ** 2.2)


def _texture(residual: Floats, hole: Mask) -> Floats:
    """Fine structure for the hole, zero elsewhere: copied along the rows from beside the hole.

    The shift of each row is a + b (row - middle). Among those that reach known pixels, the one is taken
    whose copy looks most like what surrounds the hole. b = a / (middle - horizon) is a movement along
    the ground, b = 0 one in parallel to the picture.
    """
    height, width = hole.shape
    size = max(hole.shape)
    rows, columns = np.nonzero(hole)
    middle = (rows.min() + rows.max()) / 2
    ring = np.stack(np.nonzero(dilated(hole, 0.03 * size) & ~hole))
    some = np.stack([rows, columns])[:, :: max(1, rows.size // 500)]
    best, least = (0.0, 0.0), np.inf
    for a in np.linspace(-0.9, 0.9, 37) * width:
        if abs(a) < 0.03 * width:
            continue
        for horizon in (-np.inf, -0.3, -0.15, 0.0, 0.12, 0.24, 0.36):
            below = middle - horizon * height
            if below < 0.1 * height:
                continue
            b = a / below
            source, reached = _shifted(some, a, b, middle, hole)
            missed = 1 - reached.mean()
            if missed > 0.6:
                continue
            source, reached = _shifted(ring, a, b, middle, hole)
            if reached.mean() < 0.3:
                continue
            seen = residual[ring[0, reached], ring[1, reached]]
            copy = residual[source[0, reached], source[1, reached]]
            cost = float(np.abs(seen - copy).mean()) * (1 + missed)
            if cost < least:
                best, least = (float(a), float(b)), cost
    texture = np.zeros_like(residual)
    todo = np.stack([rows, columns])
    for a, b in (best, (-best[0], -best[1])):
        source, reached = _shifted(todo, a, b, middle, hole)
        texture[todo[0, reached], todo[1, reached]] = residual[
            source[0, reached], source[1, reached]
        ]
        todo = todo[:, ~reached]
    _from_same_row(texture, residual, todo, hole)
    return texture


def _shifted(
    at: NDArray[np.int64], a: float, b: float, middle: float, hole: Mask
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where pixels (2, n) come from, and which of them come from known ones."""
    column = np.rint(at[1] + a + b * (at[0] - middle)).astype(np.int64)
    inside = (column >= 0) & (column < hole.shape[1])
    column = np.clip(column, 0, hole.shape[1] - 1)
    return np.stack([at[0], column]), inside & ~hole[at[0], column]


def _from_same_row(texture: Floats, residual: Floats, todo: NDArray[np.int64], hole: Mask) -> None:
    """For pixels that no copy reaches: any known pixel of the row, by a fixed stream of chance."""
    rng = np.random.default_rng(0)
    for row in np.unique(todo[0]):
        known = residual[row, ~hole[row]]
        columns = todo[1, todo[0] == row]
        if known.size:
            usual = 2 * np.median(np.abs(known), axis=0)  # a lone pixel of a line is no texture
            drawn = known[rng.integers(len(known), size=columns.size)]
            texture[row, columns] = np.clip(drawn, -usual, usual)


def _pyramid(pixels: Floats, hole: Mask, flag: int) -> Floats:
    """Inpainted at a quarter, a half, and the full size: depths from coarse, edges from fine."""
    known = (~hole).astype(np.float32)
    height, width = hole.shape
    filled = np.zeros((1, 1, 3), np.float32)
    for scale in (4, 2, 1):
        shape = max(1, height // scale), max(1, width // scale)
        weight = resized(known, shape)
        level = resized(pixels * known[..., None], shape) / np.maximum(weight, 1e-3)[..., None]
        gap = weight < 0.5
        if scale < 4:
            level[gap] = resized(filled, shape)[gap]
            gap &= ~eroded(gap, 7)
        painted = cv2.inpaint(to_bytes(level), gap.astype(np.uint8), 3, flag)
        filled = np.where(gap[..., None], painted, level).astype(np.float32)
    return np.where(hole[..., None], filled, blurred_within(pixels, ~hole, 2.0))
