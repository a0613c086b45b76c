from collections import Counter

import numpy as np
import pytest

from attacks.evolution.individuals import Evaluation, Individual
from attacks.evolution.ranking import (
    draw_parents,
    parent_weights,
    pool_mean,
    ranked,
    scores_of,
    shrunk,
)


def evaluation(capture: float | None) -> Evaluation:
    status = "scored" if capture is not None else "refused"
    return Evaluation(Individual(0, "a", "initial"), 0, 0, status, capture)  # type: ignore[arg-type]


def test_weights_fall_with_the_rank_as_in_eoh() -> None:
    # 1 / (r + 1 + n) for n = 3: 1/4, 1/5, 1/6 = 15/60, 12/60, 10/60, which sum to 37/60.
    assert parent_weights(3) == pytest.approx([15 / 37, 12 / 37, 10 / 37])


def test_parents_are_different_and_drawn_by_weight() -> None:
    rng = np.random.default_rng(0)
    draws = [draw_parents(3, 2, rng) for _ in range(6000)]
    assert all(len({*draw}) == 2 for draw in draws)
    first = Counter(draw[0] for draw in draws)
    assert [first[rank] / 6000 for rank in range(3)] == pytest.approx(
        [15 / 37, 12 / 37, 10 / 37], abs=0.02
    )


@pytest.mark.parametrize(("n", "m", "drawn"), [(1, 2, 1), (0, 2, 0), (5, 2, 2)])
def test_there_may_be_less_parents_than_wanted(n: int, m: int, drawn: int) -> None:
    assert len(draw_parents(n, m, np.random.default_rng(0))) == drawn


def test_a_mean_is_shrunk_towards_the_prior() -> None:
    assert shrunk([0.0], 0.6) == pytest.approx(0.3)  # (0 + .6) / 2
    assert shrunk([0.0, 0.3, 0.3], 0.6) == pytest.approx(0.3)  # (.6 + .6) / 4
    assert shrunk([], 0.6) == pytest.approx(0.6)
    assert shrunk([0.2, 0.4], 0.6, n0=0) == pytest.approx(0.3)


def test_what_has_no_score_counts_nowhere() -> None:
    evaluations = [evaluation(0.2), evaluation(None), evaluation(0.4)]
    assert scores_of(evaluations) == [0.2, 0.4]
    assert pool_mean(evaluations) == pytest.approx(0.3)
    assert pool_mean([evaluation(None)]) == 1.0


def test_equals_are_ordered_by_chance_or_by_age() -> None:
    items = [(n, 0.0 if n else 0.5) for n in range(6)]
    by_age = ranked(items, lambda item: item[1], None)
    assert [n for n, _ in by_age] == [1, 2, 3, 4, 5, 0]
    orders = {
        tuple(n for n, _ in ranked(items, lambda item: item[1], np.random.default_rng(seed)))
        for seed in range(20)
    }
    assert len(orders) > 5
    assert all(order[-1] == 0 for order in orders)


def test_values_closer_than_the_recorded_digits_are_equal() -> None:
    close = [("a", 0.1 + 1e-9), ("b", 0.1)]
    assert ranked(close, lambda item: item[1], None) == close
