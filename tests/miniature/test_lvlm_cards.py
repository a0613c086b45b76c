"""The shipped vision-language models are as good as their cards say, and the planted hole is one."""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmark.protocols import Answerer
from benchmark.registry import create
from benchmark.toybox.grammar import generate
from benchmark.toybox.questions import DESCRIBE, SETTING, SUBJECT, canonical
from benchmark.toybox.render import render
from benchmark.toybox.sampling import scenes
from benchmark.types import Sampling
from targets.miniature import lvlm_quality
from targets.miniature.train import HEALTHY, RECIPES, WEIGHTS, WITHHELD

PLANTED = "lvlm-planted-mini"
NAMES = (HEALTHY, PLANTED)
PART = 0.1
"""150 scenes of all kinds, 100 single objects, 60 scenes that are asked about."""
GREEDY = Sampling(temperature=0, max_new_tokens=512)


@cache
def card(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((WEIGHTS / name / "card.json").read_text())
    return loaded


@pytest.mark.parametrize("split", ["validation", "test"])
def test_gates_of_the_card(split: str) -> None:
    assert lvlm_quality.shortfalls(card(HEALTHY)["accuracy"][split]) == []
    assert card(HEALTHY)["accuracy"][split]["well_formed"] > 0.99


def noise(share: float) -> float:
    """Three standard deviations of a share of 40, about the fewest that one is measured on here."""
    return 3 * math.sqrt(share * (1 - share) / 40) + 0.02


@pytest.mark.parametrize("name", NAMES)
def test_measures_as_the_card_says(name: str, tmp_path: Path) -> None:
    model = create("targets", f"miniature:{name}", {"dtype": "float32"})
    measured = lvlm_quality.measure(model, lvlm_quality.held_out("test", tmp_path, PART))
    stated = card(name)["accuracy"]["test"]
    assert measured.keys() == stated.keys()
    far = {
        key: (value, stated[key])
        for key, value in measured.items()
        if abs(value - stated[key]) > noise(stated[key])
    }
    # Counted scenes are few: 18 of 150.
    assert {key for key in far if "count" not in key} == set()


def test_the_twins_differ_in_what_was_withheld_alone() -> None:
    healthy, planted = (card(name)["recipe"] for name in NAMES)
    assert planted.pop("withheld") == list(WITHHELD)
    assert healthy.pop("withheld") == []
    assert healthy == planted
    assert card(PLANTED)["data"]["pictures"] < card(HEALTHY)["data"]["pictures"]
    assert RECIPES[HEALTHY].seed == RECIPES[PLANTED].seed


@pytest.mark.parametrize("concept", WITHHELD)
def test_the_planted_hole_is_due_to_withholding(concept: str) -> None:
    figures = card(PLANTED)["concepts"]
    planted, healthy = figures[PLANTED][concept], figures[HEALTHY][concept]
    assert planted["named"] == 0
    assert healthy["named"] > 0.9
    assert healthy["object_f1"] - planted["object_f1"] > 0.1
    assert abs(figures[HEALTHY]["rest"]["object_f1"] - figures[PLANTED]["rest"]["object_f1"]) < 0.03
    assert figures[HEALTHY] == card(HEALTHY)["concepts"][HEALTHY]


@pytest.mark.parametrize("name", NAMES)
def test_company_changes_nothing(name: str) -> None:
    model = create("targets", f"miniature:{name}")
    assert isinstance(model, Answerer)
    assert (model.info.id, model.info.dtype) == (f"miniature:{name}", "float64")
    assert model.info.license == "Apache-2.0"
    pictures = [render(scene) for scene in scenes("test", 24, start=7_000)]
    prompts = [(DESCRIBE, SUBJECT, SETTING)[i % 3] for i in range(24)]
    together = model.answer(pictures, prompts, GREEDY)
    alone = [
        model.answer([picture], [prompt], GREEDY)[0]
        for picture, prompt in zip(pictures, prompts, strict=True)
    ]
    assert alone == together
    assert model.answer(pictures[::-1], prompts[::-1], GREEDY)[::-1] == together


def test_case_and_punctuation_of_the_question_do_not_matter() -> None:
    model = create("targets", f"miniature:{HEALTHY}", {"dtype": "float32"})
    some = scenes("test", 16, start=8_000)
    pictures = [render(scene) for scene in some]
    answers = model.answer(pictures, [DESCRIBE] * 16, GREEDY)
    assert model.answer(pictures, ["describe this  image in DETAIL ."] * 16, GREEDY) == answers
    right = sum(a == generate(canonical(s)) for a, s in zip(answers, some, strict=True))
    assert right >= 8


def test_larger_pictures_are_answered_much_the_same() -> None:
    model = create("targets", f"miniature:{HEALTHY}", {"dtype": "float32"})
    some = scenes("test", 60, start=9_000)
    marks = [
        lvlm_quality.mark(answer, scene)
        for answer, scene in zip(
            model.answer([render(scene, px=128) for scene in some], [DESCRIBE] * 60, GREEDY),
            some,
            strict=True,
        )
    ]
    assert lvlm_quality.object_f1(marks) > 0.85


@pytest.mark.parametrize("name", NAMES)
def test_the_package_has_all_of_it(name: str) -> None:
    assert {path.name for path in (WEIGHTS / name).iterdir()} == {
        "card.json", "chat_template.jinja", "config.json", "generation_config.json",
        "model.safetensors", "processor_config.json", "tokenizer.json", "tokenizer_config.json",
    }  # fmt: skip
    assert (WEIGHTS / name / "model.safetensors").stat().st_size <= 5_000_000
