"""t-SNE against its definition, and against what it is for."""

import numpy as np
import pytest

from attacks.evolution.tsne import affinities, embedded, gradient


def groups(of: int = 12) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Three directions in eight dimensions, and noise."""
    rng = np.random.default_rng(0)
    return np.repeat(np.eye(8)[:3], of, axis=0) + 0.1 * rng.normal(size=(3 * of, 8))


def test_every_point_sees_as_many_others_as_the_perplexity_says() -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(40, 5))
    distances = np.square(points[:, None] - points[None]).sum(axis=2)
    p = affinities(distances, perplexity=10)
    assert p.sum() == pytest.approx(1)
    np.testing.assert_allclose(p, p.T)
    assert (np.diag(p) == 0).all()
    # Of four equally distant points every one sees the three others.
    np.testing.assert_allclose(
        affinities(1 - np.eye(4), perplexity=2.9), (1 - np.eye(4)) / 12, atol=1e-9
    )


def test_the_perplexity_of_a_point_is_the_one_that_is_asked_for() -> None:
    # On a ring every point sees the same, so that the joint affinities are the conditional ones.
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    distances = 1 - np.cos(angles[:, None] - angles[None])
    row = affinities(distances, perplexity=7)[0] * 40
    row = row[row > 0]
    assert np.exp(-(row * np.log(row)).sum()) == pytest.approx(7, rel=1e-6)


def test_the_gradient_is_that_of_the_divergence() -> None:
    rng = np.random.default_rng(2)
    p = affinities(np.abs(rng.normal(size=(6, 6))) * (1 - np.eye(6)), perplexity=2)
    places = rng.normal(size=(6, 2))

    def divergence(at: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float:
        kernel = 1 / (1 + np.square(at[:, None] - at[None]).sum(axis=2))
        np.fill_diagonal(kernel, 0)
        q = kernel / kernel.sum()
        seen = p > 0
        return float((p[seen] * np.log(p[seen] / q[seen])).sum())

    slope = gradient(p, places)
    for point in range(6):
        for axis in range(2):
            step = np.zeros_like(places)
            step[point, axis] = 1e-5
            numeric = (divergence(places + step) - divergence(places - step)) / 2e-5
            assert slope[point, axis] == pytest.approx(numeric, abs=1e-6)


def test_groups_stay_together_and_apart() -> None:
    places = embedded(groups())
    means = places.reshape(3, 12, 2).mean(axis=1)
    spread = np.linalg.norm(places.reshape(3, 12, 2) - means[:, None], axis=2).max()
    apart = min(np.linalg.norm(means[i] - means[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    assert apart > 2 * spread


def test_lengths_do_not_matter_and_nothing_is_chance() -> None:
    vectors = groups(5)
    factors = np.linspace(1, 3, len(vectors))[:, None]
    np.testing.assert_array_equal(embedded(vectors), embedded(vectors))
    np.testing.assert_allclose(
        affinities(1 - np.eye(4), 2), affinities(2 * (1 - np.eye(4)), 2), atol=1e-9
    )
    assert np.isfinite(embedded(vectors * factors)).all()


@pytest.mark.parametrize("n", [0, 1, 3, 4])
def test_few_points(n: int) -> None:
    places = embedded(np.eye(5)[:n])
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()


def test_equal_points() -> None:
    assert np.isfinite(embedded(np.ones((10, 3)))).all()
