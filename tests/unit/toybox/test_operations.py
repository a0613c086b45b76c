import numpy as np
import pytest

from benchmark.toybox import words
from benchmark.toybox.facts import Facts
from benchmark.toybox.grammar import generate, parse
from benchmark.toybox.operations import OPERATIONS, edit, families, operation_of
from benchmark.toybox.truth import relation_between


def facts(caption: str) -> Facts:
    said = parse(caption)
    assert said is not None, caption
    return said


def outcomes(name: str, caption: str, draws: int = 400) -> set[str]:
    """All captions that an operation makes of one, in so many draws."""
    rng = np.random.default_rng(0)
    results = (OPERATIONS[name].apply(facts(caption), rng) for _ in range(draws))
    return {generate(after) for after in results if after is not None}


def labels(name: str, caption: str) -> set[str]:
    return {relation_between(facts(caption), facts(after)) for after in outcomes(name, caption)}


FULL = "a small red duck left of a large blue car on the grass at night"
EVERY_KIND = (
    FULL,
    "a small red duck in front of a small red car in a room in daylight",
    "a duck left of a car",
    "a duck and a car",
    "a red duck and a blue car",
    "a small matte red duck, a large blue car and a dog in the snow",
    "a duck, a car and a dog",
    "a duck",
    "a large shiny orange umbrella at sunset",
    "two small red ducks on the beach in the fog",
    "three buses",
)


def test_families_are_in_the_published_order_and_all_served() -> None:
    assert families() == (
        "object-add",
        "attribute-add",
        "object-replace",
        "object-swap",
        "attribute-replace",
        "attribute-swap",
        "relation-replace",
        "count-replace",
    )
    assert {operation.family for operation in OPERATIONS.values()} == set(families())
    assert all(name == operation.name for name, operation in OPERATIONS.items())


def test_a_relation_becomes_any_other() -> None:
    assert outcomes("replace-relation", "a duck left of a car") == {
        "a duck right of a car",
        "a duck in front of a car",
        "a duck behind a car",
    }


def test_a_class_becomes_one_that_is_not_there() -> None:
    after = outcomes("replace-object", "a duck and a red car", draws=2000)
    assert len(after) == 2 * (len(words.CLASSES) - 2)
    assert not {"a car and a red car", "a duck and a red duck"} & after


def test_a_count_becomes_another_and_keeps_the_attributes() -> None:
    assert outcomes("replace-count", "a small red bus") == {
        "two small red buses",
        "three small red buses",
    }
    assert outcomes("replace-count", "two matte orange mugs at night") == {
        "a matte orange mug at night",
        "three matte orange mugs at night",
    }


def test_a_room_keeps_to_the_lights_of_indoors() -> None:
    assert outcomes("replace-light", "a duck in a room at night") == {
        "a duck in a room in daylight"
    }
    assert outcomes("replace-place", "a duck in the snow at sunset") == {
        "a duck on the grass at sunset",
        "a duck on the beach at sunset",
        "a duck on the street at sunset",
    }
    assert "a duck in a room" in outcomes("replace-place", "a duck in the snow")


def test_an_added_object_is_described_as_the_others_are() -> None:
    after = outcomes("add-object", "a red duck left of a blue car in a room", draws=1000)
    for caption in after:
        said = facts(caption)
        assert len({thing.cls for thing in said.things}) == 3
        assert all(thing.colour and thing.size is None for thing in said.things)
        assert said.relation is None
        assert said.place == "room"
    assert {facts(caption).things[0].cls == "duck" for caption in after} == {True, False}


def test_swaps_exchange_one_attribute() -> None:
    assert outcomes("swap-objects", FULL) == {
        "a small red car left of a large blue duck on the grass at night"
    }
    assert outcomes("swap-colours", FULL) == {
        "a small blue duck left of a large red car on the grass at night"
    }
    assert outcomes("swap-sizes", FULL) == {
        "a large red duck left of a small blue car on the grass at night"
    }
    assert len(outcomes("swap-objects", "a red duck, a blue car and a green dog")) == 3


