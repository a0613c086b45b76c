from typing import cast

import numpy as np
import pytest
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from numpy.typing import NDArray

from attacks.advdreamer.pose import IDENTITY, PRESETS, Pose
from attacks.advdreamer.reproduce import can_reproduce, reproduced
from benchmark.toybox.objects import template
from benchmark.toybox.render import render
from benchmark.toybox.render_geometry import Mesh, View, _orientation
from benchmark.toybox.sampling import sample_scene
from benchmark.toybox.scene import Scene

PX = 96
SEEDS = range(11_000_000, 11_000_004)
Mask = NDArray[np.bool_]


def silhouette(scene: Scene) -> Mask:
    view = View.of(scene.camera, PX, 1)
    return cast(Mask, Mesh.of(scene).caster.run(*view.rays(), output=True)["primID"] >= 0)


def pivot_of(mask: Mask) -> tuple[float, float]:
    ys, xs = np.nonzero(mask.reshape(PX, PX))
    return (xs.min() + xs.max() + 1) / 2 / PX, (ys.min() + ys.max() + 1) / 2 / PX


def floating(scene: Scene, pose: Pose, pivot: tuple[float, float]) -> Mask:
    """The silhouette of the object turned in the camera's frame, without bringing it to the floor."""
    (thing,) = scene.objects
    corners = template(thing.cls).corners.reshape(-1, 3) @ _orientation(thing).T * thing.scale
    corners += np.array([thing.x, thing.y, -corners[:, 2].min()], np.float32)
    view = View.of(scene.camera, PX, 1)
    cos, sin = np.cos(scene.camera.elevation), np.sin(scene.camera.elevation)
    axes = np.array([[1, 0, 0], [0, sin, cos], [0, -cos, sin]])  # right, up, back
    seen = (corners - view.eye) @ axes.T
    width = 2 * np.tan(np.radians(scene.camera.fov_deg) / 2)
    depth = -((corners.min(axis=0) + corners.max(axis=0)) / 2 - view.eye) @ axes[2]
    centre = depth * np.array([(pivot[0] - 0.5) * width, (0.5 - pivot[1]) * width, -1])
    shift = depth * width * np.array([pose.dx, pose.dy, 0])
    posed = pose.scale * (seen - centre) @ pose.rotation.T + centre + shift
    caster = EmbreeScene()
    world = (posed @ axes + view.eye).astype(np.float32)
    TriangleMesh(caster, np.ascontiguousarray(world.reshape(-1, 3, 3)))
    return cast(Mask, caster.run(*view.rays(), output=True)["primID"] >= 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_identity_is_the_picture_itself(seed: int) -> None:
    scene = sample_scene(seed, "single")
    again = render(reproduced(scene, IDENTITY, pivot_of(silhouette(scene))), 64)
    difference = np.abs(again.astype(int) - render(scene, 64).astype(int))
    assert (difference > 1).mean() < 1e-3  # a shadow ray may fall the other way


@pytest.mark.parametrize("seed", SEEDS)
def test_standing_on_the_floor_looks_like_floating_in_the_pose(seed: int) -> None:
    scene, rng = sample_scene(seed, "single"), np.random.default_rng(seed)
    pivot = pivot_of(silhouette(scene))
    for _ in range(3):
        pose = PRESETS["full"].uniform(rng)
        grounded = silhouette(reproduced(scene, pose, pivot))
        expected = floating(scene, pose, pivot)
        assert (grounded & expected).sum() / (grounded | expected).sum() > 0.995


def test_moving_and_scaling_do_what_they_say() -> None:
    scene = sample_scene(11_000_001, "single")
    before = silhouette(scene)
    x, y = pivot_of(before)
    moved = silhouette(reproduced(scene, Pose(dx=0.1, dy=0.05), (x, y)))
    new_x, new_y = pivot_of(moved)
    assert new_x - x == pytest.approx(0.1, abs=0.02)
    assert y - new_y == pytest.approx(0.05, abs=0.02)  # up is towards the first row
    smaller = silhouette(reproduced(scene, Pose(scale=0.7), (x, y)))
    assert smaller.sum() / before.sum() == pytest.approx(0.49, abs=0.08)


def test_what_can_be_reproduced() -> None:
    assert can_reproduce(sample_scene(1, "single"))
    assert not can_reproduce(sample_scene(1, "pair"))
    assert not can_reproduce(None)
    assert not can_reproduce({"truth": 1})
