"""What every command has in common: help, examples, one-line errors, exit codes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark import __version__, cli
from benchmark.commands import listing
from tests.cli.conftest import Trident

COMMANDS = ["run", "show", "list", "score", "compare", "noise", "world", "doctor"]


@pytest.mark.parametrize("arguments", [[], *([command] for command in COMMANDS)])
def test_every_help_has_examples(trident: Trident, arguments: list[str]) -> None:
    result = trident(*arguments, "--help")
    assert result.code == 0
    examples = result.out.partition("Examples:\n")[2]
    shown = f"python -m benchmark {' '.join(arguments)}".strip()
    assert shown in examples


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_can_be_parsed(trident: Trident, command: str) -> None:
    text = trident(command, "--help").out.partition("Examples:\n")[2].replace("\\\n", " ")
    for line in text.strip().splitlines():
        words = line.split()
        assert words[:3] == ["python", "-m", "benchmark"]
        cli.build_parser().parse_args(words[3:])


def test_the_help_names_every_command(trident: Trident) -> None:
    text = trident("--help").out
    assert all(f"\n    {command} " in text for command in COMMANDS)


def test_version(trident: Trident) -> None:
    assert trident("--version").out == f"trident {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND (`trident --help` has examples)"),
        (["rnu"], "invalid choice: 'rnu' (choose from"),
        (["run", "--atack", "mac"], "unrecognized arguments: --atack mac"),
        (
            ["run", "--attack", "mca", "--target", "clip"],
            "unknown attack 'mca': did you mean 'mac'",
        ),
        (["run", "--attack", "mac", "--target", "clpi"], "unknown target 'clpi': did you mean"),
        (
            ["run", "--attack", "mac", "--target", "clip", "--dataset", "coc"],
            "unknown data set 'coc': did you mean 'coco'",
        ),
        (["run", "--attack", "mac"], "run needs --target, as in `run --attack mac --target clip`"),
        (["run", "--target", "clip"], "run needs --attack"),
        (["run", "--samples", "0"], "argument --samples/-n: '0' must be at least 1"),
        (["run", "--samples", "x"], "argument --samples/-n: 'x' is not a whole number"),
        (["run", "--seed", "-1"], "argument --seed: '-1' must be at least 0"),
        (["run", "--max-error-rate", "2"], "argument --max-error-rate: '2' must be from 0 to 1"),
        (["run", "--max-error-rate", "x"], "argument --max-error-rate: 'x' is not a number"),
        (["run", "--access", "all"], "argument --access: invalid choice: 'all'"),
        (["list", "target"], "unknown kind 'target': did you mean 'targets'"),
        (["show"], "the following arguments are required: RUN"),
        (["show", "nowhere"], "nowhere holds no run"),
        (["score", "mca", "x", "--out", "y"], "unknown scorer 'mca': did you mean 'mac'"),
        (
            ["score", "mac", "x", "--tagger", "toy", "--out", "y"],
            "unknown tagger 'toy': did you mean 'toybox'",
        ),
        (["world", "--out", "w", "--split", "tset"], "argument --split: invalid choice: 'tset'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    trident: Trident, arguments: list[str], message: str
) -> None:
    result = trident(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert message in result.err


def test_a_failure_is_one_line_and_exit_code_1(trident: Trident) -> None:
    result = trident("score", "mac", "nowhere.jsonl", "--tagger", "toybox", "--out", "scores")
    assert result.code == 1
    assert result.err == "error: No such file or directory: nowhere.jsonl\n"


def test_debug_shows_where_it_came_from(trident: Trident, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIDENT_DEBUG", "1")
    result = trident("show", "nowhere")
    assert "Traceback (most recent call last)" in result.err
    assert result.err.splitlines()[-1].startswith("error: nowhere holds no run")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("two\n  lines"), "two lines"),
        (ValueError(), "ValueError"),
        (KeyError("config"), "KeyError 'config'"),
        (OSError(28, "No space left on device", "a.jsonl"), "No space left on device: a.jsonl"),
        (OSError("plain"), "plain"),
    ],
)
def test_errors_are_put_into_one_line(error: Exception, text: str) -> None:
    assert cli._one_line(error) == text


def test_a_bug_is_not_dressed_up(trident: Trident, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(kind: str) -> list[tuple[str, str]]:
        raise TypeError("a bug")

    monkeypatch.setattr(listing, "_rows", fail)
    with pytest.raises(TypeError, match="a bug"):
        trident("list")


def test_an_interrupt_is_one_line(trident: Trident, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(kind: str) -> list[tuple[str, str]]:
        raise KeyboardInterrupt

    monkeypatch.setattr(listing, "_rows", interrupt)
    result = trident("list")
    assert (result.code, result.err) == (1, "error: interrupted\n")


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)  # As `| head -0` would.
    result = subprocess.run(
        [sys.executable, "-m", "benchmark", "list"],
        stdout=writing,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        check=False,
    )
    os.close(writing)
    assert (result.returncode, result.stderr) == (0, b"")
