"""What a value may be, as small functions that say all that is wrong with it.

A check takes a value and where it stands ("verdicts.tie") and yields one line a fault.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from math import isfinite
from typing import Any

Check = Callable[[Any, str], Iterator[str]]

HEX64 = re.compile(r"[0-9a-f]{64}")
_URL = re.compile(r"https://[A-Za-z0-9.-]+(:\d{1,5})?(/[A-Za-z0-9._~!$()*+,;=:@%/?#&-]*)?")
_SPEC = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:/@+,=-]*")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?(\+00:00|Z))?")


def shown(value: Any) -> str:
    """A value in a message: ASCII, on one line, cut."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def text(most: int, pattern: re.Pattern[str] | None = None, what: str = "a text") -> Check:
    """A string of at most so many characters, all of it as the pattern says."""

    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield f"{where} is {shown(value)}: expected {what}"
        elif len(value) > most:
            yield f"{where} has {len(value)} characters: at most {most} are allowed"
        elif pattern is not None and not pattern.fullmatch(value):
            yield f"{where} is {shown(value)}: expected {what}"

    return check


def label(most: int) -> Check:
    """A name that people read: printable characters that no page or terminal takes for its own."""

    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, str) or not value.strip():
            yield f"{where} is {shown(value)}: expected a name"
        elif len(value) > most:
            yield f"{where} has {len(value)} characters: at most {most} are allowed"
        elif bad := sorted({c for c in value if c in "<>&\"'`\\" or not c.isprintable()}):
            yield f"{where} is {shown(value)}: {shown(''.join(bad))} may not be in a name"
        elif unicodedata.normalize("NFKC", value) != value:
            yield f"{where} is {shown(value)}: write it in its plain form (NFKC)"

    return check


def number(low: float, high: float) -> Check:
    """A finite number between two bounds, themselves allowed. True is no number."""

    def check(value: Any, where: str) -> Iterator[str]:
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            yield f"{where} is {shown(value)}: expected a number"
        elif not low <= value <= high:
            yield f"{where} is {shown(value)}: expected from {low:g} to {high:g}"

    return check


def whole(low: int, high: int) -> Check:
    """A whole number between two bounds."""

    def check(value: Any, where: str) -> Iterator[str]:
        if isinstance(value, bool) or not isinstance(value, int):
            yield f"{where} is {shown(value)}: expected a whole number"
        elif not low <= value <= high:
            yield f"{where} is {shown(value)}: expected from {low} to {high}"

    return check


def one_of(*choices: Any) -> Check:
    """One of a few values."""

    def check(value: Any, where: str) -> Iterator[str]:
        if not any(type(value) is type(choice) and value == choice for choice in choices):
            yield f"{where} is {shown(value)}: expected {' or '.join(map(shown, choices))}"

    return check


def nullable(inner: Check) -> Check:
    """What `inner` allows, or null."""

    def check(value: Any, where: str) -> Iterator[str]:
        if value is not None:
            yield from inner(value, where)

    return check


def listing(inner: Check, most: int) -> Check:
    """A list of at most so many values."""

    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield f"{where} is {shown(value)}: expected a list"
        elif len(value) > most:
            yield f"{where} has {len(value)} items: at most {most} are allowed"
        else:
            for index, item in enumerate(value):
                yield from inner(item, f"{where}[{index}]")

    return check


def mapping(inner: Check, most: int = 100, key: Check | None = None) -> Check:
    """An object of any keys, which `key` may check, its values all of a kind."""

    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{where} is {shown(value)}: expected an object"
        elif len(value) > most:
            yield f"{where} has {len(value)} keys: at most {most} are allowed"
        else:
            for name, item in value.items():
                if key is not None:
                    yield from key(name, f"a key of {where}")
                yield from inner(item, f"{where}.{name:.40}" if name.isascii() else where)

    return check


def shape(
    required: Mapping[str, Check],
    optional: Mapping[str, Check] | None = None,
    ignored: Collection[str] = (),
) -> Check:
    """An object of these keys and no others."""
    known = {**required, **(optional or {})}

    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{where or 'it'} is {shown(value)}: expected an object"
            return
        prefix = f"{where}." if where else ""
        for name in required:
            if name not in value:
                yield f"{prefix}{name} is missing"
        for name, item in value.items():
            if name in known:
                yield from known[name](item, f"{prefix}{name}")
            elif name not in ignored:
                yield f"{where or 'it'} has a key {shown(name)} that no version of trident writes"

    return check


def plain(most: int) -> Check:
    """Any JSON of at most so many values; its numbers finite, its texts not endless."""

    def check(value: Any, where: str) -> Iterator[str]:
        waiting, seen = [value], 0
        while waiting:
            one = waiting.pop()
            seen += 1
            if seen > most:
                yield f"{where} holds more than {most} values"
                return
            if isinstance(one, dict):
                waiting.extend((*one.keys(), *one.values()))
            elif isinstance(one, list):
                waiting.extend(one)
            elif isinstance(one, str) and len(one) > 20_000:
                yield f"{where} holds a text of {len(one)} characters: at most 20000 are allowed"
            elif isinstance(one, int | float) and not abs(one) <= 1e19:
                yield f"{where} holds {shown(one)}: numbers go to 1e19"

    return check


FLAG = one_of(True, False)
DIGEST = text(64, HEX64, "64 hexadecimal digits")
URL = text(300, _URL, "an address that begins with https://")
SPEC = text(200, _SPEC, "a name of letters, digits and . _ : / @ + = -")
DATE = text(40, _DATE, "a date such as 2026-01-31 or 2026-01-31T12:00:00+00:00")
