"""t-SNE, exact (van der Maaten and Hinton 2008), for some hundred points: the same picture every time."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_EXAGGERATION, _EXAGGERATED = 12.0, 250
"""At first attraction counts twelvefold, so that groups gather before they push each other away."""
_STEPS = 750
_TINY = 1e-12


def embedded(vectors: Array) -> Array:
    """Points in a plane, shape (n, 2), near each other where vectors point the same way.

    Distances are 1 - cosine, the perplexity is min(30, (n - 1) / 3), the start the principal components.
    Nothing is drawn by chance.

    Args:
        vectors: Shape (n, width), none of them 0.
    """
    n = len(vectors)
    if n < 4:
        return np.stack([np.arange(n, dtype=np.float64), np.zeros(n)], axis=1)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    wanted = affinities(np.maximum(1 - unit @ unit.T, 0), perplexity=min(30.0, (n - 1) / 3))
    places = _components(unit)
    step, momentum = np.zeros_like(places), 0.5
    gains = np.ones_like(places)
    rate = max(n / _EXAGGERATION / 4, 50.0)
    for number in range(_STEPS):
        early = number < _EXAGGERATED
        slope = gradient(wanted * (_EXAGGERATION if early else 1.0), places)
        momentum = 0.5 if early else 0.8
        gains = np.where(np.sign(slope) == np.sign(step), gains * 0.8, gains + 0.2).clip(0.01)
        step = momentum * step - rate * gains * slope
        places = places + step
        places -= places.mean(axis=0)
    return places


def affinities(distances: Array, perplexity: float) -> Array:
    """p_ij (eq. 1-2): symmetric, 0 on the diagonal, 1 in all; every point sees `perplexity` others.

    The width of each point's kernel is found by bisection.
    """
    n = len(distances)
    others = ~np.eye(n, dtype=bool)
    shifted = distances[others].reshape(n, n - 1)
    shifted = shifted - shifted.min(axis=1, keepdims=True)
    low, high = np.full((n, 1), 0.0), np.full((n, 1), np.inf)
    beta = np.ones((n, 1))
    for _ in range(64):
        kernel = np.exp(-shifted * beta)
        share = kernel / kernel.sum(axis=1, keepdims=True)
        entropy = -(share * np.log(np.maximum(share, _TINY))).sum(axis=1, keepdims=True)
        broad = entropy > np.log(perplexity)
        low, high = np.where(broad, beta, low), np.where(broad, high, beta)
        beta = np.where(np.isinf(high), 2 * beta, (low + np.minimum(high, 1e300)) / 2)
    conditional = np.zeros((n, n))
    conditional[others] = share.ravel()
    return (conditional + conditional.T) / (2 * n)


def gradient(wanted: Array, places: Array) -> Array:
    """Of the Kullback-Leibler divergence of Student's kernel from the affinities (eq. 5)."""
    squares = np.square(places).sum(axis=1)
    kernel = 1 / (1 + np.maximum(squares[:, None] + squares[None] - 2 * places @ places.T, 0))
    np.fill_diagonal(kernel, 0)
    pull = (wanted - kernel / kernel.sum()) * kernel
    slope: Array = 4 * (pull.sum(axis=1)[:, None] * places - pull @ places)
    return slope


def _components(vectors: Array) -> Array:
    """The first two principal components, tiny, each with its largest entry above 0."""
    left, sizes, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    both = np.zeros((len(vectors), 2))
    kept = min(2, len(sizes))
    both[:, :kept] = left[:, :kept] * sizes[:kept]
    for column in both.T:
        column *= np.sign(column[np.argmax(np.abs(column))]) or 1.0
    return both * (1e-4 / max(float(both[:, 0].std()), _TINY))
