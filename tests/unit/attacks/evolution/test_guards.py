import numpy as np
import pytest

from attacks.evolution.guards import Limits, shows_nothing


def counts(objects: int, attributes: int, relations: int) -> dict[str, int]:
    return {"objects": objects, "attributes": attributes, "relations": relations}


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        (counts(2, 1, 0), True),
        (counts(2, 0, 1), True),
        (counts(2, 0, 0), False),
        (counts(1, 5, 0), False),
        (counts(0, 0, 0), False),
    ],
)
def test_a_caption_names_two_things_and_a_detail(said: dict[str, int], fits: bool) -> None:
    assert Limits().caption_fits("a monk near a tree", said) is fits


@pytest.mark.parametrize(("text", "fits"), [("", False), ("a b c", True), ("a b c d", False)])
def test_a_caption_is_no_longer_than_allowed(text: str, fits: bool) -> None:
    assert Limits(max_caption_words=3).caption_fits(text, counts(2, 1, 1)) is fits


def test_a_picture_of_one_colour_shows_nothing() -> None:
    black = np.zeros((8, 8, 3), np.uint8)
    assert shows_nothing(None)
    assert shows_nothing(black)
    assert shows_nothing(black + np.uint8(200))
    red = black.copy()
    red[..., 0] = 255  # one colour, though its channels differ
    assert shows_nothing(red)
    noisy = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    assert not shows_nothing(noisy)
