"""Vehicles: five of the twenty classes, each facing +x and standing on z = 0 as if parked."""

import numpy as np
from numpy.typing import NDArray

from benchmark.toybox.paints import CHALK, GLASS, GLOW, INK, IRON, PRIMARY, STEEL, TAIL, WOOD, Part
from benchmark.toybox.solids import (
    box,
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


def car() -> list[Part]:
    """A saloon car with dark windows and lit head lamps."""
    body = [(-0.74, 0.14), (0.74, 0.14), (0.77, 0.22), (0.76, 0.36), (0.40, 0.45)]
    body += [(-0.72, 0.46), (-0.77, 0.34)]
    cabin = _rectangle((-0.56, 0.36), 0.27, 0.44)
    roof = _rectangle((-0.40, 0.10), 0.22, 0.72)
    # The glass is the cabin itself, a little wider or longer and lower, so that roof and pillars stay.
    panes = [
        (cabin * (0.86, 1.03, 1) + (-0.01, 0, 0.02), roof * (0.86, 1.09, 1) + (-0.02, 0, -0.06)),
        (cabin * (1.03, 0.84, 1) + (0, 0, 0.02), roof * (1.13, 0.84, 1) + (0.01, 0, -0.06)),
    ]
    lights: list[Part] = []
    for y in (-0.21, 0.21):
        lights += [(ellipsoid(0.065, (0.755, y, 0.31), sections=8), GLOW)]
        lights += [(box((0.03, 0.13, 0.08), (-0.765, y, 0.36)), TAIL)]
    return [
        (plate(body, 0.64, "y"), PRIMARY),
        (lofted(cabin, roof), PRIMARY),
        *[(lofted(lower, upper), GLASS) for lower, upper in panes],
        *_wheels((-0.45, 0.46), 0.29, 0.175, 0.12),
        *lights,
    ]


def bus() -> list[Part]:
    """A bus with five windows a side and a white stripe."""
    panes: list[Part] = [
        (box((0.2, 0.58, 0.22), (-0.56 + 0.26 * i, 0, 0.66)), GLASS) for i in range(5)
    ]
    lights: list[Part] = []
    for y in (-0.19, 0.19):
        lights += [(ellipsoid(0.05, (0.755, y, 0.30), sections=8), GLOW)]
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


def airplane() -> list[Part]:
    """An airliner with a white body and painted wings, fins and engines."""
    z = 0.42
    hull = [(0, -0.78), (0.05, -0.74), (0.15, -0.42), (0.17, 0.0), (0.17, 0.46), (0.12, 0.66)]
    rudder = [(-0.42, z + 0.08), (-0.70, z + 0.06), (-0.86, z + 0.48), (-0.68, z + 0.48)]
    parts: list[Part] = [
        (moved(turned(revolved([*hull, (0, 0.76)], 18), 90, "y"), (0, 0, z)), CHALK),
        (plate(rudder, 0.05, "y"), PRIMARY),
        (ellipsoid(0.12, (0.50, 0, z + 0.08), (1.3, 0.85, 0.7), 12), GLASS),
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


def boat() -> list[Part]:
    """A sailing boat with a wooden hull and two painted sails."""
    beam = np.array([(-0.6, -0.22), (0.30, -0.27), (0.80, 0), (0.30, 0.27), (-0.6, 0.22)])
    deck = np.insert(beam, 2, (0.30, 0.30, 0.34, 0.30, 0.30), axis=1)
    keel = np.array([(-0.5, -0.12), (0.25, -0.13), (0.52, 0), (0.25, 0.13), (-0.5, 0.12)])
    rail = deck * (1.02, 1.05, 1.0)
    return [
        (lofted(np.insert(keel, 2, 0.0, axis=1), deck), WOOD),
        (lofted(rail - (0, 0, 0.05), rail - (0, 0, -0.01)), CHALK),
        (cylinder(0.03, 1.08, (0.10, 0, 0.84), sections=8), IRON),
        (plate([(0.06, 0.42), (0.06, 1.34), (-0.62, 0.42)], 0.04, "y"), PRIMARY),
        (plate([(0.15, 0.42), (0.15, 1.20), (0.70, 0.42)], 0.04, "y"), PRIMARY),
        (plate([(0.10, 1.30), (0.10, 1.40), (0.30, 1.35)], 0.03, "y"), TAIL),
    ]


def rocket() -> list[Part]:
    """A rocket with a white body, a painted nose and four painted fins."""
    fin = [(0.15, 0.24), (0.15, 0.58), (0.44, 0.16), (0.44, 0.0), (0.36, 0.0)]
    fins = [(turned(plate(fin, 0.06, "y"), 45 + 90 * i, "z"), PRIMARY) for i in range(4)]
    hull = [(0, 0.14), (0.17, 0.14), (0.225, 0.45), (0.225, 0.72), (0.205, 0.9), (0, 0.9)]
    return [
        (revolved(hull), CHALK),
        (revolved([(0.207, 0.89), (0.16, 1.08), (0.085, 1.24), (0, 1.34)]), PRIMARY),
        *[(cylinder(0.10, 0.06, (side * 0.205, 0, 0.68), "x", 14), GLASS) for side in (-1, 1)],
        *[(torus(0.10, 0.028, (side * 0.22, 0, 0.68), "x", 16, 6), STEEL) for side in (-1, 1)],
        (torus(0.215, 0.03, (0, 0, 0.46), sections=20, sides=6), PRIMARY),
        (revolved([(0.14, 0.04), (0.10, 0.16), (0, 0.16)], 14), IRON),
        *fins,
    ]


def _wheels(xs: tuple[float, ...], y: float, radius: float, width: float) -> list[Part]:
    wheels: list[Part] = []
    for x in xs:
        for side in (-y, y):
            wheels += [(cylinder(radius, width, (x, side, radius), "y", 16), INK)]
            wheels += [(cylinder(radius * 0.55, width + 0.03, (x, side, radius), "y", 10), STEEL)]
    return wheels


def _rectangle(x: tuple[float, float], y: float, z: float) -> NDArray[np.float64]:
    """A level rectangle from x[0] to x[1] and from -y to y, shape (4, 3)."""
    return np.array([(x[0], y, z), (x[1], y, z), (x[1], -y, z), (x[0], -y, z)])
