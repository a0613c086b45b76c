"""`export`: what a run found, in a format that others can use."""

import argparse
from pathlib import Path

from benchmark import export
from benchmark.commands.parser import Command, positive, whole
from benchmark.errors import UserError

FORMATS = ("mm3dtbench",)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "format", metavar="FORMAT", help="mm3dtbench: questions about pictures of an advdreamer run"
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of the run")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to make")
    parser.add_argument(
        "--conditions",
        default=",".join(export.CONDITIONS),
        metavar="NAMES",
        help="whose pictures: center, distribution, random, identity, picked; true/center and so on"
        " are the true object's (%(default)s)",
    )
    parser.add_argument(
        "--choices", type=positive, default=4, metavar="N", help="offered with each (%(default)s)"
    )
    parser.add_argument("--question", default=export.QUESTION, metavar="TEXT", help='"%(default)s"')
    parser.add_argument(
        "--fooled", action="store_true", help="only pictures that fooled the run's target"
    )
    parser.add_argument(
        "--seed", type=whole, default=0, metavar="N", help="of the choices (%(default)s)"
    )


def _main(args: argparse.Namespace) -> int:
    if args.format not in FORMATS:
        raise UserError(f"unknown format {args.format!r}: there is {', '.join(FORMATS)}")
    if args.choices < 2:
        raise UserError(f"--choices {args.choices} leaves no choice: give 2 or more")
    if not args.question.strip():
        raise UserError("--question is empty: say what is asked")
    conditions = [name for part in args.conditions.split(",") if (name := part.strip())]
    if not conditions:
        raise UserError("--conditions is empty: name at least one, such as center")
    counts = export.export_mm3dtbench(
        args.run,
        args.out,
        conditions=conditions,
        choices=args.choices,
        question=args.question,
        only_fooled=args.fooled,
        seed=args.seed,
    )
    file = args.out / export.FILE
    parts = ", ".join(f"{number} of {name}" for name, number in counts.items())
    print(f"{sum(counts.values())} questions ({parts}): {file}")
    print(f"ask them: python -m benchmark run --attack mm3dtbench --dataset {file} --target clip")
    return 0


COMMAND = Command(
    "export",
    "Write what a run found in a format that others can use.",
    """\
  python -m benchmark export mm3dtbench runs/20260131-120000-advdreamer-clip --out questions
  python -m benchmark export mm3dtbench runs/mine --out questions --fooled --conditions center
  python -m benchmark export mm3dtbench runs/mine --out real --conditions true/center""",
    _arguments,
    _main,
)
