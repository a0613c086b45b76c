"""The operators without a language model: captions of the embedded world, crossed and mutated as facts.

A caption says everything of its scene but the materials: class, colour and size of each thing, how two of
them stand, place and light. What a caption left open the painter would draw, and a target that sees it
would be marked down for saying so.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from attacks.evolution.individuals import Asking
from attacks.evolution.tasks import MADE, Question
from benchmark.toybox import questions as toybox_questions
from benchmark.toybox import words
from benchmark.toybox.captions import full_facts
from benchmark.toybox.facts import Facts, Thing
from benchmark.toybox.grammar import generate, parse
from benchmark.toybox.operations import OPERATIONS
from benchmark.toybox.sampling import KINDS, sample_scene

_TRIES = 30
_ASKABLE = ("colour", "size", "count", "relation", "place")
"""Questions whose true answers are captions, so that they have graphs."""

_Edit = Callable[[Facts, np.random.Generator], Facts | None]
_Make = Callable[[Sequence[Facts], np.random.Generator], Facts | None]

_ASPECTS: dict[str, tuple[str, ...]] = {
    "subject": ("replace-object", "swap-objects"),
    "object": ("replace-object", "add-object", "drop-object"),
    "attribute": ("replace-colour", "replace-size", "swap-colours", "swap-sizes"),
    "background": ("replace-place",),
    "weather": ("replace-light",),
    "domain": ("replace-relation", "replace-count", "replace-light"),
}
"""What each of LANCE's aspects is in this world; it has one medium only, so "domain" is arrangement."""


class GrammarOperators:
    """Crossover and mutation on facts. The four categories are the world's kinds of scene.

    `rng` decides everything; no request is made.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.failures = 0

    @property
    def exhausted(self) -> bool:
        """Never: there is no language model to ask."""
        return False

    def initial(self, n: int, rng: np.random.Generator) -> Asking[list[str]]:
        """n different captions: single objects, pairs, triples and counted ones in turn."""
        kinds = tuple(KINDS)
        captions: dict[str, None] = {}
        for draw in range(n * _TRIES):
            if len(captions) == n:
                break
            seed = int(rng.integers(2**31))
            captions[generate(full_facts(sample_scene(seed, kinds[draw % len(kinds)])))] = None
        return list(captions)
        yield

    def explore(
        self, groups: Sequence[Sequence[str]], rng: np.random.Generator
    ) -> Asking[list[str | None]]:
        """One child of each group: its things are drawn from those of all parents, so is the rest."""
        return [self._made(_cross, group, rng) for group in groups]
        yield

    def mutate(
        self, groups: Sequence[Sequence[str]], rng: np.random.Generator
    ) -> Asking[list[list[str | None]]]:
        """One fact of each caption replaced, added, dropped or exchanged."""
        return [[self._made(_mutated, (text,), rng) for text in group] for group in groups]
        yield

    def rewrite(
        self, texts: Sequence[str], aspects: Sequence[str], rng: np.random.Generator
    ) -> Asking[list[str | None]]:
        """Each caption with one fact of an aspect changed; None where it has no such fact."""
        return [
            self._made(_editor(_ASPECTS[aspect]), (text,), rng)
            for text, aspect in zip(texts, aspects, strict=True)
        ]
        yield

    def questions(self, texts: Sequence[str], seeds: Sequence[int]) -> Asking[list[list[Question]]]:
        """Up to three of the world's questions about each caption, of different kinds if possible."""
        return [
            _asked(facts, np.random.default_rng(seed)) if (facts := parse(text)) else []
            for text, seed in zip(texts, seeds, strict=True)
        ]
        yield

    def _made(
        self,
        make: _Make,
        texts: Sequence[str],
        rng: np.random.Generator,
    ) -> str | None:
        parents = [facts for text in texts if (facts := parse(text)) is not None]
        for _ in range(_TRIES):
            child = make(parents, rng) if len(parents) == len(texts) else None
            if child is None:
                break
            text = generate(child)
            if text not in texts:
                return text
        self.failures += 1
        return None


