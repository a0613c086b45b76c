"""What captions mean: true of a scene or not, and what follows from one for another.

Two readings. A *hypothesis* is read existentially: "a red duck" is so wherever at least one red
duck is. A *premise* is read exhaustively: it names every object of its picture, so one more object
in a hypothesis contradicts it; attributes, relations, place and light it does not mention are open.

The laws of the world enter the decision: two objects of one class are only ever in a counted scene,
where all objects are equal in class, colour, size and material; a room knows only the lights of
indoors. Positions are free, as far as the premise's relation leaves them so. `entails` and
`contradicts` are exact over all scenes that obey these laws, whether or not the sampler draws them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from benchmark.toybox import words
from benchmark.toybox.facts import Facts, Thing
from benchmark.toybox.grammar import parse
from benchmark.toybox.scene import Scene, SceneObject

SIDE_MARGIN = 0.25
"""Left and right need more than this between the two x, in world units."""
DEPTH_MARGIN = 0.5
"""In front of and behind need more than this between the two y, in world units."""


def true_of(facts: Facts, scene: Scene) -> bool:
    """Whether distinct objects of the scene can play the things, and the setting is as said.

    Relations are decided by where the assigned objects stand, whatever the placement was made for:
    in front of and left of can both be so. A count means exactly that many matching objects.
    """
    if facts.place not in (None, scene.place) or facts.light not in (None, scene.light):
        return False
    if facts.count != 1:
        return sum(_fits(facts.things[0], o) for o in scene.objects) == facts.count
    return any(
        all(map(_fits, facts.things, cast))
        and (facts.relation is None or _stands(facts.relation, *cast))
        for cast in permutations(scene.objects, len(facts.things))
    )


def false_of(caption: str, scene: Scene) -> bool | None:
    """Whether the caption is not true of the scene; None when it is no caption of the world."""
    facts = parse(caption)
    return None if facts is None else not true_of(facts, scene)


def entails(premise: Facts, hypothesis: Facts) -> bool:
    """Whether the hypothesis is true of every scene that fits the premise.

    A premise that no scene fits ("in a room at sunset") entails and contradicts everything.
    """
    return _decide(premise, hypothesis)[0]


def contradicts(premise: Facts, hypothesis: Facts) -> bool:
    """Whether the hypothesis is true of no scene that fits the premise."""
    return _decide(premise, hypothesis)[1]


def relation_between(
    premise: Facts, hypothesis: Facts
) -> Literal["entailment", "neutral", "contradiction"]:
    """The three-way label; a premise that no scene fits gives "contradiction"."""
    always, never = _decide(premise, hypothesis)
    if never:
        return "contradiction"
    return "entailment" if always else "neutral"


def _fits(thing: Thing, o: SceneObject) -> bool:
    return (
        thing.cls == o.cls
        and thing.colour in (None, o.colour)
        and thing.size in (None, o.size)
        and thing.material in (None, o.material)
    )


def _stands(relation: str, subject: SceneObject, reference: SceneObject) -> bool:
    dx, dy = subject.x - reference.x, subject.y - reference.y
    return {
        "left of": dx < -SIDE_MARGIN,
        "right of": dx > SIDE_MARGIN,
        "in front of": dy < -DEPTH_MARGIN,
        "behind": dy > DEPTH_MARGIN,
    }[relation]


@dataclass(frozen=True, slots=True)
class Cast:
    """The objects that facts ask for: `number` of each kind, one thing a class."""

    kinds: dict[str, Thing]
    number: int


def objects_of(facts: Facts) -> Cast | None:
    """The objects of facts, with things of one class merged; None if no scene can show the facts.

    "a red duck and a small duck" can only be two equal ducks, small and red.
    """
    if _breaks_indoors(facts.place, facts.light):
        return None
    kinds: dict[str, Thing] = {}
    for thing in facts.things:
        merged = _merge(kinds.get(thing.cls, thing), thing)
        if merged is None:
            return None
        kinds[thing.cls] = merged
    if len(kinds) == len(facts.things):
        return Cast(kinds, facts.count)
    return Cast(kinds, len(facts.things)) if len(kinds) == 1 else None


def _merge(a: Thing, b: Thing) -> Thing | None:
    if any(_agree(x, y) is False for x, y in zip(_attributes(a), _attributes(b), strict=True)):
        return None
    return Thing(a.cls, a.colour or b.colour, a.size or b.size, a.material or b.material)


def _attributes(thing: Thing) -> tuple[str | None, ...]:
    return thing.colour, thing.size, thing.material


def _breaks_indoors(place: str | None, light: str | None) -> bool:
    return place == "room" and light is not None and light not in words.INDOOR_LIGHTS


def _decide(premise: Facts, hypothesis: Facts) -> tuple[bool, bool]:
    """Whether the hypothesis is true in all scenes of the premise, and whether in none.

    Facts left open vary independently but for the law of rooms, so the hypothesis holds always if
    each of its claims does, and never if one of them does not or the two settings exclude another.
    """
    given = objects_of(premise)
    if given is None:
        return True, True
    asked = objects_of(hypothesis)
    if asked is None:
        return False, True
    verdicts = [*_claims(given, asked, exactly=hypothesis.count != 1)]
    verdicts += [_relation(premise, hypothesis), _setting(premise, hypothesis)]
    return all(verdict is True for verdict in verdicts), False in verdicts


def _claims(given: Cast, asked: Cast, *, exactly: bool) -> Iterator[bool | None]:
    """Verdict on each claim about the objects: True, False, or None where the premise is open."""
    yield given.number == asked.number if exactly else given.number >= asked.number
    for cls, thing in asked.kinds.items():
        if cls not in given.kinds:
            yield False
            return
        yield from map(_agree, _attributes(given.kinds[cls]), _attributes(thing))


def _agree(given: str | None, asked: str | None) -> bool | None:
    if asked is None:
        return True
    return None if given is None else given == asked


def _relation(premise: Facts, hypothesis: Facts) -> bool | None:
    """Verdict on the relation, for a premise that names both of its things.

    The two axes are independent. Of two equal objects either one may play either part, so what
    holds from one side holds from the other.
    """
    if hypothesis.relation is None:
        return True
    if premise.relation is None:
        return None
    first, second = (thing.cls for thing in premise.things)
    seen = hypothesis.relation
    if hypothesis.things[0].cls != first:
        seen = words.OPPOSITE[seen]
    if seen == premise.relation:
        return True
    if seen != words.OPPOSITE[premise.relation]:
        return None
    return first == second


def _setting(premise: Facts, hypothesis: Facts) -> bool | None:
    place = _agree(premise.place, hypothesis.place)
    light = _agree(premise.light, hypothesis.light)
    if False in (place, light) or _breaks_indoors(
        premise.place or hypothesis.place, premise.light or hypothesis.light
    ):
        return False
    return None if None in (place, light) else True
