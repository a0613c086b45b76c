"""Depths guessed from outlines, against shapes whose depth is known."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from attacks.advdreamer.profiles import (
    ELEVATION_DEG,
    Outline,
    flat_profile,
    round_profile,
    standing_profile,
)

Mask = NDArray[np.bool_]

FOCAL = 186.0


def _disc(radius: int) -> Mask:
    row, column = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    return np.asarray(row**2 + column**2 <= (radius + 0.3) ** 2)


def _polygon(height: int, width: int, *corners: tuple[int, int]) -> Mask:
    """Filled; corners as (column, row)."""
    drawn = np.zeros((height, width), np.uint8)
    return np.asarray(cv2.fillPoly(drawn, [np.array(corners, np.int32)], 1)) > 0


def _slope(height: int, top: int = 40, px: int = 128) -> NDArray[np.float64]:
    return np.asarray((px / 2 - (top + np.arange(height) + 0.5)) / FOCAL)


def _box_on_the_ground() -> Mask:
    """A box seen by its edge: two faces 20 wide, 30 high, whose lower edges rise by 5 to the sides."""
    return _polygon(41, 41, (0, 5), (20, 0), (40, 5), (40, 35), (20, 40), (0, 35))


def test_a_disc_is_a_ball() -> None:
    ball = round_profile(_disc(20))
    assert ball.closed
    np.testing.assert_array_equal(ball.back, -ball.front)
    row, column = np.mgrid[-20:21, -20:21]
    inner = row**2 + column**2 < 18**2
    really = np.sqrt(20**2 - (row**2 + column**2).clip(0, 400))
    np.testing.assert_allclose(ball.front[inner], really[inner], atol=1.5)


def test_a_bar_is_a_cylinder_not_a_ball() -> None:
    bar = round_profile(np.ones((60, 15), bool))
    assert bar.front[30].max() == pytest.approx(7.0, abs=0.6)  # its radius: (15 - 1) / 2
    assert bar.front[10:50, 7] == pytest.approx(bar.front[30, 7])


def test_flat_things_have_a_flat_top() -> None:
    sail = _polygon(41, 41, (0, 40), (40, 40), (20, 0))
    flat, full = flat_profile(sail).front, round_profile(sail).front
    assert flat.max() < 0.4 * full.max()
    assert np.median(flat[sail]) > 0.6 * flat.max()
    assert np.median(full[sail]) < 0.6 * full.max()


def test_a_standing_box_has_its_edge_in_front() -> None:
    box = _box_on_the_ground()
    profile = standing_profile(box, _slope(41))
    front, back = profile.front[30], profile.back[30]
    assert front.argmax() in (19, 20, 21)
    assert not profile.closed
    # Both faces are planes: depth is linear in the column.
    left = front[3:18]
    np.testing.assert_allclose(left, np.linspace(left[0], left[-1], 15), atol=0.4)
    # Seen from above by 17 degrees, a ground row at the lower edge is 1 / tan(angle) pixels deep:
    # the ray at row 75 of 128 looks down 17 + 3.5 degrees, so 5 rows are 5 / sin(20.5) = 14 pixels.
    assert front.max() - front[1] == pytest.approx(5 / np.sin(np.radians(20.5)), rel=0.25)
    # The back is the front turned about the middle.
    np.testing.assert_allclose(back[3:-3], -front[::-1][3:-3], atol=0.3)


def test_the_top_recedes_to_the_back() -> None:
    profile = standing_profile(_box_on_the_ground(), _slope(41))
    column = profile.front[:, 20]
    # (tan 17 - slope) grows by the ratio of depths, 200 to 172: from 0.18 to 0.21, or 5.4 rows.
    assert column[1] < column[3] < column[7]
    assert column[7] == pytest.approx(column[30], abs=0.5)
    # From 13.6 in front to 13.6 behind in 5.4 rows: half a row below the outline it is at -11.
    assert column[0] == pytest.approx(-11, abs=2.5)


def test_a_single_face_gets_some_depth() -> None:
    profile = standing_profile(np.ones((30, 40), bool), _slope(30))
    thickness = profile.front[20] - profile.back[20]
    np.testing.assert_allclose(thickness, 0.55 * 30, atol=1.0)


def test_legs_stand_apart() -> None:
    table = np.zeros((30, 60), bool)
    table[:6] = True
    for left in (0, 55):
        table[:, left : left + 5] = True
    profile = standing_profile(table, _slope(30))
    board = (profile.front - profile.back)[3, 10:50]
    legs = (profile.front - profile.back)[20, [2, 57]]
    assert board.min() > 3 * legs.max()


def test_front_is_before_back_everywhere() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        blob = cv2.GaussianBlur(rng.normal(size=(60, 60)), (0, 0), 5) > 0
        count, piece = cv2.connectedComponents(blob.astype(np.uint8))
        rows, columns = np.nonzero(piece == rng.integers(1, count))
        if rows.size < 40:
            continue
        mask = np.zeros((np.ptp(rows) + 1, np.ptp(columns) + 1), bool)
        mask[rows - rows.min(), columns - columns.min()] = True
        for profile in (
            round_profile(mask),
            flat_profile(mask),
            standing_profile(mask, _slope(len(mask))),
        ):
            assert (profile.front > profile.back)[mask].all()
            assert np.isfinite(profile.front).all()


@pytest.mark.parametrize(
    ("silhouette", "shape"),
    [
        (_disc(25), "round"),
        (_box_on_the_ground(), "standing"),
        (np.ones((40, 50), bool), "standing"),
        (_polygon(61, 61, (0, 55), (20, 0), (60, 60)), "flat"),
        (_polygon(60, 41, (12, 0), (28, 0), (40, 59), (0, 59)), "round"),
    ],
    ids=["disc", "box", "face", "sail", "lampshade"],
)
def test_the_outline_tells_the_shape(silhouette: Mask, shape: str) -> None:
    assert Outline.of(silhouette).shape == shape


def test_outline_of_a_rectangle() -> None:
    outline = Outline.of(np.ones((41, 21), bool))
    # Through the pixels' centres it is 20 by 40, so the edges are 20/41 and 40/41.
    assert outline.straight == pytest.approx(1.0)
    assert outline.upright == pytest.approx(80 / 41, abs=0.01)
    assert outline.longest == pytest.approx((40 + 40 + 20) / 3 / 41, abs=0.01)
    assert outline.symmetry == 1.0
    assert outline.aspect == pytest.approx(21 / 41)
    assert ELEVATION_DEG == 17.0
