"""Spoils pictures on purpose: edges that betray a cut-out, and textures that are drawn out."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from attacks.advdreamer.stages import Mask
from benchmark.types import Pixels

Spoiling = Callable[[Pixels, Mask, np.random.Generator], Pixels]
"""What spoils a picture along the outline of an object that covers `mask`."""


def halo(picture: Pixels, mask: Mask, rng: np.random.Generator) -> Pixels:
    """A bright or dark line around the object, one to three pixels wide."""
    wide = ndimage.binary_dilation(mask, iterations=int(rng.integers(1, 4)))
    ring = (wide & ~ndimage.binary_erosion(mask)).astype(np.float64)
    colour = rng.choice([0.0, 255.0]) * np.ones(3) if rng.random() < 0.7 else rng.uniform(0, 255, 3)
    return _blended(picture, colour, ring * rng.uniform(0.3, 1.0))


def patch(picture: Pixels, mask: Mask, rng: np.random.Generator) -> Pixels:
    """A box around the object that is lighter or darker than the rest."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not rows.size:
        return picture
    grow = int(rng.integers(2, max(3, len(mask) // 10)))
    box = np.zeros(mask.shape)
    top, left = max(0, rows[0] - grow), max(0, columns[0] - grow)
    box[top : rows[-1] + grow, left : columns[-1] + grow] = 1
    amount = rng.uniform(0.15, 0.6)
    return _blended(picture, rng.choice([0.0, 255.0]) * np.ones(3), box * amount * ~mask)


def jagged(picture: Pixels, mask: Mask, rng: np.random.Generator) -> Pixels:
    """The edge in pixels of three to six times the size."""
    size = int(rng.integers(3, 7))
    image = Image.fromarray(picture)
    small = image.resize(
        (max(1, image.width // size), max(1, image.height // size)), Image.Resampling.NEAREST
    )
    coarse = np.asarray(small.resize(image.size, Image.Resampling.NEAREST))
    edge = ndimage.binary_dilation(mask, iterations=size) & ~ndimage.binary_erosion(
        mask, iterations=size
    )
    return _blended(picture, coarse, edge.astype(np.float64))


def _blended(picture: Pixels, over: NDArray[Any], amount: NDArray[np.float64]) -> Pixels:
    mixed = picture + amount[..., None] * (over - picture.astype(np.float64))
    return np.asarray(mixed + 0.5).astype(np.uint8)


def drawn_out(rgba: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """Beyond a line through the object, every pixel takes the colour on that line.

    Lines run along either axis, and the part beyond them may be on either side.
    """
    turned, flipped = bool(rng.integers(2)), bool(rng.integers(2))
    view = rgba.transpose(1, 0, 2) if turned else rgba
    view = view[::-1] if flipped else view
    out = view.copy()
    solid = view[..., 3] > 0.5
    rows = np.flatnonzero(solid.any(axis=1))
    if not rows.size:
        return rgba
    line = int(rows[0] + rng.uniform(0.2, 0.8) * np.ptp(rows))
    last = np.where(solid[: line + 1], np.arange(line + 1)[:, None], -1).max(axis=0)
    has = last >= 0
    columns = np.arange(view.shape[1])
    source = view[np.maximum(last, 0), columns, :3]
    out[line + 1 :, has, :3] = source[has]
    out = out[::-1] if flipped else out
    out = out.transpose(1, 0, 2) if turned else out
    return np.ascontiguousarray(out)
