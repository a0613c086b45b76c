import numpy as np
import pytest
from scipy import ndimage

from attacks.advdreamer.naturalness_spoils import Spoiling, drawn_out, halo, jagged, patch
from tests.fakes import picture

SIDE = 32
MASK = np.zeros((SIDE, SIDE), np.bool_)
MASK[10:20, 8:22] = True


def changed(spoil: Spoiling, seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    before = picture(0, SIDE)
    kept = before.copy()
    after = spoil(before, MASK, np.random.default_rng(seed))
    np.testing.assert_array_equal(before, kept)
    assert after.shape == before.shape
    assert after.dtype == np.uint8
    different: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = (after != before).any(axis=2)
    return different


@pytest.mark.parametrize("seed", range(8))
def test_a_halo_is_a_line_along_the_outline(seed: int) -> None:
    different = changed(halo, seed)
    near = ndimage.binary_dilation(MASK, iterations=3) & ~ndimage.binary_erosion(MASK)
    assert not (different & ~near).any()
    assert different.sum() > 20


@pytest.mark.parametrize("seed", range(8))
def test_a_patch_leaves_the_object_alone(seed: int) -> None:
    different = changed(patch, seed)
    assert not (different & MASK).any()
    rows, columns = np.flatnonzero(different.any(axis=1)), np.flatnonzero(different.any(axis=0))
    assert 10 - 3 <= rows[0] < 10
    assert 22 <= columns[-1] + 1 <= 22 + 3


@pytest.mark.parametrize("seed", range(8))
def test_coarse_pixels_are_at_the_outline_only(seed: int) -> None:
    different = changed(jagged, seed)
    near = ndimage.binary_dilation(MASK, iterations=6) & ~ndimage.binary_erosion(MASK, iterations=6)
    assert not (different & ~near).any()
    assert different.any()


def test_without_an_object_there_is_nothing_to_patch() -> None:
    before = picture(0, SIDE)
    after = patch(before, np.zeros_like(MASK), np.random.default_rng(0))
    np.testing.assert_array_equal(after, before)


def test_a_texture_is_drawn_out_from_a_line() -> None:
    rgba = np.zeros((4, 4, 4), np.float32)
    rgba[..., 0] = np.arange(16).reshape(4, 4) / 16
    rgba[..., 3] = 1
    seen = set()
    for seed in range(40):
        out = drawn_out(rgba, np.random.default_rng(seed))
        np.testing.assert_array_equal(out[..., 3], rgba[..., 3])
        red = out[..., 0] * 16
        for name, view in {
            "down": red,
            "up": red[::-1],
            "right": red.T,
            "left": red.T[::-1],
        }.items():
            # The line is the first or the second from that side: all behind it are like it.
            for line in (0, 1, 2):
                if line < 3 and (view[line:] == view[line]).all():
                    seen.add(name)
    assert seen == {"down", "up", "right", "left"}


def test_nothing_in_sight_stays_nothing() -> None:
    rgba = np.zeros((4, 4, 4), np.float32)
    np.testing.assert_array_equal(drawn_out(rgba, np.random.default_rng(0)), rgba)
