"""`run`: attack a target and end with a table, or go on with a run that was cut short."""

import argparse
import json
import re
import shlex
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import get_args

from benchmark.commands.parser import Command, positive, whole
from benchmark.commands.running import (
    add_execution,
    base_url,
    execution_of,
    execution_words,
    refuse_if_taken,
    watch,
)
from benchmark.commands.watch import banner
from benchmark.config import RunConfig, resolve
from benchmark.errors import UserError
from benchmark.records import HEADER, read_header
from benchmark.types import Access

_EXPERIMENT = (
    "attack", "target", "base_url", "preset", "dataset", "data_root", "image", "label", "mask", "box",
    "samples", "seed", "set", "query_budget", "access",
)  # fmt: skip
"""The flags that a bare --resume DIR takes from the run itself."""


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
    what.add_argument("--ids", nargs="+", metavar="ID", help="of those, only these")
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
    add_execution(parser, where)


def _main(args: argparse.Namespace) -> int:
    config, out, resume = _plan(args)
    execution = execution_of(args)
    # Not at the top: `list` and --help must not wait for what a run needs.
    from benchmark import runner
    from benchmark.subset import assemble_only

    begin = partial(runner.run, config, execution, out, resume=resume)
    if args.ids is not None:
        begin = partial(begin, build=partial(assemble_only, args.ids))
    heading = banner(config, out)
    return watch(begin, config, execution, out, heading, _resume_line(args, out), quiet=args.quiet)


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
        refuse_if_taken(out)
    return config, out, resume


def _data(args: argparse.Namespace) -> tuple[str | None, list[str]]:
    """(data set, overrides): a single picture is a data set too, its flags are settings of it."""
    overrides = list(args.set or ())
    if args.base_url is not None:
        overrides.append(base_url(args.base_url, args.target))
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
    if header.get("surrogate") is not None:
        raise UserError(
            f"{out} holds a transfer: go on with `python -m benchmark transfer RUN --target NAME"
            f" --out {out} --resume`"
        )
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


def _resume_line(args: argparse.Namespace, out: Path) -> str:
    """The command that goes on with the run, in the way it was run."""
    words = ["python", "-m", "benchmark", "run", "--resume", str(out)]
    words += [] if args.ids is None else ["--ids", *args.ids]
    return shlex.join([*words, *execution_words(args)])


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
