"""What every data set must keep to. A new one needs a row in DATASETS."""

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmark import registry
from benchmark.types import JSON
from tests import quiz


def pairs(folder: Path) -> tuple[str, dict[str, JSON]]:
    for name in ("a.png", "b.png"):
        Image.new("RGB", (5, 4), (200, 100, 0)).save(folder / name)
    rows = "image,caption\na.png,a dog runs\na.png,one dog\nb.png,a cat\n"
    (folder / "pairs.csv").write_text(rows)
    return f"pairs:{folder / 'pairs.csv'}", {}


def coco(folder: Path) -> tuple[str, dict[str, JSON]]:
    images = []
    for part, split, key in (("val", "test", 3), ("val", "test", 2), ("train", "train", 1)):
        (folder / f"{part}2014").mkdir(exist_ok=True)
        name = f"COCO_{part}2014_{key:012d}.jpg"
        Image.new("RGB", (5, 4), (200, 100, 0)).save(folder / f"{part}2014" / name)
        said = [{"raw": "a dog runs"}, {"raw": f"{key} dogs"}]
        images.append({"cocoid": key, "filepath": f"{part}2014", "filename": name,
                       "split": split, "sentences": said})  # fmt: skip
    (folder / "dataset_coco.json").write_text(json.dumps({"images": images}))
    return "coco", {"data_root": str(folder)}


def photo(folder: Path) -> tuple[str, dict[str, JSON]]:
    Image.new("RGB", (5, 4), (200, 100, 0)).save(folder / "mug.png")
    return f"photo:{folder / 'mug.png'}", {"label": "mug"}


def mm3dtbench(folder: Path) -> tuple[str, dict[str, JSON]]:
    lines = [quiz.line(id=1), quiz.line(id="two", image="b.png"), quiz.line(id=3)]
    return f"mm3dtbench:{quiz.write(folder, *lines)}", {}


DATASETS: dict[str, Callable[[Path], tuple[str, dict[str, JSON]]]] = {
    "toybox": lambda folder: ("toybox", {"split": "validation"}),
    "pairs": pairs,
    "coco": coco,
    "photo": photo,
    "mm3dtbench": mm3dtbench,
    "searches": lambda folder: ("searches", {"repeats": 2}),
}
"""Name -> a function that lays out a small one in a folder and gives its spec and settings."""

PAINTED = {"synthetic"}
"""Made by a text-to-image model; tested with a tiny one beside the attack that it is for."""

WITHOUT_PICTURES = {"searches"}
"""Their samples are no pictures, but what is to be done."""

Make = Callable[[], Any]


@pytest.fixture(params=DATASETS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    spec, settings = DATASETS[request.param](tmp_path)
    return lambda: registry.create("datasets", spec, settings)


def test_every_entry_is_tested() -> None:
    own = {name for name, e in registry.entries("datasets").items() if e.origin == registry.OWN}
    assert own == {*DATASETS, *PAINTED}


def test_samples_are_whole(make: Make) -> None:
    samples = list(islice(make(), 20))
    assert len({sample.id for sample in samples}) == len(samples) > 0
    for sample in samples:
        assert sample.text.strip()
        assert sample.group
        assert (sample.image is None) == (make().info.id in WITHOUT_PICTURES)
        if sample.image is None:
            continue
        assert sample.image.name
        pixels = sample.image.load()
        assert pixels.dtype == np.uint8
        assert pixels.ndim == 3
        assert pixels.shape[2] == 3


def test_going_through_it_again_gives_the_same(make: Make) -> None:
    data = make()
    first, second, anew = (list(islice(each, 20)) for each in (data, data, make()))
    ids = [(sample.id, sample.text, sample.group) for sample in first]
    assert ids == [(sample.id, sample.text, sample.group) for sample in second]
    assert ids == [(sample.id, sample.text, sample.group) for sample in anew]
    for one, other in zip(first, anew, strict=True):
        if one.image is not None:
            np.testing.assert_array_equal(one.image.load(), other.image.load())


def test_a_group_is_one_picture(make: Make) -> None:
    names: dict[str, set[str]] = {}
    for sample in islice(make(), 20):
        if sample.image is not None:
            names.setdefault(sample.group, set()).add(sample.image.name)
    assert all(len(of_group) == 1 for of_group in names.values())


def test_it_says_which_data_and_how_long_its_captions_are(make: Make) -> None:
    data = make()
    assert data.info.id
    assert len(data.info.weights) == 64
    assert make().info == data.info
    assert data.mean_words > 0
    assert len(list(islice(data, 20))) == min(20, len(data))
