"""`world`: look at the embedded world."""

import argparse
import sys
from pathlib import Path

from benchmark.commands.parser import Command, positive


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write to")
    parser.add_argument("--n", type=positive, default=48, help="how many scenes (%(default)s)")
    parser.add_argument(
        "--split",
        default="test",
        choices=("train", "validation", "test"),
        help="part of the world (%(default)s)",
    )
    parser.add_argument(
        "--px", type=positive, default=192, help="height and width of a picture (%(default)s)"
    )


def _main(args: argparse.Namespace) -> int:
    from benchmark.toybox.sheet import write_world

    print(f"rendering {args.n} scenes of the {args.split} split", file=sys.stderr)
    sheet = write_world(args.out, args.n, args.split, args.px)
    print(f"{sheet}, with manifest.json and a picture a scene beside it")
    return 0


COMMAND = Command(
    "world",
    "Render scenes of the embedded world: a contact sheet and a manifest.",
    """\
  python -m benchmark world --out world --n 48
  python -m benchmark world --out large --n 12 --px 384 --split validation""",
    _arguments,
    _main,
)
