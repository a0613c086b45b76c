"""Renderings put into backgrounds: coverage, shadow, colours."""

import numpy as np
import pytest
from numpy.typing import NDArray

from attacks.advdreamer.background import Inpainting, hole_of
from attacks.advdreamer.compose import (
    FALLBACK_STRENGTH,
    Blend,
    shadow_strength,
    squashed_shadow,
)
from attacks.advdreamer.foreground import GrabCut
from attacks.advdreamer.inflate import Inflation
from attacks.advdreamer.pose import IDENTITY, Pose
from attacks.advdreamer.stages import Manipulator, Rendering, Stages
from benchmark.errors import UserError
from benchmark.toybox.render import render
from benchmark.toybox.scene import Camera, Scene, SceneObject

Mask = NDArray[np.bool_]
Pixels = NDArray[np.uint8]


def _plain(colour: int = 200) -> Pixels:
    return np.full((64, 64, 3), colour, np.uint8)


def _square() -> Mask:
    mask = np.zeros((64, 64), bool)
    mask[20:40, 22:42] = True
    return mask


def _rendering(mask: Mask, shadow: NDArray[np.float32] | None = None) -> Rendering:
    rgba = np.zeros((64, 64, 4), np.float32)
    rgba[mask] = (0.8, 0.2, 0.1, 1.0)
    return Rendering(rgba, np.where(mask, 100.0, np.inf).astype(np.float32), shadow)


def _no_shadow() -> NDArray[np.float32]:
    return np.zeros((64, 64), np.float32)


def _object_picture() -> Pixels:
    picture = _plain()
    picture[_square()] = (204, 51, 26)
    return picture


@pytest.mark.parametrize("method", ["alpha", "reinhard", "seamless"])
def test_inside_object_outside_background(method: str) -> None:
    place = Blend(method).prepare(_object_picture(), _square(), _plain())
    (picture,) = place.compose([_rendering(_square(), _no_shadow())], [IDENTITY])
    assert picture.dtype == np.uint8
    np.testing.assert_array_equal(picture[:10], 200)
    away = np.abs(picture[26:34, 28:36].astype(int) - (204, 51, 26)).max()
    assert away <= (3 if method != "seamless" else 40)


def test_edges_are_soft_and_hold_no_black() -> None:
    place = Blend().prepare(_object_picture(), _square(), _plain())
    (picture,) = place.compose([_rendering(_square(), _no_shadow())], [IDENTITY])
    edge = picture[30, 20:24].astype(int)
    # From 200 down to 51 in green, never below, as a black fringe would be.
    assert (np.diff(edge[:, 1]) <= 0).all()
    assert edge[:, 1].min() >= 50
    assert edge[0, 1] > edge[1, 1] > 60


def test_shadow_darkens_by_strength_and_only_where_it_is() -> None:
    shadow = _no_shadow()
    shadow[45:50, 10:50] = 1
    shadow[55, 10:50] = 0.5
    place = Blend().prepare(_object_picture(), _square(), _plain())
    (picture,) = place.compose([_rendering(_square(), shadow)], [IDENTITY])
    # No shadow to learn from: 200 * (1 - 0.2) = 160, and half of it 180.
    np.testing.assert_array_equal(picture[47, 20], 160)
    np.testing.assert_array_equal(picture[55, 20], 180)
    np.testing.assert_array_equal(picture[60], 200)


def test_strength_is_read_off_the_clean_picture() -> None:
    picture, background = _object_picture(), _plain()
    picture[40:46, 24:50] = (100, 110, 120)
    strength = shadow_strength(picture, _square(), background)
    # 1 - 102/202, 1 - 112/202, 1 - 122/202
    np.testing.assert_allclose(strength, [0.495, 0.446, 0.396], atol=0.01)


def test_strength_falls_back_where_there_is_no_shadow() -> None:
    strength = shadow_strength(_object_picture(), _square(), _plain())
    np.testing.assert_allclose(strength, FALLBACK_STRENGTH)


