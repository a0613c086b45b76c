from attacks.evolution.niches import Niches

POOL = [f"a {colour} dog at night" for colour in ("red", "blue", "green", "white")] * 5
POOL += ["a red umbrella in the fog", "a blue rocket in the fog"]


SCORED = [(text, 0.2 if "fog" in text else 0.9 if "rocket" in text else 0.8) for text in POOL]


def niches(frequency: float = 0.5, log_odds: float = 1.0, effect: float = 0.0) -> Niches[str]:
    return Niches(lambda text: text, POOL, frequency, log_odds, effect)


def test_the_word_that_grew_most_is_set_aside_with_its_holders() -> None:
    found = niches()
    survivors = ["a red rocket in the fog", "a blue dog in the fog", "a red dog at night"]
    niche = found.set_aside(survivors, 2, SCORED)
    assert niche is not None
    assert (niche.concept.word, niche.generation) == ("fog", 2)
    assert niche.members == survivors[:2]
    assert not found.admits("two green ducks in the fog")
    assert found.admits("two green ducks at night")
    assert found.to_json() == [
        {
            "concept": "fog",
            "generation": 2,
            "document_frequency": 0.6667,
            "pool_frequency": 0.0909,
            "log_odds": 2.615,  # ln(2.5 / 1.5) - ln(2.5 / 20.5) = .5108 + 2.1041
            "effect": 0.6,  # .8 without and .2 with
            "captions": 2,
        }
    ]


def test_neither_a_rare_word_nor_one_that_did_not_grow_is_a_concept() -> None:
    survivors = ["a red dog at night", "a blue dog at night", "a green rocket at night"]
    assert (
        niches().set_aside(survivors, 1, SCORED) is None
    )  # rocket: 1 of 3; dog and night: as in the pool
    assert niches(frequency=0.3).set_aside(survivors, 1, SCORED) is not None
    assert niches(frequency=0.3, log_odds=5.0).set_aside(survivors, 1, SCORED) is None
    assert niches().set_aside([], 1, SCORED) is None


def test_a_word_that_spread_by_chance_is_no_concept() -> None:
    survivors = ["a green rocket at night", "a white rocket at night"]
    scored = [*SCORED, ("a green rocket at night", 0.9), ("a white rocket at night", 0.7)]
    # Without rocket (20 * .8 + .2) / 21 = .77, with it (.2 + .9 + .7) / 3 = .6.
    assert niches(effect=0.1).set_aside(survivors, 1, scored) is not None
    found = niches(effect=0.1)
    found.set_aside(["a red dog in the fog"] * 2, 1, scored)
    # Fog is set aside, and with it the one low score: rocket now costs nothing.
    assert found.set_aside(survivors, 2, scored) is None


def test_finals_are_dealt_from_all_niches_and_the_rest_in_turn() -> None:
    found = niches(frequency=0.9)
    found.set_aside(["fog one", "fog two", "fog three"], 1, SCORED)
    found.set_aside(["umbrella one"], 2, SCORED)
    assert [niche.concept.word for niche in found.found] == ["fog", "umbrella"]
    assert found.dealt(["rest one", "rest two"], 5) == [
        "fog one", "umbrella one", "rest one", "fog two", "rest two",
    ]  # fmt: skip
    assert len(found.dealt(["rest one", "rest two"], 25)) == 6
