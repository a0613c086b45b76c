"""`doctor`: is this machine ready, and if not, what to do."""

import argparse
from pathlib import Path

from benchmark.commands.parser import Command
from benchmark.commands.running import default_cache


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cache", type=Path, default=default_cache(), metavar="DIR", help="%(default)s"
    )
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="where runs go (%(default)s)"
    )


def _main(args: argparse.Namespace) -> int:
    from benchmark.doctor import examine

    failed = False
    for finding in examine(args.cache, args.out):
        print(f"{finding.level:4}  {finding.name:8}  {finding.detail}", flush=True)
        if finding.remedy:
            print(f"{'':16}-> {finding.remedy}", flush=True)
        failed |= finding.level == "fail"
    return int(failed)


COMMAND = Command(
    "doctor",
    "Check Python, packages, device, weights, cache, disk, hub, spaCy and NLTK, with remedies.",
    """\
  python -m benchmark doctor
  python -m benchmark doctor --cache /scratch/trident""",
    _arguments,
    _main,
)
