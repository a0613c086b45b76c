"""Scenes and pictures to order."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import isclose

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark import registry
from benchmark.errors import UserError
from benchmark.protocols import Painter
from benchmark.toybox import words
from benchmark.toybox.facts import Facts
from benchmark.toybox.grammar import parse
from benchmark.toybox.painter import ToyboxPainter
from benchmark.toybox.painting import scene_of
from benchmark.toybox.render import render
from benchmark.toybox.sampling import SCALES
from benchmark.toybox.scene import Scene
from benchmark.toybox.truth import contradicts, true_of
from tests.toybox_facts import all_facts


def facts_of(caption: str) -> Facts:
    facts = parse(caption)
    assert facts is not None, caption
    return facts


def scene(caption: str, seed: int = 0) -> Scene:
    made = scene_of(facts_of(caption), seed)
    assert made is not None
    return made


@settings(max_examples=500, deadline=None)
@given(all_facts(), st.integers(0, 2**63))
def test_a_scene_makes_its_facts_true_and_keeps_the_laws_of_the_world(
    facts: Facts, seed: int
) -> None:
    made = scene_of(facts, seed)
    if made is None:
        assert contradicts(facts, facts)  # no scene at all fits them
        return
    assert true_of(facts, made)
    assert made.seed == seed
    assert made == scene_of(facts, seed)
    assert sorted(o.cls for o in made.objects) == sorted(
        [t.cls for t in facts.things] * facts.count
    )
    assert made.light in words.INDOOR_LIGHTS or made.place != "room"
    assert all(isclose(o.scale, SCALES[o.size], rel_tol=0.051) for o in made.objects)
    assert made.counted == (len({o.cls for o in made.objects}) < len(made.objects))
    assert (made.relation is not None) == (len(made.objects) == 2 and not made.counted)
    if made.counted:
        assert len({o.thing for o in made.objects}) == 1
    for a, b in combinations(made.objects, 2):
        assert abs(a.x - b.x) > 0.5 or abs(a.y - b.y) > 1
    # The scene's own fullest caption is one that it could have been made for.
    assert true_of(made.facts, made)


def test_what_is_not_said_is_drawn_from_all_there_is() -> None:
    drawn = [scene("a duck and a car", seed) for seed in range(400)]
    assert {o.colour for s in drawn for o in s.objects} == set(words.COLOURS)
    assert {o.size for s in drawn for o in s.objects} == set(words.SIZES)
    assert {o.material for s in drawn for o in s.objects} == set(words.MATERIALS)
    assert {s.relation for s in drawn} == set(words.RELATIONS)
    assert {(s.place, s.light) for s in drawn} == {
        (place, light)
        for place in words.PLACES
        for light in words.LIGHTS
        if place != "room" or light in words.INDOOR_LIGHTS
    }
    places = Counter(s.place for s in drawn)
    assert max(places.values()) < 2 * min(places.values())
    assert all(len({o.colour for o in s.objects}) == 2 for s in drawn)


def test_an_open_colour_is_none_that_another_thing_has() -> None:
    for seed in range(200):
        duck, car = scene("a duck left of a red car", seed).objects
        assert (car.colour, duck.colour != "red") == ("red", True)
    both = scene("a red duck and a red car")
    assert [o.colour for o in both.objects] == ["red", "red"]


def test_one_word_changes_one_thing() -> None:
    before = scene("a red duck left of a small blue car on the grass at night", 5)
    after = scene("a pink duck left of a small blue car on the grass at night", 5)
    duck, car = before.objects
    assert after == replace(before, objects=(replace(duck, colour="pink"), car))
    foggy = scene("a red duck left of a small blue car on the grass in the fog", 5)
    assert foggy == replace(before, light="fog")


def test_two_things_of_one_class_are_two_equal_ones() -> None:
    made = scene("a red duck left of a small duck")
    assert made.counted
    assert {(o.cls, o.colour, o.size) for o in made.objects} == {("duck", "red", "small")}
    first, second = made.objects
    assert first.yaw != second.yaw
    assert first.scale != second.scale


@pytest.mark.parametrize(
    "caption",
    ["a duck in a room in the fog", "a red duck and a blue duck", "a duck, a duck and a car"],
)
def test_what_no_scene_can_show(caption: str) -> None:
    assert scene_of(facts_of(caption), 0) is None
    assert ToyboxPainter("16", {}).paint([caption], [0]) == [None]


def test_a_painter_of_captions() -> None:
    painter = registry.create("tools", "toybox", {"device": "cpu"})
    assert isinstance(painter, Painter)
    caption = "a red duck on the grass at night"
    first, other, none = painter.paint([caption, caption, "Once upon a time"], [3, 4, 3])
    assert none is None
    assert first is not None
    assert other is not None
    np.testing.assert_array_equal(first, render(scene(caption, 3), 64))
    assert not np.array_equal(first, other)


def test_the_size_of_a_picture_is_part_of_the_painter() -> None:
    (picture,) = ToyboxPainter("24", {}).paint(["two red mugs"], [0])
    assert picture is not None
    assert picture.shape == (24, 24, 3)
    small, again, large = (ToyboxPainter(px, {}).info for px in ("24", "24", "32"))
    assert small == again
    assert small.weights != large.weights


@pytest.mark.parametrize("argument", ["4", "64px", "-64", "9999"])
def test_sizes_that_cannot_be(argument: str) -> None:
    with pytest.raises(UserError, match=rf"8 to 4096 pixels, not '{argument}': write toybox:64"):
        ToyboxPainter(argument, {})
