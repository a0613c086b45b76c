"""What a caption says, as data. `grammar` turns it into words and back; `truth` decides on it."""

from dataclasses import dataclass, replace
from typing import Self

from benchmark.toybox import words


@dataclass(frozen=True, slots=True)
class Thing:
    """One noun phrase. An attribute that is not mentioned is None."""

    cls: str
    colour: str | None = None
    size: str | None = None
    material: str | None = None

    def __post_init__(self) -> None:
        _check("class", self.cls, words.CLASSES)
        _check("colour", self.colour, (None, *words.COLOURS))
        _check("size", self.size, (None, *words.SIZES))
        _check("material", self.material, (None, *words.MATERIALS))


@dataclass(frozen=True, slots=True)
class Facts:
    """The content of one caption.

    `things` holds one to three things. With `count` 2 or 3 there is exactly one thing, said in the
    plural ("two red ducks"). `relation` says where the first of two things is, seen from the second.
    """

    things: tuple[Thing, ...]
    count: int = 1
    relation: str | None = None
    place: str | None = None
    light: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.things) <= 3:
            raise ValueError(f"a caption names one to three things, not {len(self.things)}")
        if self.count != 1 and (self.count not in (2, 3) or len(self.things) != 1):
            raise ValueError(f"a count of {self.count} needs one thing, not {len(self.things)}")
        if self.relation is not None and len(self.things) != 2:
            raise ValueError(f"{self.relation!r} relates two things, not {len(self.things)}")
        _check("relation", self.relation, (None, *words.RELATIONS))
        _check("place", self.place, (None, *words.PLACES))
        _check("light", self.light, (None, *words.LIGHTS))

    def with_thing(self, index: int, thing: Thing) -> Self:
        """The same facts with one thing exchanged."""
        things = (*self.things[:index], thing, *self.things[index + 1 :])
        return replace(self, things=things)


def _check(what: str, value: str | None, allowed: tuple[str | None, ...]) -> None:
    if value not in allowed:
        raise ValueError(
            f"unknown {what} {value!r}: expected one of {', '.join(map(str, allowed))}"
        )
