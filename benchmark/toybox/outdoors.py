"""Things found outdoors: seven of the twenty classes, each facing +x and standing on z = 0."""

import numpy as np

from benchmark.toybox.paints import BEAK, BRICK, CHALK, CLAY, GLOW, INK, PRIMARY, TAIL, WOOD, Part
from benchmark.toybox.solids import (
    box,
    cone,
    cylinder,
    ellipsoid,
    lofted,
    moved,
    plate,
    revolved,
    rod,
    torus,
    turned,
)


def house() -> list[Part]:
    """A house with a gabled roof, a chimney, a door towards +x and windows all round."""
    eaves = np.array(
        [(-0.55, -0.6, 0.60), (0.55, -0.6, 0.60), (0.55, 0.6, 0.60), (-0.55, 0.6, 0.60)]
    )
    ridge = np.array([(0, -0.6, 1.10), (0, -0.6, 1.10), (0, 0.6, 1.10), (0, 0.6, 1.10)])
    roof = lofted(eaves, ridge) * (1.0, 0.96, 1.0)
    gable = plate([(-0.43, 0.6), (0.43, 0.6), (0, 0.99)], 1.14, "y")
    windows: list[Part] = []
    for y in (-0.31, 0.31):
        for x in (0.43, -0.43):
            windows += [(box((0.04, 0.2, 0.2), (x, y, 0.36)), GLOW)]
            windows += [(box((0.03, 0.26, 0.26), (x, y, 0.36)), CHALK)]
    for x in (-0.21, 0.21):
        for y in (-0.5, 0.5):
            windows += [(box((0.2, 0.04, 0.2), (x, y, 0.36)), GLOW)]
            windows += [(box((0.26, 0.03, 0.26), (x, y, 0.36)), CHALK)]
    return [
        (box((0.86, 1.0, 0.64), (0, 0, 0.32)), PRIMARY),
        (gable, PRIMARY),
        (roof, BRICK),
        (box((0.15, 0.15, 0.36), (0.22, 0.26, 1.02)), BRICK),
        (box((0.05, 0.2, 0.38), (0.43, 0, 0.19)), WOOD),
        (box((0.03, 0.27, 0.44), (0.43, 0, 0.22)), CHALK),
        *windows,
    ]


def tree() -> list[Part]:
    """A tree whose crown is five balls."""
    crown = [(0.36, (0, 0, 0.80)), (0.26, (0.24, 0.08, 0.66)), (0.26, (-0.2, 0.15, 0.68))]
    crown += [(0.25, (0.02, -0.24, 0.66)), (0.25, (0.03, 0.04, 1.04))]
    leaves: list[Part] = [(ellipsoid(r, centre, sections=16), PRIMARY) for r, centre in crown]
    trunk = revolved([(0, 0), (0.15, 0), (0.09, 0.12), (0.08, 0.6), (0, 0.6)], 12)
    return [(trunk, WOOD), *leaves]


def cactus() -> list[Part]:
    """A ribbed cactus with two arms, in a clay pot."""
    ribs: list[Part] = []
    for angle in np.linspace(0.0, 2 * np.pi, 10, endpoint=False):
        x, y = 0.135 * np.cos(angle), 0.135 * np.sin(angle)
        ribs.append((rod(0.035, (x, y, 0.15), (x, y, 0.98), 6), PRIMARY))
    arms = [((0, 0, 0.46), (0, 0.36, 0.46)), ((0, 0.36, 0.46), (0, 0.36, 0.80))]
    arms += [((0, 0, 0.62), (0, -0.34, 0.62)), ((0, -0.34, 0.62), (0, -0.34, 1.0))]
    pot = [(0, 0), (0.22, 0), (0.28, 0.20), (0.31, 0.20), (0.31, 0.26), (0, 0.26)]
    return [
        (rod(0.15, (0, 0, 0.2), (0, 0, 1.02), 16), PRIMARY),
        *ribs,
        *[(rod(0.085, a, b, 12), PRIMARY) for a, b in arms],
        (revolved(pot, 20), CLAY),
    ]


def mushroom() -> list[Part]:
    """A mushroom with white spots on its cap."""
    stem = [(0, 0), (0.20, 0), (0.15, 0.2), (0.13, 0.5), (0, 0.5)]
    polar = np.linspace(0.0, np.pi / 2, 7)
    dome = list(zip(0.5 * np.cos(polar).round(9), 0.44 + 0.44 * np.sin(polar), strict=True))
    spots: list[Part] = []
    ring = [(azimuth, 52.0) for azimuth in (0, 72, 144, 216, 288)]
    ring += [(azimuth, 18.0) for azimuth in (36, 108, 180, 252, 324)] + [(0, 90.0)]
    for azimuth, rise in ring:
        a, b = np.radians(azimuth), np.radians(rise)
        at = (0.49 * np.cos(b) * np.cos(a), 0.49 * np.cos(b) * np.sin(a), 0.44 + 0.43 * np.sin(b))
        spots.append((ellipsoid(0.085, at, sections=10), CHALK))
    return [
        (revolved(stem, 18), (0.93, 0.89, 0.80)),
        (revolved([(0, 0.40), (0.44, 0.40), *dome]), PRIMARY),
        *spots,
    ]


