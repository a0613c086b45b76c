from typing import Any

import pytest

from benchmark.answer_guards import (
    answer_status,
    capture_of,
    counts_of,
    reference_of,
    repeats_itself,
)


@pytest.mark.parametrize(
    ("answer", "refusal", "status"),
    [
        ("a red duck on the grass", "", "scored"),
        ("a red duck", "", "short"),
        ("", "", "refused"),
        ("  \n", "", "refused"),
        (None, "refused: content filter", "refused"),
        (None, "empty: nothing came back", "refused"),
        (None, "error: connection lost", "error"),
        (None, "", "refused"),
        ("I'm sorry, but I can't help with this picture.", "", "refused"),
        ("Sorry, I cannot describe it any further.", "", "refused"),
        ("As an AI, I have no eyes to see this with.", "", "refused"),
        ("A sorry dog sits in the rain at night.", "", "scored"),
        ("dog dog dog dog dog dog", "", "repetitive"),
    ],
)
def test_only_descriptions_are_scored(answer: str | None, refusal: str, status: str) -> None:
    assert answer_status(answer, refusal, 5) == status


def test_the_least_number_of_words_is_a_setting() -> None:
    assert answer_status("a duck", "", 1) == "scored"
    assert answer_status("a duck", "", 2) == "scored"
    assert answer_status("a duck", "", 3) == "short"


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        ("very very very old tree", False),  # three times in a row may be emphasis
        ("very very very very old tree", True),
        ("a duck and a duck and a duck and a dog", False),
        ("a duck and a duck and a duck and a duck and a dog", True),
        ("a red duck, a blue duck, a green duck, a pink duck", False),
        (" ".join(f"word{n}" for n in range(40)), False),
        (" ".join(f"word{n * n % 7}" for n in range(40)), True),  # 4 different words of 40
    ],
)
def test_loops_are_told_from_lists(text: str, repeats: bool) -> None:
    assert repeats_itself(text) is repeats


def test_ends_of_relations_are_objects() -> None:
    graph = {
        "objects": ["ball"],
        "attributes": {"ball": ["red", "small"]},
        "relations": [["ball", "in the setting", "grass"], ["ball", "near", "dog"]],
    }
    assert counts_of(graph) == {"objects": 3, "attributes": 2, "relations": 2}
    assert counts_of(None) == {"objects": 0, "attributes": 0, "relations": 0}


@pytest.mark.parametrize(
    ("said", "capture"),
    [
        ({"capture": 0.0, "candidate": {"objects": ["dog"]}}, 0.0),
        ({"capture": 0.4, "candidate": {"objects": ["dog"]}}, 0.4),
        ({"capture": 0.0, "candidate": {"objects": [], "attributes": {}}}, None),
        ({"capture": 0.0, "candidate": None}, None),
        ({"capture": None, "candidate": {"objects": ["dog"]}}, None),
    ],
)
def test_an_answer_that_names_nothing_has_no_score(
    said: dict[str, Any], capture: float | None
) -> None:
    assert capture_of(said) == capture


def test_the_reference_is_the_caption_unless_another_is_named() -> None:
    assert reference_of("a duck", {}) == "a duck"
    assert reference_of("a duck", {"reference": "a red duck"}) == "a red duck"
    assert reference_of("a duck", {"reference": None}) is None
    assert reference_of(None, {}) is None
