"""`run`: attack a target and end with a table, or go on with a run that was cut short."""

import argparse
import json
import os
import re
import shlex
import shutil
import sys
from datetime import datetime
from pathlib import Path
from typing import get_args

from benchmark import events, registry, tables
from benchmark.commands.parser import Command, positive, rate, whole
from benchmark.commands.watch import Watcher, banner, counts
from benchmark.config import Execution, RunConfig, resolve
from benchmark.errors import UserError
from benchmark.progress import Progress, clock_text
from benchmark.records import HEADER, read_header, read_records
from benchmark.types import Access

TOO_MANY_ERRORS = 3
_FILES = (
    "sheet.png",
    "artifacts/sheet.png",
    "artifacts/asr_generations.svg",
    "artifacts/asr_scaling.svg",
    "table.csv",
    "table.md",
    "records.jsonl",
    "trace.jsonl",
    "run.json",
)

_EXPERIMENT = (
    "attack", "target", "base_url", "preset", "dataset", "data_root", "image", "label", "mask", "box",
    "samples", "seed", "set", "query_budget", "access",
)  # fmt: skip
"""The flags that a bare --resume DIR takes from the run itself."""


def default_cache() -> Path:
    """Where model calls are cached: $TRIDENT_CACHE, or trident/ in the user's cache folder."""
    if own := os.environ.get("TRIDENT_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "trident"


def _arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what to run")
    what.add_argument("--attack", metavar="NAME", help="see `list attacks`")
    what.add_argument(
        "--target",
        metavar="NAME",
        help="a short name of the preset, or outright: open_clip:MODEL/TAG",
    )
    what.add_argument(
        "--base-url", metavar="URL", help="the server of openai:MODEL, if it is not OpenAI's"
    )
    what.add_argument("--preset", metavar="NAME", help="mini (default), paper, or a .toml file")
    what.add_argument("--dataset", metavar="NAME", help="see `list datasets`, or a FILE.csv")
    what.add_argument("--data-root", metavar="DIR", help="folder of pictures and captions")
    what.add_argument(
        "--image", type=Path, metavar="FILE", help="one picture instead of a data set"
    )
    what.add_argument("--label", metavar="NAME", help="what that picture shows")
    where_it_is = what.add_mutually_exclusive_group()
    where_it_is.add_argument("--mask", type=Path, metavar="FILE", help="white where its object is")
    where_it_is.add_argument("--box", metavar="X,Y,W,H", help="or the box that its object is in")
    what.add_argument("--samples", "-n", type=positive, metavar="N", help="only the first N")
    what.add_argument("--seed", type=whole, metavar="N", help="of all random choices")
    what.add_argument(
        "--set",
        action="append",
        metavar="KEY=VALUE",
        help="change a setting, see `list settings`; can be repeated",
    )
    what.add_argument("--query-budget", type=whole, metavar="N", help="queries for each sample")
    what.add_argument(
        "--access", choices=get_args(Access), help="what the attack may see of the target"
    )
    where = parser.add_argument_group("where to")
    where.add_argument("--out", type=Path, metavar="DIR", help="runs/DATE-TIME-ATTACK-TARGET")
    where.add_argument(
        "--resume",
        nargs="?",
        const="",
        metavar="DIR",
        help="go on with the run in DIR (or --out), with the settings that it began with",
    )
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


def _main(args: argparse.Namespace) -> int:
    config, out, resume = _plan(args)
    execution = Execution(
        batch_size=args.batch_size,
        device=args.device,
        workers=args.workers,
        cache=None if args.no_cache else str(args.cache),
        trace=not args.no_trace,
        max_error_rate=args.max_error_rate,
    )
    # Not at the top: `list` and --help must not wait for what a run needs.
    from benchmark import runner

    again = _resume_line(args, out)
    with Progress(sys.stderr, quiet=args.quiet) as progress:
        progress.say(banner(config, out))
        watcher = Watcher(progress, execution)
        try:
            summary = runner.run(config, execution, out, resume=resume, on_event=watcher)
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
    return _close(summary, execution, again, quiet=args.quiet)


def _plan(args: argparse.Namespace) -> tuple[RunConfig, Path, bool]:
    """(what to run, where to, whether to go on with what is there)."""
    resume = args.resume is not None
    out: Path | None = args.out
    if args.resume:
        if out is not None and out != Path(args.resume):
            raise UserError(f"--resume {args.resume} and --out {out} differ: give one of them")
        out = Path(args.resume)
    if resume and out is None:
        raise UserError("--resume needs the folder of the run: --resume DIR")
    if resume and args.attack is None and args.target is None and out is not None:
        return _recorded(args, out), out, True
    if args.attack is None or args.target is None:
        missing = "--attack" if args.attack is None else "--target"
        raise UserError(f"run needs {missing}, as in `run --attack mac --target clip`")
    config = resolve(
        args.attack,
        args.target,
        args.preset or "mini",
        *_data(args),
        data_root=args.data_root,
        samples=args.samples,
        seed=args.seed,
        access=args.access,
        query_budget=args.query_budget,
    )
    if out is None:
        out = _new_folder(config)
    elif not resume:
        _refuse_if_taken(out)
    return config, out, resume


def _data(args: argparse.Namespace) -> tuple[str | None, list[str]]:
    """(data set, overrides): a single picture is a data set too, its flags are settings of it."""
    overrides = list(args.set or ())
    if args.base_url is not None:
        if registry.split(args.target)[0] != "openai":
            raise UserError(
                f"--base-url is for targets behind a server, such as openai:MODEL, not for {args.target}"
            )
        overrides.append(f"target.base_url={json.dumps(args.base_url)}")
    said = {key: getattr(args, key) for key in ("label", "mask", "box")}
    if args.image is None:
        if given := [f"--{key}" for key, value in said.items() if value is not None]:
            raise UserError(f"{' and '.join(given)} need a picture: --image FILE")
        return args.dataset, overrides
    if args.dataset is not None:
        raise UserError("--image and --dataset are given: one of them says what is attacked")
    # Absolute, so that a run resumes from any folder.
    said["mask"] = None if args.mask is None else str(args.mask.absolute())
    overrides += [f"dataset.{k}={json.dumps(v)}" for k, v in said.items() if v is not None]
    return f"photo:{args.image}", overrides


def _recorded(args: argparse.Namespace, out: Path) -> RunConfig:
    """The config that the run in `out` began with."""
    if given := [flag for flag in _EXPERIMENT if getattr(args, flag) is not None]:
        flags = ", ".join(f"--{flag.replace('_', '-')}" for flag in given)
        raise UserError(
            f"--resume {out} alone goes on with the run's own settings: leave out {flags},"
            " or give --attack and --target too"
        )
    header = read_header(out)
    if "config" not in header:
        raise UserError(f"{out / HEADER} holds no config: it is not from a run")
    return RunConfig.from_json(header["config"])


def _new_folder(config: RunConfig) -> Path:
    """runs/<yyyymmdd-hhmmss>-<attack>-<target>, with a number where that is taken."""
    short = re.sub(r"[^\w.-]+", "-", config.target_name).strip("-")
    name = f"{datetime.now():%Y%m%d-%H%M%S}-{config.attack}-{short}"
    folder, number = Path("runs") / name, 1
    while folder.exists():
        number += 1
        folder = Path("runs") / f"{name}-{number}"
    return folder


def _refuse_if_taken(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out} is a file: name a folder")
    if out.is_dir() and any(out.iterdir()):
        remedy = "add --resume to go on with it, or name" if (out / HEADER).exists() else "name"
        raise UserError(f"--out {out} is not empty: {remedy} another folder")


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
    return TOO_MANY_ERRORS


def _resume_line(args: argparse.Namespace, out: Path) -> str:
    """The command that goes on with the run, in the way it was run."""
    words = ["python", "-m", "benchmark", "run", "--resume", str(out)]
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
    return shlex.join(words)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


COMMAND = Command(
    "run",
    "Attack a target and print how often it was fooled.",
    """\
  python -m benchmark run --attack mac --target clip
  python -m benchmark run --attack mac --target siglip --set candidates=16 --set mode=specific
  python -m benchmark run --attack mac --target open_clip:ViT-B-32/openai --dataset pairs.csv
  python -m benchmark run --attack mac --target clip --preset paper --dataset coco \\
      --data-root /data/coco --device cuda --out runs/coco-clip
  python -m benchmark run --attack advdreamer --target clip
  python -m benchmark run --attack advdreamer --target clip --image photo.png --label duck
  python -m benchmark run --attack mm3dtbench --dataset questions/mm3dtbench.jsonl \\
      --target openai:llava --base-url http://localhost:8000/v1
  python -m benchmark run --resume runs/coco-clip""",
    _arguments,
    _main,
)
