import math
import warnings
from typing import Any

import numpy as np
import pytest

from attacks.advdreamer.cmaes import Gaussian, PoseSearch, ranked, two_stage
from benchmark.errors import UserError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import cma

N, K, PARENTS = 6, 20, 5


class Textbook:
    """Eq. 10 and 11 as printed, with CSA and an evolution path, apart from any library.

    Constants for N = 6 and weights of 1/5, so that mu_eff = 5.
    """

    C1 = 2 / ((N + 1.3) ** 2 + 5)  # times min(1, K / 6) = 1
    CMU = 2 * (0.25 + 5 + 1 / 5 - 2) / ((N + 2) ** 2 + 5)
    CC = (4 + 5 / N) / (N + 4 + 2 * 5 / N)
    CS = (5 + 2) / (N + 5 + 3)
    DAMPING = 1.5
    LENGTH = math.sqrt(2) * math.gamma((N + 1) / 2) / math.gamma(N / 2)  # E||N(0, I)||

    def __init__(self, start: Gaussian) -> None:
        self.mean, self.sigma, self.covariance = start.mean, start.sigma, start.covariance
        self.path, self.step_path, self.generation = np.zeros(N), np.zeros(N), 0

    def tell(self, best: np.ndarray) -> None:
        old = self.mean
        self.generation += 1
        self.mean = best.mean(axis=0)  # eq. 10
        step = (self.mean - old) / self.sigma
        values, vectors = np.linalg.eigh(self.covariance)
        whitened = vectors @ np.diag(values**-0.5) @ vectors.T @ step
        self.step_path = (1 - self.CS) * self.step_path + math.sqrt(
            self.CS * (2 - self.CS) * 5
        ) * whitened
        length = float(np.linalg.norm(self.step_path))
        unbiased = math.sqrt(1 - (1 - self.CS) ** (2 * self.generation))
        moving = length / unbiased / self.LENGTH < 1.4 + 2 / (N + 1)
        self.path = (1 - self.CC) * self.path + moving * math.sqrt(
            self.CC * (2 - self.CC) * 5
        ) * step
        deviations = (best - old) / self.sigma
        outer = deviations.T @ deviations / PARENTS
        stalled = (1 - moving) * self.C1 * self.CC * (2 - self.CC)
        self.covariance = (  # eq. 11
            (1 - self.C1 - self.CMU + stalled) * self.covariance
            + self.C1 * np.outer(self.path, self.path)
            + self.CMU * outer
        )
        self.sigma *= math.exp(min(1, self.CS / self.DAMPING * (length / self.LENGTH - 1)))


def sphere(points: np.ndarray) -> list[int]:
    """Indices by distance from (1, ..., 1), the nearest first."""
    return list(map(int, np.argsort(((points - 1) ** 2).sum(axis=1))))


def test_mean_is_the_average_of_the_five_and_covariance_is_eq_11() -> None:
    search = PoseSearch(np.random.default_rng(4))
    # cma begins with diagonal entries of 1 to 1.0001, so that no two eigenvalues are equal.
    np.testing.assert_allclose(search.distribution.covariance, np.eye(N), atol=1e-4)
    assert search.distribution.mean.tolist() == [0] * N
    assert search.distribution.sigma == 0.5
    textbook = Textbook(search.distribution)
    for _ in range(8):
        points = search.ask()
        order = sphere(points)
        search.tell(order)
        textbook.tell(points[order[:PARENTS]])
        now = search.distribution
        np.testing.assert_allclose(now.mean, textbook.mean, atol=1e-12)
        np.testing.assert_allclose(now.covariance, textbook.covariance, atol=1e-9)
        assert now.sigma == pytest.approx(textbook.sigma, rel=1e-9)


def test_it_is_cma_with_these_weights() -> None:
    """The same draws and ranks given to `cma` itself, set up by its documented options."""
    rng = np.random.default_rng(9)
    options: dict[str, Any] = {
        "popsize": K,
        "CMA_recombination_weights": [0.2] * 5 + [0.0] * 15,
        "CMA_active": False,
        "CMA_mirrors": 0,
        "randn": lambda *shape: rng.standard_normal(shape),
        "seed": math.nan,
        "verbose": -9,
    }
    reference = cma.CMAEvolutionStrategy([0.0] * N, 0.5, options)
    search = PoseSearch(np.random.default_rng(9))
    for _ in range(5):
        theirs, ours = reference.ask(), search.ask()
        np.testing.assert_array_equal(np.array(theirs), ours)
        search.tell(sphere(ours))
        reference.tell(theirs, [float(((x - 1) ** 2).sum()) for x in theirs])
    np.testing.assert_array_equal(search.distribution.mean, reference.mean)
    np.testing.assert_array_equal(search.distribution.covariance, reference.sm.covariance_matrix)


