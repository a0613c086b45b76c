from collections.abc import Sequence
from math import isnan

import numpy as np
import pytest

from benchmark.toybox.grammar import generate
from benchmark.toybox.questions import DESCRIBE, canonical, questions
from benchmark.toybox.sampling import sample_scene
from benchmark.toybox.scene import Camera, Scene, SceneObject
from benchmark.types import ModelInfo, Pixels, Sampling
from targets.miniature.lvlm_quality import (
    concept_figures,
    kind_of,
    mark,
    measure,
    object_f1,
    shares,
    shortfalls,
)


def thing(cls: str, colour: str, x: float) -> SceneObject:
    return SceneObject(cls, colour, "large", "matte", x, 0.0, 1.0, 0.0)


PAIR = Scene(
    (thing("ball", "red", -0.6), thing("mug", "blue", 0.6)),
    "grass", "fog", Camera(0.2, 3.0), 0, relation="left of",
)  # fmt: skip
DUCKS = Scene(
    tuple(thing("duck", "pink", x) for x in (-1.0, 0.0, 1.0)),
    "snow", "day", Camera(0.2, 3.0), 1, counted=True,
)  # fmt: skip


class Scripted:
    """Says what it was given, picture by picture; the first pixel is the index."""

    info = ModelInfo("scripted")

    def __init__(self, captions: Sequence[str], answers: dict[tuple[int, str], str]) -> None:
        self.captions, self.answers = captions, answers

    def answer(
        self, images: Sequence[Pixels], prompts: Sequence[str], sampling: Sampling
    ) -> list[str]:
        del sampling
        at = [int(image[0, 0, 0]) for image in images]
        return [
            self.captions[i] if prompt == DESCRIBE else self.answers.get((i, prompt), "")
            for i, prompt in zip(at, prompts, strict=True)
        ]


def numbered(n: int) -> Pixels:
    return np.stack([np.full((2, 2, 3), i, np.uint8) for i in range(n)])


def test_a_perfect_caption() -> None:
    marks = mark("a large red ball left of a large blue mug on the grass in the fog", PAIR)
    assert marks.objects == (2, 2, 2)
    assert marks.shares == {
        "well_formed": (1, 1),
        "colour": (2, 2),
        "size": (2, 2),
        "place": (1, 1),
        "light": (1, 1),
        "true_caption": (1, 1),
        "relation": (1, 1),
    }


def test_the_other_side_of_a_relation_is_as_right() -> None:
    assert mark("a mug right of a ball", PAIR).shares["relation"] == (1, 1)
    assert mark("a mug left of a ball", PAIR).shares["relation"] == (0, 1)
    assert mark("a ball and a mug", PAIR).shares["relation"] == (0, 1)


def test_a_wrong_object_is_not_asked_for_its_colour() -> None:
    marks = mark("a blue ball left of a blue car on the grass at night", PAIR)
    assert marks.objects == (1, 2, 2)
    assert marks.shares["colour"] == (0, 1)
    assert marks.shares["size"] == (0, 1)
    assert marks.shares["light"] == (0, 1)
    assert "relation" not in marks.shares


def test_counted_objects_are_objects() -> None:
    marks = mark("two pink ducks", DUCKS)
    assert marks.objects == (2, 2, 3)
    assert marks.shares["count"] == (0, 1)
    assert marks.shares["colour"] == (1, 1)
    assert mark("three ducks", DUCKS).shares["count"] == (1, 1)


def test_no_caption_of_the_world_names_nothing() -> None:
    marks = mark("red red red", PAIR)
    assert marks.objects == (0, 0, 2)
    assert marks.shares == {"well_formed": (0, 1)}


def test_f1_is_over_all_pictures_together() -> None:
    marks = [mark("a ball", PAIR), mark("a car", DUCKS)]
    assert object_f1(marks) == pytest.approx(2 * 1 / (2 + 5))
    assert isnan(object_f1([]))
    assert shares(marks)["well_formed"] == 1
    assert shares(marks)["place"] == 0


def test_kinds() -> None:
    assert [kind_of(s) for s in (PAIR, DUCKS)] == ["pair", "counted"]
    assert kind_of(sample_scene(4, "triple")) == "triple"


def test_measure_of_a_model_that_knows_all_but_one_colour() -> None:
    scenes = [PAIR, DUCKS]
    answers = {
        (i, q.text): q.answer
        for i, scene in enumerate(scenes)
        for q in questions(canonical(scene), np.random.default_rng([scene.seed]))
    }
    answers[0, "What colour is the mug?"] = "a red mug"
    answers[1, "What is the light like?"] = "In daylight."
    model = Scripted([generate(canonical(scene)) for scene in scenes], answers)
    data = {"mixed": (numbered(2), scenes), "single": (numbered(2), scenes)}
    measured = measure(model, data)
    # Two of five scenes are asked about: here the first one, one of whose two colours is wrong.
    assert measured.pop("answer_colour") == 0.5
    assert set(measured.values()) == {1.0}
    assert {"object_f1_single", "object_f1_mixed", "relation", "count"} <= measured.keys()
    assert "object_f1_triple_of_mixed" not in measured


def test_figures_of_concepts() -> None:
    model = Scripted(["a mug at night", "three ducks in the snow"], {})
    figures = concept_figures(model, numbered(2), [PAIR, DUCKS], ("fog", "duck"))
    assert figures["fog"]["scenes"] == 1
    assert figures["fog"]["named"] == 0
    assert figures["fog"]["object_f1"] == pytest.approx(2 / 3, abs=1e-4)
    assert figures["duck"]["named"] == 1
    assert figures["duck"]["object_f1"] == 1
    assert figures["rest"]["scenes"] == 0


def test_gates_that_are_missed_are_named() -> None:
    measured = {"object_f1_single": 0.91, "object_f1_mixed": 0.79, "colour": 0.9}
    assert shortfalls(measured) == ["object_f1_mixed 0.790 < 0.8"]
