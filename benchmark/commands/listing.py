"""`list`: what there is to name. Imports no model library."""

import argparse

from benchmark import registry
from benchmark.commands.parser import Command
from benchmark.config import load_preset, presets
from benchmark.errors import UserError
from benchmark.settings import ATTACKS, COMMON, DATASET, TARGET

KINDS = (*registry.KINDS, "presets", "settings")


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kind", nargs="?", metavar="KIND", help=f"one of {', '.join(KINDS)}; all if left out"
    )


def _main(args: argparse.Namespace) -> int:
    if args.kind is not None and args.kind not in KINDS:
        raise UserError(registry.unknown("kind", args.kind, KINDS, "list"))
    shown = KINDS if args.kind is None else (args.kind,)
    rows = {kind: _rows(kind) for kind in shown}
    width = max(len(name) for lines in rows.values() for name, _ in lines)
    for number, (kind, lines) in enumerate(rows.items()):
        if args.kind is None:
            print("\n" * (number > 0) + kind)
        indent = "  " if args.kind is None else ""
        for name, summary in lines:
            print(f"{indent}{name:{width}}  {summary}".rstrip())
    return 0


def _rows(kind: str) -> list[tuple[str, str]]:
    if kind == "presets":
        return [
            (
                preset,
                ", ".join(
                    f"{name} = {spec}"
                    for kind in ("targets", "tools")
                    for name, spec in _aliases(preset, kind).items()
                ),
            )
            for preset in presets()
        ]
    if kind == "settings":
        tables = {"": COMMON, **{f"{name}: ": table for name, table in ATTACKS.items()}}
        rows = [
            (key, f"{owner}{setting.meaning}; {setting.expected}")
            for owner, table in tables.items()
            for key, setting in table.items()
        ]
        for section, table in (("target", TARGET), ("dataset", DATASET)):
            rows += [
                (f"{section}.{key}", f"{setting.meaning}; {setting.expected}")
                for key, setting in table.items()
            ]
        return rows
    if kind in ("targets", "tools"):
        short: dict[str, list[str]] = {}
        for preset in presets():
            for name, spec in _aliases(preset, kind).items():
                short.setdefault(name, []).append(f"{spec} ({preset})")
        return [(name, ", ".join(specs)) for name, specs in short.items()] + registry.describe(kind)
    return registry.describe(kind)


def _aliases(preset: str, kind: str) -> dict[str, str]:
    """What the short names of a preset stand for."""
    return {
        name: alias if isinstance(alias, str) else str(alias["spec"])
        for name, alias in load_preset(preset)[kind].items()
    }


COMMAND = Command(
    "list",
    "Show the names of attacks, targets, data sets and all else that can be named.",
    """\
  python -m benchmark list
  python -m benchmark list targets
  python -m benchmark list settings""",
    _arguments,
    _main,
)
