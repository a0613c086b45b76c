"""Parts of a picture: growing and shrinking masks, and laying one picture into a part of another."""

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from attacks.advdreamer.stages import Mask
from benchmark.types import Pixels

Weights = NDArray[np.float32]
"""Shape (height, width), 0..1: how much of the new picture."""

_SHADED = 3
"""A difference of more than this many of 255 steps is a change."""


def grown(mask: Mask, radius: float) -> Mask:
    """The mask and all that is within `radius` pixels of it."""
    if not mask.any() or radius <= 0:
        return mask.copy()
    near: Mask = distance_transform_edt(~mask) <= radius
    return near


def shrunk(mask: Mask, radius: float) -> Mask:
    """The mask without what is within `radius` pixels of its edge; the picture's border is none."""
    return ~grown(~mask, radius)


def core_of(silhouette: Mask, radius: float) -> Mask:
    """The part of an object that must not be repainted: all but its rim.

    What is too thin to have an interior, such as a leg of a chair, belongs to the core as a whole.
    """
    inner = shrunk(silhouette, radius)
    thick = (
        grown(inner, 1.5 * radius + 1) & silhouette
    )  # 1.5, so that corners are not taken for thin
    return inner | (silhouette & ~thick)


def ring_and_shadow(
    silhouette: Mask, pasted: Pixels, background: Pixels, outer: float, inner: float
) -> Mask:
    """What a harmoniser may repaint: a ring about the silhouette's edge, and its shadow.

    The shadow is where pasting changed the background away from the object. The core is in neither.

    Args:
        silhouette: Where the object shows at all.
        pasted: The background with object and shadow.
        background: What is behind them.
        outer: The ring's width outside the silhouette, in pixels.
        inner: Its width inside.
    """
    difference = np.abs(pasted.astype(np.int16) - background.astype(np.int16)).max(axis=2)
    changed: Mask = difference > _SHADED
    if not (silhouette.any() or changed.any()):
        return np.zeros_like(silhouette)
    region: Mask = grown(silhouette, outer) | grown(changed & ~silhouette, 1)
    return region & ~core_of(silhouette, inner)


def feathered(region: Mask, width: float, full: Mask | None = None) -> Weights:
    """0 outside `region`, rising to 1 over `width` pixels from its edge, and 1 on `full`."""
    if region.all():
        return np.ones(region.shape, np.float32)
    depth = distance_transform_edt(region)
    weights: Weights = np.clip(depth / (width + 1), 0.0, 1.0).astype(np.float32)
    if full is not None:
        weights[full & region] = 1.0
    return weights


def laid_over(base: Pixels, picture: Pixels, weights: Weights) -> Pixels:
    """`picture` over `base`; where the weight is 0, exactly `base`."""
    mixed = base + weights[..., None] * (picture.astype(np.float32) - base)
    return np.asarray(np.clip(mixed + 0.5, 0, 255).astype(np.uint8))
