"""Casting rays at a moved object, against projection by hand."""

import numpy as np
import pytest
from numpy.typing import NDArray

from attacks.advdreamer.pose import IDENTITY, Pose
from attacks.advdreamer.raycast import Ground, Solid, SolidModel, focal_of

Floats = NDArray[np.float32]

FOCAL = 100.0
SHAPE = (80, 120)
GROUND = Ground.of(17.0, 135.0, 50.0)


def _cube(half: float = 10.0) -> Solid:
    """Six faces of six colours; texture: one row of six pixels, blended nowhere."""
    corner = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float32)
    quads = [
        (1, 5, 7, 3),  # front, +z
        (4, 0, 2, 6),  # back
        (0, 1, 3, 2),  # left
        (5, 4, 6, 7),  # right
        (3, 7, 6, 2),  # top
        (0, 4, 5, 1),  # bottom
    ]
    faces = np.array([f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))], np.int32)
    places = np.zeros((12, 3, 2), np.float32)
    places[..., 0] = np.repeat(np.arange(6), 2)[:, None]
    texture = np.array(
        [[[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]]], np.float32
    )
    pivot = np.array([0, 0, -FOCAL], np.float32)
    fine = np.linspace(-half, half, 24, dtype=np.float32)
    ribs = np.stack(np.meshgrid(fine, fine, fine), axis=-1).reshape(-1, 3)
    ribs = ribs[np.abs(ribs).max(axis=1) == half]
    return Solid(corner * half, faces, places, texture, pivot, ribs)


def _model(half: float = 10.0) -> SolidModel:
    return SolidModel(_cube(half), SHAPE, GROUND, FOCAL)


def _box(alpha: Floats) -> tuple[int, int, int, int]:
    rows, columns = (
        np.flatnonzero((alpha > 0.5).any(axis=1)),
        np.flatnonzero((alpha > 0.5).any(axis=0)),
    )
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def test_size_and_place_are_those_of_a_pinhole_camera() -> None:
    # The front is 10 nearer, at 90: half a side is 10 * 100 / 90 = 11.1 pixels, about (60, 40).
    rendering = _model().render(IDENTITY)
    assert _box(rendering.rgba[..., 3]) == (49, 29, 71, 51)
    np.testing.assert_allclose(rendering.rgba[40, 60], [1, 0, 0, 1])
    assert rendering.depth[40, 60] == pytest.approx(90)
    assert np.isinf(rendering.depth[0, 0])
    assert rendering.rgba[0, 0, 3] == 0


def test_shifts_are_shares_of_the_longer_side() -> None:
    # dx = 0.1 of 120 is 12 at the pivot's depth, 12 * 100 / 90 = 13.3 at the front's.
    left, top, right, bottom = _box(_model().render(Pose(dx=0.1, dy=0.1)).rgba[..., 3])
    assert (left + right) / 2 == pytest.approx(60 + 12.9, abs=0.8)
    assert (top + bottom) / 2 == pytest.approx(40 - 12.9, abs=0.8)


def test_scale_is_about_the_pivot() -> None:
    # At 1.6 the front is 16 nearer: 16 * 100 / 84 = 19.05.
    rendering = _model().render(Pose(scale=1.6))
    assert _box(rendering.rgba[..., 3]) == (41, 21, 79, 59)
    assert rendering.depth[40, 60] == pytest.approx(84)


@pytest.mark.parametrize(
    ("pose", "colour"),
    [
        (Pose(yaw_deg=90), (0, 0, 1)),  # the left side comes to the front
        (Pose(yaw_deg=-90), (1, 1, 0)),
        (Pose(pitch_deg=90), (0, 1, 1)),  # the top comes to the front
        (Pose(pitch_deg=-90), (1, 0, 1)),
        (Pose(yaw_deg=180), (0, 1, 0)),
        (Pose(roll_deg=90), (1, 0, 0)),
    ],
)
def test_turns_show_the_right_face(pose: Pose, colour: tuple[int, int, int]) -> None:
    expected = pose.rotation @ np.array([0, 0, 1.0])
    seen = _model().render(pose).rgba[40, 60, :3]
    np.testing.assert_allclose(seen, colour, atol=1e-6)
    # The matrix says the same: the front's normal, turned.
    assert (expected[2] > 0.99) == (colour == (1, 0, 0))


