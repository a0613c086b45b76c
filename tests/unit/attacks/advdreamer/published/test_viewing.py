import math

import numpy as np
import pytest
from numpy.typing import NDArray

from attacks.advdreamer.pose import Pose
from attacks.advdreamer.published.viewing import (
    DISTANCE,
    Outline,
    Placement,
    View,
    fitted,
    outline_grid,
)

VIEW = View(focal=100.0, x=32.0, y=24.0)
ORIGIN = np.zeros(3)


def test_the_assumed_camera_sees_the_box_as_the_network_does() -> None:
    view = View.assumed((10, 20, 17, 34), ratio=0.85)
    # The square is 34 / 0.85 = 40 pixels wide and 40 degrees: 20 / tan(20 deg).
    assert view.focal == pytest.approx(20 / math.tan(math.radians(20)))
    assert (view.x, view.y) == (18.5, 37)


def test_projection_and_its_inverse() -> None:
    # 1.9 away and 0.19 to the right is 10 of 100 pixels; up is a smaller row.
    np.testing.assert_allclose(VIEW.project(np.array([[0, 0.19, 0.38]])), [[42, 4]])
    np.testing.assert_allclose(VIEW.point(42, 4, 0.0), [0, 0.19, 0.38])
    # Twice as far away it has to be twice as far out.
    np.testing.assert_allclose(VIEW.point(42, 4, -1.9), [-1.9, 0.38, 0.76])


def test_rays_reach_what_is_projected_to_their_pixel() -> None:
    rays = VIEW.directions(np.array([42.0]), np.array([4.0]))[0, 0]
    np.testing.assert_allclose(np.array([DISTANCE, 0, 0]) + DISTANCE * rays, [0, 0.19, 0.38])


@pytest.mark.parametrize(
    ("pose", "point", "expected"),
    [
        (Pose(yaw_deg=90), (1, 0, 0), (0, 1, 0)),  # the front turns to the right
        (Pose(pitch_deg=90), (0, 0, 1), (1, 0, 0)),  # the top tilts towards the viewer
        (Pose(roll_deg=90), (0, 1, 0), (0, 0, 1)),  # the right side goes up
        # Roll is done first and yaw last: the right side goes up and stays there.
        (Pose(yaw_deg=90, roll_deg=90), (0, 1, 0), (0, 0, 1)),
        (Pose(scale=0.5), (1, 1, 1), (0.5, 0.5, 0.5)),
        # A tenth of 64 pixels is 6.4 pixels of 1.9 / 100 each.
        (Pose(dx=0.1, dy=-0.1), (0, 0, 0), (0, 0.1216, -0.1216)),
    ],
)
def test_poses(pose: Pose, point: tuple[float, ...], expected: tuple[float, ...]) -> None:
    placed = Placement.of(pose, ORIGIN, 64, VIEW).placed(np.array([point]))
    np.testing.assert_allclose(placed[0], expected, atol=1e-12)


def test_the_object_turns_about_its_pivot_and_moves_across_the_picture() -> None:
    pivot = VIEW.point(20, 30, 0.2)
    pose = Pose(50, 20, -30, dx=0.25, dy=0.125, scale=1.2)
    placed = Placement.of(pose, pivot, 64, VIEW).placed(pivot[None])
    # 16 pixels to the right and 8 up, whatever the turn.
    np.testing.assert_allclose(VIEW.project(placed), [[36, 22]])


def test_moving_the_rays_is_moving_the_object() -> None:
    placement = Placement.of(Pose(50, 20, -30, 0.1, 0.05, 1.2), np.array([0.1, 0.2, 0.3]), 64, VIEW)
    points = np.random.default_rng(0).normal(size=(5, 3)) * 0.3
    placed = placement.placed(points)
    depth = DISTANCE - placed[:, 0]
    pixels = VIEW.project(placed)
    for point, (column, row), far in zip(points, pixels, depth, strict=True):
        rays = VIEW.directions(np.array([column]), np.array([row]))
        origin, moved = placement.seen_by_object(rays)
        np.testing.assert_allclose(origin + far * moved[0, 0], point, atol=1e-9)


def ellipse(
    columns: NDArray[np.floating], rows: NDArray[np.floating], x: float, y: float, size: float
) -> NDArray[np.bool_]:
    """Twice as wide as high."""
    return ((columns[None] - x) / (2 * size)) ** 2 + ((rows[:, None] - y) / size) ** 2 < 1


@pytest.mark.parametrize("scale", [1, 4])
def test_scale_and_shift_are_found(scale: int) -> None:
    box = (20 * scale, 30 * scale, 40 * scale, 20 * scale)
    view = View.assumed(box, 0.85)
    columns, rows, half = outline_grid(view, box, 0.85)
    assert half == pytest.approx(1.4 * 40 * scale / 0.85 / 2)
    # What the network made is smaller than the mask and beside it.
    made = ellipse(columns, rows, 43 * scale, 38 * scale, 8 * scale)
    pixels = np.arange(100 * scale) + 0.5
    mask = ellipse(pixels, pixels, 40 * scale, 40 * scale, 10 * scale)
    fit = fitted(Outline(made.astype(np.float32), half), mask, view)
    assert fit is not None
    assert fit.zoom == pytest.approx(1.25, abs=0.03)
    assert fit.overlap > 0.95
    assert fit.view.focal == pytest.approx(view.focal * fit.zoom)
    # The centre that was seen at (43, 38) of a view about (40, 40) is now seen at (40, 40).
    assert fit.view.x + fit.zoom * 3 * scale == pytest.approx(40 * scale, abs=0.6 * scale)
    assert fit.view.y - fit.zoom * 2 * scale == pytest.approx(40 * scale, abs=0.6 * scale)


def test_nothing_cannot_be_fitted() -> None:
    mask = np.ones((8, 8), bool)
    assert fitted(Outline(np.zeros((16, 16), np.float32), 8.0), mask, VIEW) is None
