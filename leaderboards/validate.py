"""What CI of a leaderboard repository runs: every check on every entry, all problems at once."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmark.errors import UserError
from leaderboards import consistency, copies, recompute
from leaderboards.checks import shown
from leaderboards.report import Report
from leaderboards.submission import HEADER, Submission, entry_path, read

PATH_PARTS = 4
"""Folders of an entry's path: attack, preset, model, digest."""

MOST_ENTRIES = 10_000


def validate_submission(path: Path) -> tuple[Submission, list[str], list[str]]:
    """Check one submission by itself: (what was read, problems, notes)."""
    found = read(path)
    problems, notes = list(found.problems), list[str]()
    if found.header is not None:
        problems += _place(path, found)
    for needed, check in _CHECKS:
        if all(getattr(found, name) is not None for name in needed):
            problems += check(found)
    whole = (found.header, found.config, found.records, found.trace)
    if not problems and all(one is not None for one in whole):
        # Only what is sound in itself is recomputed: else one fault would be told a hundred times.
        problems += _recomputed(found, notes)
    elif problems:
        notes.append("verdicts and aggregates are recomputed once these problems are solved")
    return found, problems, notes


def validate(path: Path) -> Report:
    """Check a submission, or every entry below a folder, and these against each other.

    Raises:
        UserError: There is no such folder, or nothing in it.
    """
    if path.is_symlink() or not path.is_dir():
        kind = "no folder" if not path.is_file() else "a file, and archives are not accepted"
        raise UserError(f"{path} is {kind}: give the folder of a submission, or one of entries")
    report = Report()
    strays: list[str] = []
    single = (path / HEADER).exists() or (path / "card.json").exists()
    places = [path] if single else list(find_entries(path, strays))
    if strays:
        report.add(path, strays, [])
        report.entries -= 1
    if not places and not strays:
        raise UserError(f"{path} holds no submission: give a folder that `submit` made")
    if len(places) > MOST_ENTRIES:
        raise UserError(f"{path} holds more than {MOST_ENTRIES} entries: check a part of it")
    prints = []
    for place in places:
        found, problems, notes = validate_submission(place)
        name = place if single else place.relative_to(path)
        report.add(name, problems, notes)
        prints.append(copies.fingerprint(str(name), found))
    report.problems += copies.among(prints)
    return report


def find_entries(root: Path, strays: list[str]) -> Iterator[Path]:
    """Folders four levels down; whatever else is there is a line of `strays`. Follows no link."""

    def walk(folder: Path, depth: int) -> Iterator[Path]:
        with os.scandir(folder) as found:
            inside = sorted(found, key=lambda one: one.name)
        for entry in inside:
            place = Path(entry.path)
            if entry.is_symlink():
                strays.append(f"{shown(str(place.relative_to(root)))} is a symbolic link")
            elif not entry.is_dir(follow_symlinks=False):
                if depth or entry.name != "README.md":
                    strays.append(f"{shown(str(place.relative_to(root)))} belongs to no entry")
            elif depth == PATH_PARTS - 1:
                yield place
            else:
                yield from walk(place, depth + 1)

    yield from walk(root, 0)


def _place(path: Path, found: Submission) -> Iterator[str]:
    """The path is what run.json says: attack, preset, model, revision, digest."""
    assert found.header is not None
    if "target" not in found.header["models"]:
        return
    wanted = entry_path(found.header)
    given = Path(os.path.abspath(path)).parts[-PATH_PARTS:]
    if given != wanted.parts:
        yield f"stands in {shown('/'.join(given))}, but its run.json belongs in {wanted}"


def _recomputed(found: Submission, notes: list[str]) -> list[str]:
    problems: list[str] = []
    try:
        again = recompute.rebuild(found, problems, notes)
        if again is None or problems:
            return problems
        problems += recompute.verdicts(found, again, notes)
        problems += recompute.searches(found, again, notes)
        problems += recompute.table(found, again, notes)
    except (UserError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        # Criteria and metrics trust their records; a stranger's may hold what breaks them.
        problems.append(f"cannot be recomputed: {type(error).__name__}: {error}")
    return problems


_CHECKS: tuple[tuple[tuple[str, ...], Callable[[Submission], Iterator[str]]], ...] = (
    (("card",), consistency.hashes),
    (("header", "config"), consistency.config),
    (("records",), consistency.records),
    (("records", "trace"), consistency.trace),
)
