"""`score`: measure adversarial inputs that somebody else made."""

import argparse
import sys
from pathlib import Path

from benchmark import registry
from benchmark.commands.parser import Command
from benchmark.progress import Progress, State, clock_text, eta


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "family", metavar="FAMILY", help=f"whose measures: {', '.join(registry.names('scorers'))}"
    )
    parser.add_argument(
        "pairs",
        type=Path,
        metavar="PAIRS",
        help='lines {"id", "text", "adversarial", "operation"?}, or RoCOCO\'s JSON',
    )
    parser.add_argument(
        "--dataset-name",
        default="auto",
        metavar="NAME",
        help="whose distance limit holds: coco, msrvtt, audiocaps, or auto for half the mean"
        " length of the file's captions (%(default)s)",
    )
    parser.add_argument(
        "--tagger",
        default="spacy",
        metavar="NAME",
        help="lemmas and parts of speech: spacy (the paper's) or toybox (%(default)s)",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write to")
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")


def _main(args: argparse.Namespace) -> int:
    score = registry.load("scorers", args.family)
    tagger = registry.create("taggers", args.tagger)
    with Progress(sys.stderr, _pairs, quiet=args.quiet) as progress:
        summary = score(
            args.pairs,
            args.dataset_name,
            tagger,
            args.out,
            lambda done, total: progress.show(State(done=done, total=total)),
        )
    width = max(map(len, summary))
    for key, value in summary.items():
        shown = f"{value:.4f}" if isinstance(value, float) else str(value)
        print(f"{key:{width}}  {shown}")
    print(f"\nscores.jsonl and summary.json: {args.out}")
    return 0


def _pairs(state: State, seconds: float) -> str:
    left = eta(state, seconds)
    to_go = "" if left is None or state.done == state.total else f", {clock_text(left)} to go"
    return f"{state.done}/{state.total} pairs{to_go}"


COMMAND = Command(
    "score",
    "Measure adversarial captions that somebody else made.",
    """\
  python -m benchmark score mac pairs.jsonl --dataset-name coco --out scores
  python -m benchmark score mac same_concept.json --dataset-name coco --tagger spacy --out rococo
  python -m benchmark score mac pairs.jsonl --tagger toybox --out scores""",
    _arguments,
    _main,
)
