"""The twenty classes as templates: coloured triangles at scale 1, ready to be placed in a scene.

Every object faces +x and stands on z = 0. A part painted `PRIMARY` takes the object's colour; the
other paints are fixed, and give a class the marks by which it is known (wheels, a beak, a label).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmark.toybox import household, outdoors, vehicles, words
from benchmark.toybox.paints import GLOW, Part
from benchmark.toybox.solids import corner_normals

_MAKERS: dict[str, Callable[[], list[Part]]] = {
    maker.__name__: maker
    for maker in (
        household.ball, household.gift, household.mug, household.bottle, household.chair,
        household.table, household.lamp, household.umbrella,
        outdoors.house, outdoors.tree, outdoors.cactus, outdoors.mushroom, outdoors.snowman,
        outdoors.duck, outdoors.dog,
        vehicles.car, vehicles.bus, vehicles.airplane, vehicles.boat, vehicles.rocket,
    )
}  # fmt: skip


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
