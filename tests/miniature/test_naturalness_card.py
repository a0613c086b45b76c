"""The shipped naturalness model is as good as its card says, on objects that it has not seen."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attacks.advdreamer.naturalness_data import STAGES, Setting, write
from attacks.advdreamer.pipeline import Pipeline
from attacks.advdreamer.pose import Pose
from attacks.advdreamer.reproduce import reproduced
from benchmark.datasets.toybox import ToyboxDataset
from benchmark.registry import create
from benchmark.toybox.render import render
from benchmark.toybox.sampling import scenes
from targets.miniature.naturalness_training import NEW_CLASSES, measure, part_of, shortfalls
from targets.miniature.train import WEIGHTS
from targets.naturalness import CONFIG
from targets.naturalness_training import read_ratings
from targets.weights import sha256_of

FOLDER = WEIGHTS / "naturalness-mini"
OBJECTS = 20
"""One of each class: 16 that were trained on, 480 pictures."""


@cache
def card() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / "card.json").read_text())
    return loaded


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    folder = tmp_path_factory.mktemp("rated")
    settings = {**STAGES, "max_side": 384}
    dataset = ToyboxDataset(
        "test", {"n": OBJECTS, "kind": "single", "px": 128, "labels": True, "balanced": True}
    )
    pipeline = Pipeline(Setting(dataset, settings), settings)
    write(list(dataset), pipeline, folder, lambda text: None)
    model = create("tools", "miniature:naturalness-mini")
    return measure(model, part_of(read_ratings(folder / "ratings.csv"), "test"))


@pytest.mark.parametrize("split", ["validation", "test"])
def test_gates_of_the_card(split: str) -> None:
    stated = card()["accuracy"][split]
    assert shortfalls(stated) == []
    assert stated["upside_down_below_upright"] > 0.95


def test_measures_as_the_card_says(measured: dict[str, float]) -> None:
    stated = card()["accuracy"]["test"]
    assert measured.keys() == stated.keys()
    for head in ("fidelity", "plausibility"):
        for name, most in (("spearman", 0.1), ("mae", 0.15)):
            key = f"{head}_{name}"
            assert abs(measured[key] - stated[key]) < most, key


def test_the_tower_is_the_one_that_the_heads_were_trained_on() -> None:
    stated = json.loads((FOLDER / CONFIG).read_text())
    assert stated["backbone_weights"] == sha256_of([FOLDER / "tower.safetensors"])


def test_an_upside_down_object_is_clearly_less_plausible() -> None:
    model = create("tools", "miniature:naturalness-mini")
    some = [
        one
        for one in scenes("test", 200, start=5_000, kind="single")
        if one.objects[0].cls not in ("ball", *NEW_CLASSES)
    ][:40]
    over = [reproduced(one, Pose(roll_deg=180), (0.5, 0.5)) for one in some]
    upright = np.array(model.ask([render(one, 128) for one in some]))
    turned = np.array(model.ask([render(one, 128) for one in over]))
    assert np.mean(upright[:, 1] - turned[:, 1]) > 1
    assert np.mean(turned[:, 1] < upright[:, 1]) > 0.9


def test_company_changes_nothing() -> None:
    model = create("tools", "miniature:naturalness-mini")
    pictures = [render(one, 128) for one in scenes("test", 20, start=6_000, kind="single")]
    together = model.ask(pictures)
    assert [model.ask([one])[0] for one in pictures] == together
    assert model.ask(pictures[::-1])[::-1] == together
    assert model.info.id == "miniature:naturalness-mini"
    assert model.info.license == "Apache-2.0"


def test_the_package_has_all_of_it() -> None:
    assert {path.name for path in Path(FOLDER).iterdir()} == {
        "card.json", "heads.safetensors", CONFIG, "tower.safetensors",
    }  # fmt: skip
