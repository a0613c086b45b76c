import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from benchmark.stats import mean_interval, wilson

counts = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts=counts, confidence=st.floats(0.5, 0.999))
def test_wilson_is_scipys(counts: tuple[int, int], confidence: float) -> None:
    expected = scipy_stats.binomtest(*counts).proportion_ci(confidence, method="wilson")
    assert wilson(*counts, confidence) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(counts=counts)
def test_wilson_holds_its_rate_and_mirrors(counts: tuple[int, int]) -> None:
    successes, n = counts
    interval, mirrored = wilson(successes, n), wilson(n - successes, n)
    assert interval is not None
    assert mirrored is not None
    assert 0 <= interval.low <= successes / n <= interval.high <= 1
    assert interval.low == pytest.approx(1 - mirrored.high)


@pytest.mark.parametrize("n", [20, 100, 500])
@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
def test_wilson_covers(n: int, p: float) -> None:
    # Exact: the probability, under Binomial(n, p), of the outcomes whose interval holds p.
    covered = sum(
        scipy_stats.binom.pmf(k, n, p)
        for k in range(n + 1)
        if (interval := wilson(k, n)) is not None and interval.low <= p <= interval.high
    )
    assert 0.93 < covered < 0.98


def test_the_clustered_bootstrap_covers_where_a_plain_one_does_not() -> None:
    rng = np.random.default_rng(0)
    hits = plain_hits = 0
    for trial in range(200):
        # 60 pictures of 5 captions that share most of their variance: the mean is 0.
        shared = rng.normal(size=(60, 1)) + 0.3 * rng.normal(size=(60, 5))
        groups = {f"g{n}": row.tolist() for n, row in enumerate(shared)}
        low, high = mean_interval(groups, trial, replicates=400) or (0.0, 0.0)
        hits += low <= 0 <= high
        alone = {f"v{n}": [value] for n, value in enumerate(shared.ravel().tolist())}
        low, high = mean_interval(alone, trial, replicates=400) or (0.0, 0.0)
        plain_hits += low <= 0 <= high
    assert 0.89 <= hits / 200 <= 0.99
    assert plain_hits / 200 < 0.75
