"""Cutting out the object, without any model: GrabCut that knows about shadows.

Where no box is given, the object is what differs most from the colours along the picture's border at
about the same height. GrabCut alone would take the cast shadow for a part of the object, so pixels that
may be ground in shadow start as background, and are held there where the object cannot reach.
"""

from collections.abc import Mapping
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import cKDTree

from attacks.advdreamer.background import darkened, row_fill
from attacks.advdreamer.imaging import (
    Floats,
    blurred,
    closed_by_disc,
    dilated,
    eroded,
    extent,
    hull,
    largest,
    opened,
    pieces,
    resized,
    to_lab,
)
from attacks.advdreamer.stages import Box, ForegroundError, Mask
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Pixels

SMALLEST = 0.01
"""Share of the picture below which an object is too small to be turned."""

LARGEST = 0.85
"""Share of the picture above which nothing is left to complete the background from."""

_WORK, _FINE = 128, 256
"""Longer sides, in pixels, at which the object is found and its outline is drawn."""

_ITERATIONS = 3
_AGREEMENT = 0.5
"""Overlap of masks with plain GrabCut in a given box below which the plain one is taken."""

_GOES_ON = 0.18
"""Share of one border that the object's colours may reach. Of 240 toybox pictures seven reach more than
0.12: five whose mask lacks half of the object, one of 0.17 and one of 0.28 with good masks. Objects
cut through their middle reach 0.2 to 1."""

_LOWEST, _LOW, _HIGH = 3.0, 0.20, 6.5
"""Lab units: what differs by less than _LOWEST is texture; the threshold is _LOW of the 97th
percentile of differences, between _LOWEST and _HIGH."""

_SHADOW, _SHADOW_SHARE = 25.0, 0.65
"""Lab units, and share of the 97th percentile: what stands out more than both is no shadow."""

_SURE = 2.5
"""What differs by this many thresholds is the object for sure."""


class GrabCut:
    """Shadow-aware GrabCut (Rother et al. 2004). Deterministic; works for pictures of any size."""

    def __init__(self, argument: str = "", settings: Mapping[str, JSON] | None = None) -> None:
        del settings
        if argument:
            raise UserError(f"grabcut takes no argument, not {argument!r}: use grabcut")
        self.info = ModelInfo(id="grabcut", revision=f"OpenCV {cv2.__version__}, version 1")

    def cut(self, pixels: Pixels, label: str, box: Box | None = None) -> Mask:
        """The mask of the object in the box, or of the one that stands out if there is none.

        Args:
            pixels: Shape (h, w, 3).
            label: What the object is called; only errors use it.
            box: left, top, width, height. What is outside is background.

        Raises:
            ForegroundError: The box is not in the picture, nothing stands out, or `solid` refuses it.
        """
        height, width = pixels.shape[:2]
        scale = _WORK / max(height, width)
        small = resized(pixels, _whole(height * scale, width * scale))
        inner = None if box is None else _scaled(box, scale, pixels)
        seeds = _seeds(small, _outside(small.shape[:2], inner))
        if seeds is None:
            raise ForegroundError(
                f"no foreground: nothing stands out where {label!r} should be; give a box or a mask"
            )
        found = _refined(pixels, seeds)
        if inner is not None:
            plain = _refined(pixels, _box_seeds(seeds.labels.shape, inner))
            if (found & plain).sum() < _AGREEMENT * (found | plain).sum():
                found = plain  # the surroundings misled it, the box does not
        if not found.any():
            raise ForegroundError(
                f"no foreground: {label!r} looks like its background; give a box or a mask"
            )
        mask = solid(found, repr(label))
        if (box is None or _at_border(box, width, height)) and (side := _goes_on(pixels, mask)):
            raise ForegroundError(
                f"{label!r} seems to go on to the {side} border: the object is cut off or fills the "
                "frame; use a picture that shows all of it, or give a box or a mask"
            )
        return mask


def solid(mask: Mask, what: str = "the mask") -> Mask:
    """A silhouette as one piece without pinholes, as later stages need it; also for a user's mask.

    Separate large pieces are bridged, small ones dropped; pixels that hang on by a corner go.

    Raises:
        ForegroundError: It is empty, too small, touches the border, or fills the frame.
    """
    if not mask.any():
        raise ForegroundError(f"no foreground: {what} is empty; give a box or another mask")
    whole = _one_piece(mask)
    share = float(whole.mean())
    if share > LARGEST:
        raise ForegroundError(
            f"{what} fills {share:.0%} of the frame, more than {LARGEST:.0%}: "
            "no background is left; use a wider picture"
        )
    if whole[[0, -1]].any() or whole[:, [0, -1]].any():
        raise ForegroundError(
            f"{what} touches the picture's border: the object is cut off; "
            "use a picture that shows all of it, or another mask"
        )
    if share < SMALLEST:
        raise ForegroundError(
            f"{what} covers {share:.2%} of the picture, less than {SMALLEST:.0%}: "
            "too small to turn; crop the picture"
        )
    return whole


