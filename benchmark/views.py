"""The tables of the three papers, filled from runs; published values beside those of the same setting.

A published value stands only in tables of runs of the preset `paper` on other data than the embedded
world's. A run shares a line with one only if its target is the very model that the paper names
(`benchmark/published/*.json` has the numbers, with their source).
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from benchmark import registry, tables
from benchmark.errors import UserError
from benchmark.grids import Cell, Column, Grid
from benchmark.records import read_header
from benchmark.tables import Row

TABLE, ANSWERS = "table.csv", "answers.csv"
PUBLISHED = "paper"
"""The preset whose runs may stand beside published values."""

_LLAMA = "transformers:meta-llama/Meta-Llama-3.1-8B-Instruct"
_ZERO_SHOT = "Deceptive-General Prompt (zero-shot)"
_MODALITIES = {"image": 0, "video": 1, "audio": 2}
_METHODS = {"clean": "Clean", "random": "Random", "distribution": "p*", "center": "Θ*"}
_ANSWER_METRICS = {"C": "cider_d", "S": "spice", "B@4": "bleu_4", "GPT-Score": "gpt_score"}
_PERCENT = ("bleu_4", "spice", "cider_d", "gpt_acc")
_SEARCHES = {
    "evolution": "Ours",
    "lance": "LANCE",
    "nl_adv": "NL-adv",
    "random_search": "Random search",
}


@dataclass(frozen=True, slots=True)
class RunTable:
    """A finished run: its folder, what run.json says, the rows of its tables."""

    path: Path
    header: Mapping[str, Any]
    rows: Sequence[Row]

    @property
    def config(self) -> Mapping[str, Any]:
        """What was run."""
        config: Mapping[str, Any] = self.header["config"]
        return config

    def setting(self, name: str, otherwise: Any = "") -> Any:
        """A setting of the attack."""
        return self.config["settings"].get(name, otherwise)

    def find(self, metric: str, part: str = "") -> Row | None:
        """The number of a metric over a part, "" for all samples."""
        return next((r for r in self.rows if r.metric == metric and r.slice == part), None)


@dataclass(frozen=True, slots=True)
class Shape:
    """A table as it was published."""

    name: str
    source: str
    caption: str
    labels: tuple[str, ...]
    columns: tuple[Column, ...]
    lines: tuple[tuple[str, ...], ...]
    cells: Mapping[tuple[tuple[str, ...], Column], Cell]
    specs: Mapping[str, Sequence[str]]
    extra: str
    extra_digits: int

    def model(self, spec: str) -> str:
        """What the paper calls the model that `spec` names; the spec itself if it is not in it."""
        bare = spec.partition("@")[0]
        return next((name for name, specs in self.specs.items() if bare in specs), spec)


@dataclass(frozen=True, slots=True)
class Entry:
    """One number of ours and where it belongs."""

    line: tuple[str, ...]
    column: Column
    cell: Cell


def read(path: Path) -> RunTable:
    """Read a run's tables.

    Raises:
        UserError: There is no run, or it has no table yet.
    """
    header = read_header(path)
    if not (path / TABLE).is_file():
        raise UserError(
            f"{path} has no table yet: finish the run with"
            f" `python -m benchmark run --resume {path}`"
        )
    rows = tables.read_csv(path / TABLE)
    if (path / ANSWERS).is_file():
        rows += tables.read_csv(path / ANSWERS)
    return RunTable(path, header, rows)


@cache
def shapes() -> Mapping[str, Shape]:
    """The published tables by the name of their view."""
    found = {}
    for file in sorted((files("benchmark") / "published").iterdir(), key=lambda f: f.name):
        paper = json.loads(file.read_text(encoding="utf-8"))
        for name, table in paper["tables"].items():
            columns = tuple(
                Column(group, title, digits)
                for (group, title), digits in zip(table["columns"], table["digits"], strict=True)
            )
            cells = {
                (tuple(row["label"]), column): _published(value)
                for row in table["rows"]
                for column, value in zip(columns, row["cells"], strict=True)
                if value is not None
            }
            found[name] = Shape(
                name,
                f"{paper['paper']} ({paper['venue']}), arXiv:{paper['arxiv']}, {table['table']}",
                table["caption"],
                tuple(table["labels"]),
                columns,
                tuple(tuple(row["label"]) for row in table["rows"]),
                cells,
                table["specs"],
                table.get("extra", ""),
                table.get("extra_digits", 0),
            )
    return found


def build(name: str, runs: Sequence[RunTable]) -> Grid:
    """Fill the table `name` from runs.

    Raises:
        UserError: A run is of another attack, presets differ, or two runs fill one cell.
    """
    shape = shapes()[name]
    family = name.partition("-")[0]
    for run in runs:
        if run.config["attack"] != family:
            raise UserError(
                f"{run.path} is a run of {run.config['attack']}, {name} is a table of {family}:"
                " leave it out"
            )
    presets = sorted({str(run.config["preset"]) for run in runs})
    if len(presets) > 1:
        raise UserError(f"runs of the presets {', '.join(presets)} in one table: show them apart")
    entries = [entry for run in runs for entry in VIEWS[name](shape, run)]
    ours: dict[tuple[tuple[str, ...], Column], Cell] = {}
    for entry in entries:
        taken = ours.setdefault((entry.line, entry.column), entry.cell)
        if taken is not entry.cell:
            raise UserError(
                f"{taken.run} and {entry.cell.run} both fill {' / '.join(entry.line)},"
                f" {entry.column.name}: leave one out"
            )
    known = presets == [PUBLISHED] and not any(map(_is_embedded, runs))
    # Where models are columns, a miniature's table has the miniatures' and no empty published ones.
    fixed = known or any(column in shape.columns for _, column in ours)
    return Grid(
        shape.caption,
        shape.source,
        shape.labels,
        tuple(dict.fromkeys([*(shape.columns if fixed else ()), *(c for _, c in ours)])),
        tuple(dict.fromkeys([*(shape.lines if known else ()), *(line for line, _ in ours)])),
        ours,
        shape.cells if known else {},
        shape.extra,
        shape.extra_digits,
        [_note(run) for run in runs],
    )


def _mac_main(shape: Shape, run: RunTable) -> Iterator[Entry]:
    """MAC, Table 2: ASR and diversity by method."""
    column = 4 * _MODALITIES[run.setting("modality", "image")]
    metrics = (("cross", 100), ("total", 100), ("H", 1), ("D1", 1))
    line = (f"N={run.setting('candidates')}", _mac_method(shape, run))
    for i, (metric, factor) in enumerate(metrics):
        yield from _entry(run, line, shape.columns[column + i], run.find(metric), factor)


def _mac_method(shape: Shape, run: RunTable) -> str:
    writer, mode = str(run.setting("writer")), str(run.setting("mode"))
    published = (
        run.config["preset"] == PUBLISHED
        and shape.model(run.config["target"]) == "CLIP"
        and run.config["dataset_name"] == "coco"
        and writer.partition("@")[0] == _LLAMA
        and mode == "general"
        and run.setting("generation") == "parallel"
        and run.setting("candidates") in (1, 4)
        and not _surrogate(run)
    )
    if published:
        return _ZERO_SHOT
    method = "random valid edits" if writer == "grammar" else f"{mode}, {_short(writer)}"
    found_on = f", found on {_short(_surrogate(run))}" if _surrogate(run) else ""
    return f"{_short(str(run.config['target']))}: {method}{found_on}"


def _mac_transfer(shape: Shape, run: RunTable) -> Iterator[Entry]:
    """MAC, Table 3: columns are the models attacked, lines those evaluated."""
    source = _column(shape, _surrogate(run) or str(run.config["target"]))
    line = (shape.model(str(run.config["target"])),)
    yield from _entry(run, line, source, run.find("total"), 100)


def _poses(shape: Shape, run: RunTable) -> Iterator[Entry]:
    """AdvDreamer, Table 1: accuracy by what was done to the pose."""
    model = shape.model(str(run.config["target"]))
    line = next((known for known in shape.lines if known[0] == model), (model, ""))
    clean = run.find("accuracy", "condition=clean")
    for condition, title in _METHODS.items():
        column = next(one for one in shape.columns if one.title == title)
        row = run.find("accuracy", f"condition={condition}")
        yield from _entry(run, line, column, row, 100, None if condition == "clean" else clean)


def _answers(shape: Shape, run: RunTable) -> Iterator[Entry]:
    """AdvDreamer, Table 3: what was said about the pictures; run `answers` first."""
    name = str(run.config["dataset_name"])
    groups = {"coco": "COCO Caption", "nocaps": "NoCaps", "vqa": "VQA-V2", "vqav2": "VQA-V2"}
    group = groups.get(name, name)
    metrics = {"GPT-Acc": "gpt_acc"} if group == "VQA-V2" else _ANSWER_METRICS
    if group == name:
        metrics = {**_ANSWER_METRICS, "GPT-Acc": "gpt_acc"}
    found = False
    for title, metric in metrics.items():
        clean = run.find(metric, "condition=clean")
        for condition, method in _METHODS.items():
            line = (shape.model(str(run.config["target"])), method)
            row = run.find(metric, f"condition={condition}")
            found = found or row is not None
            factor = 100 if metric in _PERCENT else 1
            column = Column(group, title, 1)
            yield from _entry(run, line, column, row, factor, None if method == "Clean" else clean)
    if not found:
        raise UserError(
            f"{run.path} has no marks of answers: make them with"
            f" `python -m benchmark answers {run.path}`"
        )


def _is_embedded(run: RunTable) -> bool:
    """Whether its pictures are of the embedded world, which no paper has numbers for."""
    return bool(run.config["dataset_name"] == "toybox")


def _task(run: RunTable) -> str:
    return "VQA" if run.setting("task", "caption") in ("vqa", "answer") else "IC"


def _searches(shape: Shape, run: RunTable) -> Iterator[Entry]:
    """Evolution, Table 1: CAPTURE where each search ended, on pictures drawn anew."""
    column = _column(shape, str(run.config["target"]))
    random = _of_some_search(run, "capture_random")
    yield from _entry(run, (_task(run), "Random"), column, random, 1)
    for search, title in _SEARCHES.items():
        row = run.find("capture_fresh", f"search={search}")
        yield from _entry(run, (_task(run), title), column, row, 1)


def _of_some_search(run: RunTable, metric: str) -> Row | None:
    """A number of the pool that all searches of a run start from."""
    found = (run.find(metric, f"search={search}") for search in _SEARCHES)
    return next((row for row in found if row is not None), None)


def _concept_transfer(shape: Shape, run: RunTable) -> Iterator[Entry]:
    """Evolution, Table 2: lines are the models searched on, columns those evaluated."""
    line = (_task(run), shape.model(_surrogate(run) or str(run.config["target"])))
    row = run.find("capture_fresh", "search=evolution")
    yield from _entry(run, line, _column(shape, str(run.config["target"])), row, 1)


VIEWS: Mapping[str, Callable[[Shape, RunTable], Iterable[Entry]]] = {
    "mac-table2": _mac_main,
    "mac-table3": _mac_transfer,
    "advdreamer-table1": _poses,
    "advdreamer-table3": _answers,
    "evolution-table1": _searches,
    "evolution-table2": _concept_transfer,
}
"""What fills each table."""


def _entry(
    run: RunTable,
    line: tuple[str, ...],
    column: Column,
    row: Row | None,
    factor: float,
    clean: Row | None = None,
) -> Iterator[Entry]:
    """A number of a run, nothing if it has none; `clean` is what it has fallen from."""
    if row is None:
        return
    scaled = [None if v is None else v * factor for v in (row.value, row.ci_low, row.ci_high)]
    cell = Cell(scaled[0], None, scaled[1], scaled[2], row.n, str(run.path))
    if clean is not None and clean.value is not None and cell.value is not None:
        cell = replace(cell, extra=clean.value * factor - cell.value)
    yield Entry(line, column, cell)


def _short(spec: str) -> str:
    """A model without its library, its organisation and its revision."""
    library, name = registry.split(spec.partition("@")[0])
    return (name.rpartition("/")[2] if library == "transformers" else name) or spec


def _column(shape: Shape, spec: str) -> Column:
    """The column of a model; one of its own if the paper has none."""
    first = shape.columns[0]
    title = shape.model(spec)
    return next(
        (column for column in shape.columns if column.title == title),
        Column(first.group, title, first.digits),
    )


def _surrogate(run: RunTable) -> str:
    return next((row.surrogate for row in run.rows if row.surrogate), "")


def _published(value: Any) -> Cell:
    if isinstance(value, list):
        return Cell(float(value[0]), float(value[1]))
    return Cell(float(value))


def _note(run: RunTable) -> str:
    config = run.config
    done = run.header.get("totals", {}).get("done", "?")
    return (
        f"{run.path}: {config['attack']} on {config['target']}, data {config['dataset_name']},"
        f" preset {config['preset']}, {done} samples, config {str(run.header['digest'])[:12]}"
    )
