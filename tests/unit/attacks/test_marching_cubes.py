from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from attacks.advdreamer.marching_cubes import Surface, marching_cubes


def volume(surface: Surface) -> float:
    a, b, c = (surface.vertices[surface.faces[:, n]] for n in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def directed_edges(surface: Surface) -> Counter[tuple[int, int]]:
    faces = surface.faces
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    return Counter((int(a), int(b)) for a, b in pairs)


def test_one_high_value_is_enclosed_by_an_octahedron() -> None:
    values = np.zeros((3, 3, 3))
    values[1, 1, 1] = 4.0
    surface = marching_cubes(values, 1.0)
    # Along each grid edge the value falls from 4 to 0, so it is 1 at three quarters of the way.
    expected = [(1, 1, 1.75), (1, 1, 0.25), (1, 1.75, 1), (1, 0.25, 1), (1.75, 1, 1), (0.25, 1, 1)]
    assert sorted(map(tuple, surface.vertices.tolist())) == sorted(expected)
    assert surface.faces.shape == (8, 3)
    # Eight corners of 0.75³ / 6 each; positive, as faces turn their front outwards.
    assert volume(surface) == pytest.approx(8 * 0.75**3 / 6)


def test_vertices_are_interpolated_along_the_axis_that_they_cross() -> None:
    values = np.broadcast_to(np.array([0.0, 10.0, 20.0])[:, None, None], (3, 2, 4))
    surface = marching_cubes(values, 13.0)
    # x changes by 1 for a difference of 10: 13 is reached at 1.3, at each of the 2 x 4 lines.
    np.testing.assert_allclose(surface.vertices[:, 0], 1.3)
    assert surface.vertices.shape == (8, 3)


def test_diagonal_neighbours_are_kept_apart() -> None:
    values = np.zeros((3, 4, 4))
    values[1, 1, 1] = values[1, 2, 2] = 4.0
    surface = marching_cubes(values, 1.0)
    assert surface.faces.shape == (16, 3)
    assert volume(surface) == pytest.approx(2 * 8 * 0.75**3 / 6)  # two octahedra


def test_volume_of_a_ball() -> None:
    line = np.linspace(-1, 1, 41)
    x, y, z = np.meshgrid(line, line, line, indexing="ij")
    surface = marching_cubes(-np.sqrt(x**2 + y**2 + z**2), -0.8)
    # 4 / 3 pi r³ with r = 0.8 world units of 20 grid steps each; flat triangles lose a little.
    assert volume(surface) == pytest.approx(4 / 3 * np.pi * 16**3, rel=0.01)
    np.testing.assert_allclose(np.linalg.norm(surface.vertices - 20, axis=1), 16, atol=0.03)


@pytest.mark.parametrize("value", [0.0, 9.0])
def test_nothing_crosses_the_level(value: float) -> None:
    surface = marching_cubes(np.full((4, 4, 4), value), 5.0)
    assert surface.vertices.shape == (0, 3)
    assert surface.faces.shape == (0, 3)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.95))
def test_surfaces_are_closed_and_no_edge_is_doubled(seed: int, filled: float) -> None:
    # Noise has every case of the table, the ambiguous ones too.
    inner: NDArray[np.float64] = np.random.default_rng(seed).random((6, 5, 7))
    surface = marching_cubes(np.pad(inner, 1), 1 - filled)
    edges = directed_edges(surface)
    assert set(edges.values()) <= {1}
    assert all((b, a) in edges for a, b in edges)


def test_every_case_is_closed() -> None:
    for case in range(256):
        corners = np.array([case >> n & 1 for n in range(8)], float).reshape(2, 2, 2)
        surface = marching_cubes(np.pad(corners, 1), 0.5)
        edges = directed_edges(surface)
        assert all(count == 1 and (b, a) in edges for (a, b), count in edges.items())


def test_what_is_no_grid_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"a grid \(1, 4, 4\): it must have three axes of at least 2"
    ):
        marching_cubes(np.zeros((1, 4, 4)), 0.5)
    values = np.zeros((2, 2, 2))
    values[0, 1, 0] = np.nan
    with pytest.raises(ValueError, match="1 values of the grid are not finite"):
        marching_cubes(values, 0.5)
