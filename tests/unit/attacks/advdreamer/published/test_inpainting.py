from pathlib import Path

import numpy as np
import pytest

from attacks.advdreamer.published.inpainting import DiffusionBackground
from attacks.advdreamer.published.regions import grown
from benchmark.errors import UserError

PICTURE = np.random.default_rng(1).integers(0, 256, (40, 48, 3), dtype=np.uint8)
HOLE = np.zeros((40, 48), bool)
HOLE[12:30, 15:30] = True


@pytest.fixture(scope="module")
def background(pipelines: dict[str, Path]) -> DiffusionBackground:
    return DiffusionBackground(f"{pipelines['inpaint']},side=48,steps=2,margin=0.05", {})


def test_only_the_hole_and_its_margin_are_painted(background: DiffusionBackground) -> None:
    before = PICTURE.copy()
    filled = background.complete(PICTURE, HOLE)
    np.testing.assert_array_equal(PICTURE, before)
    changed = (filled != PICTURE).any(axis=2)
    assert not (changed & ~grown(HOLE, 0.05 * 48)).any()
    assert changed[HOLE].mean() > 0.9
    assert (changed & ~HOLE).any()


def test_the_same_hole_is_filled_the_same(background: DiffusionBackground) -> None:
    np.testing.assert_array_equal(
        background.complete(PICTURE, HOLE), background.complete(PICTURE, HOLE)
    )


def test_what_is_in_the_hole_does_not_matter(background: DiffusionBackground) -> None:
    other = PICTURE.copy()
    other[HOLE] = 0
    # Painted from pure noise, with the hole blanked before it is encoded.
    np.testing.assert_array_equal(
        background.complete(PICTURE, HOLE)[HOLE], background.complete(other, HOLE)[HOLE]
    )


def test_without_a_hole_nothing_is_painted(background: DiffusionBackground) -> None:
    np.testing.assert_array_equal(background.complete(PICTURE, HOLE & False), PICTURE)


def test_the_margin_is_a_share() -> None:
    with pytest.raises(UserError, match=r"margin = 8: give a share from 0 to below 0.5"):
        DiffusionBackground("margin=8", {})
