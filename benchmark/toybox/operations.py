"""The edits that turn one caption into another: one fact replaced, added or exchanged.

An operation never returns the facts it was given, nor facts of the same meaning, and never leaves
the world's laws: classes stay distinct, and a room only knows the lights of indoors.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Literal, TypeVar

import numpy as np

from benchmark.toybox import words
from benchmark.toybox.facts import Facts, Thing

_T = TypeVar("_T")
_Attribute = Literal["cls", "colour", "size", "material"]

_ATTRIBUTES: tuple[_Attribute, ...] = ("cls", "colour", "size", "material")
_VALUES: dict[_Attribute, tuple[str, ...]] = {
    "cls": words.CLASSES,
    "colour": words.COLOURS,
    "size": words.SIZES,
    "material": words.MATERIALS,
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One kind of edit.

    Attributes:
        name: The fine name, such as "swap-colours".
        family: MAC's name for its kind, one of `families()`.
        apply: Draws one such edit of the facts; None when they offer no place for it.
    """

    name: str
    family: str
    apply: Callable[[Facts, np.random.Generator], Facts | None]


def families() -> tuple[str, ...]:
    """MAC's eight kinds of edit, in the published order."""
    return (
        "object-add",
        "attribute-add",
        "object-replace",
        "object-swap",
        "attribute-replace",
        "attribute-swap",
        "relation-replace",
        "count-replace",
    )


def edit(
    facts: Facts, rng: np.random.Generator, family: str | None = None
) -> tuple[str, Facts] | None:
    """One edit, drawn uniformly among the operations that apply (of one family, if given).

    Returns:
        The operation's name and the edited facts; None when nothing applies.

    Raises:
        ValueError: The family is unknown.
    """
    if family is not None and family not in families():
        raise ValueError(f"unknown family {family!r}: expected one of {', '.join(families())}")
    open_to = [o for o in OPERATIONS.values() if family in (None, o.family)]
    for index in rng.permutation(len(open_to)).tolist():
        after = open_to[index].apply(facts, rng)
        if after is not None:
            return open_to[index].name, after
    return None


def operation_of(before: Facts, after: Facts | None) -> str:
    """Which single operation turned one caption's facts into the other's.

    Returns:
        A name in `OPERATIONS`; "drop" when one thing, attribute, relation, place or light is no
        longer said; "identical" for the same meaning, in whatever order; "malformed" for None
        (the text did not parse); "several" for whatever no operation does alone.
    """
    if after is None:
        return "malformed"
    if _same_meaning(before, after):
        return "identical"
    changed = [
        field
        for field in ("count", "relation", "place", "light")
        if getattr(before, field) != getattr(after, field)
    ]
    if len(before.things) != len(after.things):
        return "several" if set(changed) - {"relation"} else _added_or_dropped(before, after)
    if before.things != after.things:
        return "several" if changed else _edit_of_things(before.things, after.things)
    if len(changed) > 1 or getattr(before, changed[0]) is None:
        return "several"
    return "drop" if getattr(after, changed[0]) is None else f"replace-{changed[0]}"


def _replace_attribute(attribute: _Attribute) -> Callable[..., Facts | None]:
    def apply(facts: Facts, rng: np.random.Generator) -> Facts | None:
        said = [i for i, thing in enumerate(facts.things) if getattr(thing, attribute) is not None]
        if not said:
            return None
        index = _draw(said, rng)
        taken = [getattr(facts.things[index], attribute)]
        if attribute == "cls":
            taken = [thing.cls for thing in facts.things]
        value = _draw([v for v in _VALUES[attribute] if v not in taken], rng)
        return facts.with_thing(index, replace(facts.things[index], **{attribute: value}))

    return apply


def _replace_relation(facts: Facts, rng: np.random.Generator) -> Facts | None:
    if facts.relation is None:
        return None
    others = [replace(facts, relation=relation) for relation in words.RELATIONS]
    return _draw([other for other in others if not _same_meaning(facts, other)], rng)


def _replace_place(facts: Facts, rng: np.random.Generator) -> Facts | None:
    if facts.place is None:
        return None
    indoors = facts.light is None or facts.light in words.INDOOR_LIGHTS
    others = [p for p in words.PLACES if p != facts.place and (indoors or p != "room")]
    return replace(facts, place=_draw(others, rng))


def _replace_light(facts: Facts, rng: np.random.Generator) -> Facts | None:
    if facts.light is None:
        return None
    lights = words.INDOOR_LIGHTS if facts.place == "room" else tuple(words.LIGHTS)
    return replace(facts, light=_draw([light for light in lights if light != facts.light], rng))


