from itertools import permutations, product

import numpy as np
import pytest

from benchmark.toybox.facts import Facts, Thing
from benchmark.toybox.grammar import generate, parse
from benchmark.toybox.scene import Camera, Scene, SceneObject
from benchmark.toybox.truth import contradicts, entails, false_of, relation_between, true_of


def facts(caption: str) -> Facts:
    said = parse(caption)
    assert said is not None, caption
    return said


def obj(text: str, x: float, y: float) -> SceneObject:
    cls, colour, size, material = text.split()
    return SceneObject(cls, colour, size, material, x, y, scale=1.0, yaw=0.0)


def scene(*objects: SceneObject, place: str = "grass", light: str = "night") -> Scene:
    counted = len({o.cls for o in objects}) < len(objects)
    return Scene(objects, place, light, Camera(0.3, 4.0), seed=0, counted=counted)


LEFT_PAIR = scene(obj("duck red small matte", -0.6, 0.1), obj("car blue large shiny", 0.6, -0.1))
FRONT_PAIR = scene(obj("duck red small matte", 0.3, -0.7), obj("car blue large shiny", -0.3, 0.9))
TWO_DUCKS = scene(obj("duck red small matte", -0.6, 0.0), obj("duck red small matte", 0.6, 0.0))


@pytest.mark.parametrize(
    ("shown", "caption", "truth"),
    [
        (LEFT_PAIR, "a duck", True),
        (LEFT_PAIR, "a small matte red duck", True),
        (LEFT_PAIR, "a shiny duck", False),
        (LEFT_PAIR, "a blue duck", False),
        (LEFT_PAIR, "a dog", False),
        (LEFT_PAIR, "a car and a duck", True),
        (LEFT_PAIR, "a red car and a blue duck", False),
        (LEFT_PAIR, "a red duck left of a blue car on the grass at night", True),
        (LEFT_PAIR, "a blue car right of a red duck", True),
        (LEFT_PAIR, "a blue car left of a red duck", False),
        (LEFT_PAIR, "a duck behind a car", False),
        (LEFT_PAIR, "a duck in the snow", False),
        (LEFT_PAIR, "a duck in daylight", False),
        (LEFT_PAIR, "a duck, a car and a dog", False),
        (LEFT_PAIR, "two ducks", False),
        (LEFT_PAIR, "a duck and a duck", False),
        (FRONT_PAIR, "a duck in front of a car", True),
        (FRONT_PAIR, "a car behind a duck", True),
        (FRONT_PAIR, "a duck behind a car", False),
        # nearer, and on the right as well
        (FRONT_PAIR, "a duck right of a car", True),
        (FRONT_PAIR, "a duck left of a car", False),
        (TWO_DUCKS, "two small red ducks", True),
        (TWO_DUCKS, "two ducks", True),
        (TWO_DUCKS, "two blue ducks", False),
        (TWO_DUCKS, "three ducks", False),
        (TWO_DUCKS, "a red duck", True),
        (TWO_DUCKS, "a red duck and a small duck", True),
        (TWO_DUCKS, "a duck left of a duck", True),
        (TWO_DUCKS, "a duck behind a duck", False),
        (TWO_DUCKS, "a red duck and a blue car", False),
    ],
)
def test_truth_in_scenes(shown: Scene, caption: str, truth: bool) -> None:
    assert true_of(facts(caption), shown) is truth
    assert false_of(caption, shown) is not truth


def test_what_is_no_caption_is_neither_true_nor_false() -> None:
    assert false_of("a crimson duck", LEFT_PAIR) is None


@pytest.mark.parametrize(("x", "truth"), [(-0.26, True), (-0.25, False), (-0.24, False)])
def test_sides_need_a_quarter_of_a_unit(x: float, truth: bool) -> None:
    shown = scene(obj("duck red small matte", x, 0.0), obj("car blue large shiny", 0.0, 0.0))
    assert true_of(facts("a duck left of a car"), shown) is truth


@pytest.mark.parametrize(("y", "truth"), [(0.51, True), (0.5, False)])
def test_depth_needs_half_a_unit_and_grows_away_from_the_camera(y: float, truth: bool) -> None:
    shown = scene(obj("duck red small matte", 0.0, y), obj("car blue large shiny", 0.0, 0.0))
    assert true_of(facts("a duck behind a car"), shown) is truth


