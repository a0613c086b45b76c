"""What a gate can see: the smallest drop that it finds, and how many samples would decide."""

from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist

from benchmark.gate.exact import Pairs, Side, p_no_worse, power, score

POWER = 0.8
MOST = 100_000
"""Beyond so many samples nobody waits for the answer."""
_EXACT = 1500
"""Up to here a sample size is found by the exact test, beyond by its normal approximation."""
_TILT = 1.05
"""By how much the exact test needs more than the approximation says, at most, beyond `_EXACT`."""


@dataclass(frozen=True, slots=True)
class Needed:
    """How many samples would decide, and which way. `exactly` if no approximation was needed."""

    samples: int
    side: Side
    exactly: bool


def detectable(pairs: Pairs, margin: float, alpha: float) -> float | None:
    """The smallest true drop that is called a regression in 80 % of such comparisons.

    As many pairs mend as were seen to. None if even the greatest possible drop is found less often.
    """
    n = pairs.n
    if n == 0:
        return None
    mended = pairs.mended / n
    low, high = margin, 1.0 - 2 * mended

    def found(drop: float) -> bool:
        return power(n, mended + drop, mended, margin, alpha, "worse") >= POWER

    if high <= low or not found(high):
        return None
    for _ in range(16):
        middle = (low + high) / 2
        if found(middle):
            high = middle
        else:
            low = middle
    return high


def needed(pairs: Pairs, margin: float, alpha: float) -> Needed | None:
    """The number of samples that decides in 80 % of comparisons, if pairs go on as these did.

    None without pairs, for a drop of exactly the margin, or beyond `MOST`.
    """
    n = pairs.n
    if n == 0 or pairs.drop is None or pairs.drop == margin:
        return None
    q_b, q_c = pairs.broken / n, pairs.mended / n
    side: Side = "worse" if pairs.drop > margin else "no worse"
    about = _approximately(q_b, q_c, margin, alpha)
    if about > MOST:
        return None
    if about > _EXACT:
        return Needed(_rounded(ceil(about * _TILT)), side, exactly=False)

    def decides(size: int) -> bool:
        if pairs.broken == pairs.mended == 0:  # nothing is left to chance
            return p_no_worse(Pairs(kept=size), margin) <= alpha
        return power(size, q_b, q_c, margin, alpha, side) >= POWER

    low, high = 0, max(8, ceil(about))
    while not decides(high):
        low, high = high, ceil(high * 1.3)
        if high > 2 * _EXACT:
            return None
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        if decides(middle):
            high = middle
        else:
            low = middle
    return Needed(high, side, exactly=True)


def _approximately(q_b: float, q_c: float, margin: float, alpha: float) -> float:
    """The normal approximation of the score test's sample size."""
    drop = q_b - q_c
    # The likeliest nuisance where the drop is the margin, from proportions instead of counts.
    many = 1_000_000
    z = float(score(q_b * many, q_c * many, many, margin))
    if z == 0:
        return float("inf")
    under_margin = abs((drop - margin) * sqrt(many) / z)
    under_truth = sqrt(max(q_b + q_c - drop**2, 0.0))
    normal = NormalDist()
    reach = normal.inv_cdf(1 - alpha) * under_margin + normal.inv_cdf(POWER) * under_truth
    return (reach / (drop - margin)) ** 2


def _rounded(samples: int) -> int:
    """Two digits, upwards: more would claim too much."""
    step: int = 10 ** max(len(str(samples)) - 2, 0)
    return -(-samples // step) * step
