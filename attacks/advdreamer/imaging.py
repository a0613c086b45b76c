"""What the embedded stages do to pictures and masks, with OpenCV's loose types kept in one place."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from attacks.advdreamer.stages import Mask
from benchmark.types import Pixels

Floats = NDArray[np.floating[Any]]
"""Pictures of shape (h, w, 3) and maps of shape (h, w), float32 or float64."""


def blurred(values: Floats, sigma: float) -> NDArray[np.float32]:
    """Gaussian blur by `sigma` pixels; the border is mirrored."""
    return np.asarray(cv2.GaussianBlur(values.astype(np.float32), (0, 0), sigma), np.float32)


def blurred_within(values: Floats, inside: Mask, sigma: float) -> NDArray[np.float32]:
    """Gaussian blur of a picture (h, w, 3) as if there were nothing outside the mask."""
    weight = inside.astype(np.float32)
    total = blurred(values * weight[..., None], sigma)
    return np.asarray(total / np.maximum(blurred(weight, sigma), 1e-4)[..., None], np.float32)


def resized(values: Pixels | Floats, shape: tuple[int, int], smooth: bool = True) -> NDArray[Any]:
    """In (height, width) pixels, in the type it had: averaged where it shrinks, cubic where it grows.

    Without `smooth` values are never mixed: labels stay labels.
    """
    height, width = shape
    if values.shape[:2] == shape:
        return values
    shrinks = height * width < values.shape[0] * values.shape[1]
    way = cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(values, (width, height), interpolation=way if smooth else 0))


def to_lab(colours: Pixels | Floats) -> NDArray[np.float32]:
    """CIE Lab of sRGB, shape (h, w, 3), L in 0..100; bytes or numbers in 0..1."""
    scale = 255 if colours.dtype == np.uint8 else 1
    return np.asarray(
        cv2.cvtColor(colours.astype(np.float32) / scale, cv2.COLOR_RGB2LAB), np.float32
    )


def from_lab(lab: Floats) -> NDArray[np.float32]:
    """The inverse of `to_lab`, in 0..1; colours that cannot be displayed are clipped."""
    return np.asarray(
        np.clip(cv2.cvtColor(lab.astype(np.float32), cv2.COLOR_LAB2RGB), 0, 1), np.float32
    )


def to_bytes(values: Floats) -> Pixels:
    """Rounded and clipped to 0..255."""
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def dilated(mask: Mask, radius: float) -> Mask:
    """The mask grown by a disc of `radius` pixels, at least one."""
    return np.asarray(cv2.dilate(mask.astype(np.uint8), _disc(radius))) > 0


def eroded(mask: Mask, side: int) -> Mask:
    """The mask shrunk by a square; what is outside the picture does not count."""
    return np.asarray(cv2.erode(mask.astype(np.uint8), np.ones((side, side), np.uint8))) > 0


def opened(mask: Mask, side: int) -> Mask:
    """Without what a square does not fit into."""
    kernel = np.ones((side, side), np.uint8)
    return np.asarray(cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, kernel)) > 0


def opened_by_disc(mask: Mask, radius: float) -> Mask:
    """Without what a disc does not fit into; nothing is outside the picture."""
    return _padded(mask, radius, cv2.MORPH_OPEN)


def closed_by_disc(mask: Mask, radius: float) -> Mask:
    """With what a disc does not fit into beside it; nothing is outside the picture."""
    return _padded(mask, radius, cv2.MORPH_CLOSE)


def pieces(mask: Mask) -> tuple[int, NDArray[np.int32]]:
    """How many pieces there are, and the number of each pixel's, 0 for none; corners connect."""
    count, piece = cv2.connectedComponents(mask.astype(np.uint8))
    return count - 1, np.asarray(piece, np.int32)


def largest(mask: Mask) -> Mask:
    """The largest piece, all of it if it is empty; corners do not connect."""
    _, piece, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    areas = np.asarray(stats)[1:, cv2.CC_STAT_AREA]
    return np.asarray(piece) == 1 + int(np.argmax(areas)) if len(areas) else mask


def hull(mask: Mask) -> Mask:
    """The convex hull of a mask that is not empty."""
    rows, columns = np.nonzero(mask)
    corners = cv2.convexHull(np.stack([columns, rows], axis=1).astype(np.int32))
    return np.asarray(cv2.fillConvexPoly(np.zeros(mask.shape, np.uint8), corners, 1)) > 0


def outline(mask: Mask) -> NDArray[np.int32]:
    """The longest outer contour, shape (n, 1, 2) as (column, row), through its pixels' centres."""
    found, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    return np.asarray(max(found, key=len), np.int32)


def extent(mask: Mask) -> tuple[int, int, int, int]:
    """left, top, right, bottom of a mask that is not empty, the last two exclusive."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _padded(mask: Mask, radius: float, operation: int) -> Mask:
    disc = _disc(radius)
    edge = disc.shape[0]
    padded = np.pad(mask, edge).astype(np.uint8)
    return (np.asarray(cv2.morphologyEx(padded, operation, disc)) > 0)[edge:-edge, edge:-edge]


def _disc(radius: float) -> NDArray[np.uint8]:
    side = 2 * max(1, round(radius)) + 1
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)), np.uint8)
