"""What is behind an object: layers, texture, shadows."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from attacks.advdreamer.background import Inpainting, cast_shadow, darkened, hole_of, row_fill
from benchmark.errors import UserError
from benchmark.toybox.render import render
from benchmark.toybox.render_geometry import Mesh, View
from benchmark.toybox.scene import Camera, Scene, SceneObject

Mask = NDArray[np.bool_]
Pixels = NDArray[np.uint8]


def _layers() -> Pixels:
    """Sky, a line, and ground that gets brighter to the right: 40 + x."""
    picture = np.zeros((48, 64, 3), np.uint8)
    picture[:20] = (120, 160, 220)
    picture[20:22] = 255
    picture[22:] = (40 + np.arange(64, dtype=np.uint8))[None, :, None]
    return picture


def _hole() -> Mask:
    hole = np.zeros((48, 64), bool)
    hole[10:40, 24:40] = True
    return hole


def _scene(place: str, light: str) -> tuple[Pixels, Pixels, Mask]:
    """With the object, without it, and where it is."""
    thing = SceneObject("duck", "red", "large", "matte", 0.0, 0.0, 1.0, -0.9)
    scene = Scene((thing,), place, light, Camera(0.3, 2.5), seed=5)
    gone = replace(scene, objects=(replace(thing, y=-60.0),))  # behind the camera
    hit = Mesh.of(scene).caster.run(*View.of(scene.camera, 128, 2).rays()) >= 0
    mask = np.asarray(hit.reshape(128, 2, 128, 2).mean(axis=(1, 3)) > 0.5)
    return render(scene, 128), render(gone, 128), mask


@pytest.mark.parametrize("method", ["layered", "telea", "ns"])
def test_only_the_hole_changes(method: str) -> None:
    picture, hole = _layers(), _hole()
    filled = Inpainting(method).complete(picture, hole)
    assert filled.shape == picture.shape
    assert filled.dtype == np.uint8
    np.testing.assert_array_equal(filled[~hole], picture[~hole])
    assert (filled[hole] != picture[hole]).any()
    np.testing.assert_array_equal(filled, Inpainting(method).complete(picture, hole))


def test_layers_go_on_behind_the_hole() -> None:
    picture, hole = _layers(), _hole()
    spoilt = picture.copy()
    spoilt[hole] = (255, 0, 255)
    filled = Inpainting().complete(spoilt, hole).astype(int)
    away = np.abs(filled - picture)[hole].max(axis=1)
    # Row 20's line and the rows next to it blend; all else is known from its row.
    assert np.median(away) <= 2
    assert (filled[20:22, 30:34] > 200).all()


def test_rows_are_joined_linearly() -> None:
    picture = _layers()
    smooth = row_fill(picture, _hole())
    # Ground: the ends of the gap are blurred over 5 columns, so 40 + x within 2.
    np.testing.assert_allclose(smooth[30, 24:40, 0], 40 + np.arange(24, 40), atol=2.0)


def test_a_row_without_any_known_pixel_takes_its_neighbours() -> None:
    hole = np.zeros((48, 64), bool)
    hole[30:33] = True
    smooth = row_fill(_layers(), hole)
    np.testing.assert_allclose(smooth[31], smooth[33], atol=8)


@pytest.mark.parametrize(
    ("place", "light"), [("snow", "day"), ("grass", "sunset"), ("street", "night")]
)
def test_close_to_the_true_background(place: str, light: str) -> None:
    picture, empty, mask = _scene(place, light)
    hole = hole_of(picture, mask)
    away = np.abs(Inpainting().complete(picture, hole).astype(float) - empty)
    assert away[hole].mean() < 8
    assert away[~hole].mean() < 0.7, "no shadow stays behind"


def test_texture_is_copied_along_the_ground() -> None:
    picture, empty, mask = _scene("room", "day")
    hole = hole_of(picture, mask)
    rough = Inpainting().complete(picture, hole)[hole].astype(float).std()
    assert rough > 0.6 * empty[hole].astype(float).std()


def test_the_hole_holds_object_and_shadow() -> None:
    picture, empty, mask = _scene("snow", "day")
    shadow = cast_shadow(picture, mask)
    assert not (shadow & mask).any()
    really = (empty.astype(int) - picture).min(axis=2) > 25
    really &= ~mask
    assert (shadow & really).sum() > 0.7 * really.sum()
    hole = hole_of(picture, mask)
    assert hole[mask].all()
    assert hole[really].mean() > 0.9


def test_shadows_are_darker_and_bluer_never_redder() -> None:
    ground = np.full((16, 16, 3), 160.0)
    for colour, is_shadow in (
        ((95, 97, 100), True),
        ((90, 95, 108), True),
        ((120, 90, 80), False),  # redder
        ((80, 110, 80), False),  # green
        ((158, 158, 158), False),  # not darker
        ((30, 30, 30), False),  # darker than any shadow
    ):
        picture = np.full((16, 16, 3), colour, np.uint8)
        assert darkened(picture, ground)[8, 8] == is_shadow, colour


def test_what_the_mask_forgot_is_in_the_hole() -> None:
    picture = _layers()
    mask = np.zeros((48, 64), bool)
    mask[28:40, 26:36] = True
    picture[mask] = (200, 30, 30)
    picture[25:28, 29:33] = (250, 220, 20)  # its lid
    assert hole_of(picture, mask)[25:28, 29:33].all()


def test_wrong_uses_are_named() -> None:
    picture = _layers()
    with pytest.raises(UserError, match="inpainting method 'lama' is unknown: use layered, telea"):
        Inpainting("lama")
    with pytest.raises(ValueError, match=r"hole of shape \(3, 3\) for a picture of \(48, 64\)"):
        Inpainting().complete(picture, np.zeros((3, 3), bool))
    with pytest.raises(ValueError, match="the hole covers the whole picture"):
        Inpainting().complete(picture, np.ones((48, 64), bool))


def test_no_hole_no_change() -> None:
    picture = _layers()
    filled = Inpainting().complete(picture, np.zeros((48, 64), bool))
    np.testing.assert_array_equal(filled, picture)
    assert filled is not picture
