import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from benchmark.datasets.coco import CocoDataset
from benchmark.errors import UserError


def name_of(key: int, part: str = "val") -> str:
    return f"COCO_{part}2014_{key:012d}.jpg"


def captions(part: str, said: dict[int, list[str]]) -> dict[str, Any]:
    """A captions file in which annotations of the pictures are interleaved, as in COCO's."""
    rounds = max(map(len, said.values()))
    return {
        "images": [{"id": key, "file_name": name_of(key, part)} for key in said],
        "annotations": [
            {"image_id": key, "caption": texts[i], "id": 10 * key + i}
            for i in range(rounds)
            for key, texts in said.items()
            if i < len(texts)
        ],
    }


VAL = {42: ["a dog", "one dog runs"], 7: ["a cat "], 99: ["left out"]}
TRAIN = {5: ["a tree"]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """MAC's layout: two captions files and lists of ids."""
    (tmp_path / "annotations").mkdir()
    for part, said in (("val", VAL), ("train", TRAIN)):
        folder = tmp_path / f"{part}2014"
        folder.mkdir()
        for key in said:
            Image.new("RGB", (2, 2), (key, 0, 0)).save(folder / name_of(key, part))
        (tmp_path / "annotations" / f"captions_{part}2014.json").write_text(
            json.dumps(captions(part, said))
        )
    (tmp_path / "karpathy_test_coco_ids.txt").write_text("42\n7\n")
    (tmp_path / "karpathy_val_coco_ids.txt").write_text("99\n")
    return tmp_path


def karpathy(root: Path) -> Path:
    """The same data in Karpathy's own file."""

    def entry(key: int, part: str, split: str, texts: list[str]) -> dict[str, Any]:
        return {
            "cocoid": key,
            "filepath": f"{part}2014",
            "filename": name_of(key, part),
            "split": split,
            "sentences": [{"raw": text, "tokens": text.split()} for text in texts],
        }

    images = [
        entry(99, "val", "val", VAL[99]),
        entry(42, "val", "test", VAL[42]),
        entry(7, "val", "test", VAL[7]),
        entry(5, "train", "train", TRAIN[5]),
    ]
    (root / "dataset_coco.json").write_text(json.dumps({"images": images}))
    return root


def settings(root: Path, split: str = "test") -> dict[str, Any]:
    return {"data_root": str(root), "split": split}


@pytest.mark.parametrize("layout", ["ids", "karpathy"])
def test_pictures_come_by_id_with_their_captions_in_order(root: Path, layout: str) -> None:
    if layout == "karpathy":
        karpathy(root)
        for path in (root / "annotations").iterdir():
            path.unlink()
    data = CocoDataset("", settings(root))
    samples = list(data)
    assert [sample.id for sample in samples] == ["7/0", "42/0", "42/1"]
    assert [sample.text for sample in samples] == ["a cat ", "a dog", "one dog runs"]
    assert [sample.group for sample in samples] == ["7", "42", "42"]
    assert len(data) == 3
    assert data.mean_words == 7 / 3
    assert samples[1].image is not None
    assert 38 < samples[1].image.load()[0, 0, 0] < 46  # the JPEG of red 42


@pytest.mark.parametrize("layout", ["ids", "karpathy"])
def test_splits(root: Path, layout: str) -> None:
    if layout == "karpathy":
        karpathy(root)
    assert [s.id for s in CocoDataset("", settings(root, "validation"))] == ["99/0"]
    assert [s.text for s in CocoDataset(str(root), {"split": "train"})] == ["a tree"]


def test_both_layouts_are_the_same_data(root: Path) -> None:
    before = CocoDataset("", settings(root)).info
    assert CocoDataset("", settings(karpathy(root))).info == before
    assert before.revision == "karpathy-test"


def test_pictures_may_be_in_a_folder_of_their_own(root: Path) -> None:
    (root / "images").mkdir()
    (root / "val2014").rename(root / "images" / "val2014")
    first = next(iter(CocoDataset("", settings(root))))
    assert first.image is not None
    first.image.load()


def test_no_pictures(root: Path) -> None:
    for path in (root / "val2014").iterdir():
        path.unlink()
    with pytest.raises(
        UserError,
        match=rf"no images: looked for {name_of(7)} in .*val2014 or .*images/val2014: unpack",
    ):
        CocoDataset("", settings(root))


def test_one_missing_picture_is_its_sample_s_affair(root: Path) -> None:
    (root / "val2014" / name_of(7)).unlink()
    first, second, _ = CocoDataset("", settings(root))
    assert first.image is not None
    assert second.image is not None
    second.image.load()
    with pytest.raises(FileNotFoundError, match=name_of(7)):
        first.image.load()


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        ("karpathy_test_coco_ids.txt", "test", r"looked for dataset_coco\.json or karpathy_test_"),
        ("annotations/captions_val2014.json", "test", r"looked for captions_val2014\.json in "),
        ("annotations/captions_train2014.json", "train", r"looked for captions_train2014\.json"),
    ],
)
def test_missing_captions(root: Path, name: str, split: str, message: str) -> None:
    (root / name).unlink()
    with pytest.raises(UserError, match=message):
        CocoDataset("", settings(root, split))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("annotations/captions_val2014.json", "{", r"captions_val2014\.json is not JSON"),
        ("annotations/captions_val2014.json", "{}", r"is no file of COCO captions \(no 'images'\)"),
        ("karpathy_test_coco_ids.txt", "42\nx", r"it must hold one image id a line"),
        ("karpathy_test_coco_ids.txt", "1", r"no captions of the split 'test' in its files"),
        ("dataset_coco.json", "{}", r"is not Karpathy's dataset_coco\.json \(no 'images'\)"),
    ],
)
def test_broken_captions(root: Path, name: str, text: str, message: str) -> None:
    (root / name).write_text(text)
    with pytest.raises(UserError, match=message):
        CocoDataset("", settings(root))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "coco needs --data-root DIR"),
        ({"data_root": "/no/such"}, "data root '/no/such' is not a folder"),
        ({"data_root": "/", "split": "val"}, "split 'val' is unknown: use test, validation, train"),
    ],
)
def test_what_is_asked_wrongly(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        CocoDataset("", given)
