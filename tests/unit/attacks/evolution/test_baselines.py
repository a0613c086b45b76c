"""Random search, LANCE and NL-adv, against targets whose weakness is known."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import fmean

import numpy as np
import pytest

from attacks.evolution.contest import Contest, rounds_of
from attacks.evolution.engine import Engine, Found
from attacks.evolution.grammar_operators import GrammarOperators
from attacks.evolution.individuals import Asking, Individual
from attacks.evolution.lance import lance, one_place
from attacks.evolution.nl_adv import POPULATION, nl_adv, space_of
from attacks.evolution.random_search import random_search
from attacks.evolution.searches import SEARCHES
from benchmark.toybox.grammar import parse
from tests.unit.attacks.evolution.arena import SETTINGS, engine, run
from tests.unit.attacks.evolution.asking import result

SEARCHED = {"random_search": random_search, "lance": lance, "nl_adv": nl_adv}


def blind_to_umbrellas(text: str, replica: int) -> float:
    """Noise by the picture, and 0.5 less for umbrellas."""
    noise = int.from_bytes(hashlib.sha256(f"{text}{replica}".encode()).digest()[:4], "big") / 2**32
    return 0.6 - 0.5 * ("umbrella" in text) + 0.3 * noise


def test_they_are_searches() -> None:
    assert {name: SEARCHES[name] for name in SEARCHED} == SEARCHED


@pytest.mark.parametrize("selection", ["robust", "paper"])
@pytest.mark.parametrize("name", SEARCHED)
def test_all_spend_the_budget_of_evolution_and_no_more(name: str, selection: str) -> None:
    one, evaluator = engine(blind_to_umbrellas, selection=selection)
    found, told = run(SEARCHED[name], one)
    assert 100 < evaluator.used <= 120
    assert len(found.finals) == len(found.selected) == 6
    ids = [final[0].individual.id for final in found.finals]
    assert len(set(ids)) == 6
    assert list(found.selected) == sorted(found.selected)
    assert [row["generation"] for row in found.generations] == list(range(len(found.generations)))
    assert found.generations[0]["evaluations"] == 24
    assert found.generations[-1]["evaluations"] == evaluator.used
    assert len(told) == len(found.generations) - 1
    # No picture is shown twice.
    assert max(Counter(evaluator.shown).values()) == 1
    if selection == "paper":
        assert all(len(final) == 1 for final in found.finals)
    else:
        assert max(len(final) for final in found.finals) > 1


@pytest.mark.parametrize("name", SEARCHED)
def test_the_same_randomness_finds_the_same(name: str) -> None:
    found = [run(SEARCHED[name], engine(blind_to_umbrellas)[0])[0] for _ in range(2)]
    texts = [[final[0].individual.text for final in one.finals] for one in found]
    assert texts[0] == texts[1]
    other = run(SEARCHED[name], engine(blind_to_umbrellas, seed=1)[0])[0]
    assert [final[0].individual.text for final in other.finals] != texts[0]


@pytest.mark.parametrize("name", SEARCHED)
def test_a_weakness_is_found(name: str) -> None:
    one, _ = engine(blind_to_umbrellas, budget=500)
    found, _ = run(SEARCHED[name], one)
    share = fmean("umbrella" in final[0].individual.text for final in found.finals)
    in_pool = fmean("umbrella" in caption.text for caption in one.pool)
    assert in_pool < 0.2
    assert share >= 0.5


@pytest.mark.parametrize("name", SEARCHED)
def test_captions_without_a_score_are_never_final(name: str) -> None:
    def refuses_night(text: str, replica: int) -> float | None:
        return None if "night" in text else blind_to_umbrellas(text, replica)

    one, evaluator = engine(refuses_night)
    found, _ = run(SEARCHED[name], one)
    assert evaluator.counted["refused"] > 0
    assert not any("night" in final[0].individual.text for final in found.finals)


def test_rounds_are_as_large_as_evolutions_or_fewer() -> None:
    assert rounds_of(SETTINGS, 1000) == [12, 9, 6]
    assert rounds_of(SETTINGS, 81) == [12, 9, 6]
    assert rounds_of(SETTINGS, 80) == [9, 6]
    assert rounds_of(SETTINGS, 17) == []


def test_halving_gives_luck_a_second_look() -> None:
    captions = [Individual(n, text, "initial") for n, text in enumerate("abcdefgh")]
    lucky = {"a": 0.0, "b": 0.1}

    def score(text: str, replica: int) -> float:
        return lucky.get(text, 0.5) if replica == 0 else (0.2 if text == "c" else 0.9)

    one, evaluator = engine(lambda text, replica: 0.9, budget=60)
    evaluator.score = score
    contest = Contest(one)
    entered = result(contest.enter(captions))
    assert [e.text for e in contest.best(2)] == ["a", "b"]
    assert entered[2] is not None
    result(contest.halve([8, 2]), lambda note: [])
    assert contest.best(1)[0].text == "c"
    assert len(contest.best(1)[0].evaluations) == 3


def test_random_search_stops_when_there_is_nothing_new() -> None:
    class FewWords(GrammarOperators):
        def initial(self, n: int, rng: np.random.Generator) -> Asking[list[str]]:
            return ["a red duck in the snow", "a red mug in the snow"]
            yield

    one, evaluator = engine(blind_to_umbrellas, operators=FewWords(), selection="paper")
    found, _ = run(random_search, one)
    assert evaluator.used == 26
    assert found.stopped == "schedule"


def test_random_search_spends_as_evolution_does() -> None:
    """A third of the budget goes into more pictures of as many captions as evolution shows again."""
    one, evaluator = engine(blind_to_umbrellas)
    run(random_search, one)
    again = [replica for _, replica in evaluator.shown if replica > 0]
    assert len(again) == 12 + 9 + 6
    assert evaluator.used == 120


def test_a_walk_goes_only_where_it_is_described_worse() -> None:
    one, _ = engine(blind_to_umbrellas, selection="paper")
    found, _ = run(lance, one)
    means = [row["mean"] for row in found.generations[1:]]
    assert means == sorted(means, reverse=True)  # type: ignore[type-var]
    assert 0 < int(str(found.extra["accepted"])) < int(str(found.extra["rewritten"]))


def test_a_random_walk_goes_anywhere() -> None:
    one, _ = engine(blind_to_umbrellas, selection="paper", lance_accept="always")
    found, _ = run(lance, one)
    assert found.extra["accepted"] == found.extra["rewritten"]


def test_rewrites_come_from_their_captions() -> None:
    one, _ = engine(blind_to_umbrellas)
    seen: dict[int, Individual] = {caption.id: caption for caption in one.pool}
    found, _ = run(lance, one)
    assert all(row["evaluations"] for row in found.generations)
    for final in found.finals:
        individual = final[0].individual
        if individual.operator == "rewrite":
            (parent,) = individual.parents
            if parent in seen:
                assert one_place(seen[parent].text, individual.text)


def test_a_walk_ends_without_rewrites() -> None:
    class Silent(GrammarOperators):
        def rewrite(
            self, texts: Sequence[str], aspects: Sequence[str], rng: np.random.Generator
        ) -> Asking[list[str | None]]:
            return [None] * len(texts)
            yield

    one, evaluator = engine(blind_to_umbrellas, operators=Silent(), selection="paper")
    found, _ = run(lance, one)
    assert evaluator.used == 24
    assert len(found.generations) == 4  # the pool, and three rounds in vain


@pytest.mark.parametrize(
    ("after", "fits"),
    [
        ("a blue duck on the grass at night", True),
        ("a large red duck on the grass at night", True),
        ("a red duck at night", True),
        ("a blue duck on the beach at night", False),
        ("a red duck on the grass at night", False),
    ],
)
def test_changes_in_one_place(after: str, fits: bool) -> None:
    assert one_place("a red duck on the grass at night", after) == fits


def test_the_toybox_space_says_captions_that_can_be() -> None:
    space = space_of("grammar")
    genes = {slot: options[0] for slot, options in space.slots.items()}
    said = space.say(genes)
    assert said == "a small red ball on the grass in daylight"
    assert space.say(genes | {"number": "two"}) == "two small red balls on the grass in daylight"
    assert space.say(genes | {"background": "room", "weather": "fog"}) is None
    assert parse(said) is not None


def test_the_animal_space_has_the_published_sizes() -> None:
    space = space_of("prompts")
    sizes = {slot: len(options) for slot, options in space.slots.items()}
    assert sizes == {
        "number": 2, "target": 10, "weather": 8, "background": 11, "colour": 10, "gesture": 11,
        "style": 3, "appearance": 4, "expression": 5,
    }  # fmt: skip
    genes = {slot: options[0] for slot, options in space.slots.items()}
    assert space.say(genes) == (
        "a photograph of one calm black butterfly with long fur, running in a meadow on a sunny day"
    )
    two = space.say(genes | {"number": "two", "style": "oil painting"})
    assert str(two).startswith("an oil painting of two calm black butterflies with")


def _words_left(found: Found) -> dict[str, int]:
    words = found.extra["words"]
    assert isinstance(words, dict)
    return {slot: int(str(n)) for slot, n in words.items()}


def test_words_of_what_is_described_best_are_dropped_down_to_three() -> None:
    one, _ = engine(blind_to_umbrellas, budget=900)
    left = _words_left(run(nl_adv, one)[0])
    assert left["weather"] == 3
    assert left["background"] in (3, 4)
    assert left["colour"] < 9
    assert (left["appearance"], left["target"], left["number"]) == (2, 20, 3)
    one, _ = engine(blind_to_umbrellas, budget=900, word_reduction=False)
    assert _words_left(run(nl_adv, one)[0])["weather"] == 4


def test_a_generation_is_twenty_captions() -> None:
    one, evaluator = engine(blind_to_umbrellas, budget=400, selection="paper")
    found, _ = run(nl_adv, one)
    used = [int(str(row["evaluations"])) for row in found.generations]
    assert POPULATION - 4 <= used[1] - used[0] <= POPULATION
    assert max(np.diff(used)) <= POPULATION
    assert evaluator.used <= 400


@pytest.mark.parametrize("search", SEARCHED.values(), ids=SEARCHED)
def test_no_budget_is_no_search(search: Callable[[Engine], Asking[Found]]) -> None:
    one, evaluator = engine(blind_to_umbrellas, budget=24)
    found, _ = run(search, one)
    assert evaluator.used == 24
    assert found.stopped == "budget"
    assert len(found.finals) == 6