def _replace_count(facts: Facts, rng: np.random.Generator) -> Facts | None:
    if len(facts.things) != 1:
        return None
    return replace(facts, count=_draw([n for n in (1, 2, 3) if n != facts.count], rng))


def _add_object(facts: Facts, rng: np.random.Generator) -> Facts | None:
    """A thing of a new class, anywhere among the others and described as they are.

    Three things stand in no relation in this grammar, so a pair's relation goes unsaid.
    """
    things = facts.things
    if facts.count != 1 or len(things) == 3:
        return None
    cls = _draw([c for c in words.CLASSES if all(c != thing.cls for thing in things)], rng)
    colour = _draw(words.COLOURS, rng) if any(thing.colour for thing in things) else None
    size = _draw(words.SIZES, rng) if any(thing.size for thing in things) else None
    at = int(rng.integers(len(things) + 1))
    return replace(
        facts, things=(*things[:at], Thing(cls, colour, size), *things[at:]), relation=None
    )


def _add_attribute(facts: Facts, rng: np.random.Generator) -> Facts | None:
    bare = [i for i, thing in enumerate(facts.things) if thing.material is None]
    if not bare:
        return None
    index = _draw(bare, rng)
    return facts.with_thing(
        index, replace(facts.things[index], material=_draw(words.MATERIALS, rng))
    )


def _swap(attribute: _Attribute) -> Callable[..., Facts | None]:
    def apply(facts: Facts, rng: np.random.Generator) -> Facts | None:
        edits = []
        for i, j in combinations(range(len(facts.things)), 2):
            a, b = (getattr(facts.things[k], attribute) for k in (i, j))
            if a is None or b is None or a == b:
                continue
            swapped = facts.with_thing(i, replace(facts.things[i], **{attribute: b}))
            swapped = swapped.with_thing(j, replace(facts.things[j], **{attribute: a}))
            if not _same_meaning(facts, swapped):
                edits.append(swapped)
        return _draw(edits, rng) if edits else None

    return apply


def _draw(choices: Sequence[_T], rng: np.random.Generator) -> _T:
    return choices[int(rng.integers(len(choices)))]


def _same_meaning(a: Facts, b: Facts) -> bool:
    """Equal up to the order in which the things are named."""
    if a == b:
        return True
    if (a.count, a.place, a.light) != (b.count, b.place, b.light):
        return False
    if a.relation is None or b.relation is None:
        return a.relation == b.relation and b.things in permutations(a.things)
    return words.OPPOSITE[a.relation] == b.relation and a.things[::-1] == b.things


def _added_or_dropped(before: Facts, after: Facts) -> str:
    """One thing more or less; the relation of a pair comes and goes with its second thing."""
    few, many = sorted((before, after), key=lambda facts: len(facts.things))
    rests = (many.things[:i] + many.things[i + 1 :] for i in range(len(many.things)))
    if few.things not in rests or (after.relation is not None and before is not few):
        return "several"
    return "add-object" if few is before else "drop"


def _edit_of_things(before: tuple[Thing, ...], after: tuple[Thing, ...]) -> str:
    changes = [
        (attribute, getattr(a, attribute), getattr(b, attribute))
        for a, b in zip(before, after, strict=True)
        for attribute in _ATTRIBUTES
        if getattr(a, attribute) != getattr(b, attribute)
    ]
    attribute, old, new = changes[0]
    name = "object" if attribute == "cls" else attribute
    if len(changes) == 1:
        if new is None:
            return "drop"
        if old is None:
            return "add-attribute"
        return f"replace-{name}" if f"replace-{name}" in OPERATIONS else "several"
    exchanged = len(changes) == 2 and None not in (old, new) and changes[1] == (attribute, new, old)
    return f"swap-{name}s" if exchanged and f"swap-{name}s" in OPERATIONS else "several"


OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("replace-object", "object-replace", _replace_attribute("cls")),
        Operation("replace-colour", "attribute-replace", _replace_attribute("colour")),
        Operation("replace-size", "attribute-replace", _replace_attribute("size")),
        Operation("replace-relation", "relation-replace", _replace_relation),
        Operation("replace-place", "object-replace", _replace_place),
        Operation("replace-light", "attribute-replace", _replace_light),
        Operation("replace-count", "count-replace", _replace_count),
        Operation("add-object", "object-add", _add_object),
        Operation("add-attribute", "attribute-add", _add_attribute),
        Operation("swap-objects", "object-swap", _swap("cls")),
        Operation("swap-colours", "attribute-swap", _swap("colour")),
        Operation("swap-sizes", "attribute-swap", _swap("size")),
    )
}
"""Every operation by name."""
