"""Things of a home: eight of the twenty classes, each facing +x and standing on z = 0."""

import numpy as np

from benchmark.toybox.paints import CHALK, GLOW, IRON, PRIMARY, WOOD, Part
from benchmark.toybox.solids import (
    box,
    cone,
    cylinder,
    ellipsoid,
    moved,
    revolved,
    surface,
    torus,
    turned,
)


def ball() -> list[Part]:
    """A beach ball, tilted, with white panels."""
    skin = ellipsoid(0.5, (0, 0, 0), sections=36)
    middle = skin.mean(axis=1)
    sector = np.floor(np.degrees(np.arctan2(middle[:, 1], middle[:, 0])) / 30.0).astype(int)
    white = (sector % 3 == 2) | (np.abs(middle[:, 2]) > 0.46)  # a beach ball's panels
    tilted = moved(turned(turned(skin, 24, "y"), 16, "x"), (0, 0, 0.5))
    return [(tilted[~white], PRIMARY), (tilted[white], CHALK)]


def gift() -> list[Part]:
    """A box with a lid, a ribbon and a bow."""
    loops: list[Part] = []
    for side in (1, -1):
        at = (side * 0.17, 0.0, 0.92)
        loops.append((turned(torus(0.14, 0.055, at, "y", 14, 6), side * 25, "y", at), CHALK))
    loops.append((ellipsoid(0.08, (0, 0, 0.86), sections=10), CHALK))
    return [
        (box((0.8, 0.8, 0.62), (0, 0, 0.31)), PRIMARY),
        (box((0.88, 0.88, 0.18), (0, 0, 0.71)), PRIMARY),
        (box((0.90, 0.17, 0.82), (0, 0, 0.40)), CHALK),
        (box((0.17, 0.90, 0.82), (0, 0, 0.40)), CHALK),
        *loops,
    ]


def mug() -> list[Part]:
    """A mug of coffee with one handle."""
    wall = [(0, 0), (0.37, 0), (0.41, 0.05), (0.41, 0.86), (0.35, 0.86), (0.35, 0.10), (0, 0.10)]
    return [
        (revolved(wall), PRIMARY),
        (torus(0.23, 0.06, (0.46, 0, 0.44), "y", 20, 8), PRIMARY),
        (cylinder(0.35, 0.02, (0, 0, 0.75)), (0.30, 0.16, 0.08)),
    ]


def bottle() -> list[Part]:
    """A bottle with a cap and a label."""
    glass = [(0, 0), (0.25, 0), (0.28, 0.05), (0.28, 0.56), (0.25, 0.68), (0.11, 0.86)]
    glass += [(0.095, 1.08), (0, 1.08)]
    return [
        (revolved(glass), PRIMARY),
        (cylinder(0.115, 0.14, (0, 0, 1.12), sections=14), IRON),
        (cylinder(0.286, 0.26, (0, 0, 0.33), sections=24), CHALK),
    ]


def chair() -> list[Part]:
    """A wooden chair with a painted seat and back."""
    posts: list[Part] = [(box((0.08, 0.08, 0.66), (-0.29, y, 0.83)), WOOD) for y in (-0.29, 0.29)]
    return [
        (box((0.68, 0.68, 0.10), (0, 0, 0.48)), PRIMARY),
        (box((0.09, 0.66, 0.42), (-0.29, 0, 0.93)), PRIMARY),
        *posts,
        *_legs((-0.28, 0.28), (-0.28, 0.28), 0.09, 0.46),
    ]


def table() -> list[Part]:
    """A table with a painted top on wooden legs."""
    return [
        (box((1.22, 0.84, 0.10), (0, 0, 0.66)), PRIMARY),
        (box((1.04, 0.66, 0.09), (0, 0, 0.57)), PRIMARY),
        *_legs((-0.51, 0.51), (-0.32, 0.32), 0.10, 0.62),
    ]


def _legs(xs: tuple[float, ...], ys: tuple[float, ...], thick: float, height: float) -> list[Part]:
    return [(box((thick, thick, height), (x, y, height / 2)), WOOD) for x in xs for y in ys]


def lamp() -> list[Part]:
    """A table lamp with a painted shade."""
    return [
        (revolved([(0, 0), (0.27, 0), (0.27, 0.04), (0.10, 0.09), (0, 0.09)], 20), IRON),
        (cylinder(0.035, 0.7, (0, 0, 0.40), sections=10), IRON),
        (revolved([(0.41, 0.60), (0.20, 1.10), (0, 1.10)]), PRIMARY),
        (ellipsoid(0.15, (0, 0, 0.64), sections=12), GLOW),
    ]


def umbrella() -> list[Part]:
    """An open umbrella, standing on its hook; two of its eight gores are white."""
    polar = np.linspace(0.0, np.pi / 2, 5)
    gores: list[Part] = []
    for sector in range(8):
        azimuth = np.radians(45 * sector + np.array([0.0, 22.5, 45.0]))
        bulge = np.array([1.0, 0.94, 1.0])  # the cloth sags between the ribs
        radius = 0.62 * np.sin(polar)[:, None] * bulge
        height = np.broadcast_to((0.62 + 0.40 * np.cos(polar))[:, None], radius.shape)
        grid = np.stack([radius * np.cos(azimuth), radius * np.sin(azimuth), height], axis=-1)
        gores.append((surface(grid), CHALK if sector % 4 == 3 else PRIMARY))
    hook = torus(0.09, 0.03, (0.09, 0, 0.09), "y", 16, 6)
    return [
        *gores,
        (cylinder(0.028, 0.94, (0, 0, 0.56), sections=8), IRON),
        (cone(0.035, 0.10, (0, 0, 1.0), sections=8), IRON),
        (hook[hook[:, :, 2].max(axis=1) < 0.105], WOOD),
    ]
