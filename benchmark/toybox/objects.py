"""The twenty classes as coloured solids, and the templates that the renderer places.

Every object faces +x and stands on z = 0. A part painted `PRIMARY` takes the object's colour; the
other paints are fixed, and give a class the marks by which it is known (wheels, a beak, a label).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmark.toybox import words
from benchmark.toybox.solids import (
    Soup,
    ball,
    box,
    cone,
    corner_normals,
    cylinder,
    lofted,
    moved,
    plate,
    revolved,
    rod,
    torus,
    turned,
)

RGB: TypeAlias = tuple[float, float, float]
Part: TypeAlias = tuple[Soup, RGB | None]

PRIMARY = None
GLOW: RGB = (1.0, 0.90, 0.45)
"""The paint of bulbs and windows: it shines by itself at night."""

INK: RGB = (0.10, 0.10, 0.11)
WOOD: RGB = (0.50, 0.31, 0.15)
IRON: RGB = (0.28, 0.29, 0.32)
GLASS: RGB = (0.15, 0.22, 0.32)
CHALK: RGB = (0.95, 0.95, 0.95)
SILVER: RGB = (0.60, 0.63, 0.68)
STEEL: RGB = (0.66, 0.67, 0.70)
BEAK: RGB = (0.98, 0.50, 0.05)
BRICK: RGB = (0.52, 0.22, 0.16)
CLAY: RGB = (0.74, 0.42, 0.26)
TAIL: RGB = (0.85, 0.08, 0.08)

PAINTS: dict[str, RGB] = {
    "red": (0.86, 0.05, 0.07),
    "orange": (1.00, 0.48, 0.02),
    "yellow": (0.99, 0.88, 0.08),
    "green": (0.07, 0.60, 0.17),
    "blue": (0.08, 0.27, 0.90),
    "purple": (0.47, 0.13, 0.70),
    "pink": (1.00, 0.54, 0.76),
    "white": (0.96, 0.96, 0.96),
    "black": (0.10, 0.10, 0.11),
}
"""What each colour word looks like in full light, as display (sRGB) values in 0..1."""


@dataclass(frozen=True, slots=True)
class Template:
    """A class at scale 1: longest side one unit, centred on the origin, lowest point at z = 0.

    `corners` and `normals` have shape (n, 3, 3), float32. `colours` (n, 3) are display values, `nan`
    where the object's own colour belongs. `glows` (n,) marks what shines at night. `low` and `high`
    are the bounding box; `foot` is the half extent in x and y of what is close to the ground.
    """

    corners: NDArray[np.float32]
    normals: NDArray[np.float32]
    colours: NDArray[np.float32]
    glows: NDArray[np.bool_]
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    foot: tuple[float, float]


@cache
def template(cls: str) -> Template:
    """The template of a class; built once in a process.

    Raises:
        ValueError: If there is no such class.
    """
    if cls not in _MAKERS:
        raise ValueError(f"unknown class {cls!r}: expected one of {', '.join(words.CLASSES)}")
    parts = _MAKERS[cls]()
    normals = np.concatenate([corner_normals(soup) for soup, _ in parts])
    paint = np.concatenate(
        [np.tile((np.nan,) * 3 if rgb is None else rgb, (len(soup), 1)) for soup, rgb in parts]
    )
    corners = np.concatenate([soup for soup, _ in parts])
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    anchor = np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
    corners = (corners - anchor) / (high - low).max()
    points = corners.reshape(-1, 3)
    feet = np.abs(points[points[:, 2] < 0.12 * points[:, 2].max(), :2]).max(axis=0)
    return Template(
        corners=corners.astype(np.float32),
        normals=normals.astype(np.float32),
        colours=paint.astype(np.float32),
        glows=(paint == GLOW).all(axis=1),
        low=points.min(axis=0).astype(np.float32),
        high=points.max(axis=0).astype(np.float32),
        foot=(float(feet[0]), float(feet[1])),
    )


def _ball() -> list[Part]:
    skin = ball(0.5, (0, 0, 0), sections=36)
    middle = skin.mean(axis=1)
    sector = np.floor(np.degrees(np.arctan2(middle[:, 1], middle[:, 0])) / 30.0).astype(int)
    white = (sector % 3 == 2) | (np.abs(middle[:, 2]) > 0.46)  # a beach ball's panels
    tilted = moved(turned(turned(skin, 24, "y"), 16, "x"), (0, 0, 0.5))
    return [(tilted[~white], PRIMARY), (tilted[white], CHALK)]


def _gift() -> list[Part]:
    loops: list[Part] = [
        (turned(torus(0.14, 0.055, (0.17, 0, 0.92), "y", 14, 6), 25, "y", (0.17, 0, 0.92)), CHALK),
        (
            turned(torus(0.14, 0.055, (-0.17, 0, 0.92), "y", 14, 6), -25, "y", (-0.17, 0, 0.92)),
            CHALK,
        ),
        (ball(0.08, (0, 0, 0.86), sections=10), CHALK),
    ]
    return [
        (box((0.8, 0.8, 0.62), (0, 0, 0.31)), PRIMARY),
        (box((0.88, 0.88, 0.18), (0, 0, 0.71)), PRIMARY),
        (box((0.90, 0.17, 0.82), (0, 0, 0.40)), CHALK),
        (box((0.17, 0.90, 0.82), (0, 0, 0.40)), CHALK),
        *loops,
    ]


def _mug() -> list[Part]:
    wall = [(0, 0), (0.37, 0), (0.41, 0.05), (0.41, 0.86), (0.35, 0.86), (0.35, 0.10), (0, 0.10)]
    return [
        (revolved(wall), PRIMARY),
        (torus(0.23, 0.06, (0.46, 0, 0.44), "y", 20, 8), PRIMARY),
        (cylinder(0.35, 0.02, (0, 0, 0.75)), (0.30, 0.16, 0.08)),
    ]


def _bottle() -> list[Part]:
    glass = [
        (0, 0),
        (0.25, 0),
        (0.28, 0.05),
        (0.28, 0.56),
        (0.25, 0.68),
        (0.11, 0.86),
        (0.095, 1.08),
        (0, 1.08),
    ]
    return [
        (revolved(glass), PRIMARY),
        (cylinder(0.115, 0.14, (0, 0, 1.12), sections=14), IRON),
        (cylinder(0.286, 0.26, (0, 0, 0.33), sections=24), CHALK),
    ]


def _legs(xs: tuple[float, ...], ys: tuple[float, ...], thick: float, height: float) -> list[Part]:
    return [(box((thick, thick, height), (x, y, height / 2)), WOOD) for x in xs for y in ys]


def _chair() -> list[Part]:
    posts: list[Part] = [(box((0.08, 0.08, 0.66), (-0.29, y, 0.83)), WOOD) for y in (-0.29, 0.29)]
    return [
        (box((0.68, 0.68, 0.10), (0, 0, 0.48)), PRIMARY),
        (box((0.09, 0.66, 0.42), (-0.29, 0, 0.93)), PRIMARY),
        *posts,
        *_legs((-0.28, 0.28), (-0.28, 0.28), 0.09, 0.46),
    ]


def _table() -> list[Part]:
    return [
        (box((1.22, 0.84, 0.10), (0, 0, 0.66)), PRIMARY),
        (box((1.04, 0.66, 0.09), (0, 0, 0.57)), PRIMARY),
        *_legs((-0.51, 0.51), (-0.32, 0.32), 0.10, 0.62),
    ]


def _lamp() -> list[Part]:
    return [
        (revolved([(0, 0), (0.27, 0), (0.27, 0.04), (0.10, 0.09), (0, 0.09)], 20), IRON),
        (cylinder(0.035, 0.7, (0, 0, 0.40), sections=10), IRON),
        (revolved([(0.41, 0.60), (0.20, 1.10), (0, 1.10)]), PRIMARY),
        (ball(0.15, (0, 0, 0.64), sections=12), GLOW),
    ]


def _umbrella() -> list[Part]:
    polar = np.linspace(0.0, np.pi / 2, 5)
    gores: list[Part] = []
    for sector in range(8):
        azimuth = np.radians(45 * sector + np.array([0.0, 22.5, 45.0]))
        bulge = np.array([1.0, 0.94, 1.0])  # the cloth sags between the ribs
        radius = 0.62 * np.sin(polar)[:, None] * bulge
        height = np.broadcast_to((0.62 + 0.40 * np.cos(polar))[:, None], radius.shape)
        grid = np.stack([radius * np.cos(azimuth), radius * np.sin(azimuth), height], axis=-1)
        quads = [
            [grid[i, j], grid[i + 1, j], grid[i + 1, j + 1], grid[i, j + 1]]
            for i in range(4)
            for j in range(2)
        ]
        soup = np.array([t for a, b, c, d in quads for t in ([a, b, c], [a, c, d])])
        area = np.linalg.norm(np.cross(soup[:, 1] - soup[:, 0], soup[:, 2] - soup[:, 0]), axis=1)
        gores.append((soup[area > 1e-9], CHALK if sector % 4 == 3 else PRIMARY))
    hook = torus(0.09, 0.03, (0.09, 0, 0.09), "y", 16, 6)
    return [
        *gores,
        (cylinder(0.028, 0.94, (0, 0, 0.56), sections=8), IRON),
        (cone(0.035, 0.10, (0, 0, 1.0), sections=8), IRON),
        (hook[hook[:, :, 2].max(axis=1) < 0.105], WOOD),
    ]


def _house() -> list[Part]:
    eaves = np.array(
        [(-0.55, -0.6, 0.60), (0.55, -0.6, 0.60), (0.55, 0.6, 0.60), (-0.55, 0.6, 0.60)]
    )
    ridge = np.array([(0, -0.6, 1.10), (0, -0.6, 1.10), (0, 0.6, 1.10), (0, 0.6, 1.10)])
    roof = lofted(eaves, ridge)
    area = np.linalg.norm(np.cross(roof[:, 1] - roof[:, 0], roof[:, 2] - roof[:, 0]), axis=1)
    gable = plate([(-0.43, 0.6), (0.43, 0.6), (0, 0.99)], 1.14, "y")
    windows: list[Part] = []
    for y in (-0.31, 0.31):
        windows += [(box((0.04, 0.2, 0.2), (0.43, y, 0.36)), GLOW)]
        windows += [(box((0.03, 0.26, 0.26), (0.43, y, 0.36)), CHALK)]
        windows += [(box((0.04, 0.2, 0.2), (-0.43, y, 0.36)), GLOW)]
        windows += [(box((0.03, 0.26, 0.26), (-0.43, y, 0.36)), CHALK)]
    for x in (-0.21, 0.21):
        for side in (-0.5, 0.5):
            windows += [(box((0.2, 0.04, 0.2), (x, side, 0.36)), GLOW)]
            windows += [(box((0.26, 0.03, 0.26), (x, side, 0.36)), CHALK)]
    return [
        (box((0.86, 1.0, 0.64), (0, 0, 0.32)), PRIMARY),
        (turned(gable, 0, "z"), PRIMARY),
        (roof[area > 1e-9] * (1.0, 0.96, 1.0), BRICK),
        (box((0.15, 0.15, 0.36), (0.22, 0.26, 1.02)), BRICK),
        (box((0.05, 0.2, 0.38), (0.43, 0, 0.19)), WOOD),
        (box((0.03, 0.27, 0.44), (0.43, 0, 0.22)), CHALK),
        *windows,
    ]


def _tree() -> list[Part]:
    crown = [(0.36, (0, 0, 0.80)), (0.26, (0.24, 0.08, 0.66)), (0.26, (-0.2, 0.15, 0.68))]
    crown += [(0.25, (0.02, -0.24, 0.66)), (0.25, (0.03, 0.04, 1.04))]
    leaves: list[Part] = [(ball(r, centre, sections=16), PRIMARY) for r, centre in crown]
    trunk = revolved([(0, 0), (0.15, 0), (0.09, 0.12), (0.08, 0.6), (0, 0.6)], 12)
    return [(trunk, WOOD), *leaves]


def _cactus() -> list[Part]:
    angle = np.linspace(0.0, 2 * np.pi, 10, endpoint=False)
    ribs: list[Part] = [
        (
            rod(
                0.035,
                (0.135 * np.cos(a), 0.135 * np.sin(a), 0.15),
                (0.135 * np.cos(a), 0.135 * np.sin(a), 0.98),
                6,
            ),
            PRIMARY,
        )
        for a in angle
    ]
    arms = [((0, 0, 0.46), (0, 0.36, 0.46)), ((0, 0.36, 0.46), (0, 0.36, 0.80))]
    arms += [((0, 0, 0.62), (0, -0.34, 0.62)), ((0, -0.34, 0.62), (0, -0.34, 1.0))]
    pot = [(0, 0), (0.22, 0), (0.28, 0.20), (0.31, 0.20), (0.31, 0.26), (0, 0.26)]
    return [
        (rod(0.15, (0, 0, 0.2), (0, 0, 1.02), 16), PRIMARY),
        *ribs,
        *[(rod(0.085, a, b, 12), PRIMARY) for a, b in arms],
        (revolved(pot, 20), CLAY),
    ]


def _mushroom() -> list[Part]:
    stem = [(0, 0), (0.20, 0), (0.15, 0.2), (0.13, 0.5), (0, 0.5)]
    polar = np.linspace(0.0, np.pi / 2, 7)
    dome = list(zip(0.5 * np.cos(polar).round(9), 0.44 + 0.44 * np.sin(polar), strict=True))
    spots: list[Part] = []
    ring = [(azimuth, 52.0) for azimuth in (0, 72, 144, 216, 288)]
    ring += [(azimuth, 18.0) for azimuth in (36, 108, 180, 252, 324)] + [(0, 90.0)]
    for azimuth, rise in ring:
        a, b = np.radians(azimuth), np.radians(rise)
        at = (0.49 * np.cos(b) * np.cos(a), 0.49 * np.cos(b) * np.sin(a), 0.44 + 0.43 * np.sin(b))
        spots.append((ball(0.085, at, sections=10), CHALK))
    return [
        (revolved(stem, 18), (0.93, 0.89, 0.80)),
        (revolved([(0, 0.40), (0.44, 0.40), *dome]), PRIMARY),
        *spots,
    ]


def _snowman() -> list[Part]:
    snow = (0.98, 0.98, 1.0)
    buttons: list[Part] = [
        (ball(0.036, at, sections=8), INK)
        for at in ((0.17, 0.075, 1.17), (0.17, -0.075, 1.17), (0.255, 0, 0.86), (0.265, 0, 0.74))
    ]
    arms: list[Part] = []
    for side in (-1, 1):
        arms += [(rod(0.025, (0, side * 0.2, 0.82), (0.02, side * 0.56, 1.02), 8), WOOD)]
        arms += [(rod(0.018, (0.01, side * 0.44, 0.95), (0.04, side * 0.58, 0.90), 6), WOOD)]
    return [
        (ball(0.36, (0, 0, 0.32)), snow),
        (ball(0.27, (0, 0, 0.78)), snow),
        (ball(0.20, (0, 0, 1.12)), snow),
        (cylinder(0.24, 0.035, (0, 0, 1.27)), PRIMARY),
        (cylinder(0.16, 0.24, (0, 0, 1.39)), PRIMARY),
        (torus(0.185, 0.075, (0, 0, 0.965)), PRIMARY),
        (turned(box((0.06, 0.14, 0.32), (0.24, 0.11, 0.82)), 8, "y"), PRIMARY),
        (cone(0.05, 0.26, (0.17, 0, 1.11), "x", 10), BEAK),
        *buttons,
        *arms,
    ]


def _wheels(xs: tuple[float, ...], y: float, radius: float, width: float) -> list[Part]:
    wheels: list[Part] = []
    for x in xs:
        for side in (-y, y):
            wheels += [(cylinder(radius, width, (x, side, radius), "y", 16), INK)]
            wheels += [(cylinder(radius * 0.55, width + 0.03, (x, side, radius), "y", 10), STEEL)]
    return wheels


def _car() -> list[Part]:
    body = [
        (-0.74, 0.14),
        (0.74, 0.14),
        (0.77, 0.22),
        (0.76, 0.36),
        (0.40, 0.45),
        (-0.72, 0.46),
        (-0.77, 0.34),
    ]
    cabin = np.array(
        [(-0.56, 0.27, 0.44), (0.36, 0.27, 0.44), (0.36, -0.27, 0.44), (-0.56, -0.27, 0.44)]
    )
    roof = np.array(
        [(-0.40, 0.22, 0.72), (0.10, 0.22, 0.72), (0.10, -0.22, 0.72), (-0.40, -0.22, 0.72)]
    )
    # The glass is the cabin's own slope, a little wider and lower, so that roof and pillars stay.
    side = [
        (cabin * (0.86, 1.03, 1.0) + (-0.01, 0, 0.02), roof * (0.86, 1.09, 1.0) + (-0.02, 0, -0.06))
    ]
    ends = [(cabin * (1.03, 0.84, 1.0) + (0, 0, 0.02), roof * (1.13, 0.84, 1.0) + (0.01, 0, -0.06))]
    lights: list[Part] = []
    for y in (-0.21, 0.21):
        lights += [(ball(0.065, (0.755, y, 0.31), sections=8), GLOW)]
        lights += [(box((0.03, 0.13, 0.08), (-0.765, y, 0.36)), TAIL)]
    return [
        (plate(body, 0.64, "y"), PRIMARY),
        (lofted(cabin, roof), PRIMARY),
        *[(lofted(lower, upper), GLASS) for lower, upper in side + ends],
        *_wheels((-0.45, 0.46), 0.29, 0.175, 0.12),
        *lights,
    ]


def _bus() -> list[Part]:
    panes: list[Part] = [
        (box((0.2, 0.58, 0.22), (-0.56 + 0.26 * i, 0, 0.66)), GLASS) for i in range(5)
    ]
    lights: list[Part] = []
    for y in (-0.19, 0.19):
        lights += [(ball(0.05, (0.755, y, 0.30), sections=8), GLOW)]
        lights += [(box((0.03, 0.1, 0.07), (-0.755, y, 0.30)), TAIL)]
    return [
        (box((1.5, 0.56, 0.72), (0, 0, 0.50)), PRIMARY),
        (box((1.40, 0.46, 0.06), (0, 0, 0.88)), CHALK),
        (box((1.53, 0.585, 0.06), (0, 0, 0.42)), CHALK),
        (box((1.53, 0.44, 0.26), (0, 0, 0.66)), GLASS),
        *panes,
        *_wheels((-0.46, 0.46), 0.25, 0.155, 0.10),
        *lights,
    ]


def _airplane() -> list[Part]:
    z = 0.42
    nose = [
        (0, -0.78),
        (0.05, -0.74),
        (0.15, -0.42),
        (0.17, 0.0),
        (0.17, 0.46),
        (0.12, 0.66),
        (0, 0.76),
    ]
    parts: list[Part] = [
        (moved(turned(revolved(nose, 18), 90, "y"), (0, 0, z)), CHALK),
        (
            plate(
                [(-0.42, z + 0.08), (-0.70, z + 0.06), (-0.86, z + 0.48), (-0.68, z + 0.48)],
                0.05,
                "y",
            ),
            PRIMARY,
        ),
        (ball(0.12, (0.50, 0, z + 0.08), (1.3, 0.85, 0.7), 12), GLASS),
        (rod(0.025, (0.46, 0, 0.08), (0.46, 0, 0.36), 6), STEEL),
        (cylinder(0.07, 0.06, (0.46, 0, 0.07), "y", 10), INK),
    ]
    for side in (-1, 1):
        wing = [(0.26, 0.0), (-0.12, 0.0), (-0.38, side * 0.84), (-0.18, side * 0.84)]
        fin = [(-0.50, 0.0), (-0.68, 0.0), (-0.82, side * 0.34), (-0.70, side * 0.34)]
        parts += [
            (plate(wing, 0.06, "z", z - 0.04), PRIMARY),
            (plate(fin, 0.05, "z", z + 0.06), PRIMARY),
            (cylinder(0.085, 0.28, (0.06, side * 0.38, z - 0.13), "x", 12), PRIMARY),
            (rod(0.025, (-0.08, side * 0.16, 0.08), (-0.08, side * 0.12, 0.34), 6), STEEL),
            (cylinder(0.07, 0.06, (-0.08, side * 0.16, 0.07), "y", 10), INK),
        ]
    return parts


def _boat() -> list[Part]:
    deck = np.array(
        [
            (-0.6, -0.22, 0.30),
            (0.30, -0.27, 0.30),
            (0.80, 0, 0.34),
            (0.30, 0.27, 0.30),
            (-0.6, 0.22, 0.30),
        ]
    )
    keel = np.array(
        [(-0.5, -0.12, 0), (0.25, -0.13, 0), (0.52, 0, 0), (0.25, 0.13, 0), (-0.5, 0.12, 0)]
    )
    return [
        (lofted(keel, deck), WOOD),
        (
            lofted(
                deck * (1.02, 1.05, 1.0) - (0, 0, 0.05), deck * (1.02, 1.05, 1.0) + (0, 0, 0.01)
            ),
            CHALK,
        ),
        (cylinder(0.03, 1.08, (0.10, 0, 0.84), sections=8), IRON),
        (plate([(0.06, 0.42), (0.06, 1.34), (-0.62, 0.42)], 0.04, "y"), PRIMARY),
        (plate([(0.15, 0.42), (0.15, 1.20), (0.70, 0.42)], 0.04, "y"), PRIMARY),
        (plate([(0.10, 1.30), (0.10, 1.40), (0.30, 1.35)], 0.03, "y"), TAIL),
    ]


def _rocket() -> list[Part]:
    fin = [(0.15, 0.24), (0.15, 0.58), (0.44, 0.16), (0.44, 0.0), (0.36, 0.0)]
    fins = [(turned(plate(fin, 0.06, "y"), 45 + 90 * i, "z"), PRIMARY) for i in range(4)]
    return [
        (
            revolved(
                [(0, 0.14), (0.17, 0.14), (0.225, 0.45), (0.225, 0.72), (0.205, 0.9), (0, 0.9)]
            ),
            CHALK,
        ),
        (revolved([(0.207, 0.89), (0.16, 1.08), (0.085, 1.24), (0, 1.34)]), PRIMARY),
        *[(cylinder(0.10, 0.06, (side * 0.205, 0, 0.68), "x", 14), GLASS) for side in (-1, 1)],
        *[(torus(0.10, 0.028, (side * 0.22, 0, 0.68), "x", 16, 6), STEEL) for side in (-1, 1)],
        (torus(0.215, 0.03, (0, 0, 0.46), sections=20, sides=6), PRIMARY),
        (revolved([(0.14, 0.04), (0.10, 0.16), (0, 0.16)], 14), IRON),
        *fins,
    ]


def _duck() -> list[Part]:
    parts: list[Part] = [
        (ball(0.36, (0, 0, 0.32), (1.32, 0.95, 0.88)), PRIMARY),
        (rod(0.15, (0.22, 0, 0.45), (0.30, 0, 0.78), 14), PRIMARY),
        (ball(0.25, (0.32, 0, 0.84)), PRIMARY),
        (ball(0.15, (0.58, 0, 0.79), (1.25, 1.0, 0.36), 12), BEAK),
        (cone(0.20, 0.36, (0, 0, 0), sections=12) @ np.diag([1.0, 1.0, 1.0]), PRIMARY),
    ]
    tail = turned(cone(0.21, 0.42, (0, 0, 0), sections=14) * (0.7, 1.0, 1.0), -48, "y")
    parts[-1] = (moved(tail, (-0.33, 0, 0.38)), PRIMARY)
    for side in (-1, 1):
        parts += [
            (ball(0.062, (0.475, side * 0.145, 0.90), sections=8), CHALK),
            (ball(0.045, (0.505, side * 0.165, 0.905), sections=8), INK),
            (ball(0.23, (-0.07, side * 0.29, 0.38), (1.25, 0.42, 0.78), 14), PRIMARY),
        ]
    return parts


def _dog() -> list[Part]:
    parts: list[Part] = [
        (rod(0.19, (-0.34, 0, 0.52), (0.26, 0, 0.52), 16), PRIMARY),
        (rod(0.13, (0.28, 0, 0.56), (0.46, 0, 0.76), 12), PRIMARY),
        (ball(0.22, (0.50, 0, 0.86), sections=16), PRIMARY),
        (rod(0.115, (0.60, 0, 0.80), (0.76, 0, 0.78), 12), PRIMARY),
        (ball(0.06, (0.87, 0, 0.83), sections=8), INK),
        (rod(0.05, (-0.48, 0, 0.60), (-0.74, 0, 0.92), 8), PRIMARY),
        (turned(torus(0.155, 0.045, (0.36, 0, 0.66), "z", 16, 6), 42, "y", (0.36, 0, 0.66)), TAIL),
    ]
    for side in (-1, 1):
        ear = turned(ball(0.14, (0, 0, 0), (0.75, 0.38, 1.35), 12), side * 14, "x")
        parts += [
            (moved(ear, (0.44, side * 0.215, 0.83)), (0.33, 0.22, 0.15)),
            (ball(0.042, (0.67, side * 0.10, 0.94), sections=8), INK),
            *[
                (rod(0.085, (x, side * 0.115, 0.085), (x, side * 0.10, 0.46), 10), PRIMARY)
                for x in (-0.36, 0.24)
            ],
        ]
    return parts


_MAKERS: dict[str, Callable[[], list[Part]]] = {
    "ball": _ball, "gift": _gift, "mug": _mug, "bottle": _bottle, "chair": _chair,
    "table": _table, "lamp": _lamp, "umbrella": _umbrella, "house": _house, "tree": _tree,
    "cactus": _cactus, "mushroom": _mushroom, "snowman": _snowman, "car": _car, "bus": _bus,
    "airplane": _airplane, "boat": _boat, "rocket": _rocket, "duck": _duck, "dog": _dog,
}  # fmt: skip
