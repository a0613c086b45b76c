"""Light commands load no model library, and the test of it can fail."""

import resource
import subprocess
import sys

import pytest

HEAVY = {
    "diffusers", "embreex", "httpx", "nltk", "open_clip", "pandas", "spacy", "torch", "torchvision",
    "transformers", "trimesh",
}  # fmt: skip
CPU_SECONDS = 1.0
"""Four times what `list` takes (bench/startup.py measures it; the aim is 0.5 s of wall time). Processor
time, because a busy machine is no reason to fail."""


def loaded_after(code: str) -> set[str]:
    """The heavy libraries that a fresh interpreter has loaded after `code`."""
    ask = f"{code}\nimport sys; print('loaded', *sorted(set(sys.modules) & {HEAVY!r}))"
    result = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    return set(result.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["list", "targets"],
        ["run", "--attack", "mca", "--target", "clip"],
        ["show", "no-such-run"],
        ["score", "mac", "no-such-file"],
        [
            "score",
            "capture",
            "no-such-file",
            "--out",
            "scores",
            "--encoder",
            "none",
            "--matching",
            "exact",
        ],
        ["answers", "no-such-run"],
        ["export", "mm3dtbench", "no-such-run", "--out", "no-such-folder"],
    ],
)
def test_light_commands_load_no_model_library(arguments: list[str]) -> None:
    assert loaded_after(f"from benchmark.cli import main; main({arguments!r})") == set()


@pytest.mark.parametrize(
    "command", ["run", "show", "list", "score", "answers", "export", "world", "doctor"]
)
def test_help_loads_no_model_library(command: str) -> None:
    code = f"""
from benchmark.cli import main
try:
    main([{command!r}, "--help"])
except SystemExit:
    pass"""
    assert loaded_after(code) == set()


def test_this_test_can_fail() -> None:
    assert "torch" in loaded_after(
        "from benchmark import registry; registry.load('targets', 'open_clip')"
    )


def cpu_seconds(*arguments: str) -> float:
    """Processor time of one fresh interpreter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_list_answers_at_once() -> None:
    assert cpu_seconds("-m", "benchmark", "list") < CPU_SECONDS


def test_the_test_of_its_time_can_fail() -> None:
    busy = f"import time\nwhile time.process_time() < {CPU_SECONDS}: pass"
    assert cpu_seconds("-c", busy) >= CPU_SECONDS
