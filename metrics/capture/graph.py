"""A caption's scene graph, as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from benchmark.types import JSON

Relation = tuple[str, str, str]
"""(subject, predicate, object)."""


@dataclass(frozen=True, slots=True)
class Graph:
    """What a caption names: objects, what they are like, and how they stand to each other.

    Attributes:
        objects: The objects' names.
        attributes: Object -> its attributes. The object need not be among `objects`.
        relations: (subject, predicate, object) triples.
    """

    objects: tuple[str, ...] = ()
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()

    @property
    def all_attributes(self) -> tuple[str, ...]:
        """The attributes of all objects in one row: CAPTURE forgets whose they are."""
        return tuple(attribute for owned in self.attributes.values() for attribute in owned)

    @property
    def is_empty(self) -> bool:
        """Whether it names nothing at all: such a graph scores 0 against everything."""
        return not (self.objects or self.all_attributes or self.relations)

    def as_json(self) -> dict[str, JSON]:
        """Plain data; `from_json` reads it."""
        return {
            "objects": list(self.objects),
            "attributes": {owner: list(owned) for owner, owned in self.attributes.items()},
            "relations": [list(relation) for relation in self.relations],
        }

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Read {"objects": [...], "attributes": {object: [...]}, "relations": [[s, p, o], ...]}.

        Each of the three may be missing.

        Raises:
            ValueError: It is no such graph; the message says what is wrong with which part.
        """
        if not isinstance(value, Mapping):
            raise ValueError(
                f"a graph is an object with objects, attributes, relations, not {value!r}"
            )
        if strange := sorted(map(str, value.keys() - {"objects", "attributes", "relations"})):
            raise ValueError(
                f"a graph has objects, attributes and relations, but no {', '.join(strange)}"
            )
        attributes = value.get("attributes", {})
        if not isinstance(attributes, Mapping):
            raise ValueError(f"attributes is {attributes!r}: expected an object of lists of texts")
        return cls(
            _texts("objects", value.get("objects", [])),
            {str(owner): _texts(f"attributes of {owner!r}", v) for owner, v in attributes.items()},
            _relations(value.get("relations", [])),
        )


def _texts(what: str, value: Any) -> tuple[str, ...]:
    if not _is_list(value) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{what} is {value!r}: expected a list of texts")
    return tuple(value)


def _relations(value: Any) -> tuple[Relation, ...]:
    if not _is_list(value):
        raise ValueError(f"relations is {value!r}: expected a list of [subject, predicate, object]")
    relations: list[Relation] = []
    for triple in value:
        parts = _texts("a relation", triple)
        if len(parts) != 3:
            raise ValueError(f"a relation is {triple!r}: expected [subject, predicate, object]")
        relations.append((parts[0], parts[1], parts[2]))
    return tuple(relations)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
