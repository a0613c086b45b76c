"""NL-adv (Zhu et al., ACM MM 2024), adapted: a genetic algorithm over the slots of one sentence.

A caption is a choice of one word for each of nine slots, filled into a template. Populations of twenty:
roulette by fitness, uniform crossover (each slot from either parent), a slot mutated with probability 0.02;
a generation is made of children only, the best tenth merely weighs double in the roulette. After each
generation the words of the worst caption go, in two of the slots that may shrink: adaptive word-space
reduction (`word_reduction`), which saves queries.

Deviations: fitness is 1 - CAPTURE, on one picture of a caption, instead of the probability of another class
on eight. What is shown is a slot too, so that it is searched for and not given, in the place of the view
angle, which has one word only. No caption is written by hand to begin with. The template leaves out that the
target faces the viewer and fills the picture. Words are our own, as many as published. It goes on
until the budget is spent. A child whose caption is known already gets another word in some slot, so that
every evaluation teaches something. With `selection = "robust"` the tenth is shown once more in each
generation, and the best captions of all are shown again in the end. In the embedded world the slots are
those that its grammar has: number, target, colour, size for the appearance, place for the background, light
for the weather.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from attacks.evolution.contest import Contest, rounds_of
from attacks.evolution.engine import Engine, Found
from attacks.evolution.individuals import Asking, Entrant, Individual, normalised
from benchmark.toybox import words
from benchmark.toybox.facts import Facts, Thing
from benchmark.toybox.grammar import generate

Genes = Mapping[str, str]
"""Slot -> word."""

POPULATION = 20
MUTATION = 0.02
ELITE = 0.1
SHRINKING = ("gesture", "appearance", "colour", "background", "weather")
"""Slots that word-space reduction takes words from, two at a time, down to three words."""
_LEAST_WORDS = 3
_MOST_GENERATIONS = 200
_TRIES = 20

_ANIMALS: dict[str, tuple[str, ...]] = {
    "number": ("one", "two"),
    "target": (
        "butterfly", "cat", "chicken", "cow", "dog", "elephant", "horse", "sheep", "spider", "squirrel",
    ),
    "weather": ("sunny", "rainy", "snowy", "foggy", "windy", "cloudy", "stormy", "moonlit"),
    "background": (
        "in a meadow", "in a forest", "on a beach", "in a desert", "on a street", "in a kitchen",
        "on a mountain", "by a river", "in a barn", "on a rooftop", "in a garden",
    ),
    "colour": (
        "black", "white", "brown", "grey", "golden", "red", "blue", "green", "purple", "striped",
    ),
    "gesture": (
        "running", "sleeping", "sitting", "jumping", "eating", "drinking", "standing still",
        "lying down", "looking up", "turning round", "climbing",
    ),
    "style": ("photograph", "oil painting", "pencil drawing"),
    "appearance": ("with long fur", "with a wet coat", "with spots", "with a collar"),
    "expression": ("calm", "angry", "curious", "frightened", "sleepy"),
}  # fmt: skip
"""Sizes as published: 2, 8, 11, 10, 11, 3, 4, 5, and ten targets; the view angle has one word, none."""

_TOYBOX: dict[str, tuple[str, ...]] = {
    "number": ("one", *words.COUNTS),
    "target": words.CLASSES,
    "colour": words.COLOURS,
    "appearance": words.SIZES,
    "background": tuple(words.PLACES),
    "weather": tuple(words.LIGHTS),
}


@dataclass(frozen=True, slots=True)
class Space:
    """What the slots may hold, and how a choice is said; None for what cannot be."""

    slots: Mapping[str, tuple[str, ...]]
    say: Callable[[Genes], str | None]


def space_of(operators: str) -> Space:
    """The embedded world's for "grammar", animals for any other operators."""
    return Space(_TOYBOX, _toybox_caption) if operators == "grammar" else Space(_ANIMALS, _animals)


def nl_adv(engine: Engine) -> Asking[Found]:
    """Run the genetic algorithm until the budget is spent; returns the best captions of all it saw."""
    return (yield from _Algorithm(engine).run())


