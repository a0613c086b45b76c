import numpy as np
import pytest

from benchmark.album import Album, kept
from tests.fakes import picture


@pytest.mark.parametrize("limit", [10, 10**6])
def test_pictures_come_back_as_they_were_put(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr("benchmark.album._IN_MEMORY", limit)
    album = Album()
    assert album.get(0) is None
    canvas = picture(1)
    album.put(0, canvas)
    album.put(3, picture(3, 5))
    canvas[:] = 0
    np.testing.assert_array_equal(album.get(0), picture(1))
    np.testing.assert_array_equal(album.get(3), picture(3, 5))
    assert album.get(1) is None
    album.close()


def test_a_kept_picture_is_a_copy() -> None:
    canvas = picture(1)
    copy = kept("mask", canvas)
    canvas[:] = 0
    np.testing.assert_array_equal(copy, picture(1))


@pytest.mark.parametrize("name", ["image", "", 3])
def test_names_that_cannot_be_kept(name: str) -> None:
    with pytest.raises(ValueError, match="a name other than 'image', which is the picked"):
        kept(name, picture(1))


@pytest.mark.parametrize("pixels", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), None])
def test_what_is_no_picture_is_refused(pixels: object) -> None:
    with pytest.raises(ValueError, match="a picture must be uint8 of shape"):
        kept("mask", pixels)
