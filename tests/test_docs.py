"""What can be typed is in the README; what the README shows can be typed."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from benchmark import __version__, cli, registry
from benchmark.config import presets, resolve
from benchmark.settings import ATTACKS, COMMON

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    "run",
    "transfer",
    "show",
    "report",
    "list",
    "score",
    "answers",
    "compare",
    "noise",
    "export",
    "submit",
    "leaderboard",
    "world",
    "doctor",
]


def is_mentioned(name: str, text: str = README) -> bool:
    """Whether `name` stands in code, between backticks or in a block, as a word of its own."""
    code = "\n".join(re.findall(r"`[^`\n]+`", text) + re.findall(r"```.*?```", text, re.DOTALL))
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", code) is not None


def readme_commands() -> list[str]:
    """Every `python -m benchmark ...` of the README's blocks."""
    lines = "\n".join(BLOCKS).replace("\\\n", " ").splitlines()
    return [
        part.partition("#")[0].strip()
        for line in lines
        for part in line.split("&&")
        if part.strip().startswith("python -m benchmark")
    ]


def test_a_mention_is_a_word_in_code() -> None:
    assert is_mentioned("mac", "run `score mac FILE` now")
    assert is_mentioned("mac", "```\n--attack mac\n```")
    assert not is_mentioned("mac", "mac is an attack")
    assert not is_mentioned("mac", "`machine` and `my-mac`")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme(command: str) -> None:
    assert is_mentioned(command)


def test_these_are_all_commands() -> None:
    help_text = cli.build_parser().format_help()
    assert re.findall(r"^    (\w+)(?:  |$)", help_text, re.MULTILINE) == COMMANDS


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, entry.name)
        for kind in registry.KINDS
        for entry in registry.entries(kind).values()
        if entry.origin == registry.OWN
    ],
)
def test_every_entry_is_in_the_readme(kind: str, name: str) -> None:
    assert is_mentioned(name), f"{registry.singular(kind)} {name} is not in README.md"


@pytest.mark.parametrize(
    "key", sorted({*COMMON, *(key for own in ATTACKS.values() for key in own)})
)
def test_every_setting_is_in_the_readme(key: str) -> None:
    assert is_mentioned(key), f"setting {key} is not in README.md"


@pytest.mark.parametrize("preset", presets())
def test_every_preset_is_in_the_readme(preset: str) -> None:
    assert is_mentioned(preset)


def test_the_readme_opens_with_the_two_commands() -> None:
    first, second = BLOCKS[:2]
    assert first.strip() == "pip install -e . && python -m benchmark run --attack mac --target clip"
    assert second.strip() == "pip install -e '.[test]' && pytest"


@pytest.mark.parametrize("command", readme_commands())
def test_every_command_of_the_readme_is_accepted(command: str) -> None:
    args = cli.build_parser().parse_args(shlex.split(command)[3:])
    if getattr(args, "attack", None) is not None:
        resolve(
            args.attack,
            args.target,
            args.preset or "mini",
            args.dataset,
            args.set or (),
            data_root=args.data_root,
        )


def test_the_changelog_has_the_version() -> None:
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_ci_runs_the_readmes_test_command_and_what_make_check_runs() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert BLOCKS[1].strip() in ci
    for tool in ("ruff format --check", "ruff check", "mypy", "lint"):
        assert tool in ci
        assert tool in makefile


def test_package_data_holds_every_file_that_is_no_code() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shipped = project["tool"]["setuptools"]["package-data"]
    packages = ("attacks", "benchmark", "leaderboards", "metrics", "targets")
    for package in packages:
        listed = {
            path for pattern in shipped.get(package, []) for path in (ROOT / package).glob(pattern)
        }
        missing = [
            path
            for path in (ROOT / package).rglob("*")
            if path.is_file() and path.suffix not in (".py", ".pyc") and path not in listed
        ]
        assert missing == []
