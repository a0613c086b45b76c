"""Settings by "key=value": read as TOML, checked against what each setting may be."""

import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping

from benchmark.errors import UserError
from benchmark.settings import Setting
from benchmark.types import JSON

Sections = Mapping[str, tuple[dict[str, JSON], dict[str, Setting] | None]]
"""By name ("" for the attack's own): the settings, and what each may be; None knows them all."""


def apply_all(overrides: Iterable[str], sections: Sections) -> None:
    """Set all `overrides`, then check every setting, those that no override named as well.

    Raises:
        UserError: As for `apply` and `check`.
    """
    for override in overrides:
        apply(override, sections)
    for values, known in sections.values():
        for key, value in values.items():
            check(key, value, known)


def apply(override: str, sections: Sections) -> None:
    """Set one "key=value" in the section that its key names: "" (the attack), "target" or "dataset".

    Raises:
        UserError: It is no such pair, or there is no such key.
    """
    key, equals, text = override.partition("=")
    key = key.strip()
    if not equals or not key:
        raise UserError(f"--set {override}: write key=value, such as --set candidates=8")
    section, dot, inner = key.partition(".")
    if not dot:
        section, inner = "", key
    if section not in sections:
        raise UserError(f"--set {override}: {key!r} must start with target. or dataset., or no dot")
    values, known = sections[section]
    if known is not None and inner not in known:
        raise UserError(f"--set {override}: {_unknown_key(inner, known)}")
    value = parse_value(text)
    if known is not None and isinstance(value, str) and known[inner].shape == "list of names":
        value = [part.strip() for part in value.split(",") if part.strip()]
    if known is not None and type(value) is int and known[inner].shape == "number":
        value = float(value)  # 1 and 1.0 are one experiment and must have one digest.
    values[inner] = value


def parse_value(text: str) -> JSON:
    """A TOML value; what is not TOML is a text ("paper" needs no quotes on the command line)."""
    text = text.strip()
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    value = parsed.get("value")
    plain = isinstance(value, bool | int | float | str | list) and set(parsed) == {"value"}
    return value if plain else text


def check(key: str, value: JSON, known: dict[str, Setting] | None) -> None:
    """Refuse a key that is not `known`, or a value that it may not have; None knows all.

    Raises:
        UserError: Naming the key, the value and what is expected.
    """
    if known is None:
        return
    if key not in known:
        raise UserError(_unknown_key(key, known))
    if not known[key].accepts(value):
        shown = json.dumps(value)
        raise UserError(f"setting {key} = {shown}: expected {known[key].expected}")


def _unknown_key(key: str, known: Iterable[str]) -> str:
    known = sorted(known)
    close = difflib.get_close_matches(key, known, n=3)
    hint = f"did you mean {in_words(close)}?" if close else f"there are {in_words(known, 'and')}"
    return f"unknown setting {key!r}: {hint}"


def in_words(names: Iterable[str], last: str = "or") -> str:
    """Names as people list them: "a, b or c"."""
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end
