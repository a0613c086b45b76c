import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attacks.advdreamer.pose import DIMENSIONS, IDENTITY, PRESETS, Bounds, Pose, bounds_named
from benchmark.errors import UserError

RIGHT, UP, TO_VIEWER = np.eye(3)


def test_the_identity_turns_nothing() -> None:
    np.testing.assert_array_equal(IDENTITY.rotation, np.eye(3))
    assert IDENTITY.theta.tolist() == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("pose", "what", "goes_to"),
    [
        (Pose(yaw_deg=90), TO_VIEWER, RIGHT),  # the front turns to the right
        (Pose(yaw_deg=90), UP, UP),
        (Pose(pitch_deg=90), UP, TO_VIEWER),  # the top comes towards the viewer
        (Pose(pitch_deg=90), RIGHT, RIGHT),
        (Pose(roll_deg=90), RIGHT, UP),  # in the picture's plane, against the clock
        (Pose(roll_deg=90), TO_VIEWER, TO_VIEWER),
    ],
)
def test_each_angle_turns_about_its_own_axis(
    pose: Pose, what: np.ndarray, goes_to: np.ndarray
) -> None:
    np.testing.assert_allclose(pose.rotation @ what, goes_to, atol=1e-12)


def test_roll_comes_first_and_yaw_last() -> None:
    both = Pose(yaw_deg=90, roll_deg=90).rotation
    np.testing.assert_allclose(
        both, Pose(yaw_deg=90).rotation @ Pose(roll_deg=90).rotation, atol=1e-12
    )
    # Roll takes right to up; yaw leaves up alone.
    np.testing.assert_allclose(both @ RIGHT, UP, atol=1e-12)


@given(st.lists(st.floats(-180, 180), min_size=3, max_size=3))
def test_rotations_are_rotations(angles: list[float]) -> None:
    turn = Pose.of([*angles, 0, 0, 1]).rotation
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-9)
    assert np.linalg.det(turn) == pytest.approx(1)


def test_a_pose_survives_json() -> None:
    pose = Pose.of([12.3456789, -1, 2, 0.1, -0.2, 1.1])
    assert pose.yaw_deg == 12.345679  # what is recorded is what was rendered
    assert tuple(pose.to_json()) == DIMENSIONS
    assert Pose.from_json(pose.to_json()) == pose


def test_tanh_maps_the_middle_and_the_ends() -> None:
    bounds = Bounds((-10, 0, -1, -1, -1, 0.5), (30, 8, 1, 1, 1, 1.5))
    assert bounds.half.tolist() == [20, 4, 1, 1, 1, 0.5]
    assert bounds.pose(np.zeros(6)) == Pose(10, 4, 0, 0, 0, 1.0)
    assert bounds.pose(np.full(6, 40.0)) == Pose.of(bounds.high)
    assert bounds.pose(np.full(6, -40.0)) == Pose.of(bounds.low)
    # 10 + 20 tanh(0.5) = 10 + 20 * 0.46211716 = 19.242343
    assert bounds.pose([0.5, 0, 0, 0, 0, 0]).yaw_deg == 19.242343


@given(st.sampled_from(sorted(PRESETS)), st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=6))
def test_no_pose_leaves_its_box(name: str, z: list[float]) -> None:
    bounds = PRESETS[name]
    theta = bounds.pose(z).theta
    assert np.all(theta >= np.array(bounds.low) - 1e-6)
    assert np.all(theta <= np.array(bounds.high) + 1e-6)


@pytest.mark.parametrize("name", sorted(set(PRESETS) - {"viewfool"}))
def test_the_search_begins_at_the_identity(name: str) -> None:
    assert PRESETS[name].pose(np.zeros(6)) == IDENTITY


def test_corners_and_uniform_draws() -> None:
    bounds, rng = PRESETS["frontal"], np.random.default_rng(0)
    corners = np.array([bounds.corner(rng).theta for _ in range(200)])
    shares = (corners - bounds.middle) / bounds.half
    np.testing.assert_allclose(np.abs(shares), 0.97)
    assert len({tuple(np.sign(row)) for row in shares}) > 50
    uniform = np.array([bounds.uniform(rng).theta for _ in range(2000)])
    shares = (uniform - bounds.middle) / bounds.half
    # The mean of 2,000 draws from [-1, 1] has a standard error of 0.013.
    assert np.all(np.abs(shares.mean(axis=0)) < 0.05)
    assert np.all(np.abs(shares).max(axis=0) > 0.98)


def test_unknown_bounds_are_refused() -> None:
    with pytest.raises(UserError, match="bounds 'wide' are unknown: use frontal, full"):
        bounds_named("wide")
