import pytest

from benchmark.toybox import words
from benchmark.toybox.facts import Facts, Thing
from benchmark.toybox.grammar import VOCABULARY, generate, paraphrases, parse, tokens

DUCK = Thing("duck", "red", "small")
CAR = Thing("car", "blue", "large")
UMBRELLA = Thing("umbrella", material="shiny")

SPOKEN = {
    "a duck": Facts((Thing("duck"),)),
    "an airplane": Facts((Thing("airplane"),)),
    "an orange mug": Facts((Thing("mug", "orange"),)),
    "a small shiny orange mug": Facts((Thing("mug", "orange", "small", "shiny"),)),
    "a small red duck left of a large blue car on the grass at night": Facts(
        (DUCK, CAR), 1, "left of", "grass", "night"
    ),
    "a large blue car in front of a shiny umbrella in the snow in the fog": Facts(
        (CAR, UMBRELLA), 1, "in front of", "snow", "fog"
    ),
    "a small red duck and a large blue car in daylight": Facts((DUCK, CAR), light="day"),
    "a small red duck, a large blue car and a shiny umbrella in a room": Facts(
        (DUCK, CAR, UMBRELLA), place="room"
    ),
    "two small red ducks on the street at sunset": Facts(
        (DUCK,), 2, place="street", light="sunset"
    ),
    "three matte white snowmen": Facts((Thing("snowman", "white", None, "matte"),), 3),
    "two buses on the beach": Facts((Thing("bus"),), 2, place="beach"),
}


@pytest.mark.parametrize("caption", SPOKEN)
def test_captions_are_said_and_read_as_written_by_hand(caption: str) -> None:
    assert generate(SPOKEN[caption]) == caption
    assert parse(caption) == SPOKEN[caption]


@pytest.mark.parametrize(
    "variant",
    [
        "A small red DUCK and a mug.",
        "  a  small red\tduck and a mug . ",
        "a small red duck and\na mug",
    ],
)
def test_case_spacing_and_a_final_period_do_not_matter(variant: str) -> None:
    assert parse(variant) == Facts((DUCK, Thing("mug")))


def test_tokens_joined_by_spaces_are_read() -> None:
    caption = "a small red duck, a large blue car and a shiny umbrella in a room"
    assert tokens("A duck, a car.") == ["a", "duck", ",", "a", "car"]
    assert parse(" ".join(tokens(caption))) == SPOKEN[caption]


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "duck",
        "a",
        "an duck",
        "a orange duck",
        "a red small duck",
        "a small small duck",
        "a red ducks",
        "two red duck",
        "two ducks and a car",
        "four ducks",
        "a duck left a car",
        "a duck left of two cars",
        "a duck left of a car, a dog",
        "a duck, a car, a dog",
        "a duck and a car and a dog",
        "a duck, a car and a dog and a bus",
        "a duck at night on the grass",
        "a duck on the grass on the snow",
        "on the grass a duck",
        "on the grass, a duck at night",
        "on the grass,",
        ", a duck",
        "at night",
        "a duck on the moon",
        "a duck. a car",
        "a crimson duck",
        "aduck",
        "a duckleft of a car",
    ],
)
def test_what_is_no_caption_is_refused(text: str) -> None:
    assert parse(text) is None


def test_a_fronted_setting_and_the_other_side_of_a_relation_are_paraphrases() -> None:
    facts = Facts((DUCK, CAR), 1, "in front of", "grass", "night")
    assert set(paraphrases(facts)) == {
        "on the grass at night, a small red duck in front of a large blue car",
        "a large blue car behind a small red duck on the grass at night",
        "on the grass at night, a large blue car behind a small red duck",
    }
    assert parse(paraphrases(facts)[0]) == facts


def test_conjuncts_are_named_in_every_order() -> None:
    three = Facts((Thing("duck"), Thing("car"), Thing("dog")))
    assert len(paraphrases(three)) == 5
    assert "a dog, a duck and a car" in paraphrases(three)
    assert paraphrases(Facts((Thing("duck"), Thing("car")))) == ["a car and a duck"]


def test_a_thing_alone_has_no_paraphrase() -> None:
    assert paraphrases(Facts((DUCK,))) == []
    assert paraphrases(Facts((DUCK,), 2, light="fog")) == ["in the fog, two small red ducks"]


def test_equal_things_are_not_listed_twice() -> None:
    assert paraphrases(Facts((DUCK, DUCK, DUCK))) == []


def test_vocabulary_is_sorted_and_holds_the_plurals_and_the_comma() -> None:
    assert list(VOCABULARY) == sorted(set(VOCABULARY))
    assert {",", "a", "an", "and", "of", "behind", "two", "the", "daylight"} <= set(VOCABULARY)
    assert set(words.PLURALS.values()) <= set(VOCABULARY)
    # 20 classes and their plurals, 9 colours, 2 sizes, 2 materials, 2 numerals,
    # left right of in front behind, on the grass beach snow street a room,
    # daylight at night sunset fog, an and ","
    assert len(VOCABULARY) == 40 + 9 + 2 + 2 + 2 + 6 + 8 + 5 + 3


def test_plurals_and_singulars_are_each_others_inverse() -> None:
    assert len(words.SINGULARS) == len(words.CLASSES)
    assert not set(words.SINGULARS) & set(words.CLASSES)