def _at_border(box: Box, width: int, height: int) -> bool:
    left, top, wide, tall = box
    return min(left, top) <= 1 or left + wide >= width - 1 or top + tall >= height - 1


def _goes_on(pixels: Pixels, mask: Mask) -> str | None:
    """The border that the object reaches if nothing is held to be background for sure; else None.

    The object is looked for inside a strip along the border, so one that is cut off, or larger than
    the picture, comes out as a part of itself whose colours go on beyond it.
    """
    height, width = mask.shape
    scale = _WORK / max(height, width)
    shape = _whole(height * scale, width * scale)
    part: Mask = np.asarray(resized(mask.astype(np.float32), shape) > 0.5)
    labels = np.full(shape, cv2.GC_PR_BGD, np.uint8)
    labels[part] = cv2.GC_PR_FGD
    labels[core if (core := eroded(part, 3)).any() else part] = cv2.GC_FGD
    if not (labels == cv2.GC_FGD).any():
        return None  # a thread that vanishes at this size
    grown = _grown(np.ascontiguousarray(resized(pixels, shape)), labels)
    piece, _ = ndimage.label(opened(grown, 2) | part)
    whole = piece == np.bincount(piece[part]).argmax()
    sides = {
        "left": whole[:, 0], "right": whole[:, -1], "upper": whole[0], "lower": whole[-1],
    }  # fmt: skip
    side = max(sides, key=lambda name: float(sides[name].mean()))
    return side if sides[side].mean() > _GOES_ON else None


class _Seeds(NamedTuple):
    """GrabCut's four labels, shape (h, w), and the pieces found at the working size."""

    labels: NDArray[np.uint8]
    region: Mask


def _outside(shape: tuple[int, int], box: Box | None) -> Mask:
    """What is background for sure: all but the box, or else a border, wider at the top."""
    height, width = shape
    outside = np.ones(shape, bool)
    if box is None:
        side, low, high = round(0.06 * width), round(0.03 * height), round(0.10 * height)
        outside[high : height - low, side : width - side] = False
    else:
        left, top, wide, tall = box
        outside[top : top + tall, left : left + wide] = False
    return outside


def _scaled(box: Box, scale: float, pixels: Pixels) -> Box:
    """The box at the working size, at least a pixel off the border."""
    left, top, wide, tall = box
    height, width = pixels.shape[:2]
    if wide < 1 or tall < 1 or left < 0 or top < 0 or left + wide > width or top + tall > height:
        raise ForegroundError(
            f"box {left},{top},{wide},{tall} is not inside the picture of {width} x {height} pixels: "
            "give left,top,width,height"
        )
    small_width, small_height = round(width * scale), round(height * scale)
    x0, y0 = max(1, int(left * scale)), max(1, int(top * scale))
    x1 = min(small_width - 1, int(np.ceil((left + wide) * scale)))
    y1 = min(small_height - 1, int(np.ceil((top + tall) * scale)))
    return x0, y0, max(1, x1 - x0), max(1, y1 - y0)