def test_squashed_shadow_touches_the_foot_and_lies_flat() -> None:
    alpha = _square().astype(np.float32)
    shadow = squashed_shadow(alpha)
    assert shadow[39, 30] > 0.4, "it touches the lowest row"
    rows = np.flatnonzero((shadow > 0.3).any(axis=1))
    assert 3 <= rows.size <= 10  # 20 rows squashed to 28 %, and blurred
    columns = np.flatnonzero((shadow > 0.3).any(axis=0))
    assert columns[-1] > 45, "it leans to the right"
    assert not squashed_shadow(np.zeros((64, 64), np.float32)).any()


def test_a_model_without_ground_gets_the_squashed_shadow() -> None:
    place = Blend().prepare(_object_picture(), _square(), _plain())
    (picture,) = place.compose([_rendering(_square(), None)], [IDENTITY])
    assert picture[34:41, 42:50].min() < 185


def test_reinhard_takes_the_old_colours() -> None:
    place = Blend("reinhard").prepare(_object_picture(), _square(), _plain())
    dull = _rendering(_square(), _no_shadow())
    dull.rgba[_square(), :3] = (0.3, 0.25, 0.2)
    (moved,) = place.compose([dull], [IDENTITY])
    (plain,) = Blend().prepare(_object_picture(), _square(), _plain()).compose([dull], [IDENTITY])
    wanted = np.array([204, 51, 26])
    inner = np.s_[26:34, 28:36]
    before = np.abs(plain[inner].astype(int) - wanted).mean()
    after = np.abs(moved[inner].astype(int) - wanted).mean()
    assert after < 0.75 * before


def test_seamless_falls_back_at_the_border() -> None:
    mask = np.zeros((64, 64), bool)
    mask[40:, 20:40] = True
    rendering = _rendering(mask, _no_shadow())
    seamless, alpha = (
        Blend(method)
        .prepare(_object_picture(), _square(), _plain())
        .compose([rendering], [IDENTITY])[0]
        for method in ("seamless", "alpha")
    )
    np.testing.assert_array_equal(seamless, alpha)


def test_out_of_sight_leaves_the_background() -> None:
    place = Blend().prepare(_object_picture(), _square(), _plain())
    nothing = _rendering(np.zeros((64, 64), bool), _no_shadow())
    np.testing.assert_array_equal(place.compose([nothing], [Pose(dx=3)])[0], _plain())


def test_company_does_not_matter() -> None:
    place = Blend().prepare(_object_picture(), _square(), _plain())
    one, other = _rendering(_square(), _no_shadow()), _rendering(_square().T, None)
    together = place.compose([one, other, one], [IDENTITY] * 3)
    np.testing.assert_array_equal(together[0], place.compose([one], [IDENTITY])[0])
    np.testing.assert_array_equal(together[0], together[2])
    assert place.compose([], []) == []


def test_wrong_uses_are_named() -> None:
    with pytest.raises(UserError, match="blending method 'gimp' is unknown: use alpha, reinhard"):
        Blend("gimp")
    with pytest.raises(ValueError, match="they have to have one shape"):
        Blend().prepare(_plain(), np.ones((3, 3), bool), _plain())


@pytest.mark.parametrize("cls", ["duck", "gift"])
def test_the_whole_line_gives_the_clean_picture_again(cls: str) -> None:
    thing = SceneObject(cls, "red", "large", "matte", 0.0, 0.0, 1.0, -0.8)
    clean = render(Scene((thing,), "beach", "day", Camera(0.3, 2.5), seed=5), 128)
    stages = Stages(GrabCut(), Inpainting(), Inflation(), Blend())
    mask = stages.foreground.cut(clean, cls)
    manipulator = Manipulator.of(stages, clean, mask, hole_of(clean, mask))
    again, turned = manipulator.pictures([IDENTITY, Pose(40, 15)])
    away = np.abs(again.astype(int) - clean)
    assert away.mean() < 4
    assert away[mask].mean() < 6
    assert np.abs(turned.astype(int) - clean)[mask].mean() > 20
    np.testing.assert_array_equal(manipulator.pictures([Pose(40, 15)])[0], turned)
