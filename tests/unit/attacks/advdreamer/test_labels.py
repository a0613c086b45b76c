from pathlib import Path

import pytest

from attacks.advdreamer.labels import label_set
from benchmark.errors import UserError
from benchmark.toybox.words import CLASSES
from tests.fakes import FakeDataset

DATA = FakeDataset([])


class Labelled(FakeDataset):
    labels = ("cat", "dog")


def test_sets_by_name() -> None:
    assert label_set("toybox", DATA) == CLASSES
    assert len(label_set("coco", DATA)) == 80
    assert label_set("coco", DATA)[::79] == ("person", "toothbrush")
    assert label_set("dataset", Labelled([])) == ("cat", "dog")


def test_imagenet_has_a_thousand_classes_by_998_names() -> None:
    labels = label_set("imagenet", DATA)
    assert (labels[0], labels[-1]) == ("tench", "toilet paper")
    assert len(labels) == 998  # two classes are called "missile", and two "sunglasses"


def test_labels_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "labels.txt"
    file.write_text("cat\n\n dog \ncat\n", encoding="utf-8")
    assert label_set(str(file), DATA) == ("cat", "dog")
    assert label_set("cat, dog, sea lion", DATA) == ("cat", "dog", "sea lion")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dataset", "data set fake-data names no labels: give --set labels=coco"),
        ("animals", "labels 'animals' are no file: give dataset, toybox"),
        ("cat,", r"labels 'cat,' hold 1 label\(s\): give at least two"),
    ],
)
def test_what_cannot_be_used_is_refused(name: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        label_set(name, DATA)
