from itertools import islice
from typing import Any

import numpy as np
import pytest

from benchmark.datasets.toybox import ToyboxDataset
from benchmark.errors import UserError
from benchmark.toybox.grammar import parse
from benchmark.toybox.render import render
from benchmark.toybox.sampling import SPLITS
from benchmark.toybox.truth import true_of


def test_samples_are_scenes_with_their_full_captions() -> None:
    data = ToyboxDataset("", {"n": 3})
    samples = list(data)
    assert [sample.id for sample in samples] == [f"test/{11_000_000 + i}" for i in range(3)]
    assert len(data) == 3
    for sample in samples:
        facts = parse(sample.text)
        assert facts is not None
        assert true_of(facts, sample.scene)
        assert sample.image is not None
        np.testing.assert_array_equal(sample.image.load(), render(sample.scene, 64))


def test_a_larger_picture_shows_the_same_scene() -> None:
    (small,), (large,) = ToyboxDataset("", {"n": 1}), ToyboxDataset("", {"n": 1, "px": 96})
    assert small.scene == large.scene
    assert large.image is not None
    assert large.image.load().shape == (96, 96, 3)


def test_splits_are_disjoint_and_unlimited_ones_lazy() -> None:
    firsts = {split: next(iter(ToyboxDataset("", {"split": split}))).id for split in SPLITS}
    assert len(set(firsts.values())) == len(SPLITS)
    assert next(iter(ToyboxDataset("validation", {}))).id == firsts["validation"]
    assert len(ToyboxDataset("", {})) == 1_000_000


def test_the_mean_does_not_depend_on_how_many_samples_are_used() -> None:
    few, many = ToyboxDataset("", {"n": 1}), ToyboxDataset("", {"n": 50})
    assert few.mean_words == many.mean_words
    texts = [sample.text for sample in islice(ToyboxDataset("", {}), 1000)]
    assert few.mean_words == sum(len(text.split()) for text in texts) / 1000


def test_the_hash_follows_what_the_data_are() -> None:
    def digest(**settings: Any) -> str:
        return ToyboxDataset("", settings).info.weights

    assert digest(n=2) == digest(n=2)
    different = [digest(n=2), digest(n=3), digest(n=2, px=32), digest(n=2, split="train")]
    assert len(set(different)) == 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"split": "exam"}, "split 'exam' is unknown: use train, validation, test"),
        ({"n": 0}, "n 0 cannot be used: give a whole number from 1 to 1000000"),
        ({"px": "64"}, "px '64' cannot be used"),
    ],
)
def test_what_cannot_be_used_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        ToyboxDataset("", settings)
