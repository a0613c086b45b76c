"""Who is fooled by what fooled another: a matrix of surrogates and targets, from runs that are there.

    python bench/transfer.py runs/mac-clip runs/mac-siglip --targets clip,siglip --out docs/transfer.svg

Nothing is searched: what each run picked, and the pictures that it kept, are shown to every target, for the
samples that all runs of an attack have. Of caption attacks it says the share of samples whose picked caption
succeeds, of AdvDreamer the share of the draws from p* that fool. Prints Markdown; draws a matrix an attack.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import cast

from benchmark.config import Execution
from benchmark.records import read_header, read_records
from benchmark.replay import replay
from benchmark.stats import Interval, mean_interval
from benchmark.types import Record

_CELL, _LEFT, _TOP, _GAP = (112, 64), 108, 96, 56
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1c2330 }
.heading { font-size: 16px; font-weight: 600 }
.small { font-size: 11px; fill: #5b6474 }
.paper { fill: #ffffff }
.cell { fill: #c02637 }
.own { fill: none; stroke: #1c2330; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
text { fill: #e8ebf0 }
.small { fill: #a3adbd }
.paper { fill: #151a22 }
.cell { fill: #ff5f6d }
.own { stroke: #e8ebf0 }
}
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One run: what was attacked, and the rate and interval on each target."""

    attack: str
    surrogate: str
    samples: int
    cells: dict[str, tuple[float, Interval | None]]


def common(runs: Sequence[Path]) -> dict[Path, set[str]]:
    """The samples to show of each run: those that no run of the same attack lacks."""
    attacks = {run: str(read_header(run)["config"]["attack"]) for run in runs}
    picked = {run: {one.id for one in read_records(run) if one.picked is not None} for run in runs}
    return {
        run: set.intersection(*(picked[other] for other in runs if attacks[other] == attacks[run]))
        for run in runs
    }


def measured(run: Path, ids: set[str], targets: Sequence[str], execution: Execution) -> Row:
    """Show a run's results to all targets."""
    config = read_header(run)["config"]
    cells, samples = {}, 0
    for target in targets:
        shown = replay(run, target=target, execution=execution, ids=ids)
        groups: dict[str, list[float]] = {}
        for one in shown:
            rate = _rate(one.record)
            if rate is not None:
                groups.setdefault(one.record.group or one.id, []).append(rate)
        samples = sum(map(len, groups.values()))
        mean = fmean(rate for group in groups.values() for rate in group)
        cells[target] = (mean, mean_interval(groups, 0))
    return Row(config["attack"], config["target_name"], samples, cells)


def _rate(record: Record) -> float | None:
    if record.status == "error":
        return None
    draws = record.conditions.get("distribution")
    if draws is None:
        return float(record.status == "success")
    return cast("int", draws["fooled"]) / cast("int", draws["n"])


def to_markdown(rows: Sequence[Row], targets: Sequence[str]) -> str:
    """One line a run."""
    lines = [["found on", *targets], ["---"] * (1 + len(targets))]
    for row in rows:
        lines.append([f"`{row.attack}`, {row.surrogate}", *(_said(*row.cells[t]) for t in targets)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _said(mean: float, interval: Interval | None) -> str:
    text = f"{mean:.2f}"
    return text if interval is None else f"{text} [{interval[0]:.2f}, {interval[1]:.2f}]"


def to_svg(rows: Sequence[Row], targets: Sequence[str]) -> str:
    """A heat map for each attack, side by side; the attacked model's own cell has a frame."""
    attacks = list(dict.fromkeys(row.attack for row in rows))
    panel = _LEFT + len(targets) * _CELL[0]
    most = max(sum(row.attack == attack for row in rows) for attack in attacks)
    width, height = len(attacks) * (panel + _GAP), _TOP + most * _CELL[1] + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>Transfer between models: {', '.join(attacks)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
    ]
    for number, attack in enumerate(attacks):
        x = 16 + number * (panel + _GAP)
        own = [row for row in rows if row.attack == attack]
        unit = "draws from p* that fool" if attack == "advdreamer" else "captions that succeed"
        parts += [
            f'<text class="heading" x="{x}" y="28">{attack}: {unit}</text>',
            f'<text class="small" x="{x}" y="48">{own[0].samples} samples a row; rows: the model that'
            " was attacked</text>",
        ]
        for column, target in enumerate(targets):
            middle = x + _LEFT + (column + 0.5) * _CELL[0]
            parts.append(f'<text x="{middle}" y="{_TOP - 12}" text-anchor="middle">{target}</text>')
        for line, row in enumerate(own):
            y = _TOP + line * _CELL[1]
            parts.append(f'<text x="{x}" y="{y + _CELL[1] / 2 + 5}">{row.surrogate}</text>')
            for column, target in enumerate(targets):
                parts += _cell(row, target, x + _LEFT + column * _CELL[0], y)
    return "\n".join([*parts, "</svg>", ""])


def _cell(row: Row, target: str, x: float, y: float) -> list[str]:
    mean, interval = row.cells[target]
    wide, tall = _CELL
    middle = x + wide / 2
    said = "" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f}"
    frame = f'<rect class="own" x="{x + 3}" y="{y + 3}" width="{wide - 6}" height="{tall - 6}"/>'
    return [
        f'<rect class="cell" x="{x + 2}" y="{y + 2}" width="{wide - 4}" height="{tall - 4}"'
        f' fill-opacity="{0.06 + 0.6 * mean:.3f}"/>',
        f'<text x="{middle}" y="{y + tall / 2}" text-anchor="middle">{mean:.2f}</text>',
        f'<text class="small" x="{middle}" y="{y + tall / 2 + 17}" text-anchor="middle">{said}</text>',
        *([frame] if row.surrogate == target else []),
    ]


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--targets", default="clip,siglip,negclip", metavar="NAME,...")
    parser.add_argument("--out", type=Path, metavar="FILE.svg")
    parser.add_argument("--cache", metavar="DIR")
    options = parser.parse_args(argv)
    targets = options.targets.split(",")
    execution = Execution(cache=options.cache)
    rows = [measured(run, ids, targets, execution) for run, ids in common(options.runs).items()]
    print(to_markdown(rows, targets))
    if options.out is not None:
        options.out.write_text(to_svg(rows, targets), encoding="utf-8")


if __name__ == "__main__":
    main()
