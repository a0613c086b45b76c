"""What every sampled scene keeps, and how seeds are split."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.toybox import words
from benchmark.toybox.sampling import KINDS, SCALES, SPLITS, sample_scene, scenes, split_of
from benchmark.toybox.scene import Scene

SIZES = {"single": {1}, "pair": {2}, "triple": {3}, "counted": {2, 3}}


def _check(scene: Scene) -> None:
    objects = scene.objects
    assert scene.light in words.LIGHTS
    assert scene.place != "room" or scene.light in words.INDOOR_LIGHTS
    assert all(abs(o.scale / SCALES[o.size] - 1) <= 0.05 + 1e-9 for o in objects)
    assert all(o.pitch == o.roll == 0 for o in objects)
    if scene.counted:
        assert len({o.thing for o in objects}) == 1
        assert scene.facts.count == len(objects)
    else:
        assert len({o.cls for o in objects}) == len(objects)
        assert len({o.colour for o in objects}) == len(objects)
        assert scene.facts.things == tuple(o.thing for o in objects)
    assert (scene.relation is not None) == (len(objects) == 2 and not scene.counted)
    if scene.relation:
        first, second = objects
        dx, dy = first.x - second.x, first.y - second.y
        if scene.relation in ("left of", "right of"):
            assert (dx < -0.9) if scene.relation == "left of" else (dx > 0.9)
            assert abs(dy) < 0.45, "neither is in front of the other"
        else:
            assert (dy < -1) if scene.relation == "in front of" else (dy > 1)
            assert abs(dx) > 0.5
    for a, b in combinations(objects, 2):
        assert abs(a.x - b.x) > 0.5 or abs(a.y - b.y) > 1
    reach = scene.camera.distance - max(abs(o.y) for o in objects)
    assert reach > 1.2, "the camera is not inside an object"


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**40), st.sampled_from([None, *KINDS]))
def test_every_scene_keeps_its_promises(seed: int, kind: str | None) -> None:
    scene = sample_scene(seed, kind)
    _check(scene)
    assert scene.seed == seed
    assert scene == sample_scene(seed, kind)
    if kind is not None:
        assert len(scene.objects) in SIZES[kind]
        assert scene.counted == (kind == "counted")


def test_two_thousand_scenes_show_everything_about_as_often_as_they_should() -> None:
    drawn = scenes("validation", 2000)
    for scene in drawn:
        _check(scene)
    n = len(drawn)
    places = Counter(s.place for s in drawn)
    assert set(places) == set(words.PLACES)
    assert all(abs(k / n - 0.2) < 0.04 for k in places.values())
    outside = Counter(s.light for s in drawn if s.place != "room")
    total = outside.total()
    for light, share in {"day": 0.4, "night": 0.2, "sunset": 0.2, "fog": 0.2}.items():
        assert abs(outside[light] / total - share) < 0.04
    inside = Counter(s.light for s in drawn if s.place == "room")
    assert abs(inside["day"] / inside.total() - 0.5) < 0.08
    kinds = Counter(0 if s.counted else len(s.objects) for s in drawn)
    for count, kind in enumerate(("counted", "single", "pair", "triple")):
        assert abs(kinds[count] / n - KINDS[kind]) < 0.04
    relations = Counter(s.relation for s in drawn if s.relation)
    assert set(relations) == set(words.RELATIONS)
    assert min(relations.values()) > 0.2 * relations.total()
    assert {o.cls for s in drawn for o in s.objects} == set(words.CLASSES)
    assert {o.colour for s in drawn for o in s.objects} == set(words.COLOURS)


def test_the_order_of_three_things_says_nothing_about_where_they_stand() -> None:
    orders = Counter(
        tuple(sorted(range(3), key=lambda i, s=s: s.objects[i].x))  # type: ignore[misc]
        for s in scenes("validation", 600, kind="triple")
    )
    assert len(orders) == 6
    assert min(orders.values()) > 60


def test_splits_do_not_overlap_and_cover_what_they_say() -> None:
    for first, second in combinations(SPLITS.values(), 2):
        assert first.stop <= second.start or second.stop <= first.start
    assert [len(seeds) for seeds in SPLITS.values()] == [10_000_000, 1_000_000, 1_000_000]
    assert split_of(0) == "train"
    assert split_of(9_999_999) == "train"
    assert split_of(10_000_000) == "validation"
    assert split_of(11_000_003) == "test"
    assert split_of(12_000_000) == "other"


def test_scenes_are_the_seeds_of_a_split_in_order() -> None:
    assert [s.seed for s in scenes("test", 3, start=5)] == [11_000_005, 11_000_006, 11_000_007]
    assert scenes("test", 1, 1, "pair") == [sample_scene(11_000_001, "pair")]
    assert scenes("train", 0) == []


def test_messages_name_the_value_and_what_is_possible() -> None:
    with pytest.raises(
        ValueError, match="unknown split 'dev': expected one of train, validation, test"
    ):
        scenes("dev", 1)
    with pytest.raises(
        ValueError, match="unknown kind 'quad': expected one of single, pair, triple, counted"
    ):
        sample_scene(0, "quad")
    with pytest.raises(ValueError, match="'test' has 1000000 scenes, so 2 from 999999 on"):
        scenes("test", 2, start=999_999)
