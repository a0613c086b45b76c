from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmark.datasets.photo import PhotoDataset
from benchmark.errors import UserError


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "cat.png"
    Image.fromarray(np.full((8, 6, 3), 90, np.uint8)).save(path)
    return path


def test_one_picture_is_a_data_set(photo: Path) -> None:
    data = PhotoDataset(str(photo), {"label": " cat "})
    (sample,) = data
    assert (len(data), sample.id, sample.text, sample.scene) == (1, "cat.png", "cat", None)
    assert sample.image is not None
    assert sample.image.load().shape == (8, 6, 3)
    assert data.outline(sample) is None
    assert data.mean_words == 1


def test_a_mask_is_white_where_the_object_is(photo: Path, tmp_path: Path) -> None:
    grey = np.zeros((8, 6), np.uint8)
    grey[2:5, 1:4] = 255
    grey[0, 0] = 100
    path = tmp_path / "mask.png"
    Image.fromarray(grey).save(path)
    data = PhotoDataset(str(photo), {"label": "cat", "mask": str(path)})
    mask = data.outline(next(iter(data)))
    assert isinstance(mask, np.ndarray)
    np.testing.assert_array_equal(mask, grey == 255)


def test_a_box_is_four_numbers(photo: Path) -> None:
    data = PhotoDataset(str(photo), {"label": "cat", "box": "1, 2,3,4"})
    assert data.outline(next(iter(data))) == (1, 2, 3, 4)


def test_the_hash_follows_label_box_and_mask(photo: Path, tmp_path: Path) -> None:
    masks = [str(tmp_path / "white.png"), str(tmp_path / "black.png")]
    Image.fromarray(np.full((8, 6), 255, np.uint8)).save(masks[0])
    Image.fromarray(np.zeros((8, 6), np.uint8)).save(masks[1])

    def digest(**settings: Any) -> str:
        return PhotoDataset(str(photo), settings).info.weights

    different = [digest(label="cat"), digest(label="dog"), digest(label="cat", box="1,1,2,2")]
    different += [digest(label="cat", mask=mask) for mask in masks]
    assert len(set(different)) == 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "has no label: say what it shows, --label NAME"),
        ({"label": "cat", "box": "1,2,3"}, "box '1,2,3': give left,top,width,height"),
        ({"label": "cat", "box": "1,2,0,3"}, "box '1,2,0,3' holds nothing"),
        ({"label": "cat", "mask": "none.png"}, "mask: image none.png does not exist"),
        ({"label": "cat", "mask": "m.png", "box": "1,2,3,4"}, "a mask and a box are given"),
    ],
)
def test_what_cannot_be_used_is_named(photo: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        PhotoDataset(str(photo), settings)


def test_a_missing_picture_is_named() -> None:
    with pytest.raises(UserError, match=r"no picture 'nowhere\.png': give its file, --image FILE"):
        PhotoDataset("nowhere.png", {"label": "cat"})