def test_moving_the_rays_is_moving_the_object() -> None:
    """Against the vertices, turned and projected by hand."""
    pose = Pose(35, -20, 15, 0.05, -0.03, 1.2)
    cube = _cube()
    shift = np.array([0.05 * 120, -0.03 * 120, 0])
    points = cube.vertices @ pose.rotation.T * 1.2 + cube.pivot + shift
    column = 60 + points[:, 0] / -points[:, 2] * FOCAL
    row = 40 - points[:, 1] / -points[:, 2] * FOCAL
    left, top, right, bottom = _box(_model().render(pose).rgba[..., 3])
    assert left == pytest.approx(column.min(), abs=1)
    assert right == pytest.approx(column.max(), abs=1)
    assert top == pytest.approx(row.min(), abs=1)
    assert bottom == pytest.approx(row.max(), abs=1)


def test_outlines_are_smooth() -> None:
    alpha = _model().render(Pose(roll_deg=10)).rgba[..., 3]
    partial = (alpha > 0) & (alpha < 1)
    assert partial.sum() > 20
    # Area of the front: 22.2^2 = 494 pixels.
    assert alpha.sum() == pytest.approx((20 * 100 / 90) ** 2, rel=0.02)


@pytest.mark.parametrize("pose", [Pose(dx=3.0), Pose(dy=-3.0), Pose(dx=-0.5)])
def test_out_of_sight_is_empty_not_an_error(pose: Pose) -> None:
    rendering = _model().render(pose)
    assert rendering.rgba.shape == (*SHAPE, 4)
    assert np.isfinite(rendering.rgba).all()
    if abs(pose.dx) + abs(pose.dy) > 1:
        assert not rendering.rgba.any()


def test_partly_out_of_sight_is_cut() -> None:
    alpha = _model().render(Pose(dx=0.45)).rgba[..., 3]
    assert alpha[:, -1].any()
    assert not alpha[:, :60].any()


def test_larger_than_the_picture_and_behind_the_eye() -> None:
    rendering = _model(60.0).render(Pose(scale=1.6))  # the front is behind the camera
    assert np.isfinite(rendering.rgba).all()
    assert rendering.rgba[..., 3].all()


def test_shadow_is_at_the_foot_and_away_from_the_light() -> None:
    light_left = SolidModel(_cube(), SHAPE, Ground.of(17, 180, 45), FOCAL).render(IDENTITY).shadow
    light_right = SolidModel(_cube(), SHAPE, Ground.of(17, 0, 45), FOCAL).render(IDENTITY).shadow
    assert light_left is not None
    assert light_right is not None
    assert 0 <= light_left.min() <= light_left.max() <= 1
    columns = np.arange(SHAPE[1])
    middle = [float((s.sum(axis=0) * columns).sum() / s.sum()) for s in (light_left, light_right)]
    assert middle[0] > 63
    assert middle[1] < 57
    # It reaches the lowest row of the object, so the object touches it.
    assert max(light_left[50:53, 55:66].max(), light_right[50:53, 55:66].max()) > 0.3


def test_the_shadow_follows_the_object() -> None:
    def middle(pose: Pose) -> float:
        shadow = _model().render(pose).shadow
        assert shadow is not None
        return float((shadow.sum(axis=0) * np.arange(SHAPE[1])).sum() / shadow.sum())

    assert middle(Pose(dx=0.2)) - middle(Pose()) == pytest.approx(24, abs=4)


def test_ground_and_light_are_unit_vectors() -> None:
    ground = Ground.of(20.0, 90.0, 30.0)
    assert np.linalg.norm(ground.normal) == pytest.approx(1)
    assert np.linalg.norm(ground.light) == pytest.approx(1)
    # 30 degrees above the ground: its sine.
    assert float(ground.light @ ground.normal) == pytest.approx(0.5, abs=1e-6)


def test_focal_length_is_that_of_the_longer_side() -> None:
    assert focal_of((80, 128)) == pytest.approx(64 / np.tan(np.radians(19)))
