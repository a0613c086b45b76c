"""Niches: a concept that was found is set aside, so that the next can surface.

Not in the paper. A deep hole hides the others: when it fills all islands, nothing else is selected for. So
after each generation the survivors of all islands are compared with the pool. Of the words that at least
`frequency` of them hold, whose odds have grown by `log_odds`, and with which captions are described worse by
`effect`, the one that grew most is found: who holds it becomes a niche and leaves the islands, captions that
hold it are refused from then on, and the best of the others that were ever evaluated take the free places. In
the end the niches and the islands give the final captions in turn.

The effect is the difference of mean CAPTURE between all captions without and with the word that were
evaluated so far, on their first pictures: those were seen before any selection. Without it, a word that
spread by chance in a small population passes for a concept.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from statistics import fmean
from typing import Generic, TypeVar

from attacks.evolution.concepts import Concept, concepts, words_in
from benchmark.types import JSON

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Niche(Generic[T]):
    """A concept that was found, when, what it costs in CAPTURE, and who held it then, best first."""

    concept: Concept
    generation: int
    effect: float
    members: Sequence[T]


@dataclass(slots=True)
class Niches(Generic[T]):
    """The concepts found so far.

    Attributes:
        text_of: The caption of a member.
        pool: The initial captions.
        frequency: Of the survivors so many must hold a concept.
        log_odds: So much its odds must have grown.
        effect: So much worse captions with it must be described.
    """

    text_of: Callable[[T], str]
    pool: Sequence[str]
    frequency: float
    log_odds: float
    effect: float
    found: list[Niche[T]] = field(default_factory=list)

    def admits(self, text: str) -> bool:
        """Whether a caption holds no concept that was set aside."""
        return not words_in(text) & {niche.concept.word for niche in self.found}

    def set_aside(
        self, survivors: Sequence[T], generation: int, scored: Sequence[tuple[str, float]]
    ) -> Niche[T] | None:
        """Look among the survivors, best first, for a concept; if there is one it becomes a niche.

        `scored` are all captions so far with the scores of their first pictures.
        """
        texts = [self.text_of(one) for one in survivors]
        open_ = [(words_in(text), score) for text, score in scored if self.admits(text)]
        for concept in concepts(texts, self.pool) if texts else ():
            if concept.frequency < self.frequency or concept.log_odds < self.log_odds:
                continue
            effect = _effect(concept.word, open_)
            if effect >= self.effect:
                members = [one for one in survivors if concept.word in words_in(self.text_of(one))]
                self.found.append(Niche(concept, generation, effect, members))
                return self.found[-1]
        return None

    def dealt(self, rest: Sequence[T], n: int) -> list[T]:
        """The n final ones: the best of each niche and of the `rest`, in turn."""
        rows = zip_longest(*(niche.members for niche in self.found), rest)
        dealt: Iterator[T | None] = chain.from_iterable(rows)
        return [one for one in dealt if one is not None][:n]

    def to_json(self) -> list[dict[str, JSON]]:
        """For the record: which concepts were set aside, and on what evidence."""
        return [
            {
                "concept": niche.concept.word,
                "generation": niche.generation,
                "document_frequency": round(niche.concept.frequency, 4),
                "pool_frequency": round(niche.concept.pool_frequency, 4),
                "log_odds": round(niche.concept.log_odds, 4),
                "effect": round(niche.effect, 4),
                "captions": len(niche.members),
            }
            for niche in self.found
        ]


def _effect(word: str, scored: Sequence[tuple[frozenset[str], float]]) -> float:
    """How much lower scores are with the word than without; 0 if it is everywhere or nowhere."""
    held = [score for words, score in scored if word in words]
    others = [score for words, score in scored if word not in words]
    return fmean(others) - fmean(held) if held and others else 0.0