class _Algorithm:
    """One run."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._rng = engine.rng
        self._contest = Contest(engine)
        self._space = space_of(str(engine.settings["operators"]))
        self._words = {slot: list(options) for slot, options in self._space.slots.items()}
        self._reduces = bool(engine.settings["word_reduction"])
        self._by_text: dict[str, Entrant | None] = {
            normalised(one.text): one for one in self._contest.entrants
        }

    def run(self) -> Asking[Found]:
        contest = self._contest
        sizes = rounds_of(self._engine.settings, contest.left)[-3:] if contest.robust else []
        population = [self._random() for _ in range(POPULATION)]
        elite: list[tuple[Genes, Entrant]] = []
        for number in range(1, _MOST_GENERATIONS + 1):
            again = [one for _, one in elite] if contest.robust else []
            entrants = yield from self._entered(population, number, again)
            alive = [(genes, one) for genes, one in zip(population, entrants, strict=True) if one]
            elite = self._elite(alive)
            contest.row(contest.best(sizes[0] if sizes else contest.finals))
            yield from contest.tell()
            if contest.left <= sum(sizes):
                break
            if self._reduces:
                self._reduce(alive)
            population = self._children([*alive, *elite])
        yield from contest.halve(sizes)
        left_over = {slot: len(options) for slot, options in self._words.items()}
        return contest.found(words=dict(left_over))

    def _entered(
        self, population: Sequence[Genes], number: int, again: Sequence[Entrant]
    ) -> Asking[list[Entrant | None]]:
        """What becomes of each choice of words: the caption's scores, None if there are none."""
        texts = [self._space.say(genes) for genes in population]
        born: dict[str, Individual] = {}
        for text in texts:
            if text is not None and (key := normalised(text)) not in self._by_text:
                born.setdefault(key, self._engine.born(text, "slots", (), number))
        entered = yield from self._contest.enter(list(born.values()), again)
        self._by_text.update(zip(born, entered, strict=True))
        return [None if text is None else self._by_text[normalised(text)] for text in texts]

    def _elite(self, alive: Sequence[tuple[Genes, Entrant]]) -> list[tuple[Genes, Entrant]]:
        """The best tenth; of captions that are there twice, one."""
        genes_of = {one.individual.id: (genes, one) for genes, one in alive}
        best = self._contest.best(round(ELITE * POPULATION), [one for _, one in genes_of.values()])
        return [genes_of[one.individual.id] for one in best]

    def _children(self, parents: Sequence[tuple[Genes, Entrant]]) -> list[Genes]:
        if not parents:
            return [self._random() for _ in range(POPULATION)]
        fitness = np.array([max(0.0, 1 - self._contest.value(one)) for _, one in parents])
        total = fitness.sum()
        chances = fitness / total if total > 0 else None
        children: list[Genes] = []
        texts: set[str | None] = set()
        for _ in range(POPULATION):
            first, second = self._rng.choice(len(parents), size=2, p=chances).tolist()
            genes: dict[str, str] = {}
            for slot, options in self._words.items():
                word = parents[first if self._rng.random() < 0.5 else second][0][slot]
                if self._rng.random() < MUTATION or word not in options:
                    word = self._drawn(options)
                genes[slot] = word
            for _ in range(_TRIES):
                if not self._is_known(genes, texts):
                    break
                slot = list(self._words)[int(self._rng.integers(len(self._words)))]
                genes[slot] = self._drawn(self._words[slot])
            texts.add(self._space.say(genes))
            children.append(genes)
        return children

    def _is_known(self, genes: Genes, siblings: Set[str | None]) -> bool:
        text = self._space.say(genes)
        return text is None or text in siblings or normalised(text) in self._by_text

    def _reduce(self, alive: Sequence[tuple[Genes, Entrant]]) -> None:
        """Take two words of the caption that is described best out of their slots."""
        if not alive:
            return
        worst = max(alive, key=lambda pair: self._contest.value(pair[1]))[0]
        slots = [slot for slot in SHRINKING if slot in self._words]
        for index in self._rng.permutation(len(slots))[:2].tolist():
            options = self._words[slots[index]]
            if len(options) > _LEAST_WORDS and worst[slots[index]] in options:
                options.remove(worst[slots[index]])

    def _random(self) -> Genes:
        return {slot: self._drawn(options) for slot, options in self._words.items()}

    def _drawn(self, options: Sequence[str]) -> str:
        return options[int(self._rng.integers(len(options)))]


def _animals(genes: Genes) -> str:
    target = genes["target"]
    if genes["number"] != "one":
        target = {"butterfly": "butterflies", "sheep": "sheep"}.get(target, f"{target}s")
    return (
        f"{_with_article(genes['style'])} of {genes['number']} {genes['expression']}"
        f" {genes['colour']} {target} {genes['appearance']}, {genes['gesture']}"
        f" {genes['background']} on a {genes['weather']} day"
    )


def _with_article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _toybox_caption(genes: Genes) -> str | None:
    place, light = genes["background"], genes["weather"]
    if place == "room" and light not in words.INDOOR_LIGHTS:
        return None
    thing = Thing(genes["target"], genes["colour"], genes["appearance"])
    return generate(Facts((thing,), words.COUNTS.get(genes["number"], 1), None, place, light))
