"""`show`: the tables of runs that are there, tidy or in the shape of a paper's."""

import argparse
import csv
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmark import grids, tables, views
from benchmark.commands.parser import Command

TIDY = "tidy"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folders of runs")
    parser.add_argument(
        "--format",
        choices=("text", "md", "csv", "latex", "json"),
        default="text",
        help="for people, a web page, a spreadsheet, a paper, a program (%(default)s)",
    )
    parser.add_argument(
        "--view",
        choices=(*views.VIEWS, TIDY),
        default=TIDY,
        metavar="VIEW",
        help=f"the table of a paper: {', '.join(views.VIEWS)}; or %(default)s, one row a number",
    )


def _main(args: argparse.Namespace) -> int:
    runs = [views.read(path) for path in dict.fromkeys(args.runs)]
    if args.view == TIDY:
        sys.stdout.write(_tidy(runs, args.format))
        return 0
    grid = views.build(args.view, runs)
    match args.format:
        case "md":
            text = grid.to_markdown()
        case "csv":
            text = grid.to_csv()
        case "latex":
            text = grid.to_latex()
        case "json":
            text = grid.to_json()
        case _:
            text = grid.to_text(shutil.get_terminal_size().columns)
    sys.stdout.write(text)
    return 0


def _tidy(runs: Sequence[views.RunTable], form: str) -> str:
    rows = [row for run in runs for row in run.rows]
    match form:
        case "csv":
            return tables.to_csv(rows)
        case "json":
            lines = [{"run": str(run.path), **asdict(row)} for run in runs for row in run.rows]
            return json.dumps(lines, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        case "latex":
            return _latex(rows)
        case "md":
            texts = [tables.to_markdown(run.rows) for run in runs]
            if len(runs) > 1:
                texts = [f"## {_title(r)}\n\n{t}" for r, t in zip(runs, texts, strict=True)]
            return "\n".join(texts)
        case _:
            width = shutil.get_terminal_size().columns
            return "\n".join(f"{_title(run)}\n\n{tables.to_text(run.rows, width)}" for run in runs)


def _title(run: views.RunTable) -> str:
    config = run.config
    return (
        f"{config['attack']} on {config['target']}, data {config['dataset_name']},"
        f" preset {config['preset']}"
    )


def _latex(rows: Sequence[tables.Row]) -> str:
    """The tidy table as a `tabular`, without columns that are empty throughout."""
    lines = _csv_lines(rows)
    used = [i for i in range(len(lines[0])) if any(line[i] for line in lines[1:])]
    numbers = {"value", "ci_low", "ci_high", "n"}
    spec = "".join("r" if lines[0][i] in numbers else "l" for i in used)
    body = [" & ".join(grids.latex(line[i]) for i in used) + r" \\" for line in lines]
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            rf"\begin{{tabular}}{{{spec}}}",
            r"\toprule",
            body[0],
            r"\midrule",
            *body[1:],
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _csv_lines(rows: Sequence[tables.Row]) -> list[list[str]]:
    """The cells of `tables.to_csv`, the title line first."""
    return list(csv.reader(tables.to_csv(rows).splitlines()))


COMMAND = Command(
    "show",
    "Print the table of a run, or a paper's table filled from runs.",
    """\
  python -m benchmark show runs/20260131-120000-mac-clip
  python -m benchmark show runs/20260131-120000-mac-clip --format csv
  python -m benchmark show runs/clip runs/siglip --view mac-table3 --format latex""",
    _arguments,
    _main,
)
