import numpy as np

from attacks.advdreamer.published.regions import (
    core_of,
    feathered,
    grown,
    laid_over,
    ring_and_shadow,
    shrunk,
)


def block(size: int, low: int, high: int) -> np.ndarray:
    mask = np.zeros((size, size), bool)
    mask[low:high, low:high] = True
    return mask


def test_growing_and_shrinking() -> None:
    mask = block(11, 4, 7)
    # A square of 3 grown by 1: a row of 3 on each of its four sides, the corners being sqrt(2) away.
    assert grown(mask, 1).sum() == 9 + 4 * 3
    assert shrunk(mask, 1).sum() == 1
    np.testing.assert_array_equal(grown(mask, 0), mask)
    assert not grown(block(5, 0, 0), 3).any()


def test_the_pictures_border_is_no_edge() -> None:
    assert shrunk(np.ones((4, 4), bool), 2).all()


def test_the_core_has_all_that_is_thin() -> None:
    mask = block(36, 5, 25)
    mask[25:36, 14] = True  # a leg, one pixel wide
    core = core_of(mask, 2)
    # Above the leg the interior ends in row 23; from more than 1.5 * 2 + 1 rows below it, the leg is alone.
    assert core[28:, 14].all()
    assert not core[25, 14]
    assert core[15, 15]
    assert not core[15, 5]
    assert not core[15, 6]
    assert core[15, 7]
    assert not (core & ~mask).any()


def test_ring_and_shadow_are_all_that_may_change() -> None:
    silhouette = block(40, 10, 20)
    background = np.full((40, 40, 3), 100, np.uint8)
    pasted = background.copy()
    pasted[silhouette] = 200
    pasted[30:34, 10:20] = 60  # a shadow
    pasted[0, 39] = 102  # too little to be one
    region = ring_and_shadow(silhouette, pasted, background, outer=2, inner=1)
    assert region[31, 15]
    assert region[29, 15]  # a pixel around the shadow
    assert not region[27, 15]
    assert region[8, 15]
    assert not region[7, 15]
    assert region[10, 15]
    assert not region[11, 15]
    assert not region[0, 39]


def test_nothing_pasted_changes_nothing() -> None:
    picture = np.full((8, 8, 3), 100, np.uint8)
    assert not ring_and_shadow(block(8, 0, 0), picture, picture, 2, 1).any()


def test_weights_rise_from_the_edge() -> None:
    region = np.zeros((1, 9), bool)
    region[0, 1:8] = True
    # Distances 1 2 3 4 3 2 1 over width + 1 = 4.
    expected = [[0, 0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25, 0]]
    np.testing.assert_allclose(feathered(region, 3), expected)
    full = np.zeros((1, 9), bool)
    full[0, [0, 1]] = True
    assert feathered(region, 3, full)[0, 0] == 0
    assert feathered(region, 3, full)[0, 1] == 1
    assert (feathered(np.ones((2, 2), bool), 3) == 1).all()


def test_laying_one_picture_over_another() -> None:
    base, other = np.full((1, 3, 3), 10, np.uint8), np.full((1, 3, 3), 21, np.uint8)
    mixed = laid_over(base, other, np.array([[0, 0.5, 1]], np.float32))
    # 10 + 0.5 * 11 = 15.5, rounded up.
    assert mixed[0, :, 0].tolist() == [10, 16, 21]
    assert mixed.dtype == np.uint8
