"""What a pull request does to entries that are there: none goes away, none changes in silence."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from leaderboards.checks import shown
from leaderboards.submission import CARD, REPRODUCED, Submission, read
from leaderboards.validate import PATH_PARTS, find_entries

_LINE = re.compile(r"(?P<kind>[ACDMRTUX])\d*\t(?P<path>[^\t]+)(?:\t(?P<to>[^\t]+))?")


@dataclass(slots=True)
class Change:
    """What a diff does to the entries: paths relative to their folder."""

    touched: dict[PurePosixPath, set[str]] = field(default_factory=dict)
    """Entry -> names of its files that are added or changed."""
    changed: dict[PurePosixPath, set[str]] = field(default_factory=dict)
    """Entry -> names of its files that were there before."""
    problems: list[str] = field(default_factory=list)


def parse_diff(text: str, entries: PurePosixPath) -> Change:
    """Read the output of `git diff --name-status`; `entries` is the folder of entries in the repository."""
    change = Change()
    for line in text.splitlines():
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            change.problems.append(
                f"{shown(line)} is no line of `git diff --name-status`, or its file has an odd name"
            )
            continue
        kind, path, to = match["kind"], match["path"], match["to"]
        if kind in "DR":
            change.problems.append(
                f"{shown(path)} is removed: entries stay (withdraw them instead)"
            )
        if kind == "D":
            continue
        for name in (to,) if kind in "RC" and to else (path,):
            _touch(change, entries, name, before=kind in "MTUX")
    return change


def _touch(change: Change, entries: PurePosixPath, name: str, *, before: bool) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.is_relative_to(entries):
        change.problems.append(f"{shown(name)} is outside {entries}: submissions only add entries")
        return
    inside = path.relative_to(entries)
    if len(inside.parts) <= PATH_PARTS:
        change.problems.append(f"{shown(name)} belongs to no entry")
        return
    entry = PurePosixPath(*inside.parts[:PATH_PARTS])
    file = "/".join(inside.parts[PATH_PARTS:])
    change.touched.setdefault(entry, set()).add(file)
    if before:
        change.changed.setdefault(entry, set()).add(file)


def of_diff(change: Change, *, keeper: bool) -> Iterator[str]:
    """Rules that need nothing but the diff: what changes says so in its card, keepers' files stay theirs."""
    for entry, files in sorted(change.changed.items()):
        if CARD not in files and files - {REPRODUCED}:
            yield (
                f"{entry}: {', '.join(sorted(files))} changed in silence: add a line to the history"
                f" of its {CARD}"
            )
    for entry, files in sorted(change.touched.items()):
        if REPRODUCED in files and not keeper:
            yield f"{entry}: {REPRODUCED} is written by the keepers (--keeper)"


def of_base(new: Path, base: Path, *, keeper: bool) -> Iterator[str]:
    """Compare two folders of entries."""
    before = {place.relative_to(base): place for place in find_entries(base, [])}
    now = {place.relative_to(new): place for place in find_entries(new, [])}
    for name in sorted(before.keys() - now.keys()):
        yield f"{name}: is removed: entries stay (withdraw it instead)"
    for name in sorted(now):
        found = read(now[name])
        old = read(before[name]) if name in before else None
        yield from (f"{name}: {fault}" for fault in _changed(old, found, keeper=keeper))


def _changed(old: Submission | None, new: Submission, *, keeper: bool) -> Iterator[str]:
    kept = None if old is None else old.files.get(REPRODUCED)
    if new.files.get(REPRODUCED) != kept and not keeper:
        yield f"{REPRODUCED} is written by the keepers (--keeper)"
    if old is None or old.digest == new.digest:
        return
    before = _history(old.card)
    after = _history(new.card)
    if after[: len(before)] != before or len(after) != len(before) + 1:
        yield (
            f"changed in silence: add one line to the history of its {CARD},"
            f' {{"date": ..., "was": "{old.digest}", "reason": ...}}, and leave the earlier ones'
        )
    elif after[-1]["was"] != old.digest:
        yield f"the last line of its history says it was {after[-1]['was'][:12]}..., not {old.digest}"


def _history(card: dict[str, Any] | None) -> list[dict[str, Any]]:
    return [] if card is None else list(card["history"])
