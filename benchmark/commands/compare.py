"""`compare`: did a model get less robust? A verdict, and an exit code for CI."""

import argparse
import os
import shutil
import sys
from pathlib import Path

from benchmark.commands.parser import Command, rate, whole
from benchmark.commands.running import default_cache
from benchmark.config import Execution
from benchmark.errors import UserError

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "baseline", type=Path, metavar="BASELINE", help="folder of a run, or of several runs"
    )
    parser.add_argument("new", type=Path, metavar="NEW", help="the same of the model in question")
    test = parser.add_argument_group("the test")
    test.add_argument(
        "--margin",
        type=rate,
        default=0.02,
        metavar="SHARE",
        help="drop of robust accuracy that is put up with (%(default)s)",
    )
    test.add_argument(
        "--alpha",
        type=rate,
        default=0.05,
        metavar="P",
        help="how often a verdict may be wrong, at most (%(default)s)",
    )
    test.add_argument(
        "--score-margin",
        type=float,
        metavar="RISE",
        help="test mean fitness as well: the rise that is put up with",
    )
    test.add_argument(
        "--replay",
        action="store_true",
        help="show BASELINE's adversarial examples to NEW's target as well",
    )
    test.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="KEY",
        help="compare although KEY differs; can be repeated",
    )
    test.add_argument(
        "--waivers", type=Path, metavar="FILE", help=".toml or .json of known exceptions"
    )
    to = parser.add_argument_group("where to")
    to.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    to.add_argument("--sarif", type=Path, metavar="FILE", help="write SARIF 2.1.0")
    to.add_argument(
        "--summary",
        type=Path,
        metavar="FILE",
        help=f"write Markdown; ${STEP_SUMMARY}, if set, is added to in any case",
    )
    to.add_argument(
        "--flips", type=whole, default=3, metavar="N", help="broken samples printed (%(default)s)"
    )
    how = parser.add_argument_group("how a replay is run")
    how.add_argument("--device", default="cpu", metavar="NAME", help="cpu, cuda, ... (%(default)s)")
    how.add_argument("--batch-size", type=whole, default=64, metavar="N", help="%(default)s")
    how.add_argument(
        "--cache", type=Path, default=default_cache(), metavar="DIR", help="%(default)s"
    )


def _main(args: argparse.Namespace) -> int:
    # Not at the top: --help must not wait for numpy and what a replay needs.
    from benchmark.compare import compare
    from benchmark.gate import files, text, waivers

    for flag in ("junit", "sarif", "summary"):
        path = getattr(args, flag)
        if path is not None and not path.absolute().parent.is_dir():
            raise UserError(f"--{flag} {path}: there is no folder {path.parent}")
    comparison = compare(
        args.baseline,
        args.new,
        margin=args.margin,
        alpha=args.alpha,
        score_margin=args.score_margin,
        replay=args.replay,
        allow=args.allow,
        waivers=[] if args.waivers is None else waivers.read(args.waivers),
        execution=Execution(batch_size=args.batch_size, device=args.device, cache=str(args.cache)),
    )
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = shutil.get_terminal_size().columns
    sys.stdout.write(text.render(comparison, args.flips, width=width, colour=colour))
    if args.junit is not None:
        args.junit.write_text(files.junit(comparison), encoding="utf-8")
    if args.sarif is not None:
        args.sarif.write_text(files.sarif(comparison), encoding="utf-8")
    if args.summary is not None:
        args.summary.write_text(files.markdown(comparison), encoding="utf-8")
    if step := os.environ.get(STEP_SUMMARY):
        files.append(Path(step), files.markdown(comparison))
    return comparison.exit_code


COMMAND = Command(
    "compare",
    "Say whether a model got less robust: PASS (exit code 0), REGRESSION (10), INCONCLUSIVE (11)"
    " or not comparable (12).",
    """\
  python -m benchmark compare runs/baseline runs/new
  python -m benchmark compare runs/baseline runs/new --replay --margin 0.05
  python -m benchmark compare runs/baseline runs/new --waivers waivers.toml \\
      --junit gate.xml --sarif gate.sarif --summary gate.md""",
    _arguments,
    _main,
)
