"""Light commands load no model library, and the test of it can fail."""

import subprocess
import sys

import pytest

HEAVY = {
    "embreex", "open_clip", "openai", "pandas", "spacy", "torch", "torchvision", "transformers",
    "trimesh",
}  # fmt: skip
SECONDS = 5.0
"""Far more than `list` takes (bench/startup.py measures it), far less than importing torch may."""


def loaded_after(code: str) -> set[str]:
    """The heavy libraries that a fresh interpreter has loaded after `code`."""
    ask = f"{code}\nimport sys; print('loaded', *sorted(set(sys.modules) & {HEAVY!r}))"
    result = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, check=True, timeout=60
    )
    return set(result.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["list", "targets"],
        ["run", "--attack", "mca", "--target", "clip"],
        ["show", "no-such-run"],
        ["score", "mac", "no-such-file"],
    ],
)
def test_light_commands_load_no_model_library(arguments: list[str]) -> None:
    assert loaded_after(f"from benchmark.cli import main; main({arguments!r})") == set()


@pytest.mark.parametrize("command", ["run", "show", "list", "score", "world", "doctor"])
def test_help_loads_no_model_library(command: str) -> None:
    code = f"""
from benchmark.cli import main
try:
    main([{command!r}, "--help"])
except SystemExit:
    pass"""
    assert loaded_after(code) == set()


def test_this_test_can_fail() -> None:
    assert "torch" in loaded_after("import torch")
    assert "torch" in loaded_after(
        "from benchmark import registry; registry.load('targets', 'open_clip')"
    )


def test_list_answers_at_once() -> None:
    # The limit is generous, because a busy machine is no reason to fail.
    subprocess.run(
        [sys.executable, "-m", "benchmark", "list"],
        check=True,
        capture_output=True,
        timeout=SECONDS,
    )