def test_the_order_beyond_the_parents_changes_nothing() -> None:
    def after(shuffled: bool) -> Gaussian:
        search = PoseSearch(np.random.default_rng(2))
        for _ in range(3):
            order = sphere(search.ask())
            rest = order[PARENTS:][::-1] if shuffled else order[PARENTS:]
            search.tell(order[:PARENTS] + rest)
        return search.distribution

    np.testing.assert_array_equal(after(True).mean, after(False).mean)
    np.testing.assert_array_equal(after(True).covariance, after(False).covariance)


def test_searches_share_no_randomness_with_each_other_or_with_numpy() -> None:
    before = str(np.random.get_state())
    one, other = PoseSearch(np.random.default_rng(1)), PoseSearch(np.random.default_rng(2))
    mixed = []
    for _ in range(3):
        mixed.append(one.ask())
        one.tell(sphere(mixed[-1]))
        other.tell(sphere(other.ask()))
    alone = PoseSearch(np.random.default_rng(1))
    for points in mixed:
        np.testing.assert_array_equal(alone.ask(), points)
        alone.tell(sphere(points))
    assert str(np.random.get_state()) == before


def test_it_finds_what_it_looks_for() -> None:
    search = PoseSearch(np.random.default_rng(0))
    for _ in range(60):
        search.tell(sphere(search.ask()))
    np.testing.assert_allclose(search.distribution.mean, 1, atol=1e-2)


def test_the_cap_holds_the_step_size_down() -> None:
    def outward(points: np.ndarray) -> list[int]:
        return list(map(int, np.argsort(-np.abs(points).sum(axis=1))))

    free = PoseSearch(np.random.default_rng(0))
    capped = PoseSearch(np.random.default_rng(0), sigma_cap=0.5)
    for _ in range(15):
        free.tell(outward(free.ask()))
        capped.tell(outward(capped.ask()))
        assert capped.distribution.sigma <= 0.5
    assert free.distribution.sigma > 1


def test_fewer_candidates_than_parents_are_refused() -> None:
    with pytest.raises(UserError, match="parents = 5: give from 1 to the population, 4"):
        PoseSearch(np.random.default_rng(0), population=4)


def test_a_distribution_survives_json_and_draws_what_it_says() -> None:
    root = np.random.default_rng(3).standard_normal((N, N))
    before = Gaussian(np.arange(N) / 7, 0.8, root @ root.T)
    after = Gaussian.from_json(before.to_json())
    np.testing.assert_allclose(after.covariance, before.covariance, atol=1e-8)
    draws = after.draw(np.random.default_rng(1), 40_000)
    np.testing.assert_allclose(draws.mean(axis=0), before.mean, atol=0.1)
    np.testing.assert_allclose(np.cov(draws.T), 0.64 * before.covariance, atol=0.3)


def test_a_ratio_scales_the_covariance() -> None:
    unit = Gaussian(np.zeros(N), 1.0, np.eye(N))
    near, far = (unit.draw(np.random.default_rng(0), 5, ratio) for ratio in (1.0, 4.0))
    np.testing.assert_allclose(far, 2 * near)


def test_nan_ranks_last_and_ties_keep_their_order() -> None:
    assert ranked([1.0, math.nan, 3.0, 1.0, -math.inf]) == [2, 0, 3, 1, 4]


def test_two_stages() -> None:
    # By loss: 7, 3, 5, 1 are the shortlist; of these 5 is the most natural, 3 and 1 tie.
    order = [7, 3, 5, 1, 0, 2]
    natural = {7: 1.5, 3: 2.0, 5: 4.0, 1: 2.0}
    assert two_stage(order, natural) == [5, 3, 1, 7, 0, 2]
    assert two_stage(order, {}) == order


def test_what_is_not_natural_at_all_ranks_last_of_the_shortlist() -> None:
    assert two_stage([2, 0, 1], {2: math.nan, 0: 1.0}) == [0, 2, 1]
