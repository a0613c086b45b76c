"""JSON as a stranger may send it: no duplicates, no NaN, no infinity, no deep nesting, bytes in UTF-8."""

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any, NoReturn, cast

from benchmark.types import JSON
from leaderboards import limits


class MalformedError(ValueError):
    """Not the JSON that is asked for; the message says why."""


def loads(data: bytes) -> JSON:
    """Parse one JSON value.

    Raises:
        MalformedError: It is none, or one that two readers may understand differently.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedError(f"byte {error.start} is not UTF-8") from error
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refused, parse_float=_finite
        )
    except MalformedError:
        raise
    except RecursionError as error:
        raise MalformedError(_TOO_DEEP) from error
    except ValueError as error:
        raise MalformedError(f"not JSON: {error}") from error
    if _depth_exceeds(value, limits.DEPTH):
        raise MalformedError(_TOO_DEEP)
    return cast("JSON", value)


def load_object(data: bytes) -> dict[str, JSON]:
    """Parse a JSON object.

    Raises:
        MalformedError: It is something else.
    """
    value = loads(data)
    if not isinstance(value, dict):
        raise MalformedError(f"a {type(value).__name__} where a JSON object is expected")
    return value


def load_lines(data: bytes) -> Iterator[tuple[int, dict[str, JSON] | MalformedError]]:
    """(line number, object or what is wrong with it) of a .jsonl file."""
    start = number = 0
    while start < len(data):
        number += 1
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        line, start = data[start : min(end, start + limits.LINE_BYTES + 1)], end + 1
        if len(line) > limits.LINE_BYTES:
            yield number, MalformedError(f"longer than {limits.LINE_BYTES} bytes")
            continue
        try:
            yield number, load_object(line)
        except MalformedError as error:
            yield number, error


_TOO_DEEP = f"nested deeper than {limits.DEPTH} levels"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise MalformedError(f"key {twice!a:.60} is there twice")
    return found


def _refused(constant: str) -> NoReturn:
    raise MalformedError(f"{constant} is not a number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise MalformedError(f"{text:.30} is too large for a number")
    return value


def _depth_exceeds(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most + 1):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner.extend(one.values())
            elif isinstance(one, list):
                inner.extend(one)
        if not inner:
            return False
        level = inner
    return True
