"""Solids as triangle soups: arrays of shape (n, 3, 3), corners in float64, wound consistently.

A soup is enough for ray casting, and it keeps every shape one array: `np.concatenate` joins two,
and no mesh library is loaded.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Soup: TypeAlias = NDArray[np.float64]
Point: TypeAlias = tuple[float, float, float]
Polygon: TypeAlias = Sequence[tuple[float, float]]

_AXES = {"x": 0, "y": 1, "z": 2}


def rotation(angle_deg: float, axis: str) -> NDArray[np.float64]:
    """The (3, 3) matrix that turns column vectors about "x", "y" or "z", right-handed."""
    c, s = np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    matrix = np.eye(3)
    matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j] = c, -s, s, c
    return matrix


def turned(soup: Soup, angle_deg: float, axis: str, about: Point = (0.0, 0.0, 0.0)) -> Soup:
    """The soup turned about an axis through the point `about`."""
    return np.asarray((soup - about) @ rotation(angle_deg, axis).T + about)


def moved(soup: Soup, by: Point) -> Soup:
    """The soup shifted by a vector."""
    return np.asarray(soup + by)


def revolved(profile: Polygon, sections: int = 24) -> Soup:
    """The surface that a profile of (radius, height) points sweeps about the z axis."""
    radius, height = np.asarray(profile, float).T
    angle = np.linspace(0.0, 2.0 * np.pi, sections, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=-1)
    grid = radius[:, None, None] * ring + height[:, None, None] * np.array([0.0, 0.0, 1.0])
    return _strips(grid, closed=True)


def ellipsoid(
    radius: float, centre: Point, stretch: Point = (1.0, 1.0, 1.0), sections: int = 20
) -> Soup:
    """An ellipsoid with the half axes radius * stretch."""
    polar = np.linspace(-np.pi / 2, np.pi / 2, sections // 2 + 1)
    profile = list(zip(np.cos(polar).round(9), np.sin(polar), strict=True))
    return moved(revolved(profile, sections) * radius * np.asarray(stretch), centre)


def cylinder(
    radius: float, length: float, centre: Point, axis: str = "z", sections: int = 20
) -> Soup:
    """A closed cylinder along an axis."""
    half = length / 2
    soup = revolved([(0, -half), (radius, -half), (radius, half), (0, half)], sections)
    return moved(_laid_along(soup, axis), centre)


def cone(radius: float, height: float, base: Point, axis: str = "z", sections: int = 20) -> Soup:
    """A closed cone that rises from the centre of its base along an axis."""
    soup = revolved([(0, 0), (radius, 0), (0, height)], sections)
    return moved(_laid_along(soup, axis), base)


def torus(
    ring: float, tube: float, centre: Point, axis: str = "z", sections: int = 20, sides: int = 8
) -> Soup:
    """A ring about an axis: `ring` is the radius of its centre line, `tube` that of the tube."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides + 1)
    profile = list(zip(ring + tube * np.cos(angle), tube * np.sin(angle), strict=True))
    return moved(_laid_along(revolved(profile, sections), axis), centre)


def rod(radius: float, start: Point, end: Point, sections: int = 12) -> Soup:
    """A round-ended rod (a capsule) between two points."""
    first, last = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(last - first))
    up = (last - first) / length
    polar = np.linspace(0.0, np.pi / 2, 4)
    rise, reach = radius * np.sin(polar), (radius * np.cos(polar)).round(9)
    lower = list(zip(reach[::-1], -rise[::-1], strict=True))
    upper = list(zip(reach, length + rise, strict=True))
    side = np.cross(up, [1.0, 0.0, 0.0] if abs(up[0]) < 0.9 else [0.0, 1.0, 0.0])
    side /= np.linalg.norm(side)
    frame = np.stack([side, np.cross(up, side), up])
    return np.asarray(revolved([*lower, *upper], sections) @ frame + first)


def box(size: Point, centre: Point) -> Soup:
    """An axis-aligned box."""
    x, y, z = (extent / 2 for extent in size)
    return moved(plate([(-x, -y), (x, -y), (x, y), (-x, y)], 2 * z, "z"), centre)


def plate(outline: Polygon, thickness: float, axis: str, offset: float = 0.0) -> Soup:
    """A convex outline made solid along `axis`, centred at `offset` on it.

    The outline's coordinates are (x, y) for axis "z", (x, z) for "y" and (y, z) for "x".
    """
    flat = np.asarray(outline, float)
    rings = [
        np.insert(flat, _AXES[axis], offset + side * thickness / 2, axis=1) for side in (-1, 1)
    ]
    return lofted(rings[0], rings[1])


def lofted(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> Soup:
    """The solid between two convex polygons of equally many points, each of shape (n, 3)."""
    caps = [_fan(lower[::-1]), _fan(upper)]
    return _without_slivers(np.concatenate([_strips(np.stack([lower, upper]), closed=True), *caps]))


def surface(grid: NDArray[np.float64]) -> Soup:
    """The open surface through a grid of points, shape (rows, columns, 3)."""
    return _strips(grid, closed=False)


def corner_normals(soup: Soup, crease_deg: float = 42.0) -> NDArray[np.float64]:
    """Unit normals of shape (n, 3, 3), smooth across edges that are blunter than the crease."""
    normal = np.cross(soup[:, 1] - soup[:, 0], soup[:, 2] - soup[:, 0])
    area = np.linalg.norm(normal, axis=1, keepdims=True)
    unit = normal / area
    points = np.round(soup.reshape(-1, 3), 6) + 0.0  # -0.0 and 0.0 must weld
    shared = np.unique(points, axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(shared, kind="stable")
    counts = np.bincount(shared)
    first = np.repeat(np.cumsum(counts) - counts, counts)  # start of each sorted corner's group
    size = np.repeat(counts, counts)
    here = np.repeat(np.arange(len(order)), size)
    step = np.arange(len(here)) - np.repeat(np.cumsum(size) - size, size)
    there = first[here] + step
    corner, face, neighbour = order[here], order[here] // 3, order[there] // 3
    blunt = (unit[face] * unit[neighbour]).sum(axis=1) > np.cos(np.radians(crease_deg))
    total = np.zeros((len(order), 3))
    for axis in range(3):
        total[:, axis] = np.bincount(
            corner[blunt], normal[neighbour[blunt], axis], minlength=len(order)
        )
    smooth = total / np.linalg.norm(total, axis=1, keepdims=True)
    return np.asarray(smooth.reshape(-1, 3, 3))


def _laid_along(soup: Soup, axis: str) -> Soup:
    if axis == "z":
        return soup
    return turned(soup, 90.0, "y") if axis == "x" else turned(soup, -90.0, "x")


def _fan(ring: NDArray[np.float64]) -> Soup:
    first = np.broadcast_to(ring[0], (len(ring) - 2, 3))
    return np.stack([first, ring[1:-1], ring[2:]], axis=1)


def _strips(grid: NDArray[np.float64], *, closed: bool) -> Soup:
    """Triangles of a grid of points (rows, columns, 3); `closed` joins the last column to the first."""
    if closed:
        grid = np.concatenate([grid, grid[:, :1]], axis=1)
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    soup = np.concatenate([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)])
    return _without_slivers(soup.reshape(-1, 3, 3))


def _without_slivers(soup: Soup) -> Soup:
    """Drops triangles without an area, which have no normal (the tip of a cone, a ridge)."""
    area = np.linalg.norm(np.cross(soup[:, 1] - soup[:, 0], soup[:, 2] - soup[:, 0]), axis=1)
    return np.asarray(soup[area > 1e-12])
