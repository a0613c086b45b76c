"""Putting a rendering into the completed background: soft edges, a shadow that touches, the old colours.

The shadow is the model's own if it knows the ground; otherwise the silhouette is squashed and sheared away
from its lowest point. How strong it is, in each colour, is read off the clean picture: what the background
loses where the object casts its shadow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import cv2
import numpy as np
from scipy import ndimage

from attacks.advdreamer.background import cast_shadow
from attacks.advdreamer.imaging import Floats, blurred, extent, from_lab, to_bytes, to_lab
from attacks.advdreamer.pose import Pose
from attacks.advdreamer.stages import Composition, Mask, Rendering
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Pixels

Method = Literal["alpha", "reinhard", "seamless"]

FALLBACK_STRENGTH = 0.2
"""How dark a shadow is where the clean picture shows none."""

_WEAKEST, _STRONGEST = 0.06, 0.65
_FEATHER = 0.4 / 128
_SQUASH, _SHEAR = 0.28, 0.55
_SEAM = 0.06
"""Width of the seam, as a share of the object's longer side."""


class Blend:
    """Composes by the method that the argument names.

    "alpha" (default): alpha over, feathered, as rendered. "reinhard": moreover the object's colours are
    given the mean and spread that the object had in the clean picture, in Lab (Reinhard et al. 2001).
    "seamless": Poisson cloning (Perez et al. 2003) by OpenCV, which tints the object like the background;
    so it is used at the seam and fades out inwards. Where the object reaches the border, OpenCV
    cannot clone, and it is "alpha".

    Raises:
        UserError: There is no such method.
    """

    def __init__(self, argument: str = "", settings: Mapping[str, JSON] | None = None) -> None:
        del settings
        method = argument or "alpha"
        if method not in get_args(Method):
            raise UserError(
                f"blending method {method!r} is unknown: use {', '.join(get_args(Method))}"
            )
        self._method = method
        self.info = ModelInfo(id=f"blend:{method}", revision=f"OpenCV {cv2.__version__}, version 1")

    def prepare(self, original: Pixels, mask: Mask, background: Pixels) -> Composition:
        """Read strength of shadow and the object's colours from the clean picture.

        Raises:
            ValueError: Shapes differ.
        """
        if not original.shape[:2] == mask.shape == background.shape[:2]:
            raise ValueError(
                f"picture of {original.shape[:2]}, mask of {mask.shape}, background of "
                f"{background.shape[:2]}: they have to have one shape"
            )
        return _Place(
            self._method,
            background.astype(np.float32),
            shadow_strength(original, mask, background),
            _statistics(to_lab(original)[mask]),
        )


def shadow_strength(original: Pixels, mask: Mask, background: Pixels) -> Floats:
    """The share of each colour (3,), 0..1, that a full shadow takes from the ground, as displayed."""
    shadow = cast_shadow(original, mask)
    if shadow.sum() < max(25, 0.02 * mask.sum()):
        return np.full(3, FALLBACK_STRENGTH, np.float32)
    left = (original[shadow].astype(np.float32) + 2) / (background[shadow].astype(np.float32) + 2)
    light = left.mean(axis=1)
    darker = left[light <= np.median(light)]  # half of it is penumbra
    strength = 1 - np.median(darker, axis=0)
    return np.asarray(np.clip(strength, _WEAKEST, _STRONGEST), np.float32)


@dataclass(frozen=True, slots=True)
class _Place:
    """strength: Shape (3,). colours: Mean and spread of the clean object in Lab, each of shape (3,)."""

    method: str
    background: Floats
    strength: Floats
    colours: tuple[Floats, Floats]

    def compose(self, renderings: Sequence[Rendering], poses: Sequence[Pose]) -> list[Pixels]:
        """One picture for each rendering."""
        del poses
        return [self._composed(rendering) for rendering in renderings]

    def _composed(self, rendering: Rendering) -> Pixels:
        colour, alpha = rendering.rgba[..., :3], rendering.rgba[..., 3]
        shadow = squashed_shadow(alpha) if rendering.shadow is None else rendering.shadow
        ground = self.background * (1 - shadow[..., None] * self.strength)
        if not alpha.any():
            return to_bytes(ground)
        if self.method == "reinhard":
            colour = _matched(colour, alpha, self.colours)
        feather = max(0.4, _FEATHER * max(alpha.shape))
        soft = blurred(alpha, feather)
        edge = blurred(colour * alpha[..., None], feather) / np.maximum(soft, 1e-3)[..., None]
        inner = np.where((alpha > 0)[..., None], colour, edge)
        cover = soft[..., None]
        composed: Floats = ground * (1 - cover) + inner * cover * 255
        if self.method == "seamless":
            composed = _seamless(composed, inner, alpha, ground)
        return to_bytes(composed)


def squashed_shadow(alpha: Floats) -> Floats:
    """A shadow (h, w) for a silhouette of unknown depth: flattened onto its lowest row, and soft."""
    height, width = alpha.shape
    rows = np.flatnonzero((alpha > 0.5).any(axis=1))
    if not rows.size:
        return np.zeros_like(alpha)
    foot = float(rows[-1])
    sheared = np.array(
        [[1, -_SHEAR, _SHEAR * foot], [0, _SQUASH, foot * (1 - _SQUASH)]], np.float32
    )
    flat = np.asarray(cv2.warpAffine(alpha, sheared, (width, height)), np.float32)
    return blurred(flat, 1.5 * max(height, width) / 128)


def _seamless(composed: Floats, colour: Floats, alpha: Floats, ground: Floats) -> Floats:
    """The composed picture, cloned along the seam; unchanged where OpenCV cannot clone."""
    solid = alpha > 0.5
    if solid[[0, -1]].any() or solid[:, [0, -1]].any() or np.count_nonzero(solid) < 16:
        return composed
    left, top, right, bottom = extent(solid)
    under = to_bytes(ground)
    source = np.where(solid[..., None], to_bytes(colour * 255), under)
    # OpenCV puts the centre of the mask's box there.
    centre = ((left + right) // 2, (top + bottom) // 2)
    mask = solid.astype(np.uint8) * 255
    cloned = np.asarray(cv2.seamlessClone(source, under, mask, centre, cv2.NORMAL_CLONE))
    inwards = ndimage.distance_transform_edt(solid) / (_SEAM * max(bottom - top, right - left))
    share = np.where(solid, 0.6 * np.exp(-(inwards**2)), 0.0)[..., None]
    return np.asarray(composed * (1 - share) + cloned * share)


def _matched(colour: Floats, alpha: Floats, wanted: tuple[Floats, Floats]) -> Floats:
    """Colours with mean and spread moved towards the wanted ones, both by at most half."""
    seen = alpha > 0.5
    if seen.sum() < 16:
        return colour
    lab = to_lab(colour)
    mean, spread = _statistics(lab[seen])
    ratio = np.clip(wanted[1] / np.maximum(spread, 1.0), 0.67, 1.5)
    return from_lab((lab - mean) * ratio + mean + 0.5 * (wanted[0] - mean))


def _statistics(lab: Floats) -> tuple[Floats, Floats]:
    if not len(lab):
        return np.zeros(3, np.float32), np.ones(3, np.float32)
    return lab.mean(axis=0), lab.std(axis=0)
