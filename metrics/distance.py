"""How many words were changed: MAC's distance criterion (arXiv 2505.22943, eq. 3).

Deviations (the released code goes beyond the paper, and is followed): texts are compared in lower
case and without final periods, and a text that is equal after that fails.
"""

import math
from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein

from benchmark.errors import UserError

PUBLISHED_LIMITS = {"coco": 5, "msrvtt": 4, "audiocaps": 5}
"""Most changed words allowed, as published; each is `word_limit` of the test captions' mean."""


def normalise(text: str) -> str:
    """Lower case, no surrounding white space, no final periods. Other punctuation stays.

    >>> normalise(" A plate of food...")
    'a plate of food'
    """
    return text.lower().strip().rstrip(".")


def word_distance(a: str, b: str) -> int:
    """Words to insert, delete or substitute to turn one normalised text into the other.

    Words are what white space separates, so a comma belongs to the word before it.

    >>> word_distance("A baby is sitting on a bed.", "A bed is sitting on a baby")
    2
    """
    return Levenshtein.distance(normalise(a).split(), normalise(b).split())


def word_distances(pairs: Sequence[tuple[str, str]]) -> list[int]:
    """`word_distance` of each pair."""
    words = {text: normalise(text).split() for text in {text for pair in pairs for text in pair}}
    return [Levenshtein.distance(words[a], words[b]) for a, b in pairs]


def word_limit(mean_words: float) -> int:
    """The most words that may change: the largest integer strictly below L/2 (MAC eq. 3).

    Args:
        mean_words: L, the mean number of words of the data set's captions.

    Raises:
        UserError: The mean is not a positive number, as in a data set without captions.

    >>> word_limit(10.431), word_limit(10.0)
    (5, 4)
    """
    if not (math.isfinite(mean_words) and mean_words > 0):
        raise UserError(
            f"a mean caption length of {mean_words} words sets no distance limit: "
            "give captions, or max_distance as a number"
        )
    return math.ceil(mean_words / 2) - 1


def within(distance: int, limit: int) -> bool:
    """Whether something changed, but no more than the limit."""
    return 0 < distance <= limit
