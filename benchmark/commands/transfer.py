"""`transfer`: show what fooled one target to another one."""

import argparse
import re
import shlex
from functools import partial
from pathlib import Path

from benchmark.commands.parser import Command
from benchmark.commands.running import (
    add_execution,
    base_url,
    execution_of,
    execution_words,
    refuse_if_taken,
    watch,
)
from benchmark.commands.watch import banner
from benchmark.config import redirect
from benchmark.records import HEADER


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a run")
    parser.add_argument(
        "--target",
        metavar="NAME",
        required=True,
        help="who is shown what the run found: a short name of its preset, or outright",
    )
    parser.add_argument(
        "--base-url", metavar="URL", help="the server of openai:MODEL, if it is not OpenAI's"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="how the target is asked and judged, such as criteria=unnamed; can be repeated",
    )
    parser.add_argument("--ids", nargs="+", metavar="ID", help="show these samples only")
    where = parser.add_argument_group("where to")
    where.add_argument("--out", type=Path, metavar="DIR", help="RUN-to-TARGET")
    where.add_argument("--resume", action="store_true", help="go on with the transfer in --out")
    add_execution(parser, where)


def _main(args: argparse.Namespace) -> int:
    # Not at the top: `list` and --help must not wait for what a run needs.
    from benchmark.replay import transfer
    from benchmark.stored import Stored

    overrides = list(args.set)
    if args.base_url is not None:
        overrides.append(base_url(args.base_url, args.target))
    short = re.sub(r"[^\w.-]+", "-", args.target).strip("-")
    out: Path = args.out or args.run.with_name(f"{args.run.resolve().name}-to-{short}")
    resume = args.resume and (out / HEADER).exists()
    if not resume:
        refuse_if_taken(out)
    stored, execution = Stored(args.run, args.ids), execution_of(args)
    config = redirect(stored.config, args.target, overrides)
    begin = partial(transfer, stored, config, out, execution=execution, resume=resume)
    fooled = sum(record.status == "success" for record in stored.records.values())
    heading = (
        f"{banner(config, out)}\n"
        f"  shown   what {args.run} picked for {len(stored.records)} samples on"
        f" {stored.config.target}, which {fooled} of them fooled"
    )
    return watch(begin, config, execution, out, heading, _again(args, out), quiet=args.quiet)


def _again(args: argparse.Namespace, out: Path) -> str:
    """The command that goes on with it."""
    words = ["python", "-m", "benchmark", "transfer", str(args.run), "--target", args.target]
    if args.base_url is not None:
        words += ["--base-url", args.base_url]
    for override in args.set:
        words += ["--set", override]
    words += [] if args.ids is None else ["--ids", *args.ids]
    return shlex.join([*words, "--out", str(out), "--resume", *execution_words(args)])


COMMAND = Command(
    "transfer",
    "Show a run's adversarial examples to another target.",
    """\
  python -m benchmark transfer runs/mac-clip --target siglip
  python -m benchmark transfer runs/poses-clip --target openai:llava \\
      --base-url http://localhost:8000/v1 --set criteria=unnamed \\
      --set question='What is in this picture?'""",
    _arguments,
    _main,
)
