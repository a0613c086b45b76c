"""Two honest runs, made once; each test gets a copy of the submission to spoil."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.config import Execution, resolve
from benchmark.runner import run
from leaderboards.pack import pack
from tests.unit.leaderboards.drafts import Draft

SAMPLES = 12

New = Callable[..., Draft]


@pytest.fixture(scope="session")
def mac_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mac on clip-mini, 12 samples. Three of them are successes."""
    out = tmp_path_factory.mktemp("runs") / "mac"
    config = resolve("mac", "clip", overrides=["writer=grammar"], samples=SAMPLES, seed=3)
    run(config, Execution(), out)
    return out


@pytest.fixture(scope="session")
def pose_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """advdreamer on clip-mini, two samples and a short search."""
    out = tmp_path_factory.mktemp("runs") / "poses"
    short = ("generations=2", "population=4", "shortlist=3", "parents=2", "draws=2")
    run(resolve("advdreamer", "clip", overrides=short, samples=2), Execution(), out)
    return out


@pytest.fixture(scope="session")
def packed(
    mac_run: Path, pose_run: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("packed")
    return {
        "mac": pack(mac_run, root, model_name="CLIP mini"),
        "advdreamer": pack(pose_run, root, model_name="CLIP mini"),
    }


@pytest.fixture
def new(packed: dict[str, Path], tmp_path: Path) -> New:
    """A fresh copy of an honest submission below tmp_path/NAME, where a pull request would put it."""

    def make(attack: str = "mac", name: str = "entries") -> Draft:
        source = packed[attack]
        path = tmp_path / name / Path(*source.parts[-4:])
        shutil.copytree(source, path)
        return Draft(tmp_path / name, path)

    return make
