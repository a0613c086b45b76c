from typing import Any

import pytest

from attacks.evolution import individuals
from attacks.evolution.individuals import normalised, paint_seed, plain, random_of
from benchmark.answer_guards import words_of


@pytest.mark.parametrize(
    "text", ["A red duck, at night.", "a red duck at  night", " A RED DUCK AT NIGHT! "]
)
def test_case_spacing_and_punctuation_make_no_new_caption(text: str) -> None:
    assert normalised(text) == "a red duck at night"


def test_an_apostrophe_is_within_a_word() -> None:
    assert words_of("The monk's robe isn't wet") == ["the", "monk's", "robe", "isn't", "wet"]


def test_a_painter_s_seed_depends_on_the_run_the_caption_and_the_picture_s_number_alone() -> None:
    seed = paint_seed(0, "a red duck", 0)
    assert 0 <= seed < 2**32
    assert paint_seed(0, "A red duck.", 0) == seed
    others = {paint_seed(1, "a red duck", 0), paint_seed(0, "a blue duck", 0)}
    others.add(paint_seed(0, "a red duck", 1))
    assert seed not in others
    assert len(others) == 3


def test_randomness_is_a_function_of_seed_and_parts() -> None:
    draw = random_of(3, "pool", 0).random()
    assert random_of(3, "pool", 0).random() == draw
    assert random_of(3, "pool", 1).random() != draw
    assert random_of(4, "pool", 0).random() != draw


def test_graphs_are_left_out_of_a_breakdown() -> None:
    said: dict[str, Any] = {
        "capture": 0.5,
        "f1_object": None,
        "reference": {"objects": []},
        "x": "y",
    }
    assert plain(said) == {"capture": 0.5, "f1_object": None}


def test_statuses_are_listed() -> None:
    assert individuals.STATUSES[0] == "scored"
    assert len(individuals.STATUSES) == 9
