"""The static site: pages, and the same numbers as CSV and JSON."""

import csv
import json
import shutil
from collections.abc import Sequence
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import Any

from benchmark.errors import UserError
from leaderboards import pages
from leaderboards.boards import Board, boards
from leaderboards.submission import CARD, HEADER, RECORDS, TABLE, Submission, read
from leaderboards.validate import find_entries, validate

MARK = ".trident-site"
"""A file that says that a folder was made here, and may be made anew."""


def build(entries: Path, out: Path) -> list[str]:
    """Check all entries and write the site; returns its pages.

    Raises:
        UserError: An entry does not pass, or `out` holds something else than a site.
    """
    report = validate(entries)
    if not report.passed:
        more = f" and {len(report.problems) - 1} more" if len(report.problems) > 1 else ""
        raise UserError(
            f"{report.problems[0]}{more}: run `python -m benchmark leaderboard validate {entries}`"
        )
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UserError(f"--out {out} is no folder: name another")
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).is_file():
        raise UserError(f"--out {out} is not empty and no site: name another folder")
    found = [
        (PurePosixPath(place.relative_to(entries).as_posix()), read(place))
        for place in find_entries(entries, [])
    ]
    all_boards = boards(found)
    made = _written(all_boards, dict(found))
    if out.exists():
        shutil.rmtree(out)
    for name, data in made.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return [name for name in made if name.endswith(".html")]


def _written(
    all_boards: Sequence[Board], entries: dict[PurePosixPath, Submission]
) -> dict[str, bytes]:
    made = {MARK: b"", "index.html": pages.index(all_boards, len(entries)).encode()}
    everything: list[dict[str, Any]] = []
    for board in all_boards:
        rows = _rows(board)
        everything += rows
        made[f"{board.name}.html"] = pages.board_page(board).encode()
        made |= _data(board.name, rows)
        for section in board.sections.values():
            for standing in section.standings:
                entry = entries[standing.path]
                folder = f"entries/{standing.path}"
                made[f"{folder}/index.html"] = pages.entry_page(board, standing, entry).encode()
                for name in (CARD, HEADER, RECORDS, TABLE):
                    made[f"{folder}/{name}"] = entry.files[name]
    return made | _data("leaderboard", everything)


def _rows(board: Board) -> list[dict[str, Any]]:
    """One row an entry; numbers under their metric's name, with interval."""
    rows = []
    for section in board.sections.values():
        for standing in section.standings:
            row: dict[str, Any] = {
                "board": board.name,
                "attack": board.attack,
                "attack_version": board.version,
                "access": board.access,
                "budget": board.budget,
                "preset": section.preset,
                "dataset": section.dataset,
                "data_hash": section.data_hash,
                "settings": section.rules,
                "model_name": standing.model_name,
                "model": standing.model,
                "version": standing.version,
                "samples": standing.samples,
                "errors": standing.errors,
                "queries": standing.queries,
                "submitted": standing.submitted,
                "paper": standing.paper,
                "flags": "; ".join(standing.flags),
                "withdrawn": standing.withdrawn,
                "entry": str(standing.path),
            }
            again = standing.reproduced or {}
            row |= {
                f"reproduced_{key}": again.get(key) for key in ("replayed", "agreed", "success")
            }
            for column, number in zip(board.columns, standing.numbers, strict=True):
                name = f"{column.metric} {column.part}".strip()
                row[name] = number.value
                row[f"{name} low"], row[f"{name} high"] = number.low, number.high
            rows.append(row)
    return rows


def _data(name: str, rows: Sequence[dict[str, Any]]) -> dict[str, bytes]:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    sheet = StringIO()
    writer = csv.DictWriter(sheet, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    plain = json.dumps(rows, indent=1, allow_nan=False) + "\n"
    return {f"data/{name}.csv": sheet.getvalue().encode(), f"data/{name}.json": plain.encode()}


def _cell(value: Any) -> Any:
    """A spreadsheet must not take a name for a formula."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t")):
        return "'" + value
    return value
