"""`show`: the table of a run that is there."""

import argparse
import shutil
import sys
from pathlib import Path

from benchmark import tables
from benchmark.commands.parser import Command
from benchmark.errors import UserError
from benchmark.records import read_header


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a run")
    parser.add_argument(
        "--format",
        choices=("text", "md", "csv"),
        default="text",
        help="for people, for a web page, for a program (%(default)s)",
    )


def _main(args: argparse.Namespace) -> int:
    header = read_header(args.run)
    path = args.run / "table.csv"
    if not path.is_file():
        raise UserError(
            f"{args.run} has no table yet: finish the run with"
            f" `python -m benchmark run --resume {args.run}`"
        )
    table = tables.read_csv(path)
    match args.format:
        case "csv":
            sys.stdout.write(tables.to_csv(table))
        case "md":
            sys.stdout.write(tables.to_markdown(table))
        case _:
            config = header["config"]
            print(
                f"{config['attack']} on {config['target']}, data {config['dataset_name']},"
                f" preset {config['preset']}\n"
            )
            sys.stdout.write(tables.to_text(table, shutil.get_terminal_size().columns))
    return 0


COMMAND = Command(
    "show",
    "Print the table of a run.",
    """\
  python -m benchmark show runs/20260131-120000-mac-clip
  python -m benchmark show runs/20260131-120000-mac-clip --format csv""",
    _arguments,
    _main,
)
