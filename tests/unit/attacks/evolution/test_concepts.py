import math

import pytest

from attacks.evolution.concepts import concepts, similarity, words_in


def test_words_are_in_the_singular_and_without_function_words() -> None:
    assert words_in("Two small buses, a cactus and three snowmen on the grass in the fog") == {
        "small", "bus", "cactus", "snowman", "grass", "fog",
    }  # fmt: skip
    assert words_in("houses boxes cactuses glasses horses dogs umbrellas mushrooms") == {
        "house", "box", "cactus", "glass", "horse", "dog", "umbrella", "mushroom",
    }  # fmt: skip


def test_log_odds_are_against_the_pool_with_half_a_caption_on_either_side() -> None:
    survivors = ["a dog in the fog", "a cat in the fog", "a cat at night", "a duck in the fog"]
    pool = ["a dog at night", "a duck in the fog", "a cat at night", "a bird at noon"]
    first, *rest = concepts(survivors, pool)
    # 3 of 4: ln(3.5 / 1.5); 1 of 4: ln(1.5 / 3.5).
    assert (first.word, first.frequency, first.pool_frequency) == ("fog", 0.75, 0.25)
    assert first.log_odds == pytest.approx(2 * math.log(3.5 / 1.5))
    assert [one.word for one in rest] == ["cat", "dog", "duck", "night"]
    assert rest[-1].log_odds == pytest.approx(math.log(1.5 / 3.5))


def test_a_word_counts_once_a_caption() -> None:
    (one,) = concepts(["fog fog fog"], ["fog"])
    assert one.frequency == 1.0


def test_similarity_is_the_mean_cosine_of_all_pairs() -> None:
    texts = ["red dog", "red cat", "blue bird"]
    # red dog and red cat share one of two words each: 1/2; the other two pairs share none.
    assert similarity(texts) == pytest.approx(0.5 / 3)
    assert similarity(["red dog", "dog red"]) == pytest.approx(1.0)
    assert similarity(["red dog"]) is None
    assert similarity(["", "of the"]) == 0.0
