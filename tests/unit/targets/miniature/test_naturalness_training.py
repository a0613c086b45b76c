"""Whether the training trains, and goes on; on noise with a mark that is easy to see."""

import csv
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from benchmark.errors import UserError
from benchmark.types import Pixels
from targets.miniature import checkpoints, naturalness_training
from targets.miniature.naturalness_training import (
    FAULTS,
    NaturalnessRecipe,
    measure,
    part_of,
    rated_pictures,
    seeds_of,
    shortfalls,
    squeezed_all,
    train_tower,
)
from targets.miniature.tower import TridentResNet
from targets.miniature.tower_features import TowerFeatures, squeezed
from targets.naturalness import Scores
from targets.naturalness_training import HeadsRecipe, Rated, read_ratings, spearman
from targets.weights import sha256_of
from tests.fakes import picture

RECIPE = NaturalnessRecipe(
    scenes=2,
    validation=1,
    test=1,
    start_from="clip-mini",
    steps=30,
    batch=16,
    learning_rate=3e-3,
    warmup=5,
    heads=HeadsRecipe(steps=10, hidden=4),
)


def write_rated(folder: Path, n: int = 48) -> Rated:
    """Noise; every other picture has a bright bar across it, which is called a seam."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "ratings.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["image", "fidelity", "plausibility", "group", "label", "split", "kind", *FAULTS]
        )
        for i in range(n):
            marked, image = i % 2, picture(i, 80) // 2
            image[20:50] = 255 if marked else image[20:50]
            Image.fromarray(image).save(folder / f"{i}.png")
            split = ("train", "train", "test")[i // 2 % 3]
            label = ("car", "mug")[i // 4 % 2]
            severities = [marked if fault == "seam" else 0 for fault in FAULTS]
            kind = ("photograph", "upside_down")[marked]
            group = f"{split}/{100 + i // 2}"
            writer.writerow(
                [f"{i}.png", 5 - 4 * marked, 5 - 3 * marked, group, label, split, kind, *severities]
            )
    return read_ratings(folder / "ratings.csv")


def test_parts_keep_new_classes_out_of_every_split(tmp_path: Path) -> None:
    rated = write_rated(tmp_path)
    parts = {name: part_of(rated, name) for name in ("train", "test", "new_classes")}
    assert {row["label"] for row in parts["new_classes"].rows} == {"mug"}
    assert {row["split"] for row in parts["new_classes"].rows} == {"train", "test"}
    assert {(row["label"], row["split"]) for row in parts["train"].rows} == {("car", "train")}
    assert sum(len(part.images) for part in parts.values()) == 48
    assert seeds_of(rated) == (100, 124)


def test_the_tower_learns_to_see_a_fault(tmp_path: Path) -> None:
    rated = write_rated(tmp_path / "rated")
    torch.manual_seed(0)
    tower = TridentResNet(width=4)
    said: list[str] = []
    assert train_tower(tower, rated, replace(RECIPE, steps=60), tmp_path, said.append) > 0
    state = {key: value.contiguous() for key, value in tower.state_dict().items()}
    save_file(state, tmp_path / "tower.safetensors")
    backbone = TowerFeatures(tmp_path, "tiny", {})
    features = backbone.features(rated.load(0, 48)).double()
    marked = torch.tensor([float(row["seam"]) for row in rated.rows]).double()
    centred = features - features.mean(0)
    weights = torch.linalg.lstsq(
        centred.T @ centred + torch.eye(64), centred.T @ (marked - 0.5)
    ).solution
    assert spearman((centred @ weights).numpy(), marked.numpy()) > 0.8


class KilledError(Exception):
    """Stands for SIGKILL: the process is gone right after a checkpoint was written."""


def test_a_training_goes_on_as_if_it_had_not_been_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rated = write_rated(tmp_path / "rated")
    said: list[str] = []

    def trained(work: str, recipe: NaturalnessRecipe = RECIPE) -> dict[str, torch.Tensor]:
        torch.manual_seed(0)
        tower = TridentResNet(width=4)
        (tmp_path / work).mkdir(exist_ok=True)
        train_tower(tower, rated, recipe, tmp_path / work, said.append)
        return dict(tower.state_dict())

    whole = trained("whole")
    keep = checkpoints.Sitting.keep

    def dying(self: checkpoints.Sitting, done: int, *, last: bool) -> None:
        keep(self, done, last=last)
        if done == 15:
            raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "INTERVAL", 0.0)
        patched.setattr(checkpoints.Sitting, "keep", dying)
        with pytest.raises(KilledError):
            trained("killed")
    assert not said
    resumed = trained("killed")
    assert said == ["resumed at step 15"]
    for key, value in whole.items():
        torch.testing.assert_close(resumed[key], value)
    trained("killed", replace(RECIPE, seed=9))  # another recipe has its own checkpoint
    assert len(said) == 1


def test_pictures_of_any_size_are_squeezed(tmp_path: Path) -> None:
    wide = np.zeros((40, 160, 3), np.uint8)
    wide[:, 80:] = 200
    (out,) = squeezed([wide])
    assert out.shape == (64, 64, 3)
    assert out[:, :30].max() == 0
    assert out[:, 34:].min() == 200
    rated = write_rated(tmp_path)
    assert squeezed_all(rated).shape == (48, 64, 64, 3)


def test_a_tower_says_which_it_is(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no tower in .*: it lacks tower.safetensors"):
        TowerFeatures(tmp_path, "tiny", {})
    state = TridentResNet(width=4).state_dict()
    save_file(state, tmp_path / "tower.safetensors")
    backbone = TowerFeatures(tmp_path, "tiny", {})
    assert backbone.info.id == "tiny"
    assert backbone.info.weights == sha256_of([tmp_path / "tower.safetensors"])
    assert backbone.features([picture(0, 31)]).shape == (1, backbone.width) == (1, 64)


class Rater:
    """Gives each picture what `answers` say, in order."""

    def __init__(self, answers: list[tuple[float, float]]) -> None:
        self.answers = answers

    def ask(self, items: list[Pixels]) -> list[Scores]:
        return [Scores(*self.answers[i]) for i in range(len(items))]


def test_a_measurement_by_hand(tmp_path: Path) -> None:
    rated = write_rated(tmp_path, 8)
    # Photographs and upside-down pictures in turn; the third pair is the wrong way round.
    plausible = [5, 1, 4, 2, 2, 3, 5, 4]
    found = measure(Rater([(5 - i % 2, p) for i, p in enumerate(plausible)]), rated)  # type: ignore[arg-type]
    assert found["upside_down_below_upright"] == 0.75
    assert found["fidelity_spearman"] == 1
    assert found["fidelity_mae"] == 1.5  # 0 of the photographs, |4 - 1| of the others
    assert found["plausibility of photograph"] == 4
    assert found["plausibility of upside_down"] == 2.5
    assert shortfalls(found | {"plausibility_spearman": 0.6}) == [
        "plausibility_spearman 0.600 < 0.7"
    ]
    assert shortfalls({"fidelity_spearman": float("nan"), "plausibility_spearman": 0.9}) == [
        "fidelity_spearman nan < 0.7"
    ]


def test_pictures_are_made_by_the_attacks_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], check: bool) -> subprocess.CompletedProcess[str]:
        asked.append(command[1:])
        write_rated(tmp_path)
        return subprocess.CompletedProcess(command, 0 if len(asked) == 1 else 3)

    monkeypatch.setattr(naturalness_training.subprocess, "run", run)  # type: ignore[attr-defined]
    assert len(rated_pictures(RECIPE, tmp_path).images) == 48
    assert asked[0] == [
        "-m", "attacks.advdreamer.naturalness_data", str(tmp_path),
        "--split", "train", "validation", "test", "--objects", "2", "1", "1",
    ]  # fmt: skip
    with pytest.raises(RuntimeError, match=r"naturalness_data .*` failed with code 3"):
        rated_pictures(RECIPE, tmp_path)
