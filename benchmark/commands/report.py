"""`report`: one HTML file that shows a run, or two side by side."""

import argparse
from pathlib import Path

from benchmark.commands.parser import Command, positive
from benchmark.errors import UserError

EXAMPLES = 400


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a run")
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="OTHER",
        help="another run, shown side by side: RUN is A, OTHER is B",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="where to write it (report.html in the folder RUN)",
    )
    parser.add_argument(
        "--examples",
        type=positive,
        default=EXAMPLES,
        metavar="N",
        help="at most so many in the gallery (%(default)s)",
    )


def _main(args: argparse.Namespace) -> int:
    # Pictures are drawn and embedded: not loaded for the sake of --help.
    from benchmark.report import write

    out = args.run / "report.html" if args.out is None else args.out
    if out.is_dir():
        raise UserError(f"{out} is a folder: name a file, such as {out / 'report.html'}")
    size = write(args.run, out, args.compare, examples=args.examples)
    print(f"{out}: {size / 1e6:.1f} MB")
    return 0


COMMAND = Command(
    "report",
    "Write one HTML file that shows a run.",
    """\
  python -m benchmark report runs/mine
  python -m benchmark report runs/mine --compare runs/other --out report.html""",
    _arguments,
    _main,
)
