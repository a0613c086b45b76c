"""How every command is declared: its words, its examples, its one-line errors."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from benchmark.errors import UserError


@dataclass(frozen=True, slots=True)
class Command:
    """One verb: `arguments` adds its flags, `main` does it and returns the exit code."""

    name: str
    summary: str
    examples: str
    arguments: Callable[[argparse.ArgumentParser], None]
    main: Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """argparse, with examples in every --help and errors of one line."""

    def __init__(self, prog: str, description: str, examples: str, **options: Any) -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=f"Examples:\n{examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            **options,
        )

    def error(self, message: str) -> NoReturn:
        """Refuse what cannot be parsed."""
        raise UserError(f"{message} (`{self.prog} --help` has examples)")


def add_command(verbs: "argparse._SubParsersAction[Parser]", command: Command) -> None:
    """Add a verb to the command line."""
    parser = verbs.add_parser(
        command.name, help=command.summary, description=command.summary, examples=command.examples
    )
    command.arguments(parser)
    parser.set_defaults(main=command.main)


def positive(text: str) -> int:
    """A whole number of at least 1."""
    value = whole(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be at least 1")
    return value


def whole(text: str) -> int:
    """A whole number of at least 0."""
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} must be at least 0")
    return value


def rate(text: str) -> float:
    """A share from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be from 0 to 1")
    return value
