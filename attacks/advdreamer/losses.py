"""What the search maximises: the inverse semantic probability, and the alternatives of Table 6.

Images and texts are compared by cosines of embeddings; "true" is the label's prompt, P(y_t).
"""

from collections.abc import Sequence

import numpy as np

LOSSES = ("isp", "mf_it", "mf_ii", "mf_ii+mf_tt")
"""By the names of Table 6. All but the first two compare embeddings with the clean picture's."""


def isp(option_scores: Sequence[float], temperature: float = 1.0) -> float:
    """Minus the log-probability of the true label (eq. 5-7).

    Args:
        option_scores: Cosines with the prompts of all labels, the true one first.
        temperature: Cosines are divided by it; eq. 6 has none, which is 1.

    >>> round(isp([0.0, 0.0]), 4)  # -log(1/2)
    0.6931
    """
    logits = np.asarray(option_scores, dtype=np.float64) / temperature
    highest = logits.max()
    return float(np.log(np.exp(logits - highest).sum()) + highest - logits[0])


def mf_it(true_score: float) -> float:
    """Image against text: 1 - cos(f(X'), g(P(y_t))), the untargeted form of MF_it."""
    return 1.0 - true_score


def mf_ii(image_score: float) -> float:
    """Image against image: 1 - cos(f(X'), f(X)), the untargeted form of MF_ii."""
    return 1.0 - image_score


def mf_tt(text_score: float) -> float:
    """Text against text: 1 - cos(g(caption of X'), g(P(y_t))), the untargeted form of MF_tt."""
    return 1.0 - text_score
