import pytest

from benchmark.errors import UserError
from benchmark.toybox.facts import Facts, Thing
from benchmark.toybox.grammar import generate, paraphrases
from benchmark.toybox.sampling import scenes
from metrics.capture.parser_toybox import ToyboxParser


def parse(*texts: str) -> list[object]:
    return list(ToyboxParser().parse(texts))


def test_a_graph_by_hand() -> None:
    (graph,) = parse("a small matte red ball behind a duck in the snow at night")
    assert graph == {
        "objects": ["ball", "duck"],
        "attributes": {"ball": ["matte", "red", "small"]},
        "relations": [
            ["ball", "in the light", "night"],
            ["ball", "in the setting", "snow"],
            ["duck", "in front of", "ball"],
            ["duck", "in the light", "night"],
            ["duck", "in the setting", "snow"],
        ],
    }


def test_a_number_is_an_attribute_of_the_singular() -> None:
    two, three = parse("two red snowmen", "three red snowmen")
    assert two == {
        "objects": ["snowman"],
        "attributes": {"snowman": ["red", "two"]},
        "relations": [],
    }
    assert two != three


def test_daylight_and_room_are_nouns() -> None:
    (graph,) = parse("a mug in a room in daylight")
    assert graph["relations"] == [  # type: ignore[index]
        ["mug", "in the light", "daylight"],
        ["mug", "in the setting", "room"],
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a dog left of a red bus", "a red bus right of a dog"),
        ("a dog behind a bus in the fog", "in the fog, a bus in front of a dog"),
        ("a dog, a bus and a car", "A car, a dog and a bus."),
    ],
)
def test_order_and_mirrors_change_nothing(one: str, other: str) -> None:
    first, second = parse(one, other)
    assert first is not None
    assert first == second


def test_paraphrases_have_equal_graphs_and_other_meanings_do_not() -> None:
    facts = Facts((Thing("dog", "red"), Thing("bus")), 1, "left of", "beach", "sunset")
    said = [generate(facts), *paraphrases(facts)]
    assert len(said) == 4
    graphs = parse(*said)
    assert all(graph == graphs[0] for graph in graphs)
    (mirrored,) = parse("a red dog right of a bus on the beach at sunset")
    assert mirrored != graphs[0]


def test_two_things_of_one_class_are_one_object() -> None:
    (graph,) = parse("a red dog and a small dog")
    assert graph == {"objects": ["dog"], "attributes": {"dog": ["red", "small"]}, "relations": []}


@pytest.mark.parametrize("text", ["", "I see a dog.", "a dog a dog", "a unicorn", "two dog"])
def test_what_is_no_caption_has_no_graph(text: str) -> None:
    assert parse(text) == [None]


def test_every_caption_of_the_world_has_a_graph() -> None:
    captions = [generate(scene.facts) for scene in scenes("test", 40)]
    assert None not in parse(*captions)


def test_it_takes_no_argument() -> None:
    with pytest.raises(UserError, match="takes no argument, not 'x'"):
        ToyboxParser("x")