def _cross(parents: Sequence[Facts], rng: np.random.Generator) -> Facts:
    """Number of things, each thing, relation, place and light, each from a parent drawn for it."""

    def any_parent() -> Facts:
        return parents[int(rng.integers(len(parents)))]

    form = any_parent()
    pool = [thing for facts in parents for thing in facts.things]
    things: list[Thing] = []
    for index in rng.permutation(len(pool)).tolist():
        if len(things) < len(form.things) and all(pool[index].cls != t.cls for t in things):
            things.append(pool[index])
    relation = None
    if len(things) == 2:
        said = [facts.relation for facts in parents if facts.relation is not None]
        options = said or list(words.RELATIONS)
        relation = options[int(rng.integers(len(options)))]
    count = form.count if len(things) == 1 else 1
    return _lit(Facts(tuple(things), count, relation, any_parent().place), any_parent().light, rng)


def _lit(facts: Facts, light: str | None, rng: np.random.Generator) -> Facts:
    """The facts in this light, or in another one where the place does not know it."""
    if facts.place == "room" and light not in (None, *words.INDOOR_LIGHTS):
        light = words.INDOOR_LIGHTS[int(rng.integers(len(words.INDOOR_LIGHTS)))]
    return replace(facts, light=light)


def _mutated(parents: Sequence[Facts], rng: np.random.Generator) -> Facts | None:
    return _edited(parents[0], rng, tuple(_EDITS))


def _editor(names: Sequence[str]) -> _Make:
    return lambda parents, rng: _edited(parents[0], rng, names)


def _edited(facts: Facts, rng: np.random.Generator, names: Sequence[str]) -> Facts | None:
    """One of the named edits, drawn uniformly among those that apply."""
    for index in rng.permutation(len(names)).tolist():
        after = _EDITS[names[index]](facts, rng)
        if after is not None:
            return after
    return None


def _replace_place(facts: Facts, rng: np.random.Generator) -> Facts | None:
    """Any other place, a room as well: the light then follows."""
    others = [place for place in words.PLACES if place != facts.place]
    if facts.place is None:
        return None
    return _lit(replace(facts, place=others[int(rng.integers(len(others)))]), facts.light, rng)


def _add_object(facts: Facts, rng: np.random.Generator) -> Facts | None:
    after = OPERATIONS["add-object"].apply(facts, rng)
    if after is None or len(after.things) != 2:
        return after
    return replace(after, relation=words.RELATIONS[int(rng.integers(len(words.RELATIONS)))])


def _drop_object(facts: Facts, rng: np.random.Generator) -> Facts | None:
    if len(facts.things) == 1:
        return None
    left = int(rng.integers(len(facts.things)))
    things = (*facts.things[:left], *facts.things[left + 1 :])
    relation = words.RELATIONS[int(rng.integers(len(words.RELATIONS)))]
    return replace(facts, things=things, relation=relation if len(things) == 2 else None)


_EDITS: dict[str, _Edit] = {
    **{
        name: OPERATIONS[name].apply
        for name in (
            "replace-object", "replace-colour", "replace-size", "replace-relation", "replace-light",
            "replace-count", "swap-objects", "swap-colours", "swap-sizes",
        )
    },
    "replace-place": _replace_place,
    "add-object": _add_object,
    "drop-object": _drop_object,
}  # fmt: skip


def _asked(facts: Facts, rng: np.random.Generator) -> list[Question]:
    offered = [q for q in toybox_questions.questions(facts, rng) if q.kind in _ASKABLE]
    order = [offered[index] for index in rng.permutation(len(offered)).tolist()]
    kinds: set[str] = set()
    first: list[toybox_questions.Question] = []
    rest: list[toybox_questions.Question] = []
    for question in order:
        (rest if question.kind in kinds else first).append(question)
        kinds.add(question.kind)
    return [Question(q.text, q.answer) for q in (first + rest)[:MADE]]
