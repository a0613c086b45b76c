"""The shipped miniatures are the ones on their cards, and are as good as the cards say."""

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest

from benchmark.registry import create
from benchmark.toybox.sampling import SPLITS, scenes
from targets.miniature import quality, writer_quality
from targets.miniature.train import RECIPES, WEIGHTS

DUAL = ("clip-mini", "siglip-mini", "negclip-mini")
PART = 0.1
"""200 single objects, 100 pairs (half of them left or right of each other), 60 counted scenes."""


def card(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((WEIGHTS / name / "card.json").read_text())
    return loaded


@pytest.mark.parametrize("name", RECIPES)
def test_weights_are_those_of_the_card(name: str) -> None:
    stated = card(name)["weights"]
    data = (WEIGHTS / name / stated["file"]).read_bytes()
    assert hashlib.sha256(data).hexdigest() == stated["sha256"]
    assert len(data) == stated["bytes"]


@pytest.mark.parametrize("name", RECIPES)
def test_card_describes_the_recipe_that_stands_in_the_code(name: str) -> None:
    stated = card(name)
    assert stated["recipe"]["seed"] == RECIPES[name].seed
    assert stated["recipe"]["steps"] == RECIPES[name].steps
    first, end = stated["data"]["train_seeds"]
    assert first in SPLITS["train"]
    assert end - 1 in SPLITS["train"]


def test_all_weights_together_stay_under_25_megabytes() -> None:
    assert sum(p.stat().st_size for p in Path(WEIGHTS).rglob("*.safetensors")) < 25_000_000


@pytest.mark.parametrize("name", DUAL)
def test_dual_encoder_passes_the_gates_of_held_out_quality(name: str) -> None:
    assert quality.shortfalls(card(name)["accuracy"]["test"]) == []


@pytest.mark.parametrize("name", DUAL)
def test_dual_encoder_measures_as_its_card_says(name: str, tmp_path: Path) -> None:
    model = create("targets", f"miniature:{name}", {})
    measured = quality.measure(model, quality.held_out("test", tmp_path, PART))
    stated = card(name)["accuracy"]["test"]
    assert measured.keys() == stated.keys()
    far = {k: (v, stated[k]) for k, v in measured.items() if abs(v - stated[k]) > noise(stated[k])}
    assert far == {}
    assert measured["class_20"] > 0.93
    assert abs(measured["class_20"] - stated["class_20"]) < 0.03


def noise(share: float) -> float:
    """Three standard deviations of a share of 48 scenes, the fewest that one is measured on here."""
    return 3 * math.sqrt(share * (1 - share) / 48) + 0.01


def test_writer_measures_as_its_card_says() -> None:
    writer = create("tools", "miniature:writer-mini", {})
    measured = writer_quality.measure(writer, scenes("test", 60))
    stated = card("writer-mini")["accuracy"]["test"]
    assert measured["well_formed"] >= writer_quality.REQUIRED_LEAST["well_formed"] - 0.02
    assert abs(measured["valid_edit"] - stated["valid_edit"]) < 0.08
    assert abs(measured["identical"] - stated["identical"]) < 0.08


def test_writer_passes_the_gates() -> None:
    stated = card("writer-mini")["accuracy"]["test"]
    for name, least in writer_quality.REQUIRED_LEAST.items():
        assert stated[name] >= least
    for name, most in writer_quality.REQUIRED_MOST.items():
        assert stated[name] <= most
