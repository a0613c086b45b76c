"""Sensitive concepts: what the captions that a search ends with name more often than those it began with.

A concept is held by a caption or not, however often it is said there. Captions of the embedded world hold
what the grammar reads in them: classes, colours, sizes, counts, relations, places and lights, and "same
colour" where two things share one, which chance never draws there. Other captions hold the lemmas of their
nouns, and pairs of nouns side by side ("Zen Master").

The paper counts words over the final captions of several runs. Here what was common from the start does
not count: concepts are ranked by log-odds against the initial pool. With k of n final captions and K of N
initial ones

    log-odds = ln((k + 1/2) / (n - k + 1/2)) - ln((K + 1/2) / (N - K + 1/2))

so the prior is half a caption with the concept and half a one without it on either side (Haldane, Anscombe),
and its variance is about the sum of the inverses of the four numbers. Ties are broken by document frequency.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any, cast

from benchmark.protocols import RunContext, Tagger
from benchmark.stats import wilson
from benchmark.toybox import words
from benchmark.toybox.grammar import parse
from benchmark.types import Measure, Record

SHOWN = 10
LEAST = 2
"""Final captions that must hold a concept."""

SUBJECT = "evolution"
"""The search whose concepts the table holds; the first one of a run that does without it."""

_PRIOR = 0.5
_Z = NormalDist().inv_cdf(0.975)
_NOUNS = ("NOUN", "PROPN")
_EMPTY = frozenset(
    "image picture photo photograph photography scene view background foreground shot side part piece"
    " group pair style detail way kind thing".split()
)
"""Nouns that say nothing of what is to be seen."""

SAME_COLOUR = "same colour"

_NUMERALS = {number: word for word, number in words.COUNTS.items()}


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of the final captions.

    Attributes:
        word: What it is called.
        frequency: The share of final captions that hold it, its document frequency.
        pool_frequency: The same of the initial captions.
        log_odds: How much the odds have grown, with the bounds of a 95 % interval.
        low, high: See above.
        rank_by_frequency: Its rank by document frequency, from 1.
    """

    word: str
    frequency: float
    pool_frequency: float
    log_odds: float
    low: float
    high: float
    rank_by_frequency: int = 0


def toybox_concepts(caption: str) -> frozenset[str] | None:
    """What a caption of the embedded world names; None for other texts.

    >>> sorted(toybox_concepts("two small red ducks in the fog"))
    ['duck', 'fog', 'red', 'small', 'two']
    """
    facts = parse(caption)
    if facts is None:
        return None
    named = [
        attribute
        for thing in facts.things
        for attribute in (thing.cls, thing.colour, thing.size, thing.material)
    ]
    named += [facts.relation, facts.place, facts.light, _NUMERALS.get(facts.count)]
    colours = [thing.colour for thing in facts.things if thing.colour is not None]
    if len(set(colours)) < len(colours):
        named.append(SAME_COLOUR)
    return frozenset(one for one in named if one is not None)


def noun_concepts(tags: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Lemmas of nouns, and pairs of them side by side, in lower case.

    >>> sorted(noun_concepts([("old", "ADJ"), ("clock", "NOUN"), ("tower", "NOUN")]))
    ['clock', 'clock tower', 'tower']
    """
    lemmas = [lemma.lower() if part in _NOUNS else "" for lemma, part in tags]
    kept = {lemma for lemma in lemmas if lemma and lemma not in _EMPTY}
    pairs = {f"{a} {b}" for a, b in pairwise(lemmas) if {a, b} <= kept}
    return frozenset(kept | pairs)


def ranked_concepts(
    finals: Sequence[Collection[str]], pool: Sequence[Collection[str]], least: int = LEAST
) -> list[Concept]:
    """The concepts that at least `least` of the final captions hold, the most telling one first.

    Args:
        finals: What each final caption holds.
        pool: What each initial caption holds.
        least: The lowest document count.
    """
    held, usual = _documents(finals), _documents(pool)
    n, of = len(finals), len(pool)
    kept = {word: k for word, k in held.items() if k >= least}
    by_frequency = sorted(kept, key=lambda word: (-kept[word], -_odds(kept[word], n), word))
    concepts = []
    for place, word in enumerate(by_frequency, start=1):
        k, common = kept[word], usual[word]
        log_odds = _odds(k, n) - _odds(common, of)
        margin = _Z * math.sqrt(
            sum(1 / (count + _PRIOR) for count in (k, n - k, common, of - common))
        )
        concepts.append(
            Concept(
                word,
                k / n,
                common / of if of else 0.0,
                log_odds,
                log_odds - margin,
                log_odds + margin,
                place,
            )
        )
    return sorted(concepts, key=lambda one: (-one.log_odds, -one.frequency, one.word))


class Concepts:
    """The ten concepts that evolution's final captions hold beyond measure, over all repeats.

    Slices "concept=NAME": `document_frequency` and `pool_frequency` with Wilson intervals, `log_odds` with
    a normal one, `rank` by log-odds and `rank_by_frequency`.
    """

    def __init__(self, run: RunContext) -> None:
        self._run = run

    def measures(self, records: Sequence[Record]) -> list[Measure]:
        """Nothing where no search ended with captions."""
        chosen = _of_one_search(records)
        finals = [str(final["text"]) for found in chosen for final in found["finals"]]
        pool = [str(text) for found in chosen for text, _ in found["pool"]["captions"]]
        held = self.held_by([*finals, *pool])
        concepts = ranked_concepts(held[: len(finals)], held[len(finals) :])
        return [
            measure
            for rank, concept in enumerate(concepts[:SHOWN], start=1)
            for measure in _measures(rank, concept, len(finals), len(pool))
        ]

    def held_by(self, captions: Sequence[str]) -> list[frozenset[str]]:
        """The concepts of each caption."""
        known = {caption: toybox_concepts(caption) for caption in captions}
        rest = [caption for caption, concepts in known.items() if concepts is None]
        if rest:
            tagger: Tagger = self._run.model("taggers", str(self._run.settings["tagger"]))
            known.update(zip(rest, map(noun_concepts, tagger.tag(rest)), strict=True))
        return [known[caption] or frozenset() for caption in captions]


def _of_one_search(records: Iterable[Record]) -> list[Mapping[str, Any]]:
    """What the repeats of one search found."""
    found = [cast("Mapping[str, Any]", record.found) for record in records]
    found = [one for one in found if one.get("finals") and "pool" in one]
    names = [one["search"] for one in found]
    name = SUBJECT if SUBJECT in names else next(iter(names), None)
    return [one for one in found if one["search"] == name]


def _measures(rank: int, concept: Concept, n: int, of: int) -> list[Measure]:
    part = f"concept={concept.word}"

    def share(metric: str, value: float, count: int) -> Measure:
        low, high = wilson(round(value * count), count) or (None, None)
        return Measure(metric, value, low, high, n=count, unit="rate", slice=part)

    return [
        share("document_frequency", concept.frequency, n),
        share("pool_frequency", concept.pool_frequency, of),
        Measure("log_odds", concept.log_odds, concept.low, concept.high, n=n, slice=part),
        Measure("rank", float(rank), n=n, slice=part),
        Measure("rank_by_frequency", float(concept.rank_by_frequency), n=n, slice=part),
    ]


def _documents(captions: Iterable[Collection[str]]) -> Counter[str]:
    return Counter(word for held in captions for word in set(held))


def _odds(k: int, n: int) -> float:
    return math.log((k + _PRIOR) / (n - k + _PRIOR))
