from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.auxiliary import SWAPS, auxiliary_ok
from metrics.best_of_n import released_picks
from metrics.distance import normalise, word_distance, word_distances, word_limit
from metrics.diversity import distinct_1, edit_tokens, entropy, normalized_entropy

words = st.lists(st.sampled_from(["a", "dog", "cat", "no", "dog.", "Dog", ","]), max_size=8)
texts = words.map(" ".join)
tags = st.lists(
    st.tuples(st.sampled_from(["dog", "cat", "run", "a"]), st.sampled_from(["NOUN", "DET"])),
    max_size=8,
)
counts = st.lists(st.integers(0, 50), max_size=20)


def by_recursion(a: list[str], b: list[str]) -> int:
    """Levenshtein's definition."""
    table = {(0, j): j for j in range(len(b) + 1)} | {(i, 0): i for i in range(len(a) + 1)}
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            table[i, j] = min(
                table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (x != y)
            )
    return table[len(a), len(b)]


@given(texts, texts, texts)
def test_word_distance_is_a_metric(a: str, b: str, c: str) -> None:
    assert word_distance(a, b) == by_recursion(normalise(a).split(), normalise(b).split())
    assert word_distance(a, b) == word_distance(b, a)
    assert word_distance(a, c) <= word_distance(a, b) + word_distance(b, c)
    assert (word_distance(a, b) == 0) == (normalise(a).split() == normalise(b).split())
    assert word_distances([(a, b), (b, c)]) == [word_distance(a, b), word_distance(b, c)]


@given(st.floats(0.001, 1000))
def test_limit_is_the_largest_integer_below_half(mean_words: float) -> None:
    limit = word_limit(mean_words)
    assert limit < mean_words / 2 <= limit + 1


@given(words, st.sampled_from(SWAPS), st.data())
def test_two_words_exchanged_are_a_swap_in_both_readings(
    old: list[str], operation: str, data: st.DataObject
) -> None:
    old = [f"w{index}" for index, _ in enumerate(old)]
    if len(old) < 2:
        return
    i, j = data.draw(st.lists(st.integers(0, len(old) - 1), min_size=2, max_size=2, unique=True))
    new = list(old)
    new[i], new[j] = old[j], old[i]
    assert auxiliary_ok(" ".join(old), " ".join(new), operation)
    assert auxiliary_ok(" ".join(old), " ".join(new), operation, "paper")


@given(texts, texts, st.sampled_from(SWAPS))
def test_paper_swaps_keep_every_word(a: str, b: str, operation: str) -> None:
    if auxiliary_ok(a, b, operation, "paper"):
        bare = [Counter(w for x in t.lower().split() if (w := x.strip(".,"))) for t in (a, b)]
        assert bare[0] == bare[1]


@given(tags, tags)
def test_edit_tokens_explain_the_distance_but_for_the_front(
    a: list[tuple[str, str]], b: list[tuple[str, str]]
) -> None:
    merged = edit_tokens(a, b, with_substitutions=True)
    split = edit_tokens(a, b)
    old, new = [lemma for lemma, _ in a], [lemma for lemma, _ in b]
    assert len(merged) <= by_recursion(old, new)
    assert len(split) == len(merged) + sum(token.startswith("S_") for token in merged)
    # The same words in front close the border, so that nothing is lost there.
    front = [(f"front{index}", "NOUN") for index in range(9)]
    closed = edit_tokens(front + a, front + b, with_substitutions=True)
    assert len(closed) == by_recursion(old, new)
    assert edit_tokens(a, a) == []


@given(counts)
def test_bounds_of_diversity(values: list[int]) -> None:
    assert entropy(values) >= 0
    assert -1e-12 <= normalized_entropy(values) <= 1 + 1e-12
    assert 0 <= distinct_1(values) <= 1
    assert entropy(values) == pytest.approx(entropy([2 * value for value in values]), abs=1e-9)
    assert entropy(values) == entropy(values[::-1])


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), max_size=10))
def test_released_picks_are_successes_where_there_are_any(flags: list[list[bool]]) -> None:
    picks = released_picks(flags)
    assert len(picks) == len(flags)
    assert all(row[pick] == any(row) for row, pick in zip(flags, picks, strict=True))