def _seeds(pixels: Pixels, outside: Mask) -> _Seeds | None:
    """Where GrabCut starts from; None if nothing stands out."""
    stands_out = _distance(pixels, outside)
    threshold = float(np.clip(_LOW * np.percentile(stands_out, 97), _LOWEST, _HIGH))
    region = _main_region(stands_out, threshold)
    if region is None:
        return None
    hole: Mask = ndimage.binary_fill_holes(dilated(region, 2))
    background = row_fill(pixels, hole)
    away = np.linalg.norm(to_lab(pixels) - to_lab(background / 255), axis=2)
    if np.percentile(away[region], 90) < _LOWEST:
        return None  # only its position sets it apart
    rows = np.flatnonzero((region & (stands_out > threshold)).any(axis=1))
    ground = np.zeros_like(hole)  # shadows lie on it
    ground[rows[0] + (rows[-1] - rows[0]) // 3 :] = True
    ground &= stands_out < max(_SHADOW, _SHADOW_SHARE * float(np.percentile(stands_out, 97)))
    shadow = opened(ground & darkened(pixels, background), 2)
    perhaps = ground & darkened(pixels, background, slack=0.35)
    own = hole & ~shadow
    labels = np.full(hole.shape, cv2.GC_BGD, np.uint8)
    labels[hole] = cv2.GC_PR_BGD
    labels[own & (stands_out > threshold)] = cv2.GC_PR_FGD
    labels[eroded(own & ~perhaps & (stands_out > _SURE * threshold), 3)] = cv2.GC_FGD
    body = opened(own & (stands_out > 2 * threshold), 3)
    if body.any():
        labels[shadow & ~dilated(hull(largest(body)), 1)] = cv2.GC_BGD
    if not (labels == cv2.GC_PR_FGD).any() and not (labels == cv2.GC_FGD).any():
        return None
    return _Seeds(labels, hole)


def _box_seeds(shape: tuple[int, ...], box: Box) -> _Seeds:
    """As in the paper: all of the box is probably the object."""
    left, top, wide, tall = box
    region = np.zeros(shape, bool)
    region[top : top + tall, left : left + wide] = True
    return _Seeds(np.where(region, cv2.GC_PR_FGD, cv2.GC_BGD).astype(np.uint8), region)


def _distance(pixels: Pixels, outside: Mask) -> Floats:
    """How far each pixel's colour is from any that is seen outside at about the same place.

    Mean distance to the two nearest in L, a, b, and position: from one side of the picture to the
    other it counts 13 Lab units, from top to bottom 64.
    """
    height, width = outside.shape
    lab = blurred(to_lab(pixels), 0.5)
    row, column = (
        np.mgrid[:height, :width].astype(np.float32) * np.float32(_WORK) / max(outside.shape)
    )
    features = np.dstack([lab, 0.5 * row, 0.1 * column])
    distance = np.zeros(outside.shape, np.float32)
    nearest = cKDTree(features[outside]).query(features[~outside], k=2)[0]
    distance[~outside] = nearest.mean(axis=1)
    return distance


def _main_region(stands_out: Floats, threshold: float) -> Mask | None:
    """The piece that stands out most, with the smaller ones next to it."""
    over = opened(stands_out > threshold, 2)
    if not over.any():
        return None
    count, piece = pieces(dilated(over, 1))
    weight = ndimage.sum_labels(stands_out * over, piece, np.arange(1, count + 1))
    heaviest = int(np.argmax(weight)) + 1
    region: Mask = piece == heaviest
    near = dilated(region, 4)
    for other in range(1, count + 1):
        if other != heaviest and weight[other - 1] > 0.02 * weight[heaviest - 1]:
            this = piece == other
            if (this & near).any():
                region = region | this
    return region


def _refined(pixels: Pixels, seeds: _Seeds) -> Mask:
    """GrabCut around the seeds, at the fine size; colours from far away would only mislead it."""
    small = seeds.labels.shape
    factor = _FINE // _WORK
    fine = resized(pixels, (small[0] * factor, small[1] * factor))
    margin = round(0.06 * _WORK)
    left, top, right, bottom = extent(seeds.region)
    rows = slice(max(0, top - margin) * factor, (bottom + margin) * factor)
    columns = slice(max(0, left - margin) * factor, (right + margin) * factor)
    labels = np.kron(seeds.labels, np.ones((factor, factor), np.uint8))[rows, columns].copy()
    found = np.zeros(fine.shape[:2], np.float32)
    found[rows, columns] = opened(_grown(np.ascontiguousarray(fine[rows, columns]), labels), 3)
    return np.asarray(resized(found, (pixels.shape[0], pixels.shape[1])) > 0.5)


def _grown(pixels: Pixels, labels: NDArray[np.uint8]) -> Mask:
    """GrabCut from these labels, which it changes."""
    cv2.setRNGSeed(0)
    models = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.grabCut(pixels, labels, (0, 0, 0, 0), *models, _ITERATIONS, cv2.GC_INIT_WITH_MASK)
    return np.asarray((labels == cv2.GC_FGD) | (labels == cv2.GC_PR_FGD))


def _one_piece(mask: Mask) -> Mask:
    """Joined where two large pieces are apart, then the largest, filled where holes are tiny."""
    piece, _ = ndimage.label(mask)  # corners do not connect
    areas = np.bincount(piece.ravel())[1:]
    kept = np.isin(piece, 1 + np.flatnonzero(areas >= 0.12 * areas.max()))
    joined, radius = kept, 1
    while ndimage.label(joined)[1] > 1 and radius <= 0.12 * max(mask.shape):
        bridged = closed_by_disc(kept, radius) & ~ndimage.binary_fill_holes(kept)
        joined, radius = kept | bridged, radius + 2
    whole = largest(joined)
    filled: Mask = ndimage.binary_fill_holes(whole)
    pockets, count = ndimage.label(filled & ~whole)
    if count:
        sizes = ndimage.sum_labels(np.ones_like(pockets), pockets, np.arange(1, count + 1))
        whole = whole | np.isin(pockets, 1 + np.flatnonzero(sizes < 0.01 * whole.sum()))
    return _unpinched(whole)


def _unpinched(mask: Mask) -> Mask:
    """Without places where two pixels touch by a corner only: a surface could not pass there."""
    whole = mask.copy()
    while True:
        a, b, c, d = whole[:-1, :-1], whole[:-1, 1:], whole[1:, :-1], whole[1:, 1:]
        falling, rising = a & d & ~b & ~c, b & c & ~a & ~d
        if not (falling.any() or rising.any()):
            return whole
        whole[:-1, 1:] |= falling
        whole[:-1, :-1] |= rising


def _whole(height: float, width: float) -> tuple[int, int]:
    return max(1, round(height)), max(1, round(width))
