"""Files of pairs that somebody else made: read with errors that name the line, results written whole."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmark.errors import UserError

MAX_CHARACTERS = 20_000
"""Longer texts are no captions; aligning one takes time and memory that grow with its square."""


def read_utf8(path: str | os.PathLike[str]) -> str:
    """A file's text.

    Raises:
        UserError: It is not UTF-8.
        OSError: The file cannot be read.
    """
    raw = Path(path).read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}:{line}: not UTF-8: save the file as UTF-8") from error


def entries(
    path: str | os.PathLike[str], content: str, keys: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """("path:line", entry) of each line that holds something; an entry has all `keys`, and an id.

    Raises:
        UserError: A line is no such entry.
    """
    said = f"{', '.join(keys[:-1])} and {keys[-1]}"
    # Not splitlines: JSON text may hold other line separators, such as U+2028.
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        entry = parsed(where, line)
        if not isinstance(entry, dict):
            raise UserError(f"{where}: expected an object with {said}")
        if missing := [key for key in keys if key not in entry]:
            raise UserError(f"{where}: {' and '.join(missing)} missing: give {', '.join(keys)}")
        identifier = entry["id"]
        if isinstance(identifier, bool) or not isinstance(identifier, str | int):
            raise UserError(f"{where}: id is {shown(identifier)}: expected a text or an integer")
        if isinstance(identifier, str):
            checked_text(where, "id", identifier)
        yield where, entry


def parsed(where: str, content: str) -> Any:
    """JSON as Python values.

    Raises:
        UserError: It is no JSON.
    """
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        raise UserError(f"{where}: not JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise UserError(f"{where}: not a pair: too deeply nested") from error


def checked_text(where: str, key: str, value: Any, *, empty: bool = False) -> str:
    """The value, if it is a text that can be scored; `empty` allows one that says nothing.

    Raises:
        UserError: It is not.
    """
    if not isinstance(value, str):
        raise UserError(f"{where}: {key} is {shown(value)}: expected a text")
    if not empty and not value.strip():
        raise UserError(f"{where}: {key} is empty: expected a text")
    if len(value) > MAX_CHARACTERS:
        raise UserError(f"{where}: {key} has {len(value)} characters: {MAX_CHARACTERS} at most")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UserError(f"{where}: {key} holds half a character (a lone surrogate)") from error
    return value


def shown(value: object) -> str:
    """A value as JSON, cut if it is long."""
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


def json_lines(lines: list[dict[str, Any]]) -> str:
    """One object a line."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write all files under other names first, so that no old file is lost to a failure."""
    folder.mkdir(parents=True, exist_ok=True)
    waiting = {folder / f".{name}.part": folder / name for name in files}
    try:
        for part, content in zip(waiting, files.values(), strict=True):
            part.write_text(content, encoding="utf-8", newline="\n")
        for part, final in waiting.items():
            part.replace(final)
    finally:
        for part in waiting:
            with suppress(OSError):
                part.unlink(missing_ok=True)
