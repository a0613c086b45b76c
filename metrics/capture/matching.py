"""Which elements of a candidate are in the reference: exact, then synonymous, then alike.

An element is a phrase, or a relation's (subject, predicate, object).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from metrics.capture.graph import Relation

Stage = Literal["exact", "synonym", "soft"]
Substring = Literal["released", "token", "off"]

EPSILON = 1e-6
"""Added to every denominator, as in the released code."""

Element = TypeVar("Element", str, Relation)
Same = Callable[[str, str], bool]
LemmaNames = Callable[[str], frozenset[str]]
"""A word, with underscores for spaces -> the names of all lemmas of all its synsets."""


class Similarity(Protocol):
    """Cosines of phrases."""

    def learn(self, phrases: Sequence[str]) -> None:
        """Get ready for these phrases; each is embedded once."""
        ...

    def cosines(self, rows: Sequence[str], columns: Sequence[str]) -> npt.NDArray[np.float64]:
        """Shape (rows, columns); all phrases have been learnt."""
        ...


@dataclass(frozen=True, slots=True)
class Matching(Generic[Element]):
    """What two stages of matching leave. `matched` counts pairs; each element is in one at most."""

    candidates: int
    references: int
    matched: int
    candidates_left: tuple[Element, ...]
    references_left: tuple[Element, ...]

    @property
    def is_soft(self) -> bool:
        """Whether both sides have something left for soft matching."""
        return bool(self.candidates_left and self.references_left)


class Synonyms:
    """Whether two words mean the same: WordNet's lemma names overlap, or one contains the other.

    `substring`: "released" takes any characters within a word for a match (man and woman, car and
    carpet); "token" takes whole words only (truck and fire truck); "off" none.
    Words and pairs are looked up once.
    """

    def __init__(self, lemma_names: LemmaNames, substring: Substring = "released") -> None:
        self._look_up = lemma_names
        self._contains = _CONTAINS[substring]
        self._names: dict[str, frozenset[str]] = {}
        self._known: dict[tuple[str, str], bool] = {}

    def __call__(self, a: str, b: str) -> bool:
        """Whether `score` is above 0."""
        known = self._known.get((a, b))
        if known is None:
            known = self._contains(a, b) or not self.names(a).isdisjoint(self.names(b))
            self._known[a, b] = known
        return known

    def score(self, a: str, b: str) -> float:
        """1 if one contains the other, else the overlap of their lemma names, |A & B| / |A | B|."""
        if self._contains(a, b):
            return 1.0
        names_a, names_b = self.names(a), self.names(b)
        return len(names_a & names_b) / (len(names_a | names_b) + EPSILON)

    def names(self, phrase: str) -> frozenset[str]:
        """The lemma names of a phrase."""
        names = self._names.get(phrase)
        if names is None:
            names = self._names[phrase] = self._look_up("_".join(phrase.split()))
        return names


def match(
    candidates: Sequence[Element],
    references: Sequence[Element],
    *,
    exact: bool = True,
    same: Callable[[Element, Element], bool] | None = None,
) -> Matching[Element]:
    """Pair elements one to one, in the order given: first equal ones, then those that `same` accepts.

    Each candidate takes the first free reference that fits, not the best one.
    """
    waiting, free = list(candidates), list(references)
    if exact:
        waiting = []
        for candidate in candidates:
            if candidate in free:
                free.remove(candidate)
            else:
                waiting.append(candidate)
    if same is not None and free:
        waiting = [c for c in waiting if not _took_same(c, free, same)]
    matched = len(references) - len(free)
    return Matching(len(candidates), len(references), matched, tuple(waiting), tuple(free))


def soft_gain(cosines: npt.NDArray[np.float64], *, mean: bool) -> tuple[float, float]:
    """What the leftovers add to the candidates' and to the references' matches (eq. 7).

    Args:
        cosines: Shape (candidates left, references left), neither 0.
        mean: Add the mean of the maxima (eq. 9) instead of their sum (the released code).
    """
    gather = np.mean if mean else np.sum
    return float(gather(cosines.max(axis=1))), float(gather(cosines.max(axis=0)))


def all_same(same: Same) -> Callable[[Relation, Relation], bool]:
    """Relations are the same if all their parts are, one by one."""

    def relations_same(a: Relation, b: Relation) -> bool:
        return same(a[0], b[0]) and same(a[1], b[1]) and same(a[2], b[2])

    return relations_same


def phrase(element: str | Relation) -> str:
    """What is embedded of an element."""
    return element if isinstance(element, str) else " ".join(element)


def _took_same(
    candidate: Element, free: list[Element], same: Callable[[Element, Element], bool]
) -> bool:
    for index, reference in enumerate(free):
        if same(candidate, reference):
            del free[index]
            return True
    return False


def _has_words(a: str, b: str) -> bool:
    inner, outer = sorted((a.split(), b.split()), key=len)
    width = len(inner)
    starts = range(len(outer) - width + 1)
    return width > 0 and any(outer[i : i + width] == inner for i in starts)


_CONTAINS: dict[Substring, Same] = {
    "released": lambda a, b: a in b or b in a,
    "token": _has_words,
    "off": lambda a, b: False,
}
