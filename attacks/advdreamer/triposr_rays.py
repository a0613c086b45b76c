"""Cameras around the object, and the ray marcher of TripoSR.

World: right-handed, z up, the object in a box around the origin. The camera at azimuth 0 and elevation 0
is on the +x axis and sees +y to its right; azimuth turns from +x towards +y.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from benchmark.errors import UserError

_RAYS = 4096
"""Marched at once, so that the samples of a large picture do not fill the memory."""
_BOX_MARGIN = 1e-3
_FLAT = 1e-6
_SHORTEST = 0.01
"""Rays with a shorter way through the box are taken to miss it."""

Field = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Density (n, 1) and colour (n, 3) of points (n, 3)."""


class Rays(NamedTuple):
    """Origins and unit directions of rays, (..., 3) each, in world coordinates."""

    origins: Tensor
    directions: Tensor


class Marched(NamedTuple):
    """What rays gathered: to be laid over a background as `premultiplied + (1 - alpha) * background`."""

    premultiplied: Tensor
    """Colour times opacity (..., 3)."""
    alpha: Tensor
    """Opacity (..., 1); 0 where a ray misses the box."""

    def over(self, background: float | Tensor) -> Tensor:
        """Colours (..., 3) over a background, a number or a picture (..., 3)."""
        return self.premultiplied + (1 - self.alpha) * background


class Interval(NamedTuple):
    """Where rays are inside the box: distances (...) along them, both 0 for rays that miss it."""

    near: Tensor
    far: Tensor
    hits: Tensor


def cameras(
    n_views: int,
    elevation: float = 0.0,
    distance: float = 1.9,
    fov: float = 40.0,
    height: int = 256,
    width: int = 256,
) -> Rays:
    """Rays (n_views, height, width, 3) of cameras evenly spaced on a circle, the first at azimuth 0.

    Args:
        n_views: How many cameras.
        elevation: Of all cameras above the horizon, in degrees.
        distance: From the origin, which they look at, in world units.
        fov: Vertical field of view in degrees.
        height: In pixels.
        width: In pixels.

    Raises:
        UserError: There are no views, or the field of view is not between 0 and 180 degrees.
    """
    if n_views < 1 or height < 1 or width < 1:
        raise UserError(f"{n_views} views of {height} x {width} pixels: each must be at least 1")
    if not 0 < fov < 180:
        raise UserError(f"field of view {fov} degrees: it must be between 0 and 180")
    azimuth = torch.arange(n_views, dtype=torch.float64) * (2 * math.pi / n_views)
    tilt = torch.full_like(azimuth, math.radians(elevation))
    sin_a, cos_a, sin_e, cos_e = azimuth.sin(), azimuth.cos(), tilt.sin(), tilt.cos()
    # In closed form, because a cross product with the z axis vanishes at the poles.
    right = torch.stack([-sin_a, cos_a, torch.zeros_like(sin_a)], dim=-1)
    up = torch.stack([-sin_e * cos_a, -sin_e * sin_a, cos_e], dim=-1)
    back = torch.stack([cos_e * cos_a, cos_e * sin_a, sin_e], dim=-1)
    focal = 0.5 * height / math.tan(math.radians(fov) / 2)
    x = (torch.arange(width, dtype=torch.float64) + 0.5 - width / 2) / focal
    y = (height / 2 - torch.arange(height, dtype=torch.float64) - 0.5) / focal
    seen = x[:, None] * right[:, None, None] + y[:, None, None] * up[:, None, None]
    directions = torch.nn.functional.normalize(seen - back[:, None, None], dim=-1)
    origins = (distance * back)[:, None, None].expand_as(directions)
    return Rays(origins.float().contiguous(), directions.float())


def box_interval(origins: Tensor, directions: Tensor, radius: float) -> Interval:
    """Where rays (..., 3) are inside the box of half side `radius`, by the slab method."""
    half = radius * (1 - _BOX_MARGIN)
    safe = torch.where(directions.abs() < _FLAT, _FLAT, directions)
    first, second = (-half - origins) / safe, (half - origins) / safe
    near = torch.minimum(first, second).amax(dim=-1).clamp_min(0)
    far = torch.maximum(first, second).amin(dim=-1)
    hits = far - near > _SHORTEST
    return Interval(near * hits, far * hits, hits)


def march(
    field: Field, origins: Tensor, directions: Tensor, radius: float, samples: int
) -> Marched:
    """Gathers colour and opacity along rays (..., 3) from `samples` midpoints inside the box.

    Raises:
        UserError: Origins and directions differ in shape or do not end in 3.
    """
    if origins.shape != directions.shape or origins.shape[-1:] != (3,):
        raise UserError(
            f"ray origins {tuple(origins.shape)} and directions {tuple(directions.shape)}:"
            " both must have the same shape (..., 3)"
        )
    flat_origins, flat_directions = origins.reshape(-1, 3), directions.reshape(-1, 3)
    near, far, hits = box_interval(flat_origins, flat_directions, radius)
    gathered = flat_origins.new_zeros(len(flat_origins), 4)
    steps = (torch.arange(samples, device=near.device, dtype=near.dtype) + 0.5) / samples
    for rays in torch.split(hits.nonzero()[:, 0], _RAYS):
        depth = near[rays, None] + (far - near)[rays, None] * steps  # (rays, samples)
        points = flat_origins[rays, None] + depth[..., None] * flat_directions[rays, None]
        density, colour = field(points.reshape(-1, 3))
        # The step is 1 / samples for every ray, however long its way through the box is.
        opacity = 1 - torch.exp(-density.reshape(-1, samples) / samples)
        passed = torch.cumprod(1 - opacity + 1e-10, dim=-1)
        weights = opacity.clone()
        weights[:, 1:] *= passed[:, :-1]
        gathered[rays, :3] = torch.einsum("rs,rsc->rc", weights, colour.reshape(-1, samples, 3))
        gathered[rays, 3] = weights.sum(dim=-1)
    gathered = gathered.reshape(*origins.shape[:-1], 4)
    return Marched(gathered[..., :3], gathered[..., 3:])