@pytest.mark.parametrize(
    ("name", "caption"),
    [
        ("replace-colour", "a small duck"),
        ("replace-size", "a red duck"),
        ("replace-relation", "a duck and a car"),
        ("replace-place", "a duck at night"),
        ("replace-light", "a duck on the grass"),
        ("replace-count", "a duck and a car"),
        ("add-object", "a duck, a car and a dog"),
        ("add-object", "two ducks"),
        ("add-attribute", "a matte duck and a shiny car"),
        ("swap-objects", "a red duck"),
        # naming equals in another order is no edit
        ("swap-objects", "a red duck and a red car"),
        ("swap-colours", "a red duck left of a red car"),
        ("swap-colours", "a red duck left of a car"),
        ("swap-sizes", "two small ducks"),
    ],
)
def test_operations_that_find_no_place_give_none(name: str, caption: str) -> None:
    assert outcomes(name, caption) == set()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("replace-object", {"contradiction"}),
        ("replace-colour", {"contradiction"}),
        ("replace-size", {"contradiction"}),
        # right of is false, in front of and behind are open
        ("replace-relation", {"contradiction", "neutral"}),
        ("replace-place", {"contradiction"}),
        ("replace-light", {"contradiction"}),
        ("add-object", {"contradiction"}),
        ("add-attribute", {"neutral"}),
        ("swap-objects", {"contradiction"}),
        ("swap-colours", {"contradiction"}),
        ("swap-sizes", {"contradiction"}),
    ],
)
def test_what_an_edit_of_a_full_caption_means(name: str, expected: set[str]) -> None:
    assert labels(name, FULL) == expected


def test_fewer_of_the_same_are_one_too() -> None:
    assert labels("replace-count", "a red duck") == {"contradiction"}
    assert labels("replace-count", "two red ducks") == {"contradiction", "entailment"}


@pytest.mark.parametrize("caption", EVERY_KIND)
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_changes_the_facts_and_is_recognised(name: str, caption: str) -> None:
    before = facts(caption)
    for after in map(facts, outcomes(name, caption, draws=60)):
        assert after != before
        assert operation_of(before, after) == name


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ("a red duck", "a red duck", "identical"),
        ("a duck left of a car", "a car right of a duck", "identical"),
        ("a duck, a car and a dog", "a dog, a duck and a car", "identical"),
        ("a duck left of a car", "a car left of a duck", "swap-objects"),
        ("a red duck", "a duck", "drop"),
        ("a duck and a car", "a car", "drop"),
        ("a duck left of a car", "a duck and a car", "drop"),
        ("a duck left of a car", "a duck", "drop"),
        ("a duck, a car and a dog", "a duck and a dog", "drop"),
        ("a duck on the grass at night", "a duck on the grass", "drop"),
        ("a duck on the grass at night", "a duck at night", "drop"),
        ("a duck", "a red duck", "add-attribute"),
        ("a duck", "a duck left of a car", "add-object"),
        ("a duck, a car and a dog", "a duck left of a car", "several"),
        ("a matte duck", "a shiny duck", "several"),
        ("a red duck and a car", "a duck and a red car", "several"),
        ("a matte duck left of a shiny car", "a shiny duck left of a matte car", "several"),
        ("a red duck", "a blue dog", "several"),
        ("a red duck at night", "a blue duck in daylight", "several"),
        ("a duck and a car", "a duck left of a car", "several"),
        ("a duck", "a duck at night", "several"),
        ("a duck", "a duck and a car at night", "several"),
        ("a duck and a car", "two ducks", "several"),
        ("a duck on the grass at night", "a duck in the snow at sunset", "several"),
        ("a red duck and a blue car", "a blue duck and a blue car", "replace-colour"),
    ],
)
def test_what_turned_one_caption_into_another(before: str, after: str, name: str) -> None:
    assert operation_of(facts(before), facts(after)) == name


def test_what_does_not_parse_is_malformed() -> None:
    assert operation_of(facts("a duck"), parse("a duck duck")) == "malformed"


def test_edit_draws_evenly_among_what_applies() -> None:
    rng = np.random.default_rng(0)
    drawn = [edit(facts("a red duck"), rng) for _ in range(1000)]
    names = [result[0] for result in drawn if result]
    assert set(names) == {
        "replace-object",
        "replace-colour",
        "replace-count",
        "add-object",
        "add-attribute",
    }
    # 200 each are expected, with a standard deviation of 12.6
    assert all(150 < names.count(name) < 250 for name in set(names))


@pytest.mark.parametrize("family", families())
def test_edit_keeps_to_its_family(family: str) -> None:
    rng = np.random.default_rng(0)
    for caption in EVERY_KIND:
        result = edit(facts(caption), rng, family)
        if result is not None:
            assert OPERATIONS[result[0]].family == family
            assert operation_of(facts(caption), result[1]) == result[0]


def test_edit_gives_none_where_the_family_does_not_apply() -> None:
    assert edit(facts("a duck"), np.random.default_rng(0), "relation-replace") is None


def test_unknown_families_are_refused_by_name() -> None:
    with pytest.raises(
        ValueError, match=r"unknown family 'object-drop': expected one of object-add"
    ):
        edit(facts("a duck"), np.random.default_rng(0), "object-drop")


def test_the_same_seed_gives_the_same_edits() -> None:
    first, second = (
        [edit(facts(FULL), rng) for _ in range(20)]
        for rng in (np.random.default_rng(7), np.random.default_rng(7))
    )
    assert first == second
