"""`score`: measure captions that somebody else made."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmark import registry
from benchmark.commands.parser import Command, positive
from benchmark.errors import UserError
from benchmark.progress import Progress, State, clock_text, eta

Report = Callable[[int, int], None]

_MAC = {
    "dataset_name": "whose distance limit holds: coco, msrvtt, audiocaps, or auto for half the mean"
    " length of the file's captions (auto)",
    "tagger": "lemmas and parts of speech: spacy (the paper's) or toybox (spacy)",
}
_CAPTURE = {
    "matching": "stages, separated by commas: exact, synonym, soft (all that the encoder allows)",
    "variant": "released (the authors' code) or paper (the formulas as printed) (released)",
    "empty": "a type of fact that one side lacks: released (F1 of 0), or renormalise (a type that the"
    " reference lacks does not count) (released)",
    "substring": "synonyms by containing: released (any characters), token (whole words) or off"
    " (released)",
    "order": "of matching: sorted, or given (as the graphs have it) (sorted)",
    "weights": "of objects, attributes and relations (0.5,0.5,0.2)",
    "parser": "reads texts; graphs need none: factual, factual:ID or toybox (factual)",
    "encoder": "for soft matching: a name from `list encoders`, an id of sentence-transformers, or none"
    " (all-mpnet-base-v2)",
    "stop_words": "abstract nouns, which are no objects: trident, released (of the package"
    " capture-metric) or none (trident)",
}


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "family", metavar="FAMILY", help=f"whose measures: {', '.join(registry.names('scorers'))}"
    )
    parser.add_argument(
        "pairs",
        type=Path,
        metavar="PAIRS",
        help='mac: lines {"id", "text", "adversarial", "operation"?}, or RoCOCO\'s JSON; capture: lines'
        ' {"id", "reference", "candidate"}, each side a text, a list of texts, or a graph'
        ' {"objects": [...], "attributes": {object: [...]}, "relations": [[s, p, o], ...]}',
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write to")
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    for family, flags in (("mac", _MAC), ("capture", _CAPTURE)):
        group = parser.add_argument_group(family)
        for name, meaning in flags.items():
            group.add_argument(_flag(name), dest=name, metavar="NAME", help=meaning)
        if family == "capture":
            group.add_argument("--device", metavar="NAME", help="of the models (cpu)")
            group.add_argument(
                "--batch-size", type=positive, metavar="N", help="of the models (32)"
            )


def _main(args: argparse.Namespace) -> int:
    score = registry.load("scorers", args.family)
    measure = _capture if args.family == "capture" else _mac
    with Progress(sys.stderr, _pairs, quiet=args.quiet) as progress:
        summary = measure(
            score, args, lambda done, total: progress.show(State(done=done, total=total))
        )
    shown = {key: value for key, value in summary.items() if not isinstance(value, dict)}
    width = max(map(len, shown))
    for key, value in shown.items():
        text = f"{value:.4f}" if isinstance(value, float) else "-" if value is None else str(value)
        print(f"{key:{width}}  {text}")
    print(f"\nscores.jsonl and summary.json: {args.out}")
    return 0


def _mac(score: Any, args: argparse.Namespace, report: Report) -> dict[str, Any]:
    _refuse(args, (*_CAPTURE, "device", "batch_size"))
    tagger = registry.create("taggers", args.tagger or "spacy")
    summary: dict[str, Any] = score(
        args.pairs, args.dataset_name or "auto", tagger, args.out, report
    )
    return summary


def _capture(score: Any, args: argparse.Namespace, report: Report) -> dict[str, Any]:
    _refuse(args, _MAC)
    options = {name: value for name in _CAPTURE if (value := getattr(args, name)) is not None}
    encoder = options.get("encoder")
    if encoder and registry.split(encoder)[0] not in ("none", *registry.names("encoders")):
        options["encoder"] = f"sentence_transformers:{encoder}"
    settings = {
        name: value
        for name in ("device", "batch_size")
        if (value := getattr(args, name)) is not None
    }
    summary: dict[str, Any] = score(args.pairs, options, settings, args.out, report)
    return summary


def _refuse(args: argparse.Namespace, names: Any) -> None:
    """Refuse what is another family's, instead of doing as if it had been heard."""
    for name in names:
        if getattr(args, name) is not None:
            raise UserError(
                f"score {args.family} has no {_flag(name)}: leave it out"
                " (`python -m benchmark score --help` says whose is which)"
            )


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _pairs(state: State, seconds: float) -> str:
    left = eta(state, seconds)
    to_go = "" if left is None or state.done == state.total else f", {clock_text(left)} to go"
    return f"{state.done}/{state.total} pairs{to_go}"


COMMAND = Command(
    "score",
    "Measure captions that somebody else made.",
    """\
  python -m benchmark score mac pairs.jsonl --dataset-name coco --out scores
  python -m benchmark score mac same_concept.json --dataset-name coco --tagger spacy --out rococo
  python -m benchmark score mac pairs.jsonl --tagger toybox --out scores
  python -m benchmark score capture pairs.jsonl --out scores
  python -m benchmark score capture pairs.jsonl --matching exact,synonym --out scores
  python -m benchmark score capture pairs.jsonl --parser toybox --matching exact --out scores
  python -m benchmark score capture pairs.jsonl --encoder miniature:clip-mini --out scores""",
    _arguments,
    _main,
)
