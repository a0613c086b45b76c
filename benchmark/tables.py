"""Tidy tables: one row a number, with its interval and everything that says what it is about.

Numbers are written with a fixed count of digits, so equal runs give tables that are equal byte for byte.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.config import RunConfig
from benchmark.errors import UserError
from benchmark.types import Measure

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 4
"""Fewer than scores are recorded with: means of scores that agree to 1e-5 then print the same."""

MISSING = "-"
"""How people see a number that cannot be had; a file leaves the field empty."""

_COMPARED = ("condition", "pair", "search")
"""Kinds of parts whose numbers people compare with each other, so they need the intervals."""


@dataclass(frozen=True, slots=True)
class Row:
    """One number. `slice` is the part of the samples it is about, "" for all."""

    attack: str
    target: str
    surrogate: str
    dataset: str
    preset: str
    variant: str
    slice: str
    metric: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    unit: str
    flags: str


COLUMNS = tuple(field.name for field in fields(Row))
_WORDS = ("unit", "flags")
_NUMBERS = ("value", "ci_low", "ci_high")


def rows(measures: Iterable[Measure], config: RunConfig, surrogate: str = "") -> list[Row]:
    """The rows of one run. `surrogate` is the model that was attacked if it was not the target."""
    return [
        Row(
            attack=config.attack,
            target=config.target,
            surrogate=surrogate,
            dataset=config.dataset,
            preset=config.preset,
            variant=str(config.settings.get("variant", "")),
            slice=measure.slice,
            metric=measure.metric,
            value=measure.value,
            ci_low=measure.ci_low,
            ci_high=measure.ci_high,
            n=measure.n,
            unit=measure.unit,
            flags=measure.flags,
        )
        for measure in measures
    ]


def to_csv(table: Iterable[Row]) -> str:
    """CSV with a header; a missing number is an empty field."""
    text = StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in table:
        values = asdict(row)
        writer.writerow(values | {name: _number(values[name], "") for name in _NUMBERS})
    return text.getvalue()


def write_csv(table: Iterable[Row], path: Path) -> None:
    """Write `to_csv` to a file."""
    path.write_text(to_csv(table), encoding="utf-8")


def read_csv(path: Path) -> list[Row]:
    """Read what `write_csv` wrote; columns of later versions are ignored.

    Raises:
        UserError: A column is missing or a number is none; names the file and the line.
    """
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if missing := [name for name in COLUMNS if name not in (reader.fieldnames or [])]:
            raise UserError(f"{path} is not a table of a run: it has no column {missing[0]!r}")
        table = []
        for line in reader:
            try:
                numbers = {name: float(line[name]) if line[name] else None for name in _NUMBERS}
                texts = {name: line[name] for name in COLUMNS if name not in (*_NUMBERS, "n")}
                table.append(Row(**texts, **numbers, n=int(line["n"])))  # type: ignore[arg-type]
            except (TypeError, ValueError) as error:
                raise UserError(f"{path}, line {reader.line_num} is damaged: {error}") from error
    return table


def to_markdown(table: Sequence[Row]) -> str:
    """The table for people who read it on a web page: all samples first, then part by part."""
    blocks = []
    for heading, body in _blocks(table):
        title, *lines = body
        if heading:
            blocks.append(f"**{heading}**\n")
        blocks.append(
            "\n".join(
                [
                    _markdown_line(title),
                    _markdown_line(["---"] + ["---:"] * (len(title) - 1)),
                    *map(_markdown_line, lines),
                ]
            )
            + "\n"
        )
    return "\n".join(blocks)


def to_text(table: Sequence[Row], width: int = 80) -> str:
    """The table for a terminal of `width` columns; columns that do not fit move to further blocks."""
    lines: list[str] = []
    for heading, body in _blocks(table):
        if heading:
            lines += ["", heading]
        for part in _parts(body, width):
            widths = [max(len(line[column]) for line in part) for column in range(len(part[0]))]
            for line in part:
                cells = [
                    cell.ljust(size) if column == 0 or title in _WORDS else cell.rjust(size)
                    for column, (title, cell, size) in enumerate(
                        zip(part[0], line, widths, strict=True)
                    )
                ]
                lines.append("  ".join(cells).rstrip())
    return "\n".join(lines).strip("\n") + "\n"


def load(paths: Iterable[Path]) -> "pd.DataFrame":
    """Tables of several runs (folders or .csv files) in one frame, with a column `run` in front.

    Raises:
        UserError: pandas is not installed, or a file is not a table.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise UserError("reading tables as frames needs pandas: pip install pandas") from error
    records = [
        {"run": str(path), **asdict(row)}
        for path in map(Path, paths)
        for row in read_csv(path / "table.csv" if path.is_dir() else path)
    ]
    return pd.DataFrame.from_records(records, columns=["run", *COLUMNS])


def _blocks(table: Sequence[Row]) -> list[tuple[str, list[list[str]]]]:
    """(heading, lines of cells with a title line): first all samples, then one block a kind of part."""
    blocks = []
    whole = [row for row in table if not row.slice]
    if whole:
        title = ["metric", "value", "95% interval", "n", "unit", "flags"]
        body = [
            [
                row.metric,
                _number(row.value, MISSING),
                _interval(row),
                str(row.n),
                row.unit,
                row.flags,
            ]
            for row in whole
        ]
        used = [0, 1, 2, 3] + [column for column in (4, 5) if any(line[column] for line in body)]
        blocks.append(("", [[line[column] for column in used] for line in [title, *body]]))
    kinds = dict.fromkeys(row.slice.partition("=")[0] for row in table if row.slice)
    for kind in kinds:
        part = [row for row in table if row.slice and row.slice.partition("=")[0] == kind]
        metrics = list(dict.fromkeys(row.metric for row in part))
        cells = {(row.slice, row.metric): row for row in part}
        body = []
        for name in dict.fromkeys(row.slice for row in part):
            numbers = [cells.get((name, metric)) for metric in metrics]
            n = max(row.n for row in numbers if row is not None)
            values = [_cell(row, compared=kind in _COMPARED) for row in numbers]
            body.append([name.partition("=")[2] or name, str(n), *values])
        blocks.append((f"per {kind}", [[kind, "n", *metrics], *body]))
    return blocks


def _cell(row: Row | None, *, compared: bool) -> str:
    """A number in a block of parts; with its interval and flags where parts are compared."""
    if row is None or row.value is None:
        return MISSING
    number = _number(row.value, MISSING)
    if not compared or row.ci_low is None:
        return number
    return f"{number} {_interval(row)} {row.flags}".rstrip()


def _parts(body: list[list[str]], width: int) -> list[list[list[str]]]:
    """Cut a block into ones that fit: each repeats the first column."""
    widths = [max(len(line[column]) for line in body) for column in range(len(body[0]))]
    groups: list[list[int]] = [[0]]
    for column in range(1, len(widths)):
        used = sum(widths[one] + 2 for one in groups[-1])
        if used + widths[column] > width and len(groups[-1]) > 1:
            groups.append([0])
        groups[-1].append(column)
    return [[[line[column] for column in group] for line in body] for group in groups]


def _interval(row: Row) -> str:
    if row.ci_low is None or row.ci_high is None:
        return MISSING
    return f"[{_number(row.ci_low, MISSING)}, {_number(row.ci_high, MISSING)}]"


def _number(value: float | None, missing: str) -> str:
    if value is None:
        return missing
    text = f"{value:.{DIGITS}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