def snowman() -> list[Part]:
    """A snowman whose hat and scarf are painted; the snow stays white."""
    snow = (0.98, 0.98, 1.0)
    buttons: list[Part] = [
        (ellipsoid(0.036, at, sections=8), INK)
        for at in ((0.17, 0.075, 1.17), (0.17, -0.075, 1.17), (0.255, 0, 0.86), (0.265, 0, 0.74))
    ]
    arms: list[Part] = []
    for side in (-1, 1):
        arms += [(rod(0.025, (0, side * 0.2, 0.82), (0.02, side * 0.56, 1.02), 8), WOOD)]
        arms += [(rod(0.018, (0.01, side * 0.44, 0.95), (0.04, side * 0.58, 0.90), 6), WOOD)]
    return [
        (ellipsoid(0.36, (0, 0, 0.32)), snow),
        (ellipsoid(0.27, (0, 0, 0.78)), snow),
        (ellipsoid(0.20, (0, 0, 1.12)), snow),
        (cylinder(0.24, 0.035, (0, 0, 1.27)), PRIMARY),
        (cylinder(0.16, 0.24, (0, 0, 1.39)), PRIMARY),
        (torus(0.185, 0.075, (0, 0, 0.965)), PRIMARY),
        (turned(box((0.06, 0.14, 0.32), (0.24, 0.11, 0.82)), 8, "y"), PRIMARY),
        (cone(0.05, 0.26, (0.17, 0, 1.11), "x", 10), BEAK),
        *buttons,
        *arms,
    ]


def duck() -> list[Part]:
    """A bath duck."""
    parts: list[Part] = [
        (ellipsoid(0.36, (0, 0, 0.32), (1.32, 0.95, 0.88)), PRIMARY),
        (rod(0.15, (0.22, 0, 0.45), (0.30, 0, 0.78), 14), PRIMARY),
        (ellipsoid(0.25, (0.32, 0, 0.84)), PRIMARY),
        (ellipsoid(0.15, (0.58, 0, 0.79), (1.25, 1.0, 0.36), 12), BEAK),
    ]
    tail = turned(cone(0.21, 0.42, (0, 0, 0), sections=14) * (0.7, 1.0, 1.0), -48, "y")
    parts.append((moved(tail, (-0.33, 0, 0.38)), PRIMARY))
    for side in (-1, 1):
        parts += [
            (ellipsoid(0.062, (0.475, side * 0.145, 0.90), sections=8), CHALK),
            (ellipsoid(0.045, (0.505, side * 0.165, 0.905), sections=8), INK),
            (ellipsoid(0.23, (-0.07, side * 0.29, 0.38), (1.25, 0.42, 0.78), 14), PRIMARY),
        ]
    return parts


def dog() -> list[Part]:
    """A dog with hanging ears, a collar and a raised tail."""
    parts: list[Part] = [
        (rod(0.19, (-0.34, 0, 0.52), (0.26, 0, 0.52), 16), PRIMARY),
        (rod(0.13, (0.28, 0, 0.56), (0.46, 0, 0.76), 12), PRIMARY),
        (ellipsoid(0.22, (0.50, 0, 0.86), sections=16), PRIMARY),
        (rod(0.115, (0.60, 0, 0.80), (0.76, 0, 0.78), 12), PRIMARY),
        (ellipsoid(0.06, (0.87, 0, 0.83), sections=8), INK),
        (rod(0.05, (-0.48, 0, 0.60), (-0.74, 0, 0.92), 8), PRIMARY),
        (turned(torus(0.155, 0.045, (0.36, 0, 0.66), "z", 16, 6), 42, "y", (0.36, 0, 0.66)), TAIL),
    ]
    for side in (-1, 1):
        ear = turned(ellipsoid(0.14, (0, 0, 0), (0.75, 0.38, 1.35), 12), side * 14, "x")
        parts += [
            (moved(ear, (0.44, side * 0.215, 0.83)), (0.33, 0.22, 0.15)),
            (ellipsoid(0.042, (0.67, side * 0.10, 0.94), sections=8), INK),
            *[
                (rod(0.085, (x, side * 0.115, 0.085), (x, side * 0.10, 0.46), 10), PRIMARY)
                for x in (-0.36, 0.24)
            ],
        ]
    return parts
