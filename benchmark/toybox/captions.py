"""Captions of a scene: the full one, what a person might say, and brief ones to train on.

All captions are true of their scene. The probabilities below shaped the captions that the
embedded models were trained on; a change of them asks for new models.
"""

import numpy as np

from benchmark.toybox.facts import Facts, Thing
from benchmark.toybox.grammar import generate, paraphrases
from benchmark.toybox.scene import Scene

NATURAL_SIZE = 0.45
NATURAL_MATERIAL = 0.2
NATURAL_COLOUR = 0.85
NATURAL_RELATION = 0.75
NATURAL_PLACE = 0.9
NATURAL_LIGHT = 0.95
NATURAL_DAYLIGHT = 0.5
"""Daylight is what one expects, so it is left unsaid more often than any other light."""

BRIEF_SIZE = 0.25
BRIEF_MATERIAL = 0.15
BRIEF_COLOUR = 0.45
BRIEF_RELATION = 0.75
BRIEF_PLACE = 0.3
BRIEF_LIGHT = 0.3
BRIEF_SINGLE = 0.4
"""How often only one thing of several is named, so that a model must learn what it looks like."""

PARAPHRASED = 0.1


def full_facts(scene: Scene) -> Facts:
    """Size and colour of every thing, relation, place and light; materials are left out."""
    things = [o.thing for o in scene.objects]
    return _facts(scene, tuple(Thing(t.cls, t.colour, t.size) for t in things), True, True, True)


def natural_facts(scene: Scene, rng: np.random.Generator) -> Facts:
    """What a person might say: every object, but not all that could be told of it."""
    u = rng.random(12).tolist()
    things = _things(scene, u, NATURAL_COLOUR, NATURAL_SIZE, NATURAL_MATERIAL)
    lit = NATURAL_DAYLIGHT if scene.light == "day" else NATURAL_LIGHT
    return _facts(scene, things, u[9] < NATURAL_RELATION, u[10] < NATURAL_PLACE, u[11] < lit)


def brief_facts(scene: Scene, rng: np.random.Generator) -> Facts:
    """A few words, often on one thing only, that leave most of the scene unsaid."""
    u = rng.random(14).tolist()
    things = _things(scene, u, BRIEF_COLOUR, BRIEF_SIZE, BRIEF_MATERIAL)
    placed, lit = u[10] < BRIEF_PLACE, u[11] < BRIEF_LIGHT
    if len(things) > 1 and not scene.counted and u[12] < BRIEF_SINGLE:
        return _facts(scene, (things[int(u[13] * len(things))],), False, placed, lit)
    return _facts(scene, things, u[9] < BRIEF_RELATION, placed, lit)


def full_caption(scene: Scene) -> str:
    """The data set's clean caption, `full_facts` in words."""
    return generate(full_facts(scene))


def natural_caption(scene: Scene, rng: np.random.Generator) -> str:
    """`natural_facts` in words, now and then as a paraphrase."""
    return _say(natural_facts(scene, rng), rng)


def brief_caption(scene: Scene, rng: np.random.Generator) -> str:
    """`brief_facts` in words, now and then as a paraphrase."""
    return _say(brief_facts(scene, rng), rng)


def _say(facts: Facts, rng: np.random.Generator) -> str:
    if rng.random() < PARAPHRASED:
        others = paraphrases(facts)
        if others:
            return others[int(rng.integers(len(others)))]
    return generate(facts)


def _things(
    scene: Scene, u: list[float], colour: float, size: float, material: float
) -> tuple[Thing, ...]:
    """The scene's things, each attribute kept with its probability; `u[0:9]` decide."""
    return tuple(
        Thing(
            o.cls,
            o.colour if u[3 * i] < colour else None,
            o.size if u[3 * i + 1] < size else None,
            o.material if u[3 * i + 2] < material else None,
        )
        for i, o in enumerate(scene.objects)
    )


def _facts(
    scene: Scene, things: tuple[Thing, ...], related: bool, placed: bool, lit: bool
) -> Facts:
    return Facts(
        things[:1] if scene.counted else things,
        len(things) if scene.counted else 1,
        scene.relation if related else None,
        scene.place if placed else None,
        scene.light if lit else None,
    )
