from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmark.datasets.pairs import PairsDataset
from benchmark.errors import UserError


def write(folder: Path, text: str, encoding: str = "utf-8") -> str:
    path = folder / "pairs.csv"
    path.write_text(text, encoding=encoding, newline="")
    return str(path)


def test_rows_become_samples(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    Image.new("RGB", (3, 2), (9, 8, 7)).save(tmp_path / "sub" / "a.png")
    data = PairsDataset(
        write(tmp_path, 'image,caption,id\nsub/a.png,"a dog, running",one\nb.png, a cat ,two\n'), {}
    )
    first, second = data
    assert (first.id, first.text, first.group) == ("one", "a dog, running", "sub/a.png")
    assert (second.id, second.text) == ("two", "a cat")
    assert first.image is not None
    np.testing.assert_array_equal(first.image.load()[0, 0], [9, 8, 7])
    assert len(data) == 2
    assert data.mean_words == 2.5


def test_without_ids_the_image_is_the_id(tmp_path: Path) -> None:
    data = PairsDataset(write(tmp_path, "caption,image\nx,a.png\ny,a.png\nz,b.png\n"), {})
    assert [sample.id for sample in data] == ["a.png", "a.png#1", "b.png"]
    assert [sample.group for sample in data] == ["a.png", "a.png", "b.png"]


def test_what_spreadsheets_write_is_understood(tmp_path: Path) -> None:
    text = "Image, Caption\r\na.png,un café\r\n"
    (sample,) = PairsDataset(write(tmp_path, text, "utf-8-sig"), {})
    assert sample.text == "un café"


def test_paths_can_be_relative_to_another_folder(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    Image.new("RGB", (1, 1)).save(tmp_path / "pictures" / "a.png")
    path = write(tmp_path, "image,caption\na.png,x\n")
    (sample,) = PairsDataset(path, {"data_root": str(tmp_path / "pictures")})
    assert sample.image is not None
    assert sample.image.load().shape == (1, 1, 3)


def test_a_missing_picture_fails_when_it_is_loaded(tmp_path: Path) -> None:
    first, _ = PairsDataset(write(tmp_path, "image,caption\ngone.png,x\nb.png,y\n"), {})
    assert first.image is not None
    with pytest.raises(FileNotFoundError, match=r"gone\.png does not exist"):
        first.image.load()


def test_the_hash_follows_the_content(tmp_path: Path) -> None:
    one = PairsDataset(write(tmp_path, "image,caption\na.png,x\n"), {}).info
    two = PairsDataset(write(tmp_path, "image,caption\na.png,y\n"), {}).info
    same = PairsDataset(write(tmp_path, "caption,image\nx,a.png\n"), {}).info
    assert one.id == "pairs:pairs.csv"
    assert one.weights == same.weights != two.weights


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"pairs\.csv is empty: give a CSV file with columns image,caption"),
        ("image,caption\n", r"has a header but no rows"),
        ("picture,caption\na.png,x\n", r"has no column 'image', only picture,caption: add it"),
        ("image\na.png\n", r"has no column 'caption', only image"),
        ("image,caption,image\na,b,c\n", r"has 2 columns 'image': keep one"),
        (
            "image,caption\na.png,a dog, running\n",
            r"line 2: a row needs 2 \(image,caption\) fields",
        ),
        ("image,caption\na.png\n", r"line 2: a row needs 2"),
        ("image,caption\na.png,x\nb.png, \n", r"line 3: the caption is empty"),
        ("image,caption\n,x\n", r"line 2: the image is empty"),
        ("image,caption,id\na,x,7\nb,y,7\n", r"lines 2 and 3: id '7' twice: make ids unique"),
        ('image,caption\na.png,"x\n', r"is not a CSV file \(.*\)"),
    ],
)
def test_a_bad_file_is_explained_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        PairsDataset(write(tmp_path, text), {})
    assert "\n" not in str(caught.value)


def test_another_encoding_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "image,caption\na.png,café\n", "latin-1")
    with pytest.raises(UserError, match=r"is not UTF-8 \(.*\): save it as UTF-8"):
        PairsDataset(path, {})


def test_a_missing_file_is_named() -> None:
    with pytest.raises(UserError, match=r"no file 'gone\.csv': give a CSV file"):
        PairsDataset("gone.csv", {})
