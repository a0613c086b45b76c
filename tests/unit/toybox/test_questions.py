import numpy as np
import pytest

from benchmark.toybox.facts import Facts, Thing
from benchmark.toybox.grammar import generate, parse
from benchmark.toybox.questions import (
    DESCRIBE,
    KINDS,
    SETTING,
    SUBJECT,
    Question,
    canonical,
    questions,
)
from benchmark.toybox.sampling import sample_scene, scenes
from benchmark.toybox.truth import true_of


def asked(facts: Facts, seed: int = 0) -> dict[str, str]:
    return {q.text: q.answer for q in questions(facts, np.random.default_rng(seed))}


def test_all_questions_about_a_pair() -> None:
    ball, mug = Thing("ball", "orange", "large"), Thing("mug", "blue", "small")
    found = asked(Facts((ball, mug), 1, "left of", "room", "night"))
    presence = {text for text in found if text.startswith(("Is there", "Are there"))}
    assert len(presence) == 1
    assert {text: answer for text, answer in found.items() if text not in presence} == {
        SUBJECT: "a large orange ball left of a small blue mug",
        SETTING: "in a room at night",
        "What colour is the ball?": "an orange ball",
        "What colour is the mug?": "a blue mug",
        "What size is the ball?": "a large ball",
        "What size is the mug?": "a small mug",
        "How many balls are there?": "a ball",
        "How many mugs are there?": "a mug",
        "What is left of the mug?": "an orange ball left of a mug",
        "What is right of the ball?": "a blue mug right of a ball",
        "Where is the ball?": "a ball in a room",
        "Where is the mug?": "a mug in a room",
        "What is the light like?": "at night",
    }


def test_counted_things_are_asked_about_in_the_plural() -> None:
    found = asked(Facts((Thing("bus", "red"),), 3))
    assert found["What colour are the buses?"] == "three red buses"
    assert found["How many buses are there?"] == "three buses"
    assert found[SUBJECT] == "three red buses"
    assert SETTING not in found
    assert not any(text.startswith(("What size", "Where", "What is the light")) for text in found)


def test_presence_is_asked_of_what_is_there_and_of_what_is_not() -> None:
    answers = set()
    for seed in range(60):
        found = questions(Facts((Thing("umbrella"),)), np.random.default_rng(seed))
        (question,) = (q for q in found if q.kind == "presence")
        there = "umbrella" in question.text
        assert question.answer.startswith("yes" if there else "no")
        answers.add(question.answer)
    assert "yes, there is an umbrella" in answers
    assert len(answers) > 10
    (counted,) = (
        q
        for q in questions(Facts((Thing("duck"),), 2), np.random.default_rng(1))
        if q.kind == "presence"
    )
    assert counted == Question("presence", counted.text, "yes, there are two ducks") or (
        counted.answer.startswith("no, there is no ")
    )


def test_answers_that_are_captions_are_true() -> None:
    read = 0
    for scene in scenes("validation", 60):
        for question in questions(canonical(scene), np.random.default_rng(0)):
            assert question.kind in KINDS
            facts = parse(question.answer)
            if facts is not None:
                read += 1
                assert true_of(facts, scene), question
    assert read > 300


def test_subject_and_setting_are_the_caption() -> None:
    for scene in scenes("validation", 30):
        facts = canonical(scene)
        found = asked(facts)
        assert f"{found[SUBJECT]} {found[SETTING]}" == generate(facts)
    assert DESCRIBE.endswith(".")


@pytest.mark.parametrize("kind", ["pair", "triple", "counted", "single"])
def test_one_order_of_naming(kind: str) -> None:
    for seed in range(20):
        scene = sample_scene(seed, kind)
        facts = canonical(scene)
        assert true_of(facts, scene)
        assert all(thing.material is None for thing in facts.things)
        assert facts.relation in (None, "left of", "in front of")
        assert (facts.relation is None) == (kind != "pair")
        if kind == "triple":
            where = {o.cls: o.x for o in scene.objects}
            xs = [where[thing.cls] for thing in facts.things]
            assert xs == sorted(xs)
