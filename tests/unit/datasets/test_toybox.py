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
from benchmark.toybox.words import CLASSES


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
        ({"kind": "crowd"}, "kind 'crowd' is unknown: use any, single, pair, triple, counted"),
        ({"labels": True}, "labels = true needs scenes of one object: set dataset.kind=single"),
        ({"balanced": True, "kind": "pair"}, "balanced = true needs scenes of one object"),
    ],
)
def test_what_cannot_be_used_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        ToyboxDataset("", settings)


def test_single_scenes_are_labelled_and_balanced() -> None:
    data = ToyboxDataset("", {"kind": "single", "labels": True, "balanced": True, "n": 60})
    samples = list(data)
    assert len(samples) == len(data) == 60
    assert [sample.text for sample in samples] == 3 * list(CLASSES)
    assert len({sample.id for sample in samples}) == 60
    assert all([thing.cls for thing in sample.scene.objects] == [sample.text] for sample in samples)
    assert data.labels == CLASSES
    assert data.mean_words == 1


def test_more_balanced_samples_begin_with_the_fewer() -> None:
    settings: dict[str, Any] = {"kind": "single", "balanced": True}
    few = [sample.id for sample in ToyboxDataset("", {**settings, "n": 5})]
    many = [sample.id for sample in islice(ToyboxDataset("", settings), 30)]
    assert many[:5] == few
    assert len(ToyboxDataset("", settings)) == 900_000


def test_a_kind_restricts_the_scenes_and_captions_remain() -> None:
    data = ToyboxDataset("", {"kind": "pair", "n": 4})
    assert [len(sample.scene.objects) for sample in data] == [2] * 4
    assert all(parse(sample.text) is not None for sample in data)
    assert data.labels == ()


def test_the_default_data_keep_their_hash() -> None:
    digest = ToyboxDataset("", {"n": 2}).info.weights
    assert ToyboxDataset("", {"n": 2, "kind": "any", "labels": False}).info.weights == digest
    assert ToyboxDataset("", {"n": 2, "kind": "single"}).info.weights != digest
