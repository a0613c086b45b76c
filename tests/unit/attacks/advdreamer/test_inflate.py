"""Solids: closed, the picture itself when not turned, and with depth when turned."""

import cv2
import numpy as np
import pytest
import trimesh
from numpy.typing import NDArray

from attacks.advdreamer.foreground import solid
from attacks.advdreamer.inflate import FINEST, Inflation
from attacks.advdreamer.pose import IDENTITY, Pose
from attacks.advdreamer.raycast import SolidModel
from benchmark.errors import UserError
from benchmark.toybox.render import render
from benchmark.toybox.render_geometry import Mesh, View
from benchmark.toybox.scene import Camera, Scene, SceneObject
from benchmark.toybox.words import CLASSES

Mask = NDArray[np.bool_]
Pixels = NDArray[np.uint8]


def _toy(cls: str, px: int = 128, light: str = "day") -> tuple[Pixels, Mask]:
    thing = SceneObject(cls, "red", "large", "matte", 0.0, 0.0, 1.0, -0.8)
    scene = Scene((thing,), "snow", light, Camera(0.3, 2.6), seed=5)
    hit = Mesh.of(scene).caster.run(*View.of(scene.camera, px, 2).rays()) >= 0
    mask = np.asarray(hit.reshape(px, 2, px, 2).mean(axis=(1, 3)) > 0.5)
    return render(scene, px), solid(mask)


def _disc(px: int, radius: float) -> tuple[Pixels, Mask]:
    row, column = np.mgrid[:px, :px] + 0.5
    mask = np.hypot(row - px / 2, column - px / 2) < radius
    picture = np.full((px, px, 3), 90, np.uint8)
    picture[mask] = (30, 60, 200)
    return picture, mask


def _overlap(model: SolidModel, mask: Mask, pose: Pose = IDENTITY) -> float:
    seen = model.render(pose).rgba[..., 3] > 0.5
    return float((seen & mask).sum() / (seen | mask).sum())


@pytest.mark.parametrize("cls", CLASSES)
def test_untouched_it_is_the_picture(cls: str) -> None:
    picture, mask = _toy(cls)
    model = Inflation().build(picture, mask)
    assert _overlap(model, mask) > 0.95
    inner = cv2.erode(mask.astype(np.uint8), np.ones((7, 7), np.uint8)) > 0
    away = np.abs(model.render(IDENTITY).rgba[..., :3] * 255 - picture)[inner]
    assert not inner.any() or away.mean() < 2.5


@pytest.mark.parametrize("shape", ["round", "flat", "standing"])
@pytest.mark.parametrize("cls", ["gift", "boat", "table", "dog"])
def test_solids_are_closed(cls: str, shape: str) -> None:
    model = Inflation(shape).build(*_toy(cls))
    mesh = trimesh.Trimesh(model.solid.vertices, model.solid.faces, process=False)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.volume > 0


def test_a_disc_looks_the_same_from_all_sides() -> None:
    model = Inflation().build(*_disc(128, 30))
    areas = [
        float(model.render(Pose(yaw, pitch)).rgba[..., 3].sum())
        for yaw, pitch in ((0, 0), (60, 0), (-60, 20), (0, 45), (120, -30))
    ]
    np.testing.assert_allclose(areas, areas[0], rtol=0.05)


def test_boxes_keep_their_edges() -> None:
    picture, mask = _toy("bus")
    model = Inflation().build(picture, mask)
    for yaw in (-50, 50):
        seen = (model.render(Pose(yaw)).rgba[..., 3] > 0.5).astype(np.uint8)
        outline = max(cv2.findContours(seen, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0], key=len)
        filled = cv2.contourArea(outline) / cv2.contourArea(cv2.convexHull(outline))
        corners = cv2.approxPolyDP(outline, 2.0, True)
        assert filled > 0.85
        assert len(corners) < 16, "a blob has no long edges"


def test_sides_are_not_smeared() -> None:
    """Turned, what was hidden varies no more from pixel to pixel than what was seen."""
    picture, mask = _toy("duck")
    model = Inflation().build(picture, mask)

    def roughness(pose: Pose) -> float:
        rgba = model.render(pose).rgba
        inside = cv2.erode((rgba[..., 3] > 0.99).astype(np.uint8), np.ones((3, 3))) > 0
        step = np.abs(np.diff(rgba[..., :3], axis=1)).mean(axis=2)
        return float(step[inside[:, 1:]].mean())

    assert roughness(Pose(0, -30)) < 1.5 * roughness(IDENTITY)


def test_undersides_are_in_shade() -> None:
    picture, mask = _toy("gift")
    model = Inflation("standing").build(picture, mask)
    rgba = model.render(Pose(0, -30)).rgba
    rows = np.flatnonzero((rgba[..., 3] > 0.5).any(axis=1))
    low = rgba[rows[-1] - 6 : rows[-1] - 2]
    high = rgba[rows[0] + 20 : rows[-1] - 25]
    assert low[low[..., 3] > 0.5, 0].mean() < 0.7 * high[high[..., 3] > 0.5, 0].mean()


@pytest.mark.parametrize(("light", "leftwards"), [("day", True), ("night", False)])
def test_light_comes_from_where_the_shadow_says(light: str, leftwards: bool) -> None:
    model = Inflation().build(*_toy("duck", light=light))
    assert (model.ground.light[0] < 0) == leftwards


def test_large_pictures_get_larger_cells() -> None:
    picture, mask = _toy("duck", px=400)
    model = Inflation().build(picture, mask)
    assert len(model.solid.vertices) < 2 * (FINEST + 1) ** 2
    assert _overlap(model, mask) > 0.97
    assert model.render(IDENTITY).rgba.shape == (400, 400, 4)


def test_a_picture_need_not_be_square() -> None:
    picture, mask = _toy("duck")
    picture, mask = picture[:, 12:116], mask[:, 12:116]
    assert _overlap(Inflation().build(picture, mask), mask) > 0.95


@pytest.mark.parametrize("shape", ["auto", "round", "flat", "standing"])
def test_small_and_thin_masks_work(shape: str) -> None:
    for mask in (np.zeros((64, 64), bool), np.zeros((64, 64), bool)):
        mask[20:45, 30:33] = True
        picture = np.full((64, 64, 3), 100, np.uint8)
        rgba = Inflation(shape).build(picture, mask).render(Pose(30, 10, 5, 0.1, 0.1, 1.2)).rgba
        assert np.isfinite(rgba).all()
        assert (rgba[..., 3] > 0.5).sum() > 20


def test_the_same_mask_gives_the_same_solid() -> None:
    picture, mask = _toy("car")
    one, two = (Inflation().build(picture, mask) for _ in range(2))
    pose = Pose(30, 10, -5, 0.1, 0.05, 1.1)
    np.testing.assert_array_equal(one.render(pose).rgba, two.render(pose).rgba)
    np.testing.assert_array_equal(one.render(pose).shadow, two.render(pose).shadow)


def test_wrong_uses_are_named() -> None:
    with pytest.raises(UserError, match="shape 'cube' is unknown: use one of auto, round, flat"):
        Inflation("cube")
    picture = np.zeros((64, 64, 3), np.uint8)
    with pytest.raises(ValueError, match=r"mask of shape \(32, 32\) for a picture of \(64, 64\)"):
        Inflation().build(picture, np.ones((32, 32), bool))
    with pytest.raises(ValueError, match="or nothing in it"):
        Inflation().build(picture, np.zeros((64, 64), bool))
