"""Graphs of the embedded world's captions, by its grammar: exact, and no model is needed."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from benchmark import __version__
from benchmark.errors import UserError
from benchmark.toybox import words
from benchmark.toybox.facts import Facts, Thing
from benchmark.toybox.grammar import parse
from benchmark.types import JSON, ModelInfo
from metrics.capture.graph import Graph, Relation

SETTING = "in the setting"
LIGHT = "in the light"

_MIRRORED = {"right of": "left of", "behind": "in front of"}
"""Relations that are told from their other side, so that paraphrases have equal graphs."""
_NUMERALS = {number: word for word, number in words.COUNTS.items()}


class ToyboxParser:
    """Reads captions of the toybox grammar (a `GraphParser`); any other text has no graph."""

    def __init__(self, argument: str = "", settings: Mapping[str, JSON] | None = None) -> None:
        del settings
        if argument:
            raise UserError(
                f"the toybox parser takes no argument, not {argument!r}: write 'toybox'"
            )
        self.info = ModelInfo("toybox", revision=__version__, preprocessing="facts of the grammar")

    def parse(self, texts: Sequence[str]) -> list[dict[str, JSON] | None]:
        """The graph of each caption as plain data; None for what the grammar cannot read."""
        return [
            None if (facts := _facts(text)) is None else graph(facts).as_json() for text in texts
        ]


def graph(facts: Facts) -> Graph:
    """What facts say, as CAPTURE compares it; equal for captions of equal meaning.

    Objects are the classes of things. Attributes are size, material, colour, and the number of counted
    things. Relations are how two things stand, and, for every thing, (thing, "in the setting", place)
    and (thing, "in the light", light), so that a place or a light that is missed costs something.
    All is sorted; two things of one class are one object with the attributes of both.
    """
    attributes: dict[str, set[str]] = {}
    for thing in facts.things:
        attributes.setdefault(thing.cls, set()).update(_attributes(thing))
    if facts.count != 1:
        attributes[facts.things[0].cls].add(_NUMERALS[facts.count])
    return Graph(
        tuple(sorted(attributes)),
        {cls: tuple(sorted(owned)) for cls, owned in sorted(attributes.items()) if owned},
        tuple(sorted(set(_relations(facts)))),
    )


def _attributes(thing: Thing) -> set[str]:
    return {said for said in (thing.size, thing.material, thing.colour) if said is not None}


def _relations(facts: Facts) -> Iterator[Relation]:
    if facts.relation is not None:
        subject, reference = (thing.cls for thing in facts.things)
        if facts.relation in _MIRRORED:
            yield reference, _MIRRORED[facts.relation], subject
        else:
            yield subject, facts.relation, reference
    for thing in facts.things:
        if facts.place is not None:
            yield thing.cls, SETTING, _noun(words.PLACES[facts.place])
        if facts.light is not None:
            yield thing.cls, LIGHT, _noun(words.LIGHTS[facts.light])


def _noun(setting: str) -> str:
    return setting.split()[-1]


@lru_cache(maxsize=65536)
def _facts(text: str) -> Facts | None:
    return parse(text)
