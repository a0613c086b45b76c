import math

import pytest

from benchmark.errors import UserError
from metrics.distance import (
    PUBLISHED_LIMITS,
    normalise,
    within,
    word_distance,
    word_distances,
    word_limit,
)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("A Field. ", "a field"),
        ("food...", "food"),
        ("t.v. set", "t.v. set"),
        ("a field. .", "a field. "),  # only one run of periods goes, and no second strip
        ("...", ""),
        ("", ""),
        ("A dog!", "a dog!"),
    ],
)
def test_normalise(text: str, normal: str) -> None:
    assert normalise(text) == normal


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        ("A man rides.", "a man rides", 0),
        ("a man rides", "a woman rides", 1),
        ("a man", "a big man", 1),
        ("a big man", "a man", 1),
        ("a b c", "c b a", 2),  # two substitutions
        ("a dog, a cat", "a dog a cat", 1),  # the comma belongs to its word
        ("a\tman \n rides", "a man rides", 0),
        ("", "one two three", 3),
        ("", "", 0),
        ("i", "a", 1),  # one-letter words
        ("dog dog dog", "dog", 2),
    ],
)
def test_word_distance(a: str, b: str, distance: int) -> None:
    assert word_distance(a, b) == distance
    assert word_distances([(a, b), (b, a)]) == [distance, distance]


def test_no_pairs() -> None:
    assert word_distances([]) == []


@pytest.mark.parametrize(
    ("mean_words", "limit"),
    [(10.431, 5), (9.405, 4), (10.374, 5), (10.0, 4), (10.0001, 5), (2.0, 0), (2.1, 1), (0.5, 0)],
)
def test_limit_is_strictly_below_half(mean_words: float, limit: int) -> None:
    assert word_limit(mean_words) == limit
    assert word_limit(mean_words) < mean_words / 2 <= word_limit(mean_words) + 1


def test_published_limits_follow_from_the_mean_lengths() -> None:
    means = {"coco": 10.431, "msrvtt": 9.405, "audiocaps": 10.374}
    assert {name: word_limit(mean) for name, mean in means.items()} == PUBLISHED_LIMITS


@pytest.mark.parametrize("mean_words", [0.0, -1.0, math.nan, math.inf])
def test_no_limit_without_captions(mean_words: float) -> None:
    with pytest.raises(UserError, match="sets no distance limit: give captions, or max_distance"):
        word_limit(mean_words)


def test_within() -> None:
    assert [within(distance, 2) for distance in range(4)] == [False, True, True, False]
