"""Which words survivors hold more often than the pool: what a target is sensitive to (sec. 4.5)."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from benchmark.answer_guards import words_of

_FUNCTION_WORDS = frozenset(
    "a an the this that these those some any each every no and or but nor so as than then of in on at"
    " by for from to into onto over under above below with without within near between among across"
    " along around behind beside beyond against through toward towards up down out off left right front"
    " is are was were be been being am do does did has have had having can could will would may might"
    " must shall should it its he his him she her they their them there here we our us i my you your"
    " who whom whose which what when where while one two three four five very more most much many few"
    " other another both all only just like".split()
)


@dataclass(frozen=True, slots=True)
class Concept:
    """A word: the share of survivors' captions that hold it, the pool's, the log of the odds' ratio."""

    word: str
    frequency: float
    pool_frequency: float
    log_odds: float


def words_in(text: str) -> frozenset[str]:
    """The content words of a caption, in the singular as far as an ending tells.

    >>> sorted(words_in("Two red buses left of the cactuses on the grass"))
    ['bus', 'cactus', 'grass', 'red']
    """
    return frozenset(
        singular for word in words_of(text) if (singular := _singular(word)) not in _FUNCTION_WORDS
    )


def concepts(survivors: Sequence[str], pool: Sequence[str]) -> list[Concept]:
    """All words of the survivors, those first whose odds have grown most.

    Odds are of captions that hold the word, half a caption added to either side.
    """
    held, usual = _documents(survivors), _documents(pool)
    found = [
        Concept(
            word,
            n / len(survivors),
            usual[word] / max(1, len(pool)),
            _log_odds(n, len(survivors)) - _log_odds(usual[word], len(pool)),
        )
        for word, n in held.items()
    ]
    return sorted(found, key=lambda one: (-one.log_odds, -one.frequency, one.word))


def similarity(texts: Sequence[str]) -> float | None:
    """Mean over all pairs of captions of the cosine of their sets of content words; None below two."""
    sets = [words_in(text) for text in texts]
    pairs = list(combinations(sets, 2))
    if not pairs:
        return None
    return sum(_cosine(a, b) for a, b in pairs) / len(pairs)


def _documents(texts: Sequence[str]) -> Counter[str]:
    return Counter(word for text in texts for word in words_in(text))


def _log_odds(n: int, of: int) -> float:
    return math.log((n + 0.5) / (of - n + 0.5))


def _cosine(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / math.sqrt(len(a) * len(b)) if a and b else 0.0


def _singular(word: str) -> str:
    """By its ending, which is right for most nouns; "grass" and "bus" are none."""
    if len(word) > 4 and word.endswith("men"):
        return f"{word[:-2]}an"
    if word.endswith(("sses", "xes", "shes", "ches")):
        return word[:-2]
    if word.endswith("uses") and not word.endswith(("ouses", "auses")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
