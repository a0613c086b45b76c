from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from benchmark.toybox.captions import (
    brief_caption,
    brief_facts,
    full_caption,
    full_facts,
    natural_caption,
    natural_facts,
)
from benchmark.toybox.facts import Facts
from benchmark.toybox.grammar import VOCABULARY, generate, parse, tokens
from benchmark.toybox.sampling import scenes
from benchmark.toybox.scene import Camera, Scene, SceneObject
from benchmark.toybox.truth import contradicts, true_of

Say = Callable[[Scene, np.random.Generator], Facts]

DUCK = SceneObject("duck", "red", "small", "matte", -0.6, 0.0, scale=0.75, yaw=0.0)
CAR = SceneObject("car", "blue", "large", "shiny", 0.6, 0.0, scale=1.1, yaw=0.0)
DOG = SceneObject("dog", "white", "large", "matte", 0.0, 0.0, scale=1.1, yaw=0.0)
PAIR = Scene((DUCK, CAR), "grass", "night", Camera(0.3, 3.5), seed=0, relation="left of")
TRIPLE = replace(PAIR, objects=(DUCK, CAR, DOG), relation=None, light="day")
COUNTED = replace(PAIR, objects=(DUCK, replace(DUCK, x=0.6)), relation=None, counted=True)


def draws(say: Say, scene: Scene, n: int = 4000) -> list[Facts]:
    rng = np.random.default_rng(0)
    return [say(scene, rng) for _ in range(n)]


def share(holds: list[bool]) -> float:
    return sum(holds) / len(holds)


def test_full_captions_say_all_but_the_material() -> None:
    assert full_caption(PAIR) == "a small red duck left of a large blue car on the grass at night"
    assert full_caption(COUNTED) == "two small red ducks on the grass at night"
    assert full_caption(TRIPLE) == (
        "a small red duck, a large blue car and a large white dog on the grass in daylight"
    )


# The tolerance is over four standard deviations of a share of 4,000 draws.
def test_natural_captions_leave_out_what_a_person_might() -> None:
    said = draws(natural_facts, PAIR)
    assert all(len(f.things) == 2 for f in said)
    assert share([f.things[1].size == "large" for f in said]) == pytest.approx(0.45, abs=0.035)
    assert share([f.things[1].material == "shiny" for f in said]) == pytest.approx(0.2, abs=0.035)
    assert share([f.things[0].colour == "red" for f in said]) == pytest.approx(0.85, abs=0.035)
    assert share([f.relation is None for f in said]) == pytest.approx(0.25, abs=0.035)
    assert share([f.place == "grass" for f in said]) == pytest.approx(0.9, abs=0.035)
    assert share([f.light == "night" for f in said]) == pytest.approx(0.95, abs=0.035)


def test_daylight_goes_unsaid_in_half_of_the_natural_captions() -> None:
    said = draws(natural_facts, TRIPLE)
    assert share([f.light == "day" for f in said]) == pytest.approx(0.5, abs=0.035)


def test_brief_captions_often_name_one_thing_alone() -> None:
    said = draws(brief_facts, TRIPLE)
    alone = [f for f in said if len(f.things) == 1]
    assert share([len(f.things) == 1 for f in said]) == pytest.approx(0.4, abs=0.035)
    for cls in ("duck", "car", "dog"):
        assert share([f.things[0].cls == cls for f in alone]) == pytest.approx(1 / 3, abs=0.05)


def test_brief_captions_drop_most_of_the_rest() -> None:
    said = draws(brief_facts, PAIR)
    assert share([f.things[0].colour is not None for f in said]) == pytest.approx(0.45, abs=0.035)
    assert share([f.things[0].size is not None for f in said]) == pytest.approx(0.25, abs=0.035)
    assert share([f.things[0].material is not None for f in said]) == pytest.approx(0.15, abs=0.035)
    assert share([f.place is not None for f in said]) == pytest.approx(0.3, abs=0.035)
    assert share([f.light is not None for f in said]) == pytest.approx(0.3, abs=0.035)


@pytest.mark.parametrize("say", [natural_facts, brief_facts])
def test_a_count_is_always_said(say: Say) -> None:
    assert all(f.count == 2 for f in draws(say, COUNTED, 200))


@pytest.mark.parametrize("say", [natural_caption, brief_caption])
def test_a_tenth_is_said_in_another_form(
    say: Callable[[Scene, np.random.Generator], str],
) -> None:
    rng = np.random.default_rng(0)
    captions = [say(TRIPLE, rng) for _ in range(4000)]
    plain = [f for f in map(parse, captions) if f is not None]
    assert len(plain) == 4000
    # A paraphrase of things in their own order differs from what `generate` says of it; the
    # others name the things in another order than the scene.
    order = ["duck", "car", "dog"]
    other = [
        generate(f) != c
        or [t.cls for t in f.things] != [k for k in order if k in {t.cls for t in f.things}]
        for f, c in zip(plain, captions, strict=True)
    ]
    possible = share(
        [len(f.things) > 1 or f.place is not None or f.light is not None for f in plain]
    )
    assert share(other) == pytest.approx(0.1 * possible, abs=0.02)


def test_the_same_seed_gives_the_same_captions() -> None:
    first, second = (
        [natural_caption(PAIR, rng) + brief_caption(PAIR, rng) for _ in range(50)]
        for rng in (np.random.default_rng(3), np.random.default_rng(3))
    )
    assert first == second


def test_twenty_thousand_captions_are_true_and_say_every_word_of_the_vocabulary() -> None:
    rng = np.random.default_rng(0)
    heard: set[str] = set()
    for scene in scenes("train", 4000):
        captions = [full_caption(scene)]
        captions += [natural_caption(scene, rng) for _ in range(2)]
        captions += [brief_caption(scene, rng) for _ in range(2)]
        for caption in captions:
            facts = parse(caption)
            assert facts is not None, caption
            assert true_of(facts, scene), caption
            heard.update(tokens(caption))
    assert heard == set(VOCABULARY)


def test_full_and_natural_captions_name_every_object() -> None:
    rng = np.random.default_rng(0)
    for scene in scenes("validation", 500):
        for facts in (full_facts(scene), natural_facts(scene, rng)):
            assert len(facts.things) * facts.count == len(scene.objects)
            assert not contradicts(facts, scene.facts)
