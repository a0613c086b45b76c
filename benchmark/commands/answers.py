"""`answers`: mark what a target said in a run, as captions or as answers."""

import argparse
import json
import shutil
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmark import answers, registry, tables
from benchmark.commands.parser import Command
from benchmark.config import RunConfig, load_preset
from benchmark.errors import UserError
from benchmark.records import read_header

TABLE, DETAILS = "answers.csv", "answers.jsonl"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run", type=Path, metavar="RUN", help="folder of a run whose target answers"
    )
    parser.add_argument(
        "--references",
        type=Path,
        metavar="FILE",
        help='what people say: lines {"id", "references": [...], "question"?} or COCO\'s captions;'
        " without it, each sample's own text",
    )
    parser.add_argument(
        "--metrics",
        default="captions",
        metavar="NAMES",
        help="see `list answer_metrics` (%(default)s)",
    )
    parser.add_argument(
        "--judge", metavar="NAME", help="the language model of gpt_score and gpt_acc: openai:gpt-4o"
    )
    parser.add_argument("--device", default="cpu", metavar="NAME", help="the judge's (%(default)s)")


def _main(args: argparse.Namespace) -> int:
    names = [name for part in args.metrics.split(",") if (name := part.strip())]
    if not names:
        raise UserError("--metrics is empty: name at least one of `list answer_metrics`")
    for name in names:
        registry.entry("answer_metrics", registry.split(name)[0])
    header = read_header(args.run)
    config = RunConfig.from_json(header["config"])
    known = (
        answers.References()
        if args.references is None
        else answers.read_references(args.references)
    )
    found = answers.read_answers(args.run, known)
    settings: dict[str, Any] = {"seed": config.seed, "judge": _judge(args, config)}
    metrics = [registry.create("answer_metrics", name, settings) for name in names]
    measures, lines = [], []
    for condition, answered in found.items():
        print(f"{condition}: {len(answered)} answers", file=sys.stderr)
        rows: list[dict[str, Any]] = [asdict(one) for one in answered]
        for metric in metrics:
            marked = metric.mark(answered)
            measures += [replace(one, slice=f"condition={condition}") for one in marked.measures]
            for row, detail in zip(rows, marked.details, strict=True):
                row |= detail
        lines += rows
    table = tables.rows(measures, config)
    tables.write_csv(table, args.run / TABLE)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (args.run / DETAILS).write_text(text, encoding="utf-8", errors="surrogatepass")
    sys.stdout.write(tables.to_text(table, shutil.get_terminal_size().columns))
    print(f"\n{args.run}: {TABLE}, {DETAILS}")
    return 0


def _judge(args: argparse.Namespace, config: RunConfig) -> Any:
    """The judge by name, or by a short name of the run's preset."""
    if args.judge is None:
        return None
    spec = str(load_preset(config.preset)["tools"].get(args.judge, args.judge))
    return registry.create("tools", spec, {"device": args.device})


COMMAND = Command(
    "answers",
    "Mark what a target said in a run: CIDEr, BLEU, and a language model as judge.",
    """\
  python -m benchmark answers runs/mine --references captions_val2014.json
  python -m benchmark answers runs/mine --references refs.jsonl --metrics captions,spice
  python -m benchmark answers runs/mine --metrics gpt_score,gpt_acc --judge openai:gpt-4o""",
    _arguments,
    _main,
)
