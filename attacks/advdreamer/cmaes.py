"""CMA-ES over poses with the paper's two-stage selection (AdvDreamer sec. 3.3, eq. 8-11).

The distribution is N(mu, sigma^2 C) in the space that tanh maps into the box of poses. `cma` does the
arithmetic: with weights 1/k on the first k candidates and none elsewhere, what it computes is eq. 10 and
eq. 11 (h read as k, and one step size sigma as is usual). Defaults of cma for these weights in 6
dimensions: c1 = 0.0343, c_mu = 0.1, c_c = 0.4143, c_sigma = 0.5, damping 1.5.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from attacks.advdreamer.pose import DIMENSIONS
from benchmark.errors import UserError
from benchmark.types import JSON

with warnings.catch_warnings():
    # It warns that its own plots need matplotlib, which nothing here asks for.
    warnings.simplefilter("ignore")
    import cma

Floats = NDArray[np.float64]

_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Gaussian:
    """N(mean, sigma^2 covariance) of z: p(Theta) before tanh."""

    mean: Floats
    sigma: float
    covariance: Floats

    @classmethod
    def from_json(cls, data: Mapping[str, JSON]) -> Self:
        """Read what `to_json` wrote."""
        return cls(
            np.array(data["mean"], dtype=np.float64),
            float(cast("float", data["sigma"])),
            np.array(data["covariance"], dtype=np.float64),
        )

    def draw(self, rng: np.random.Generator, n: int, ratio: float = 1.0) -> Floats:
        """n draws, shape (n, 6), of the distribution with its covariance scaled by `ratio`."""
        # A Cholesky factor is unique; eigenvectors have signs that differ from machine to machine.
        factor = np.linalg.cholesky(self.covariance)
        normal = rng.standard_normal((n, len(self.mean)))
        return np.asarray(self.mean + self.sigma * math.sqrt(ratio) * normal @ factor.T)

    def to_json(self) -> dict[str, JSON]:
        """Plain data for the record."""
        return {
            "mean": np.round(self.mean, _DIGITS).tolist(),
            "sigma": round(self.sigma, _DIGITS),
            "covariance": np.round(self.covariance, _DIGITS).tolist(),
        }


class PoseSearch:
    """The distribution's way from N(0, sigma0^2 I) to p*: ask for candidates, tell which were best."""

    def __init__(
        self,
        rng: np.random.Generator,
        population: int = 20,
        parents: int = 5,
        sigma: float = 0.5,
        sigma_cap: float | None = None,
    ) -> None:
        """All draws come from `rng`, none from numpy's global state, which samples would share.

        Raises:
            UserError: There are fewer candidates than parents.
        """
        if not 1 <= parents <= population:
            raise UserError(f"parents = {parents}: give from 1 to the population, {population}")
        self._cap = sigma_cap
        options = {
            "popsize": population,
            "CMA_recombination_weights": [1 / parents] * parents + [0.0] * (population - parents),
            "CMA_active": False,
            "CMA_mirrors": 0,
            "randn": lambda *shape: rng.standard_normal(shape),
            "seed": math.nan,  # "do nothing": with a number it would seed numpy's global state
            "verbose": -9,
        }
        self._strategy: Any = cma.CMAEvolutionStrategy([0.0] * len(DIMENSIONS), sigma, options)
        self._asked: list[Floats] = []

    @property
    def distribution(self) -> Gaussian:
        """p(z) as it stands."""
        return Gaussian(
            np.array(self._strategy.mean, dtype=np.float64),
            float(self._strategy.sigma),
            np.array(self._strategy.sm.covariance_matrix, dtype=np.float64),
        )

    def ask(self) -> Floats:
        """The next candidates, shape (population, 6)."""
        self._asked = self._strategy.ask()
        return np.array(self._asked, dtype=np.float64)

    def tell(self, order: Sequence[int]) -> None:
        """Move the distribution: `order` has the candidates' indices, the best first (eq. 10, 11)."""
        # cma minimises and takes numbers, not ranks; only their order counts.
        ranks = np.empty(len(self._asked))
        ranks[list(order)] = np.arange(len(self._asked))
        self._strategy.tell(self._asked, ranks.tolist())
        if self._cap is not None:
            self._strategy.sigma = min(self._strategy.sigma, self._cap)


def ranked(values: Sequence[float]) -> list[int]:
    """Indices, the highest value first; NaN ranks last, the first of a tie first."""
    keys = [-math.inf if math.isnan(value) else value for value in values]
    return sorted(range(len(keys)), key=lambda index: -keys[index])


def two_stage(order: Sequence[int], naturalness: Mapping[int, float]) -> list[int]:
    """The order after the second stage: the shortlist by naturalness, then the others as they were.

    Args:
        order: Indices by loss, the highest first.
        naturalness: (Score_R + Score_P) / 2 of those on the shortlist, which are the first in order.
            Higher is better: eq. 4 has a minus, but Table 4 shows that natural samples are kept.
    """
    shortlist = list(order[: len(naturalness)])
    again = ranked([naturalness[index] for index in shortlist])
    return [shortlist[place] for place in again] + list(order[len(shortlist) :])
