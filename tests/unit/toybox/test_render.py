"""Pictures: the same for the same scene, and showing what the scene says."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmark.toybox import words
from benchmark.toybox.paints import PAINTS
from benchmark.toybox.render import SceneImage, render, render_many
from benchmark.toybox.sampling import sample_scene, scenes
from benchmark.toybox.scene import Camera, Scene, SceneObject

ROOT = Path(__file__).resolve().parents[3]
TRAINED_ON = [
    [189.82, 199.95, 226.93],
    [135.15, 117.56, 114.33],
    [163.16, 153.2, 139.67],
    [151.85, 153.08, 154.36],
]
"""Mean red, green and blue of the first four pictures of the training split, as of version 1."""
OUTDOORS = tuple(place for place in words.PLACES if place != "room")


def _one(cls: str = "ball", colour: str = "red", place: str = "street", **changes: object) -> Scene:
    thing = SceneObject(cls, colour, "large", "matte", 0.0, 0.0, 1.0, -1.0)
    scene = Scene((thing,), place, "day", Camera(0.3, 2.6), seed=5)
    return replace(scene, **changes)  # type: ignore[arg-type]


def _shows(scene: Scene, px: int = 64) -> NDArray[np.bool_]:
    """Where the objects are seen: what changes by more than a shadow when they turn green and red.

    The two pictures differ in the objects' own paint only, so their difference is the objects.
    """
    red, green = (
        render(replace(scene, objects=tuple(replace(o, colour=c) for o in scene.objects)), px)
        for c in ("red", "green")
    )
    return np.asarray((red != green).any(axis=2))


def test_the_same_scene_gives_the_same_pixels() -> None:
    for scene in scenes("validation", 8):
        np.testing.assert_array_equal(render(scene), render(scene))
    assert (render(sample_scene(1)) != render(sample_scene(2))).any()


def test_pixels_do_not_depend_on_the_number_of_workers() -> None:
    batch = scenes("validation", 30)
    alone, together = render_many(batch, px=24, workers=1), render_many(batch, px=24, workers=2)
    np.testing.assert_array_equal(alone, together)
    np.testing.assert_array_equal(alone[7], render(batch[7], px=24))


def test_pixels_do_not_depend_on_the_process() -> None:
    code = (
        "import hashlib; from benchmark.toybox.render import render\n"
        "from benchmark.toybox.sampling import sample_scene\n"
        "print(hashlib.sha256(render(sample_scene(11)).tobytes()).hexdigest())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(runs) == 1


def test_pixels_are_those_that_the_embedded_models_were_trained_on() -> None:
    """A change of the renderer or the sampler that moves these means asks for new models."""
    means = [render(scene).mean(axis=(0, 1)) for scene in scenes("train", 4)]
    np.testing.assert_allclose(means, TRAINED_ON, atol=0.5)


def test_no_scenes_give_no_pictures() -> None:
    assert render_many([], px=16).shape == (0, 16, 16, 3)


@pytest.mark.parametrize("cls", words.CLASSES)
def test_every_class_is_seen_in_the_middle(cls: str) -> None:
    shown = _shows(_one(cls))
    assert 0.01 < shown.mean() < 0.6
    rows, columns = np.nonzero(shown)
    assert abs(columns.mean() - 31.5) < 12
    assert 10 < rows.mean() < 54


@pytest.mark.parametrize("light", words.LIGHTS)
def test_colours_stay_apart_in_every_light(light: str) -> None:
    scene = _one("duck", place="street", light=light)
    shown = _shows(scene)
    means = []
    for colour in words.COLOURS:
        thing = replace(scene.objects[0], colour=colour)
        means.append(render(replace(scene, objects=(thing,)))[shown].mean(axis=0))
    apart = np.linalg.norm(np.array(means)[:, None] - np.array(means)[None], axis=2)
    assert apart[~np.eye(len(means), dtype=bool)].min() > 20


@pytest.mark.parametrize("colour", ["red", "yellow", "blue", "white", "black"])
def test_a_thing_in_daylight_has_about_its_paint(colour: str) -> None:
    scene = _one("duck", colour)
    seen = np.median(render(scene)[_shows(scene)], axis=0) / 255
    assert np.abs(seen - PAINTS[colour]).max() < 0.3


@pytest.mark.parametrize("place", words.PLACES)
@pytest.mark.parametrize("light", words.LIGHTS)
def test_every_place_is_drawn_in_every_light(place: str, light: str) -> None:
    picture = render(_one(place=place, light=light))
    assert picture.shape == (64, 64, 3)
    assert picture.dtype == np.uint8
    assert picture.std() > 8


@pytest.mark.parametrize("place", words.PLACES)
def test_night_is_darker_than_day(place: str) -> None:
    day, night = (render(_one(place=place, light=light)).mean() for light in ("day", "night"))
    assert night < 0.55 * day


@pytest.mark.parametrize("place", OUTDOORS)
def test_sunset_is_warmer_than_day_and_fog_is_paler(place: str) -> None:
    day, sunset, fog = (
        render(_one("mug", "white", place, light=light)).astype(float)
        for light in ("day", "sunset", "fog")
    )

    def warmth(picture: NDArray[np.float64]) -> float:
        return float(picture[..., 0].mean() - picture[..., 2].mean())

    assert warmth(sunset) > warmth(day) + 10
    far = slice(0, 12)  # rows at the top, where the picture is deepest
    assert fog[far].std() < 0.5 * day[far].std()


def test_left_and_right_are_where_the_picture_has_them() -> None:
    for x, side in ((-0.5, slice(0, 32)), (0.5, slice(32, 64))):
        scene = _one()
        scene = replace(scene, objects=(replace(scene.objects[0], x=x, scale=0.6),))
        shown = _shows(scene)
        assert shown[:, side].sum() > 0.9 * shown.sum()


def test_what_is_in_front_is_lower_larger_and_hides_what_is_behind() -> None:
    scene = _one()
    near, far = (replace(scene.objects[0], y=y) for y in (-0.7, 0.9))
    shown = {y: _shows(replace(scene, objects=(o,))) for y, o in ((-0.7, near), (0.9, far))}
    assert shown[-0.7].sum() > 1.5 * shown[0.9].sum()
    assert np.nonzero(shown[-0.7])[0].max() > np.nonzero(shown[0.9])[0].max() + 5
    both = render(replace(scene, objects=(near, replace(far, colour="blue"))))
    alone = render(replace(scene, objects=(near,)))
    core = shown[-0.7]
    assert (both[core] == alone[core]).mean() > 0.9


def test_shiny_is_not_matte() -> None:
    for cls in ("duck", "house", "table"):
        scene = _one(cls, "blue")
        shiny = replace(scene, objects=(replace(scene.objects[0], material="shiny"),))
        shown = _shows(scene)
        matte_pixels, shiny_pixels = (render(s)[shown].astype(int) for s in (scene, shiny))
        assert np.abs(matte_pixels - shiny_pixels).mean() > 5


def test_objects_darken_the_ground_where_they_touch_it() -> None:
    scene = _one("mug")
    empty = _one("mug", objects=(replace(scene.objects[0], x=50.0, y=50.0),))
    darker = render(scene).astype(int).sum(axis=2) < render(empty).astype(int).sum(axis=2) - 30
    assert (darker & ~_shows(scene)).sum() > 20


def test_a_tilted_thing_lies_on_the_ground() -> None:
    bottle = _one("bottle", camera=Camera(0.2, 3.0))
    upright = _shows(bottle)
    lying = _shows(replace(bottle, objects=(replace(bottle.objects[0], yaw=0.0, pitch=np.pi / 2),)))
    rolled = _shows(
        replace(bottle, objects=(replace(bottle.objects[0], yaw=np.pi / 2, roll=np.pi / 2),))
    )

    def height(shown: NDArray[np.bool_]) -> int:
        rows = np.nonzero(shown)[0]
        return int(rows.max() - rows.min())

    for flat in (lying, rolled):
        assert height(flat) < 0.75 * height(upright)
        assert abs(np.nonzero(flat)[0].max() - np.nonzero(upright)[0].max()) < 8


@pytest.mark.parametrize("elevation", [0.0, 0.8, 1.5])
def test_a_camera_may_stand_low_or_look_straight_down(elevation: float) -> None:
    for place in words.PLACES:
        scene = _one(place=place, camera=Camera(elevation, 3.0))
        assert _shows(scene).any()


def test_ambient_occlusion_only_darkens_and_repeats() -> None:
    scene = sample_scene(10_000_003)
    plain, occluded = render(scene), render(scene, ambient_occlusion=True)
    assert occluded.mean() < plain.mean()
    np.testing.assert_array_equal(occluded, render(scene, ambient_occlusion=True))


def test_more_samples_draw_the_same_picture_with_smoother_edges() -> None:
    scene = sample_scene(10_000_004)
    coarse, fine = render(scene, 48, 1).astype(int), render(scene, 48, 4).astype(int)
    assert np.abs(coarse - fine).mean() < 12


def test_a_picture_needs_pixels() -> None:
    with pytest.raises(ValueError, match="px=0, samples=2: a picture needs at least 1 of each"):
        render(sample_scene(0), px=0)


def test_a_scene_image_is_named_by_its_split_and_draws_itself() -> None:
    image = SceneImage(sample_scene(11_000_003), px=32)
    assert image.name == "toybox/test/11000003"
    np.testing.assert_array_equal(image.load(), render(image.scene, 32))
