"""Marching cubes (Lorensen and Cline, 1987) with a table that is computed instead of typed in.

Each cell's polygons are traced along its six faces. On a face whose inside corners are diagonal, the two
are kept apart; as both cells at a face decide alike, the surface has no holes. A polygon is cut into
triangles along no line that lies in a face of its cell, where the next cell might draw it again. So a
surface that stays off the grid's border is closed and every edge has exactly two triangles.
"""

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Corner 4 x + 2 y + z of a cell; an edge is named by its lower corner and the axis that it runs along.
_EDGES = [
    (corner, axis) for axis, bit in enumerate((4, 2, 1)) for corner in range(8) if not corner & bit
]
_FACES = [
    (0, 1, 3, 2), (4, 6, 7, 5),  # at x = 0 and x = 1, counter-clockwise as seen from outside
    (0, 4, 5, 1), (2, 3, 7, 6),  # y
    (0, 2, 6, 4), (1, 5, 7, 3),  # z
]  # fmt: skip
_BITS = (4, 2, 1)


Triangle = tuple[int, int, int]


class Surface(NamedTuple):
    """Triangles, counter-clockwise as seen from where values are low."""

    vertices: NDArray[np.float64]
    """(V, 3) in units of grid indices."""
    faces: NDArray[np.int64]
    """(F, 3) indices of vertices."""


def marching_cubes(values: NDArray[np.floating], level: float) -> Surface:
    """The surface between values above `level` and the others, linear along grid edges.

    Args:
        values: Finite, (X, Y, Z), at least 2 each way.
        level: Where the surface is.

    Returns:
        A surface without vertices if no grid edge crosses the level.

    Raises:
        ValueError: The grid is too small, or a value is not finite.
    """
    if values.ndim != 3 or min(values.shape) < 2:
        raise ValueError(f"a grid {values.shape}: it must have three axes of at least 2 values")
    if not np.isfinite(values).all():
        raise ValueError(f"{(~np.isfinite(values)).sum()} values of the grid are not finite")
    x, y, z = values.shape
    strides = np.array([y * z, z, 1])
    inside = (values > level).astype(np.uint8)
    case = np.zeros((x - 1, y - 1, z - 1), np.uint8)
    for corner in range(8):
        i, j, k = (int(bool(corner & bit)) for bit in _BITS)
        case |= inside[i : x - 1 + i, j : y - 1 + j, k : z - 1 + k] << np.uint8(corner)
    crossed = np.argwhere((case > 0) & (case < 255))
    table = _table()
    edges = table[case[tuple(crossed.T)]]  # (cells, triangles, 3), -1 where there is none
    cells, triangles = np.nonzero(edges[..., 0] >= 0)
    edges = edges[cells, triangles]  # (F, 3)
    offsets = [[int(bool(corner & bit)) for bit in _BITS] for corner, _ in _EDGES]
    axes = np.array([axis for _, axis in _EDGES])
    # A grid edge by its lower end and its axis, so that cells agree on the vertex they share.
    lower = (crossed @ strides)[cells, None] + (np.array(offsets) @ strides)[edges]
    keys, faces = np.unique(3 * lower + axes[edges], return_inverse=True)
    start, axis = keys // 3, keys % 3
    flat = values.reshape(-1)
    low = flat[start].astype(np.float64)
    high = flat[start + strides[axis]].astype(np.float64)
    vertices = np.stack(np.unravel_index(start, values.shape), axis=-1).astype(np.float64)
    vertices[np.arange(len(keys)), axis] += (level - low) / (high - low)
    return Surface(vertices, faces.reshape(-1, 3).astype(np.int64))


@cache
def _table() -> NDArray[np.int64]:
    """Edges of the triangles of each of the 256 cases (256, most triangles, 3), filled up with -1."""
    cases = [
        [triangle for loop in _loops(case) for triangle in _triangles(loop)] for case in range(256)
    ]
    table = np.full((256, max(map(len, cases)), 3), -1)
    for case, triangles in enumerate(cases):
        if triangles:
            table[case, : len(triangles)] = triangles
    return table


def _edge(a: int, b: int) -> int:
    """The number of the edge between two neighbouring corners."""
    return _EDGES.index((min(a, b), _BITS.index(a ^ b)))


def _loops(case: int) -> list[list[int]]:
    """The polygons of a case, as the edges that they cross in turn."""
    follows: dict[int, int] = {}
    for face in _FACES:
        sides = pairwise((*face, face[0]))
        around = [(a, b) for a, b in sides if _inside(case, a) != _inside(case, b)]
        for n, (a, b) in enumerate(around):
            if _inside(case, b):  # here the walk around the face enters; it leaves at the next one
                follows[_edge(a, b)] = _edge(*around[(n + 1) % len(around)])
    loops = []
    while follows:
        loop = [next(iter(follows))]
        while (following := follows.pop(loop[-1])) != loop[0]:
            loop.append(following)
        loops.append(loop)
    return loops


def _inside(case: int, corner: int) -> bool:
    return bool(case >> corner & 1)


def _triangles(loop: list[int]) -> list[Triangle]:
    """The polygon cut into triangles along lines through the cell's interior; empty if none is left.

    Raises:
        ValueError: There is no such cut. It exists for every polygon of every case.
    """
    if len(loop) < 3:
        return []
    first, last = loop[0], loop[-1]
    for n in range(1, len(loop) - 1):
        tip = loop[n]
        if n > 1 and _share_a_face(first, tip):
            continue
        if n < len(loop) - 2 and _share_a_face(tip, last):
            continue
        try:
            return [(first, tip, last), *_triangles(loop[: n + 1]), *_triangles(loop[n:])]
        except ValueError:
            continue
    raise ValueError(f"polygon {loop} has no cut through the interior of its cell")


def _share_a_face(a: int, b: int) -> bool:
    """Whether two edges lie in one face of the cell."""
    ends = [{corner, corner | _BITS[axis]} for corner, axis in (_EDGES[a], _EDGES[b])]
    return any(ends[0] | ends[1] <= set(face) for face in _FACES)
