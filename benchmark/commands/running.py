"""What the commands that run something share: how it is run, its ending, its table."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from benchmark import events, registry, tables
from benchmark.commands.parser import positive, rate
from benchmark.commands.watch import Watcher, counts
from benchmark.config import Execution, RunConfig
from benchmark.errors import UserError
from benchmark.progress import Progress, clock_text
from benchmark.records import HEADER, read_records

_TOO_MANY_ERRORS = 3
_FILES = (
    "sheet.png",
    "artifacts/sheet.png",
    "artifacts/asr_generations.svg",
    "artifacts/asr_scaling.svg",
    "artifacts/concepts.svg",
    "artifacts/searches.svg",
    "artifacts/map.svg",
    "table.csv",
    "table.md",
    "records.jsonl",
    "trace.jsonl",
    "run.json",
)


def default_cache() -> Path:
    """Where model calls are cached: $TRIDENT_CACHE, or trident/ in the user's cache folder."""
    if own := os.environ.get("TRIDENT_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "trident"


def add_execution(parser: argparse.ArgumentParser, where: "argparse._ArgumentGroup") -> None:
    """Add the flags that say how it is run and what is kept; none of them changes a result."""
    where.add_argument(
        "--cache", type=Path, default=default_cache(), metavar="DIR", help="%(default)s"
    )
    where.add_argument("--no-cache", action="store_true", help="ask the models every time")
    where.add_argument("--no-trace", action="store_true", help="keep the chosen candidates only")
    how = parser.add_argument_group("how (changes no result)")
    how.add_argument("--batch-size", type=positive, default=64, metavar="N", help="%(default)s")
    how.add_argument(
        "--device", default="cpu", metavar="NAME", help="cpu, cuda, cuda:1, mps (%(default)s)"
    )
    how.add_argument("--workers", type=positive, metavar="N", help="processes that load pictures")
    how.add_argument(
        "--max-error-rate",
        type=rate,
        default=0.0,
        metavar="SHARE",
        help="more errored samples than this share end in exit code 3 (%(default)s)",
    )
    how.add_argument("--quiet", action="store_true", help="print the table only")


def execution_of(args: argparse.Namespace) -> Execution:
    """What those flags say."""
    return Execution(
        batch_size=args.batch_size,
        device=args.device,
        workers=args.workers,
        cache=None if args.no_cache else str(args.cache),
        trace=not args.no_trace,
        max_error_rate=args.max_error_rate,
    )


def execution_words(args: argparse.Namespace) -> list[str]:
    """Those flags as they were given."""
    words = []
    how = {
        "--batch-size": (args.batch_size, 64),
        "--device": (args.device, "cpu"),
        "--workers": (args.workers, None),
        "--max-error-rate": (args.max_error_rate, 0.0),
        "--cache": (args.cache, default_cache()),
    }
    for flag, (value, default) in how.items():
        if value != default:
            words += [flag, str(value)]
    words += ["--no-cache"] * args.no_cache + ["--no-trace"] * args.no_trace
    return words


def base_url(url: str, target: str) -> str:
    """--base-url as an override.

    Raises:
        UserError: The target is behind no server.
    """
    if registry.split(target)[0] != "openai":
        raise UserError(
            f"--base-url is for targets behind a server, such as openai:MODEL, not for {target}"
        )
    return f"target.base_url={json.dumps(url)}"


def refuse_if_taken(out: Path) -> None:
    """Check that a run can begin in `out`.

    Raises:
        UserError: It is a file, or a folder that is not empty.
    """
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out} is a file: name a folder")
    if out.is_dir() and any(out.iterdir()):
        remedy = "add --resume to go on with it, or name" if (out / HEADER).exists() else "name"
        raise UserError(f"--out {out} is not empty: {remedy} another folder")


def watch(
    begin: Callable[..., events.Summary],
    config: RunConfig,
    execution: Execution,
    out: Path,
    heading: str,
    again: str,
    *,
    quiet: bool,
) -> int:
    """Show a person how a run goes and how it ended; returns the exit code.

    `begin(on_event=...)` runs it. `again` is the command that goes on with it.
    """
    with Progress(sys.stderr, quiet=quiet) as progress:
        progress.say(heading)
        try:
            summary = begin(on_event=Watcher(progress, execution))
        except KeyboardInterrupt:
            begun = (out / HEADER).exists()
            progress.say(
                f"stopped at once; go on with:\n  {again}" if begun else "stopped before it began"
            )
            return 1
    if summary.status != "finished":
        _say(f"{counts(summary.totals)}; interrupted, go on with:\n  {again}")
        return 1
    _draw(config, out)
    return _close(summary, execution, again, quiet=quiet)


def _draw(config: RunConfig, out: Path) -> None:
    """Draw a look at the results. They are safe already, so no failure here counts."""
    from benchmark.gallery import write_sheet

    # An attack on pictures has drawings of its own: how to draw each, and its name in the folder.
    attack = registry.load("attacks", config.attack)
    drawings = getattr(attack, "drawings", ((write_sheet, "sheet.png"),))
    title = f"{config.attack} on {config.target}, {config.dataset_name}, preset {config.preset}"
    for write, name in drawings:
        try:
            samples = registry.create("datasets", config.dataset, config.dataset_settings)
            write(out / name, title, read_records(out), samples)
        except (OSError, ValueError) as error:
            _say(f"warning: no {name}: {' '.join(str(error).split())}")


def _close(summary: events.Summary, execution: Execution, again: str, *, quiet: bool) -> int:
    """Print the table and where things are; returns the exit code."""
    print()
    sys.stdout.write(tables.to_text(summary.table, shutil.get_terminal_size().columns))
    if not quiet:
        print(f"\n{counts(summary.totals)}, in {clock_text(summary.seconds)}")
        kept = [name for name in _FILES if (summary.path / name).exists()]
        print(f"{summary.path}: {', '.join(kept)}")
    sys.stdout.flush()
    if not summary.too_many_errors:
        return 0
    errors, total = summary.totals.errors, summary.totals.done
    _say(
        f"error: {errors} of {total} samples errored, more than --max-error-rate"
        f" {execution.max_error_rate:g} allows: records.jsonl says why, `{again}` tries them again"
    )
    return _TOO_MANY_ERRORS


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