PAIR = "a small red duck left of a blue car on the grass"


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [
        (PAIR, PAIR, "entailment"),
        (PAIR, "a red duck", "entailment"),
        (PAIR, "a blue car right of a duck", "entailment"),
        (PAIR, "a car and a duck on the grass", "entailment"),
        (PAIR, "a large duck", "contradiction"),
        (PAIR, "a large car", "neutral"),
        (PAIR, "a shiny duck", "neutral"),
        (PAIR, "a red car and a blue duck", "contradiction"),
        (PAIR, "a car left of a duck", "contradiction"),
        (PAIR, "a duck in front of a car", "neutral"),
        (PAIR, "a duck in the snow", "contradiction"),
        (PAIR, "a duck at night", "neutral"),
        (PAIR, "a duck, a car and a dog", "contradiction"),
        (PAIR, "two ducks", "contradiction"),
        ("a duck in front of a car", "a duck left of a car", "neutral"),
        ("a duck in front of a car", "a duck behind a car", "contradiction"),
        ("a duck in front of a car", "a car behind a duck", "entailment"),
        ("a duck and a car", "a duck left of a car", "neutral"),
        ("a duck and a car", "a car and a duck", "entailment"),
        ("a duck, a car and a dog", "a dog and a duck", "entailment"),
        ("a duck, a car and a dog", "a dog left of a duck", "neutral"),
        ("a duck, a red car and a dog", "a dog left of a blue car", "contradiction"),
        ("a duck, a car and a dog", "a dog, a bus and a duck", "contradiction"),
        ("a duck in a room", "a duck at sunset", "contradiction"),
        ("a duck in a room", "a duck in the fog", "contradiction"),
        ("a duck in a room", "a duck at night", "neutral"),
        ("a duck at sunset", "a duck in a room", "contradiction"),
        ("a duck at sunset", "a duck on the beach", "neutral"),
        ("a duck", "a duck in a room at sunset", "contradiction"),
        ("a duck in a room at sunset", "a duck", "contradiction"),
        ("a red duck", "two red ducks", "contradiction"),
        ("a red duck", "a red duck and a duck", "contradiction"),
        ("two red ducks", "a red duck", "entailment"),
        ("two red ducks", "a duck and a red duck", "entailment"),
        ("two red ducks", "a duck left of a duck", "neutral"),
        ("two red ducks", "two small red ducks", "neutral"),
        ("two red ducks", "two blue ducks", "contradiction"),
        ("two red ducks", "three red ducks", "contradiction"),
        ("two red ducks", "a red duck and a blue car", "contradiction"),
        ("two red ducks", "a red duck and a blue duck", "contradiction"),
        ("three ducks", "two ducks", "contradiction"),
        ("three ducks", "a duck and a duck", "entailment"),
        ("three ducks", "a duck and a red duck", "neutral"),
        ("a duck and a red duck", "two red ducks", "entailment"),
        ("a duck left of a duck", "a duck right of a duck", "entailment"),
        ("a duck left of a duck", "a duck behind a duck", "neutral"),
        ("a duck, a duck and a car", "a duck", "contradiction"),
        ("a duck", "a red duck and a blue duck", "contradiction"),
    ],
)
def test_labels_between_captions(premise: str, hypothesis: str, label: str) -> None:
    assert relation_between(facts(premise), facts(hypothesis)) == label


def test_what_no_scene_can_show_entails_and_contradicts_everything() -> None:
    impossible, other = facts("a duck in a room in the fog"), facts("a red car")
    assert entails(impossible, other)
    assert contradicts(impossible, other)
    assert not entails(other, impossible)


# A world small enough to list: then "in every scene" and "in none" can be counted.
CLASSES = ("duck", "car", "dog")
COLOURS = ("red", "blue")
SIZES = ("small", "large")
SETTINGS = (
    *product(("grass", "snow"), ("day", "night", "fog")),
    *product(("room",), ("day", "night")),
)


def small_world() -> list[Scene]:
    kinds = [f"{c} {k} {s} matte" for c, k, s in product(CLASSES, COLOURS, SIZES)]
    casts = [(kind,) * number for kind in kinds for number in (1, 2, 3)]
    for number in (2, 3):
        ordered = product(kinds, repeat=number)
        casts += [
            c for c in ordered if len({k.split()[0] for k in c}) == number and list(c) == sorted(c)
        ]
    return [
        scene(*(obj(k, i * dx, i * dy) for i, k in enumerate(cast)), place=place, light=light)
        for cast in casts
        for dx, dy in product((-1.0, 0.0, 1.0), repeat=2)
        for place, light in SETTINGS
    ]


def small_facts(rng: np.random.Generator) -> Facts:
    def maybe(values: tuple[str, ...]) -> str | None:
        return str(rng.choice(values)) if rng.random() < 0.5 else None

    def thing() -> Thing:
        return Thing(str(rng.choice(CLASSES)), maybe(COLOURS), maybe(SIZES))

    things = tuple(thing() for _ in range(rng.integers(1, 4)))
    count = int(rng.integers(1, 4)) if len(things) == 1 else 1
    relation = maybe(("left of", "right of", "in front of", "behind")) if len(things) == 2 else None
    return Facts(things, count, relation, maybe(("grass", "room")), maybe(("day", "night", "fog")))


def test_decisions_agree_with_the_list_of_all_scenes_of_a_small_world() -> None:
    scenes = small_world()
    rng = np.random.default_rng(0)
    said = [small_facts(rng) for _ in range(160)]
    sizes = np.array([len(s.objects) for s in scenes])
    truth = np.array([[true_of(f, s) for s in scenes] for f in said])
    labels = {"entailment": 0, "neutral": 0, "contradiction": 0}
    for i, premise in enumerate(said):
        fitting = truth[i] & (sizes == len(premise.things) * premise.count)
        for j, hypothesis in enumerate(said):
            shown = truth[j][fitting]
            pair = generate(premise), generate(hypothesis)
            assert entails(premise, hypothesis) == shown.all(), pair
            assert contradicts(premise, hypothesis) == (not shown.any()), pair
            labels[relation_between(premise, hypothesis)] += 1
    assert min(labels.values()) > 300


def test_the_order_of_naming_never_changes_a_label() -> None:
    things = facts("a red duck, a small car and a dog").things
    hypothesis = facts("a car left of a red duck")
    orders = [Facts(order) for order in permutations(things)]
    assert {relation_between(a, b) for a, b in product(orders, repeat=2)} == {"entailment"}
    assert {relation_between(a, hypothesis) for a in orders} == {"neutral"}
