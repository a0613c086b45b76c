"""Honest runs, each made once; each test gets a copy of the submission to spoil."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from benchmark.config import Execution, resolve
from benchmark.runner import run
from leaderboards.pack import pack
from tests.unit.leaderboards.drafts import Draft

SAMPLES = 12

New = Callable[..., Draft]


RUNS: dict[str, tuple[str, tuple[str, ...], int | None, int]] = {
    # Three of the twelve are successes.
    "mac": ("clip", ("writer=grammar",), SAMPLES, 3),
    "advdreamer": (
        "clip", ("generations=2", "population=4", "shortlist=3", "parents=2", "draws=2"), 2, 0
    ),
    "evolution": (
        "lvlm",
        ("pool=6", "population=4,2", "survivors=4,2", "islands=1", "fresh=1",
         "dataset.searches=evolution"),
        None,
        0,
    ),
}  # fmt: skip
"""Attack -> target, short settings, samples and seed of its honest run."""


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The submission of an honest run, made when it is first asked for."""

    @cache
    def make(attack: str) -> Path:
        target, overrides, samples, seed = RUNS[attack]
        out = tmp_path_factory.mktemp("runs") / attack
        config = resolve(attack, target, overrides=overrides, samples=samples, seed=seed)
        run(config, Execution(), out)
        return pack(out, tmp_path_factory.mktemp("packed"), model_name="CLIP mini")

    return make


@pytest.fixture
def new(packed: Callable[[str], Path], tmp_path: Path) -> New:
    """A fresh copy of an honest submission below tmp_path/NAME, where a pull request would put it."""

    def make(attack: str = "mac", name: str = "entries") -> Draft:
        source = packed(attack)
        path = tmp_path / name / Path(*source.parts[-4:])
        shutil.copytree(source, path)
        return Draft(tmp_path / name, path)

    return make
