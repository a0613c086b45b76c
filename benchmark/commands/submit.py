"""`submit`: pack a run for a leaderboard, after the checks that the leaderboard makes."""

import argparse
import sys
from pathlib import Path

from benchmark import registry
from benchmark.commands.parser import Command


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a finished run")
    parser.add_argument(
        "--model-name", required=True, metavar="TEXT", help="what people call the model"
    )
    parser.add_argument("--paper", default="", metavar="URL", help="where the model is described")
    parser.add_argument("--note", default="", metavar="TEXT", help="one line about the entry")
    parser.add_argument(
        "--pictures",
        choices=("picked", "all"),
        default="picked",
        help="which to send along: the ones that were picked, or all that the run kept (%(default)s)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("submissions"),
        metavar="DIR",
        help="folder of entries; the entry's own path is made below it (%(default)s)",
    )


def _main(args: argparse.Namespace) -> int:
    keeper = registry.load("leaderboards", "entries")()
    out, report = keeper.submit(
        args.run,
        args.out,
        model_name=args.model_name,
        paper=args.paper,
        note=args.note,
        all_pictures=args.pictures == "all",
    )
    for note in report.notes:
        print(f"note: {note}", file=sys.stderr)
    for problem in report.problems:
        print(f"problem: {problem}", file=sys.stderr)
    if not report.passed:
        print(f"error: {args.run} cannot be submitted, nothing was written", file=sys.stderr)
        return 1
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"{out}: {size / 2**20:.2f} MiB, passes `leaderboard validate`")
    print("add this folder to the entries of a leaderboard repository and open a pull request")
    return 0


COMMAND = Command(
    "submit",
    "Pack a run for a leaderboard.",
    """\
  python -m benchmark submit runs/mac-clip --model-name "CLIP ViT-B/32"
  python -m benchmark submit runs/mac-clip --model-name NegCLIP \\
      --paper https://arxiv.org/abs/2210.01936 --out leaderboards/entries""",
    _arguments,
    _main,
)
