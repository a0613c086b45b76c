"""Tables in the shape of a paper's: grouped columns, our values with the published ones beside them."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import groupby
from typing import Any

from benchmark.types import JSON

MISSING = "-"
RUN, PAPER = "run", "paper"
"""Where the values of a line come from, if some are published."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "↓": r"$\downarrow$",
    "Θ": r"$\Theta$",
    "†": r"$\dagger$",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of numbers; neighbours of one `group` stand under one heading."""

    group: str
    title: str
    digits: int

    @property
    def name(self) -> str:
        """Where one word must do."""
        return f"{self.group}: {self.title}" if self.group else self.title


@dataclass(frozen=True, slots=True)
class Cell:
    """A number as it is printed in the table, `extra` the one in parentheses after it."""

    value: float | None
    extra: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    run: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: `ours` and `published` hold cells by (labels of the line, column).

    `extra` says what is in parentheses: "drop" (an arrow down) or "gain" (with its sign).
    """

    title: str
    source: str
    labels: Sequence[str]
    columns: Sequence[Column]
    lines: Sequence[tuple[str, ...]]
    ours: Mapping[tuple[tuple[str, ...], Column], Cell]
    published: Mapping[tuple[tuple[str, ...], Column], Cell] = field(default_factory=dict)
    extra: str = ""
    extra_digits: int = 0
    notes: Sequence[str] = ()

    def body(self) -> list[list[str]]:
        """Lines of cells, the title line first. With published values each says whose it is."""
        source = [""] if self.published else []
        body = [[*self.labels, *source, *(column.title for column in self.columns)]]
        for line, origin, cells in self._printed():
            body.append([*line, *([origin] if source else []), *map(self._text, *_pairs(cells))])
        return body

    @property
    def leading(self) -> int:
        """How many columns of words come before the numbers."""
        return len(self.labels) + bool(self.published)

    def to_markdown(self) -> str:
        """For a web page; groups are part of the column titles."""
        title, *lines = self.body()
        title = [*title[: self.leading], *(column.name for column in self.columns)]
        rule = ["---"] * self.leading + ["---:"] * len(self.columns)
        table = "\n".join(
            "| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |"
            for line in (title, rule, *lines)
        )
        notes = "".join(f"- {note}\n" for note in self._notes())
        return f"**{self.title}**\n\n{table}\n\n{notes}"

    def to_text(self, width: int = 80) -> str:
        """For a terminal of `width` columns; groups that do not fit move to further blocks."""
        body = self.body()
        sizes = [max(len(line[i]) for line in body) for i in range(len(body[0]))]
        blocks = []
        for part in self._parts(sizes, width):
            shown = [*range(self.leading), *(self.leading + i for i in part)]
            lines = [self._headings(part, sizes)] if any(c.group for c in self.columns) else []
            for line in body:
                cells = (
                    line[i].ljust(sizes[i]) if i < self.leading else line[i].rjust(sizes[i])
                    for i in shown
                )
                lines.append("  ".join(cells).rstrip())
            blocks.append("\n".join(lines))
        notes = "".join(f"{note}\n" for note in self._notes())
        return f"{self.title}\n\n" + "\n\n".join(blocks) + f"\n\n{notes}"

    def to_latex(self) -> str:
        """A `tabular` for a paper; needs the package booktabs."""
        title, *lines = self.body()
        heads = [r"% \usepackage{booktabs}", *(f"% {note}" for note in self._notes())]
        heads.append(rf"\begin{{tabular}}{{{'l' * self.leading}{'r' * len(self.columns)}}}")
        heads.append(r"\toprule")
        if any(column.group for column in self.columns):
            spans = [""] * self.leading + [
                rf"\multicolumn{{{len(list(run))}}}{{c}}{{{latex(group)}}}"
                for group, run in groupby(self.columns, key=lambda column: column.group)
            ]
            heads.append(" & ".join(spans) + r" \\")
        heads += [_latex_line(title), r"\midrule", *map(_latex_line, lines)]
        return "\n".join([*heads, r"\bottomrule", r"\end{tabular}"]) + "\n"

    def to_csv(self) -> str:
        """For a spreadsheet: the lines as they are printed, a missing number is an empty field."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        title, *lines = self.body()
        writer.writerow([*title[: self.leading], *(column.name for column in self.columns)])
        for line in lines:
            numbers = ["" if cell == MISSING else cell for cell in line[self.leading :]]
            writer.writerow([*line[: self.leading], *numbers])
        return text.getvalue()

    def to_json(self) -> str:
        """For a program: one object a number, with its interval and the published one."""
        cells: list[dict[str, JSON]] = []
        for line in self.lines:
            for column in self.columns:
                mine = self.ours.get((line, column))
                theirs = self.published.get((line, column))
                if mine is None and theirs is None:
                    continue
                cells.append(
                    {
                        **dict(zip(self.labels, line, strict=True)),
                        "column": column.name,
                        "value": None if mine is None else mine.value,
                        "ci_low": None if mine is None else mine.ci_low,
                        "ci_high": None if mine is None else mine.ci_high,
                        "n": 0 if mine is None else mine.n,
                        "run": "" if mine is None else mine.run,
                        "published": None if theirs is None else theirs.value,
                    }
                )
        whole: dict[str, Any] = {
            "title": self.title,
            "source": self.source,
            "notes": list(self.notes),
            "cells": cells,
        }
        return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def _printed(self) -> Iterator[tuple[tuple[str, ...], str, list[tuple[Cell | None, Column]]]]:
        """Each line that holds a number, whose it is, and its cells."""
        for line in self.lines:
            for origin, known in ((RUN, self.ours), (PAPER, self.published)):
                cells = [(known.get((line, column)), column) for column in self.columns]
                if any(cell is not None for cell, _ in cells):
                    yield line, origin, cells

    def _text(self, cell: Cell | None, column: Column) -> str:
        if cell is None or cell.value is None:
            return MISSING
        text = f"{cell.value:.{column.digits}f}"
        if cell.extra is None:
            return text
        if self.extra == "gain":
            return f"{text} ({cell.extra:+.{self.extra_digits}f})"
        sign = "↓" if cell.extra >= 0 else "↑"
        return f"{text} ({sign}{abs(cell.extra):.{self.extra_digits}f})"

    def _notes(self) -> list[str]:
        return [*self.notes, *([f"paper: {self.source}"] if self.published else [])]

    def _parts(self, sizes: Sequence[int], width: int) -> list[list[int]]:
        """Columns cut into blocks that fit; a group stays together if it can."""
        words = sum(size + 2 for size in sizes[: self.leading])
        parts: list[list[int]] = [[]]
        used = words
        for _, run in groupby(range(len(self.columns)), key=lambda i: self.columns[i].group):
            group = list(run)
            need = [sizes[self.leading + i] + 2 for i in group]
            if parts[-1] and used + sum(need) > width:
                parts.append([])
                used = words
            for i, size in zip(group, need, strict=True):
                if parts[-1] and used + size > width + 2:
                    parts.append([])
                    used = words
                parts[-1].append(i)
                used += size
        return parts

    def _headings(self, part: Sequence[int], sizes: Sequence[int]) -> str:
        line = " " * sum(size + 2 for size in sizes[: self.leading])
        for group, run in groupby(part, key=lambda i: self.columns[i].group):
            line += group.ljust(sum(sizes[self.leading + i] + 2 for i in run))
        return line.rstrip()


def latex(text: str) -> str:
    """A text that LaTeX prints as it is."""
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _pairs(
    cells: Sequence[tuple[Cell | None, Column]],
) -> tuple[list[Cell | None], list[Column]]:
    return [cell for cell, _ in cells], [column for _, column in cells]


def _latex_line(cells: Sequence[str]) -> str:
    return " & ".join(map(latex, cells)) + r" \\"
