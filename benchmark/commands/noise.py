"""`noise`: the same target attacked again with fresh seeds, and how much comes out differently."""

import argparse
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmark.commands.parser import Command, positive
from benchmark.commands.running import add_execution, execution_of
from benchmark.config import RunConfig
from benchmark.errors import UserError
from benchmark.events import Event, Stopping, Warned
from benchmark.gate.noise import Noise, measure
from benchmark.records import HEADER, read_header, read_records

FILE = "noise.json"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a finished run")
    parser.add_argument(
        "--repeats", type=positive, default=4, metavar="K", help="more runs of it (%(default)s)"
    )
    where = parser.add_argument_group("where to")
    where.add_argument(
        "--out", type=Path, metavar="DIR", help="RUN-noise; goes on with what is there"
    )
    add_execution(parser, where)


def _main(args: argparse.Namespace) -> int:
    # Not at the top: `list` and --help must not wait for what a run needs.
    from benchmark import runner

    header = read_header(args.run)
    if header.get("status") != "finished" or "config" not in header:
        raise UserError(f"{args.run} is no finished run: finish it with `run --resume {args.run}`")
    if header.get("surrogate"):
        raise UserError(
            f"{args.run} is a transfer, in which nothing is searched: name the run it shows"
        )
    config = RunConfig.from_json(header["config"])
    out: Path = args.out or args.run.with_name(f"{args.run.resolve().name}-noise")
    say = partial(print, flush=True)
    runs = [(config.seed, read_records(args.run))]
    if not args.quiet:
        say(_line(measure(runs), 0, str(args.run)))
    for number in range(1, args.repeats + 1):
        seed = config.seed + number
        folder = out / f"seed-{seed}"
        summary = runner.run(
            replace(config, seed=seed),
            execution_of(args),
            folder,
            resume=(folder / HEADER).exists(),
            on_event=_quiet,
        )
        if summary.status != "finished":
            say(f"interrupted; the same command goes on with {folder}")
            return 1
        runs.append((seed, read_records(folder)))
        if not args.quiet:
            say(_line(measure(runs), number, str(folder)))
    found = measure(runs)
    (out / FILE).write_text(json.dumps(found.to_json(), indent=2) + "\n", encoding="utf-8")
    say(_closing(found, out / FILE))
    return 0


def _quiet(event: Event) -> None:
    """Only what a person has to know."""
    if isinstance(event, Warned):
        print(f"warning: {event.message}", flush=True)
    elif isinstance(event, Stopping):
        print("finishing the samples in flight", flush=True)


def _line(found: Noise, number: int, path: str) -> str:
    one = found.repeats[number]
    return f"  seed {one.seed}: {one.fooled} of {one.n} fooled, {_points(one.rate)}  {path}"


def _closing(found: Noise, file: Path) -> str:
    count = len(found.repeats)
    lines = [
        "",
        f"attack success rate {_points(found.mean)} +- {_points(found.spread)} points"
        f" (standard deviation over {count} seeds)",
        f"between two seeds {_points(found.flips)} % of samples flip, and rates differ by"
        f" {_points(found.greatest)} points at most",
        f"noise floor: {_points(found.floor)} points, which so many flips exceed in one of twenty comparisons"
        " of different seeds",
        "(`compare` asks for equal seeds: a model that did not change has none of this noise)",
        str(file),
    ]
    return "\n".join(lines)


def _points(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


COMMAND = Command(
    "noise",
    "Attack the same target again with fresh seeds, and say how much chance alone changes.",
    """\
  python -m benchmark noise runs/mac-clip
  python -m benchmark noise runs/mac-clip --repeats 8 --out runs/mac-clip-noise""",
    _arguments,
    _main,
)
