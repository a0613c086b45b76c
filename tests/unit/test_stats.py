import numpy as np
import pytest

from benchmark.stats import clustered_bootstrap, mean_interval, wilson


@pytest.mark.parametrize(
    ("successes", "n", "confidence", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17, table I, method 3 (score, uncorrected).
        (81, 263, 0.95, 0.2553, 0.3662),
        (15, 148, 0.95, 0.0624, 0.1605),
        (0, 20, 0.95, 0.0000, 0.1611),
        (1, 29, 0.95, 0.0061, 0.1718),
        # By hand: n = 10, z = 1.959964, z^2 = 3.841459;
        # (0.5 -+ 0) -> centre 0.5, margin z sqrt(.025 + .009604) / 1.384146 = 0.263406
        (5, 10, 0.95, 0.2366, 0.7634),
        # z = 1.644854: low = n / (n + z^2) = 10 / 12.705543
        (10, 10, 0.90, 0.7871, 1.0000),
    ],
)
def test_wilson_textbook_values(
    successes: int, n: int, confidence: float, low: float, high: float
) -> None:
    assert wilson(successes, n, confidence) == pytest.approx((low, high), abs=5e-5)


def test_the_ends_are_exact() -> None:
    none, all_ = wilson(0, 7), wilson(7, 7)
    assert none is not None
    assert all_ is not None
    assert (none.low, all_.high) == (0.0, 1.0)


def test_no_data_no_interval() -> None:
    assert wilson(0, 0) is None
    assert mean_interval({}, 0) is None
    assert mean_interval({"a": []}, 0) is None
    assert clustered_bootstrap({"a": [], "b": []}, np.mean, 0) is None


def test_one_cluster_says_nothing() -> None:
    assert mean_interval({"a": [1.0, 2.0], "b": []}, 0) is None
    assert clustered_bootstrap({"a": [1.0, 2.0]}, np.mean, 0) is None


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (0, -1)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"{successes} successes of {n}: give between 0 and n"):
        wilson(successes, n)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95])
def test_a_confidence_is_a_probability(confidence: float) -> None:
    with pytest.raises(ValueError, match="is not a probability"):
        wilson(1, 2, confidence)
    with pytest.raises(ValueError, match="is not a probability"):
        mean_interval({"a": [1.0], "b": [2.0]}, 0, confidence=confidence)


def test_the_fast_mean_is_the_bootstrap_of_the_mean() -> None:
    rng = np.random.default_rng(1)
    groups = {f"g{n}": rng.normal(size=1 + n % 4).tolist() for n in range(30)}
    assert mean_interval(groups, 3) == pytest.approx(
        clustered_bootstrap(groups, lambda values: float(np.mean(values)), 3)
    )


def test_groups_move_together() -> None:
    # Two groups of equal values: a resample is all 0, half and half or all 1, each bound an end.
    groups = {"a": [0.0] * 50, "b": [1.0] * 50}
    assert mean_interval(groups, 0) == (0.0, 1.0)
    # Alone, a hundred values would be pinned down much better.
    single = {f"{name}{n}": [value] for name, (value, *_) in groups.items() for n in range(50)}
    low, high = mean_interval(single, 0) or (0, 0)
    assert 0.38 < low < 0.43 < 0.57 < high < 0.62


def test_values_that_are_no_numbers() -> None:
    words = {"a": ["cat", "dog"], "b": ["cat"], "c": ["cat"], "d": ["owl", "dog"]}
    interval = clustered_bootstrap(words, lambda tokens: len(set(tokens)) / len(tokens), 0)
    assert interval is not None
    assert 0 < interval.low < interval.high <= 1


def test_replicates_without_a_value_are_left_out() -> None:
    groups = {"a": [0.0], "b": [1.0]}
    assert clustered_bootstrap(groups, lambda values: max(values) or None, 0) == (1.0, 1.0)
    assert clustered_bootstrap(groups, lambda values: None, 0) is None
    assert clustered_bootstrap(groups, lambda values: float("nan"), 0) is None


def test_the_seed_fixes_the_interval() -> None:
    groups = {f"g{n}": [float(n)] for n in range(20)}
    assert mean_interval(groups, 1) == mean_interval(groups, 1)
    assert mean_interval(groups, 1) != mean_interval(groups, 2)
