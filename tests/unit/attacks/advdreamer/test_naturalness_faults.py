from dataclasses import replace

import numpy as np
import pytest

from attacks.advdreamer.naturalness_faults import (
    Faults,
    faults_of,
    outside_share,
    resting,
    seam_severity,
    toppling_deg,
    turned_deg,
    unseen_share,
)
from attacks.advdreamer.pose import Pose
from attacks.advdreamer.reproduce import reproduced
from benchmark.toybox.sampling import sample_scene
from benchmark.toybox.scene import Camera, Scene, SceneObject
from benchmark.toybox.words import CLASSES


def scene(cls: str = "mug", elevation_deg: float = 0.0) -> Scene:
    """One object in the middle, seen from in front."""
    thing = SceneObject(cls, "red", "large", "matte", 0, 0, 1, 0)
    camera = Camera(float(np.radians(elevation_deg)), 3.0, 0.5)
    return Scene((thing,), "grass", "day", camera, 0)


def turned(cls: str, roll_deg: float = 0.0, pitch_deg: float = 0.0) -> SceneObject:
    (thing,) = scene(cls).objects
    return replace(thing, roll=float(np.radians(roll_deg)), pitch=float(np.radians(pitch_deg)))


def test_scores_follow_from_severities() -> None:
    assert (Faults().fidelity, Faults().plausibility) == (5, 5)
    # 1 + 4 * 0.5 * 0.8 * 0.75 = 2.2; 1 + 4 * 0.9 * 0.5 = 2.8.
    some = Faults(0.5, 0.2, 0.25, 0.1, 0.5)
    assert some.fidelity == pytest.approx(2.2)
    assert some.plausibility == pytest.approx(2.8)
    assert (Faults(seam=1).fidelity, Faults(seam=1).plausibility) == (1, 5)
    assert (Faults(floating=1).fidelity, Faults(floating=1).plausibility) == (5, 1)


@pytest.mark.parametrize("severity", [-0.1, 1.1, float("nan")])
def test_a_severity_is_from_0_to_1(severity: float) -> None:
    with pytest.raises(ValueError, match="a severity is from 0 to 1"):
        Faults(seam=severity)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_photograph_has_no_faults(cls: str) -> None:
    photograph = next(
        one
        for one in (sample_scene(seed, "single") for seed in range(1000))
        if one.objects[0].cls == cls
    )
    faults = faults_of(photograph, photograph)
    assert faults.fidelity > 4.9  # a thin part may be cut by the frame
    assert faults.plausibility == pytest.approx(5)


@pytest.mark.parametrize("angle", [0.0, 17.0, 90.0, 180.0])
def test_the_angle_of_the_top(angle: float) -> None:
    assert turned_deg(turned("mug", roll_deg=angle)) == pytest.approx(angle, abs=1e-4)
    assert turned_deg(turned("mug", pitch_deg=angle)) == pytest.approx(angle, abs=1e-4)
    assert turned_deg(turned("ball", roll_deg=angle)) == 0


def test_a_table_rests_on_its_feet_and_on_its_top_and_topples_in_between() -> None:
    rests = [rest[2] for rest in resting("table")]
    assert min(rests) == -1
    assert max(rests) == pytest.approx(1)
    assert toppling_deg(turned("table")) == 0
    assert toppling_deg(turned("table", roll_deg=10)) == pytest.approx(10, abs=1e-4)
    assert toppling_deg(turned("table", roll_deg=180)) == pytest.approx(0, abs=1e-3)
    assert toppling_deg(turned("ball", roll_deg=33)) == 0


def test_everything_stands_as_the_world_has_it() -> None:
    for cls in CLASSES:
        assert toppling_deg(turned(cls)) == 0
        for rest in resting(cls):
            assert np.linalg.norm(rest) == pytest.approx(1)


def test_upside_down_is_less_plausible_than_leaning_than_upright() -> None:
    for cls in ("mug", "house", "duck", "bus"):
        scores = [
            faults_of(replace(scene(cls), objects=(turned(cls, roll_deg=angle),))).plausibility
            for angle in (0, 10, 30, 180)
        ]
        assert scores[0] == 5
        assert scores == sorted(scores, reverse=True)
        assert scores[3] == pytest.approx(1)


def test_the_share_outside_the_picture() -> None:
    whole = scene("ball")
    assert outside_share(whole) == 0
    half_width = 3.0 * np.tan(np.radians(19))
    (ball,) = whole.objects
    at_the_edge = replace(whole, objects=(replace(ball, x=float(half_width)),))
    # The middle of the ball is on the edge; perspective makes the halves differ a little.
    assert outside_share(at_the_edge) == pytest.approx(0.5, abs=0.06)
    gone = replace(whole, objects=(replace(ball, x=2.5),))
    assert outside_share(gone) == 1
    assert faults_of(at_the_edge).fidelity < 1.6
    assert faults_of(gone).fidelity == 1


def test_what_the_photograph_does_not_show_is_made_up() -> None:
    clean = scene("gift")
    shares = [
        unseen_share(reproduced(clean, Pose(yaw_deg=yaw), (0.5, 0.5)), clean)
        for yaw in (0, 45, 180)
    ]
    assert shares[0] < 0.01
    # At 45 degrees a face that was not seen takes about half of the picture of a box.
    assert shares[1] == pytest.approx(0.5, abs=0.15)
    assert shares[2] > 0.95
    moved = reproduced(clean, Pose(dx=0.1, dy=0.05, scale=0.9), (0.5, 0.5))
    assert unseen_share(moved, clean) < 0.1


def test_rolling_in_the_picture_shows_nothing_new_but_is_turned() -> None:
    clean = scene("mug", elevation_deg=15)
    rolled = reproduced(clean, Pose(roll_deg=180), (0.5, 0.5))
    faults = faults_of(rolled, clean)
    assert faults.stretched < 0.02
    assert faults.turned > 0.75
    assert faults.plausibility < 2


def test_a_seam_is_as_bad_as_what_it_changes() -> None:
    before = np.full((8, 8, 3), 100, np.uint8)
    after = before.copy()
    after[0] += 64  # 64 of 128 levels
    assert seam_severity(before, after) == 0.5
    after[1] += 2  # too little to be seen
    assert seam_severity(before, after) == 0.5
    assert seam_severity(before, before) == 0
    after[0] = 228
    assert seam_severity(before, after) == 1
