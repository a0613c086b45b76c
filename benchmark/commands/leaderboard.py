"""`leaderboard`: check entries, build the site, look at it."""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmark import registry
from benchmark.commands.parser import Command, rate, whole
from benchmark.config import Execution
from benchmark.errors import UserError

_DIFF_BYTES = 16 * 2**20

_VALIDATE = """\
  python -m benchmark leaderboard validate submissions
  python -m benchmark leaderboard validate leaderboards/entries --base /tmp/main/leaderboards/entries
  git diff --name-status --no-renames $(git merge-base origin/main HEAD) | \\
      python -m benchmark leaderboard validate -
  python -m benchmark leaderboard validate leaderboards/entries --replay"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(title="what to do", metavar="ACTION", required=True)

    validate = verbs.add_parser(
        "validate",
        help="check a submission, a folder of entries, or a pull request",
        description="Check entries; lists all problems at once, exit code 1 if there are any.",
        examples=_VALIDATE,
    )
    validate.add_argument(
        "what",
        type=Path,
        metavar="DIR|DIFF",
        help="folder, or a file (- is stdin) with what `git diff --name-status` prints",
    )
    validate.add_argument(
        "--base", type=Path, metavar="DIR", help="the entries before the change: none may be gone"
    )
    validate.add_argument(
        "--entries",
        default="leaderboards/entries",
        metavar="DIR",
        help="for a DIFF: folder of entries in the repository (%(default)s)",
    )
    validate.add_argument(
        "--keeper",
        action="store_true",
        help="the change is the keepers': reproduced.json may change",
    )
    validate.add_argument(
        "--replay",
        action="store_true",
        help="show a random part of the adversarial examples to the named target again",
    )
    validate.add_argument(
        "--share", type=rate, default=0.1, metavar="P", help="how much to replay (%(default)s)"
    )
    validate.add_argument(
        "--keep", metavar="NAME", help="write what the replay gave to reproduced.json, signed NAME"
    )
    validate.add_argument("--device", default="cpu", help="where the replay runs (%(default)s)")
    validate.set_defaults(action=_validate)

    build = verbs.add_parser(
        "build",
        help="make the static site",
        description="Make the static site: a page for each attack and threat model.",
        examples="  python -m benchmark leaderboard build --out site",
    )
    build.add_argument(
        "--entries", type=Path, metavar="DIR", help="folder of entries (those shipped)"
    )
    build.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write to")
    build.set_defaults(action=_build)

    serve = verbs.add_parser(
        "serve",
        help="show the site in a browser on this machine",
        description="Build the site into a temporary folder and show it on 127.0.0.1.",
        examples="  python -m benchmark leaderboard serve --port 8080",
    )
    serve.add_argument(
        "--entries", type=Path, metavar="DIR", help="folder of entries (those shipped)"
    )
    serve.add_argument("--port", type=whole, default=8000, help="0 takes a free one (%(default)s)")
    serve.set_defaults(action=_serve)


def _main(args: argparse.Namespace) -> int:
    code: int = args.action(args, registry.load("leaderboards", "entries")())
    return code


def _validate(args: argparse.Namespace, keeper: Any) -> int:
    if args.keep is not None and not args.replay:
        raise UserError("--keep writes what a replay gave: add --replay")
    if args.what.is_dir():
        report = keeper.validate(args.what, base=args.base, keeper=args.keeper)
        where = args.what
    else:
        report = keeper.validate_diff(
            _diff(args.what), Path.cwd(), args.entries, keeper=args.keeper, base=args.base
        )
        where = Path(args.entries)
    if args.replay and report.passed:
        execution = Execution(device=args.device)
        for line in keeper.replay(where, report, execution, share=args.share, by=args.keep):
            print(line)
    for note in report.notes:
        print(f"note: {note}")
    for problem in report.problems:
        print(f"problem: {problem}")
    entries = f"{report.entries} {'entry' if report.entries == 1 else 'entries'}"
    problems = f"{len(report.problems)} {'problem' if len(report.problems) == 1 else 'problems'}"
    print(f"{entries} checked, {problems}")
    return 0 if report.passed else 1


def _diff(path: Path) -> str:
    if str(path) == "-":
        return sys.stdin.read(_DIFF_BYTES)
    if not path.is_file():
        raise UserError(f"there is no folder or file {path}: give entries, or a list of changes")
    with path.open("rb") as file:
        data = file.read(_DIFF_BYTES)
    if data[:2] in (b"PK", b"\x1f\x8b"):
        raise UserError(f"{path} is an archive, which is not accepted: give the folder itself")
    return data.decode("utf-8", "replace")


def _build(args: argparse.Namespace, keeper: Any) -> int:
    pages = keeper.build(args.entries or keeper.shipped, args.out)
    print(f"{args.out}: {len(pages)} pages; open {args.out / 'index.html'}")
    return 0


def _serve(args: argparse.Namespace, keeper: Any) -> int:
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        keeper.build(args.entries or keeper.shipped, site)
        with keeper.server(site, args.port) as server:
            print(f"http://127.0.0.1:{server.server_address[1]}/ (Ctrl-C ends it)", flush=True)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                print()
    return 0


COMMAND = Command(
    "leaderboard",
    "Check entries of a leaderboard, build and show its site.",
    """\
  python -m benchmark leaderboard validate submissions
  python -m benchmark leaderboard build --out site
  python -m benchmark leaderboard serve""",
    _arguments,
    _main,
)
