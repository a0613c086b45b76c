from collections import Counter

import numpy as np
import pytest

from metrics.best_of_n import pick, released_picks


def test_pick_is_uniform_among_successes() -> None:
    rng = np.random.default_rng(0)
    counts = Counter(pick([False, True, False, True], rng) for _ in range(2000))
    assert set(counts) == {1, 3}
    assert abs(counts[1] - 1000) < 100  # sd 22


def test_pick_is_uniform_among_all_without_success() -> None:
    rng = np.random.default_rng(0)
    counts = Counter(pick([False] * 4, rng) for _ in range(2000))
    assert set(counts) == {0, 1, 2, 3}
    assert all(abs(count - 500) < 90 for count in counts.values())


def test_no_candidates() -> None:
    with pytest.raises(ValueError, match="no candidates to pick from"):
        pick([], np.random.default_rng(0))
    with pytest.raises(ValueError, match="no candidates to pick from"):
        released_picks([[True], []])


def test_released_picks_depend_on_the_seed_and_the_order() -> None:
    flags = [[True] * 4] * 20
    assert released_picks(flags) == released_picks(flags)
    assert released_picks(flags) != released_picks(flags, seed=1)
    assert released_picks([[False, True], *flags])[1:] != released_picks(flags)
