"""The command line: `trident VERB` or `python -m benchmark VERB`. Parses and prints, nothing else.

Exit codes: 0 done, 1 a failure or an interrupted run, 2 a mistake in the command, 3 more errored
samples than --max-error-rate; of `compare` also 10 regression, 11 inconclusive, 12 not comparable.
Every error is one line on stderr; TRIDENT_DEBUG=1 adds the traceback.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence

from benchmark import __version__
from benchmark.commands import (
    answers,
    compare,
    doctor,
    export,
    leaderboard,
    listing,
    noise,
    report,
    run,
    score,
    show,
    submit,
    transfer,
    world,
)
from benchmark.commands.parser import Parser, add_command
from benchmark.errors import UserError

DONE, FAILED, USAGE = 0, 1, 2

_EXAMPLES = """\
  python -m benchmark run --attack mac --target clip
  python -m benchmark list targets
  python -m benchmark doctor"""


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = Parser("trident", "How easily is a vision-language model fooled?", _EXAMPLES)
    parser.add_argument("--version", action="version", version=f"trident {__version__}")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (
        run,
        transfer,
        show,
        report,
        listing,
        score,
        answers,
        compare,
        noise,
        export,
        submit,
        leaderboard,
        world,
        doctor,
    ):
        add_command(verbs, command.COMMAND)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    try:
        args = build_parser().parse_args(argv)
        code: int = args.main(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # `trident list | head` closed the pipe; without this Python complains again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return FAILED
    except (UserError, OSError, ValueError, LookupError, ImportError) as error:
        if os.environ.get("TRIDENT_DEBUG") == "1":
            traceback.print_exc()
        print(f"error: {_one_line(error)}", file=sys.stderr)
        return USAGE if isinstance(error, UserError) else FAILED


def _one_line(error: BaseException) -> str:
    """An error's text without line breaks; its type where it says nothing or only a key."""
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror + (f": {error.filename}" if error.filename else "")
    else:
        text = " ".join(str(error).split())
    if not text or isinstance(error, LookupError):
        text = f"{type(error).__name__} {text}".strip()
    return text
