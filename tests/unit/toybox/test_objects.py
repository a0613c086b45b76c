"""The twenty templates and the solids that they are made of."""

import numpy as np
import pytest

from benchmark.toybox import solids, words
from benchmark.toybox.objects import template
from benchmark.toybox.paints import CHALK, PAINTS


@pytest.mark.parametrize("cls", words.CLASSES)
def test_a_template_is_one_unit_long_and_stands_on_the_ground(cls: str) -> None:
    shape = template(cls)
    points = shape.corners.reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    assert (high - low).max() == pytest.approx(1.0, abs=1e-5)
    assert low[2] == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(low[:2], -high[:2], atol=1e-5)
    np.testing.assert_allclose([low, high], [shape.low, shape.high], atol=1e-6)
    assert 0 < shape.foot[0] <= high[0] + 1e-6
    assert 0 < shape.foot[1] <= high[1] + 1e-6


@pytest.mark.parametrize("cls", words.CLASSES)
def test_a_template_is_fit_to_be_shaded(cls: str) -> None:
    shape = template(cls)
    n = len(shape.corners)
    assert shape.corners.shape == shape.normals.shape == (n, 3, 3)
    assert shape.corners.dtype == shape.normals.dtype == shape.colours.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(shape.normals, axis=2), 1.0, atol=1e-5)
    own = np.isnan(shape.colours)
    assert (own.all(axis=1) == own.any(axis=1)).all()
    assert own.any(), "some part must take the object's colour"
    fixed = shape.colours[~own]
    assert ((fixed >= 0) & (fixed <= 1)).all()


def test_no_two_classes_have_the_same_shape() -> None:
    shapes = {template(cls).corners.tobytes() for cls in words.CLASSES}
    assert len(shapes) == len(words.CLASSES)


def test_an_unknown_class_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown class 'cat': expected one of ball, gift, .*dog"):
        template("cat")


def test_every_colour_has_a_paint_and_paints_are_far_apart() -> None:
    assert tuple(PAINTS) == words.COLOURS
    paints = np.array(list(PAINTS.values()))
    apart = np.linalg.norm(paints[:, None] - paints[None], axis=2)
    assert apart[~np.eye(len(paints), dtype=bool)].min() > 0.3
    assert np.linalg.norm(np.array(CHALK) - PAINTS["black"]) > 1


def _area(soup: solids.Soup) -> float:
    sides = np.cross(soup[:, 1] - soup[:, 0], soup[:, 2] - soup[:, 0])
    return float(np.linalg.norm(sides, axis=1).sum() / 2)


def _volume(soup: solids.Soup) -> float:
    """The signed volume, which is positive only if the triangles are wound outwards."""
    return float(np.einsum("ni,ni->n", soup[:, 0], np.cross(soup[:, 1], soup[:, 2])).sum() / 6)


def test_a_box_has_its_area_and_volume() -> None:
    soup = solids.box((1, 2, 3), (5, 5, 5))
    assert len(soup) == 12
    assert _area(soup) == pytest.approx(22)  # 2 * (1*2 + 1*3 + 2*3)
    assert _volume(soup - 5) == pytest.approx(6)


@pytest.mark.parametrize(
    ("soup", "volume"),
    [
        (solids.ellipsoid(1, (0, 0, 0), (1, 2, 0.5), 96), 4 / 3 * np.pi),
        (solids.cylinder(0.5, 2, (0, 0, 0), "x", 128), np.pi / 2),
        (solids.cone(1, 3, (0, 0, 0), "y", 128), np.pi),
        (solids.torus(2, 0.5, (0, 0, 0), "z", 128, 64), 2 * np.pi**2 * 2 * 0.25),
        (solids.rod(0.5, (0, 0, -1), (0, 0, 1), 128), np.pi * 0.25 * 2 + np.pi / 6),
    ],
    ids=["ellipsoid", "cylinder", "cone", "torus", "rod"],
)
def test_round_solids_have_about_their_volume(soup: solids.Soup, volume: float) -> None:
    assert abs(_volume(soup)) == pytest.approx(volume, rel=0.03)


def test_a_ridge_leaves_no_triangle_without_a_normal() -> None:
    eaves = np.array([(-1.0, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])
    ridge = np.array([(0.0, -1, 1), (0, -1, 1), (0, 1, 1), (0, 1, 1)])
    roof = solids.lofted(eaves, ridge)
    assert np.isfinite(solids.corner_normals(roof)).all()
    assert abs(_volume(roof)) == pytest.approx(2)  # a prism: half of 2 * 2 * 1


def test_normals_are_smooth_on_a_ball_and_sharp_on_a_box() -> None:
    ball = solids.ellipsoid(1, (0, 0, 0), sections=32)
    away = (solids.corner_normals(ball) * ball).sum(axis=2)
    assert away.min() > 0.99, "a ball's normal points away from its centre"
    sharp = solids.corner_normals(solids.box((1, 1, 1), (0, 0, 0)))
    assert np.isclose(np.abs(sharp).max(axis=2), 1).all(), "a box has six normals only"


def test_turning_is_right_handed() -> None:
    point = np.array([[[1.0, 0.0, 0.0]] * 3])
    np.testing.assert_allclose(solids.turned(point, 90, "z")[0, 0], (0, 1, 0), atol=1e-12)
    np.testing.assert_allclose(solids.turned(point, 90, "y")[0, 0], (0, 0, -1), atol=1e-12)
    np.testing.assert_allclose(
        solids.turned(point, 180, "z", about=(2, 0, 0))[0, 0], (3, 0, 0), atol=1e-12
    )
