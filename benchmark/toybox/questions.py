"""Questions about a scene and their true answers, decided from facts.

Answers are short. Wherever the grammar allows it they are captions themselves ("two red ducks"), or the
setting alone ("on the grass at sunset"), so that a subject and a setting joined by a space are a caption
again. Things are named from left to right, and by one side of each relation: see `canonical`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmark.toybox import words
from benchmark.toybox.facts import Facts, Thing
from benchmark.toybox.grammar import generate
from benchmark.toybox.scene import Scene

DESCRIBE = "Describe this image in detail."
SUBJECT = "What is the main subject of the image?"
SETTING = "Describe the environment or setting."

KINDS = (
    "subject", "setting", "colour", "size", "count", "relation", "presence", "place", "light",
)  # fmt: skip

_PREFERRED = {"right of": "left of", "behind": "in front of"}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked (`text`), of which of `KINDS`, and the true answer."""

    kind: str
    text: str
    answer: str


def canonical(scene: Scene) -> Facts:
    """All facts but materials, in one order: a relation is left of or in front of; three go by x."""
    things = [Thing(o.cls, o.colour, o.size) for o in scene.objects]
    if scene.counted:
        return Facts(tuple(things[:1]), len(things), None, scene.place, scene.light)
    if len(things) == 3:
        order = sorted(range(3), key=lambda i: scene.objects[i].x)
        things = [things[i] for i in order]
    relation = scene.relation
    if relation in _PREFERRED:
        things, relation = things[::-1], _PREFERRED[relation]
    return Facts(tuple(things), 1, relation, scene.place, scene.light)


def questions(facts: Facts, rng: np.random.Generator) -> list[Question]:
    """All that can be asked about these facts, in the order of `KINDS`; what they leave open is not asked.

    `rng` chooses the class that "is there a ...?" asks about, present in half of the cases. Facts are
    read exhaustively: a class that is not named is not there.
    """
    counted = facts.count != 1
    found = [Question("subject", SUBJECT, generate(replace(facts, place=None, light=None)))]
    if facts.place is not None or facts.light is not None:
        found.append(Question("setting", SETTING, _setting(facts.place, facts.light)))
    for thing in facts.things:
        noun = words.PLURALS[thing.cls] if counted else thing.cls
        verb = "are" if counted else "is"
        bare = Facts((Thing(thing.cls),), facts.count)
        if thing.colour is not None:
            coloured = generate(bare.with_thing(0, Thing(thing.cls, colour=thing.colour)))
            found.append(Question("colour", f"What colour {verb} the {noun}?", coloured))
        if thing.size is not None:
            sized = generate(bare.with_thing(0, Thing(thing.cls, size=thing.size)))
            found.append(Question("size", f"What size {verb} the {noun}?", sized))
        many = f"How many {words.PLURALS[thing.cls]} are there?"
        found.append(Question("count", many, generate(bare)))
        if facts.place is not None:
            where = generate(replace(bare, place=facts.place))
            found.append(Question("place", f"Where {verb} the {noun}?", where))
    found += _relations(facts)
    found.append(_presence(facts, rng))
    if facts.light is not None:
        found.append(Question("light", "What is the light like?", words.LIGHTS[facts.light]))
    return sorted(found, key=lambda question: KINDS.index(question.kind))


def _setting(place: str | None, light: str | None) -> str:
    said = (words.PLACES[place] if place else "", words.LIGHTS[light] if light else "")
    return " ".join(filter(None, said))


def _relations(facts: Facts) -> Sequence[Question]:
    if facts.relation is None:
        return ()
    first, second = (replace(thing, size=None) for thing in facts.things)
    cases = ((first, facts.relation, second), (second, words.OPPOSITE[facts.relation], first))
    return [
        Question(
            "relation",
            f"What is {relation} the {other.cls}?",
            generate(Facts((thing, Thing(other.cls)), 1, relation)),
        )
        for thing, relation, other in cases
    ]


def _presence(facts: Facts, rng: np.random.Generator) -> Question:
    present = [thing.cls for thing in facts.things]
    absent = [name for name in words.CLASSES if name not in present]
    there = bool(rng.random() < 0.5)
    options = present if there else absent
    name = options[int(rng.integers(len(options)))]
    article = "an" if name[0] in "aeiou" else "a"
    plural = words.PLURALS[name]
    if not there:
        answer = f"no, there is no {name}"
    elif facts.count != 1:
        answer = f"yes, there are {generate(Facts((Thing(name),), facts.count))}"
    else:
        answer = f"yes, there is {article} {name}"
    asked = f"Are there {plural}?" if rng.random() < 0.3 else f"Is there {article} {name}?"
    return Question("presence", asked, answer)
