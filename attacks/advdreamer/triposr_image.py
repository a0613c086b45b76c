"""From a cut-out to the picture that TripoSR is conditioned on; the order of the steps matters."""

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from benchmark.errors import UserError

Bytes = NDArray[np.uint8]

FOREGROUND_RATIO = 0.85
"""Longer side of the object over the side of the picture."""
_GREY = 0.5
"""Behind the object, in the input only; renders are white behind it."""


def centred(rgba: Bytes, ratio: float = FOREGROUND_RATIO) -> Bytes:
    """The object (H, W, 4) cut to its bounding box and centred on a transparent square (S, S, 4).

    The box leaves out the last row and the last column of the object, as the released code does.

    Raises:
        UserError: The array is no RGBA picture, has no background or no foreground, or an object less
            than two pixels wide or high.
    """
    if rgba.dtype != np.uint8 or rgba.ndim != 3 or rgba.shape[2] != 4:
        raise UserError(
            f"an array {rgba.dtype} {rgba.shape} is no RGBA picture: give uint8 (height, width, 4)"
        )
    if not 0 < ratio <= 1:
        raise UserError(f"foreground ratio {ratio}: it must be above 0 and at most 1")
    opaque = rgba[..., 3] > 0
    if not opaque.any():
        raise UserError("alpha is 0 everywhere: there is no object, segment the picture again")
    if (rgba[..., 3] == 255).all():
        raise UserError("alpha is 255 everywhere: segment the picture before reconstruction")
    top, bottom = np.flatnonzero(opaque.any(axis=1))[[0, -1]]
    left, right = np.flatnonzero(opaque.any(axis=0))[[0, -1]]
    if bottom == top or right == left:
        raise UserError(
            f"the object is {bottom - top + 1} x {right - left + 1} pixels high and wide:"
            " two are needed each way, segment the picture again"
        )
    side = int(max(bottom - top, right - left))
    square = _padded(rgba[top:bottom, left:right], side)
    return _padded(square, int(side / ratio))


def _padded(rgba: Bytes, side: int) -> Bytes:
    """A transparent square with the picture in its middle; an odd pixel goes below and to the right."""
    height, width = rgba.shape[:2]
    top, left = (side - height) // 2, (side - width) // 2
    square = np.zeros((side, side, 4), np.uint8)
    square[top : top + height, left : left + width] = rgba
    return square


def on_grey(rgba: Bytes) -> Bytes:
    """Straight alpha (H, W, 4) over mid grey, truncated to bytes (H, W, 3): pure background is 127."""
    unit = rgba.astype(np.float32) / np.float32(255)
    alpha = unit[..., 3:]
    mixed = unit[..., :3] * alpha + (1 - alpha) * np.float32(_GREY)
    truncated: Bytes = (mixed * np.float32(255)).astype(np.uint8)
    return truncated


def resized(rgb: Bytes, side: int) -> Tensor:
    """Bytes (H, W, 3) as float32 (side, side, 3) in [0, 1], antialiased when they shrink."""
    unit = torch.from_numpy(rgb.astype(np.float32) / np.float32(255)).permute(2, 0, 1)[None]
    scaled = F.interpolate(
        unit, size=(side, side), mode="bilinear", align_corners=False, antialias=True
    )
    return scaled[0].permute(1, 2, 0).contiguous()
