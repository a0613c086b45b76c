from attacks.evolution.niches import Niches

POOL = [f"a {colour} dog at night" for colour in ("red", "blue", "green", "white")] * 5
POOL += ["a red umbrella in the fog", "a blue rocket in the fog"]


def niches(frequency: float = 0.5, log_odds: float = 1.0) -> Niches[str]:
    return Niches(lambda text: text, POOL, frequency, log_odds)


def test_the_word_that_grew_most_is_set_aside_with_its_holders() -> None:
    found = niches()
    survivors = ["a red rocket in the fog", "a blue dog in the fog", "a red dog at night"]
    niche = found.set_aside(survivors, 2)
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
            "captions": 2,
        }
    ]


def test_neither_a_rare_word_nor_one_that_did_not_grow_is_a_concept() -> None:
    survivors = ["a red dog at night", "a blue dog at night", "a green rocket at night"]
    assert niches().set_aside(survivors, 1) is None  # rocket: 1 of 3; dog and night: as in the pool
    assert niches(frequency=0.3).set_aside(survivors, 1) is not None
    assert niches(frequency=0.3, log_odds=5.0).set_aside(survivors, 1) is None
    assert niches().set_aside([], 1) is None


def test_finals_are_dealt_from_all_niches_and_the_rest_in_turn() -> None:
    found = niches(frequency=0.9)
    found.set_aside(["fog one", "fog two", "fog three"], 1)
    found.set_aside(["umbrella one"], 2)
    assert [niche.concept.word for niche in found.found] == ["fog", "umbrella"]
    assert found.dealt(["rest one", "rest two"], 5) == [
        "fog one", "umbrella one", "rest one", "fog two", "rest two",
    ]  # fmt: skip
    assert len(found.dealt(["rest one", "rest two"], 25)) == 6
