"""The object is found with or without a box, without its shadow, and in one piece; or it is said why not."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from attacks.advdreamer.foreground import GrabCut, solid
from attacks.advdreamer.stages import ForegroundError
from benchmark.errors import UserError
from benchmark.toybox.render import render
from benchmark.toybox.render_geometry import Mesh, View
from benchmark.toybox.sampling import sample_scene
from benchmark.toybox.scene import Camera, Scene, SceneObject

Mask = NDArray[np.bool_]
Pixels = NDArray[np.uint8]


def _overlap(a: Mask, b: Mask) -> float:
    return float((a & b).sum() / (a | b).sum())


def _scene(cls: str, colour: str, place: str = "snow", light: str = "day") -> Scene:
    thing = SceneObject(cls, colour, "large", "matte", 0.0, 0.0, 1.05, -0.9)
    return Scene((thing,), place, light, Camera(0.3, 2.4), seed=5)


def _truth(scene: Scene, px: int) -> Mask:
    hit = Mesh.of(scene).caster.run(*View.of(scene.camera, px, 2).rays()) >= 0
    return np.asarray(hit.reshape(px, 2, px, 2).mean(axis=(1, 3)) > 0.5)


def _square(px: int, top: int, bottom: int, left: int, right: int) -> Mask:
    mask = np.zeros((px, px), bool)
    mask[top:bottom, left:right] = True
    return mask


def _around(mask: Mask, by: int = 5) -> tuple[int, int, int, int]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    wide, tall = int(np.ptp(columns)) + 1, int(np.ptp(rows)) + 1
    return int(columns[0]) - by, int(rows[0]) - by, wide + 2 * by, tall + 2 * by


@pytest.mark.parametrize(
    ("cls", "colour", "place", "light", "least"),
    [
        ("duck", "yellow", "snow", "day", 0.93),
        ("gift", "red", "grass", "sunset", 0.90),
        ("bus", "blue", "beach", "fog", 0.90),
        ("mug", "red", "room", "night", 0.90),
    ],
)
def test_the_mask_is_the_object_without_its_shadow(
    cls: str, colour: str, place: str, light: str, least: float
) -> None:
    scene = _scene(cls, colour, place, light)
    mask = GrabCut().cut(render(scene, 128), cls)
    assert _overlap(mask, _truth(scene, 128)) > least


@pytest.mark.parametrize("px", [64, 200, 300])
def test_any_size_will_do(px: int) -> None:
    scene = _scene("duck", "red")
    assert _overlap(GrabCut().cut(render(scene, px), "duck"), _truth(scene, px)) > 0.9


def test_pictures_need_not_be_square() -> None:
    scene = _scene("duck", "red")
    picture, truth = render(scene, 128)[:, 20:110], _truth(scene, 128)[:, 20:110]
    assert _overlap(GrabCut().cut(picture, "duck"), truth) > 0.9


def test_the_same_picture_gives_the_same_mask() -> None:
    picture = render(_scene("dog", "orange", "beach"), 128)
    first = GrabCut().cut(picture, "dog")
    np.random.default_rng(1).random(10)
    np.testing.assert_array_equal(first, GrabCut().cut(picture.copy(), "dog"))


def test_a_box_chooses_between_two_objects() -> None:
    left = SceneObject("ball", "red", "small", "matte", -0.6, 0.0, 0.7, 0.0)
    right = replace(left, cls="mug", colour="blue", x=0.6)
    scene = Scene((left, right), "snow", "day", Camera(0.3, 3.0), seed=5)
    picture = render(scene, 128)
    for thing in (left, right):
        truth = _truth(replace(scene, objects=(thing,)), 128)
        assert _overlap(GrabCut().cut(picture, thing.cls, _around(truth)), truth) > 0.88


def test_in_a_box_plain_grabcut_has_a_say() -> None:
    """A white airplane on snow: only its red tail stands out, which is 0.4 of it."""
    scene = sample_scene(500040, "single")
    picture, truth = render(scene, 128), _truth(scene, 128)
    alone, boxed = GrabCut().cut(picture, "plane"), GrabCut().cut(picture, "plane", _around(truth))
    assert _overlap(alone, truth) < 0.5
    assert _overlap(boxed, truth) > 0.6


def test_a_plain_picture_has_no_foreground() -> None:
    plain = np.full((128, 128, 3), 90, np.uint8)
    with pytest.raises(ForegroundError, match="no foreground: nothing stands out where 'duck'"):
        GrabCut().cut(plain, "duck")


def test_a_gradient_has_no_foreground() -> None:
    sky = np.repeat(np.linspace(60, 200, 128, dtype=np.uint8)[:, None, None], 128, axis=1)
    with pytest.raises(ForegroundError, match="no foreground"):
        GrabCut().cut(np.repeat(sky, 3, axis=2), "duck")


@pytest.mark.parametrize("box", [(-1, 0, 20, 20), (0, 0, 0, 20), (100, 100, 29, 10)])
def test_a_box_has_to_be_in_the_picture(box: tuple[int, int, int, int]) -> None:
    with pytest.raises(ForegroundError, match=r"box .* is not inside the picture of 128 x 128"):
        GrabCut().cut(np.zeros((128, 128, 3), np.uint8), "duck", box)


@pytest.mark.parametrize("cls", ["bus", "lamp"])
def test_an_object_that_is_cut_off_is_refused(cls: str) -> None:
    scene = _scene(cls, "red", "grass")
    pixels, rows, columns = render(scene, 128), *np.nonzero(_truth(scene, 128))
    half = pixels[:, (columns.min() + columns.max()) // 2 :]
    with pytest.raises(ForegroundError, match="border: the object is cut off"):
        GrabCut().cut(half, cls)
    with pytest.raises(ForegroundError, match="border: the object is cut off"):
        GrabCut().cut(half, cls, (0, 10, 60, 100))
    inside = pixels[rows.min() + 3 : rows.max() - 2, columns.min() + 3 : columns.max() - 2]
    with pytest.raises(ForegroundError, match="border: the object is cut off"):
        GrabCut().cut(inside, cls)


def test_grabcut_takes_no_argument() -> None:
    with pytest.raises(UserError, match="grabcut takes no argument, not 'fast'"):
        GrabCut("fast")


def test_an_empty_mask_is_refused() -> None:
    with pytest.raises(ForegroundError, match="no foreground: the mask is empty"):
        solid(np.zeros((64, 64), bool))


@pytest.mark.parametrize("side", ["top", "bottom", "left", "right"])
def test_a_mask_at_the_border_is_refused(side: str) -> None:
    turns = ("top", "left", "bottom", "right").index(side)
    mask = np.rot90(_square(64, 0, 30, 20, 40), turns)
    with pytest.raises(ForegroundError, match="the mask touches the picture's border"):
        solid(np.ascontiguousarray(mask))


def test_a_mask_that_fills_the_frame_is_refused() -> None:
    # 62 * 62 / 64^2 = 94 %
    with pytest.raises(ForegroundError, match="the mask fills 94% of the frame, more than 85%"):
        solid(_square(64, 1, 63, 1, 63))


def test_a_tiny_mask_is_refused() -> None:
    # 6 * 6 / 64^2 = 0.88 %
    with pytest.raises(ForegroundError, match=r"covers 0\.88% of the picture, less than 1%"):
        solid(_square(64, 20, 26, 20, 26))


def test_one_solid_piece_comes_out() -> None:
    mask = _square(64, 10, 30, 10, 30) | _square(64, 33, 53, 12, 28) | _square(64, 50, 53, 50, 53)
    mask[15, 15] = False
    mask[20:26, 18:24] = False
    whole = solid(mask)
    assert whole[31, 20], "large pieces are bridged"
    assert not whole[51, 51], "crumbs are dropped"
    assert whole[15, 15], "pinholes are filled"
    assert not whole[22, 20], "real holes stay"


def test_corners_do_not_hold_a_piece_together() -> None:
    mask = _square(64, 10, 30, 10, 30) | _square(64, 30, 50, 30, 50)
    whole = solid(mask)
    assert whole[29, 30] or whole[30, 29]
    square = np.lib.stride_tricks.sliding_window_view(whole, (2, 2)).reshape(-1, 4)
    pinched = (square == [True, False, False, True]).all(axis=1)
    pinched |= (square == [False, True, True, False]).all(axis=1)
    assert not pinched.any()


def test_a_good_mask_passes_unchanged() -> None:
    mask = _square(64, 10, 40, 12, 50)
    np.testing.assert_array_equal(solid(mask), mask)
