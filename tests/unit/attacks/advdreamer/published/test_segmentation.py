from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from attacks.advdreamer.published import segmentation
from attacks.advdreamer.published.segmentation import GroundedSam, Sam3
from attacks.advdreamer.stages import ForegroundError, Mask
from benchmark.errors import UserError

PICTURE = np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def grounded(detector: Path, segmenters: dict[str, Path]) -> dict[str, GroundedSam]:
    rest = f"detector={detector},box_threshold=0.0"
    return {name: GroundedSam(f"{folder},{rest}", {}) for name, folder in segmenters.items()}


@pytest.fixture(scope="module")
def third(sam3: Path) -> Sam3:
    return Sam3(str(sam3), {"device": "cpu"})


def logits(low: int, high: int) -> torch.Tensor:
    """A square from `low` to `high` of a mask of 16 x 16."""
    mask = torch.full((16, 16), -9.0)
    mask[low:high, low:high] = 9.0
    return mask


def box_of(mask: Mask) -> list[int]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return [int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1]


@pytest.mark.parametrize("name", ["sam", "sam2"])
def test_random_models_give_masks_of_the_pictures_size(
    name: str, grounded: dict[str, GroundedSam], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segmentation, "solid", lambda mask, what: mask)
    one = grounded[name]
    for box in (None, (10, 10, 20, 20)):
        mask = one.cut(PICTURE, "Red duck", box)
        assert mask.shape == (48, 64)
        assert mask.dtype == np.bool_
        np.testing.assert_array_equal(one.cut(PICTURE, "Red duck", box), mask)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # SAM keeps the shape and fills up 64 x 64: 4 pixels of the picture for one of the mask.
        ("sam", [16, 16, 40, 40]),
        # SAM 2 squeezes the picture, so rows are 3 pixels each.
        ("sam2", [16, 12, 40, 30]),
    ],
)
def test_the_surest_box_is_outlined(
    name: str,
    expected: list[int],
    grounded: dict[str, GroundedSam],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one: Any = grounded[name]
    given: dict[str, Any] = {}

    def detect(**inputs: Any) -> SimpleNamespace:
        given["words"] = one._reader.batch_decode(inputs["input_ids"])
        scores = torch.full((1, 2, 16), -9.0)
        scores[0, 0, 1], scores[0, 1, 1] = 0.0, 1.0  # the second box is surer
        boxes = torch.tensor([[[0.2, 0.2, 0.1, 0.1], [0.5, 0.5, 0.25, 0.5]]])
        return SimpleNamespace(logits=scores, pred_boxes=boxes)

    def segment(**inputs: Any) -> SimpleNamespace:
        given["boxes"], given["multimask"] = inputs["input_boxes"], inputs["multimask_output"]
        return SimpleNamespace(pred_masks=logits(4, 10)[None, None, None])

    monkeypatch.setattr(one._detector, "forward", detect)
    monkeypatch.setattr(one._segmenter, "forward", segment)
    mask = one.cut(PICTURE, "Duck")
    np.testing.assert_allclose(box_of(mask), expected, atol=1)
    assert given["words"][0].split() == ["[CLS]", "duck.", "[SEP]"]
    assert given["multimask"] is False
    # Centre (32, 24), 16 wide and 24 high; SAM 2's picture is squeezed to 64 rows.
    top, bottom = (12, 36) if name == "sam" else (16, 48)
    np.testing.assert_allclose(given["boxes"].reshape(4), [24, top, 40, bottom], atol=1e-4)


def test_a_given_box_needs_no_detector(
    grounded: dict[str, GroundedSam], monkeypatch: pytest.MonkeyPatch
) -> None:
    one: Any = grounded["sam"]
    given: list[Any] = []

    def segment(**inputs: Any) -> SimpleNamespace:
        given.append(inputs["input_boxes"])
        return SimpleNamespace(pred_masks=logits(4, 10)[None, None, None])

    monkeypatch.setattr(one._segmenter, "forward", segment)
    monkeypatch.setattr(one, "_detector", None)
    one.cut(PICTURE, "duck", (10, 12, 20, 15))
    assert given[0].reshape(4).tolist() == [10, 12, 30, 27]


def test_an_object_that_is_not_there(detector: Path, segmenters: dict[str, Path]) -> None:
    one = GroundedSam(f"{segmenters['sam']},detector={detector},box_threshold=0.999", {})
    message = r"no 'duck' found: the surest box scores 0\.\d+, 0.999 is needed; lower box_threshold"
    with pytest.raises(ForegroundError, match=message):
        one.cut(PICTURE, "duck")


def test_a_mask_at_the_border_is_refused(
    grounded: dict[str, GroundedSam], monkeypatch: pytest.MonkeyPatch
) -> None:
    one: Any = grounded["sam2"]
    out = SimpleNamespace(pred_masks=logits(0, 10)[None, None, None])
    monkeypatch.setattr(one._segmenter, "forward", lambda **inputs: out)
    with pytest.raises(ForegroundError, match=r"'duck' touches the picture's border"):
        one.cut(PICTURE, "duck", (1, 1, 20, 20))


def test_info_has_both_models(
    grounded: dict[str, GroundedSam], detector: Path, segmenters: dict[str, Path]
) -> None:
    info = grounded["sam"].info
    assert info.id == f"grounded_sam:{segmenters['sam']},detector={detector}"
    first, second = info.weights.split(",")
    assert len(first) == len(second) == 64
    assert first != second
    assert '"box_threshold": 0.0' in info.preprocessing


def test_what_is_no_segmenter_or_detector(detector: Path, segmenters: dict[str, Path]) -> None:
    with pytest.raises(UserError, match=r"transformers cannot load .*save_pretrained wrote"):
        GroundedSam(str(detector), {})
    with pytest.raises(UserError, match=r"cannot load 'no/such' \(.*give a local folder, or conn"):
        GroundedSam("no/such", {})
    with pytest.raises(UserError, match=r"cannot load 'no/detector'"):
        GroundedSam(f"{segmenters['sam']},detector=no/detector", {})


def test_sam3_gives_masks_of_the_pictures_size(third: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmentation, "solid", lambda mask, what: mask)
    monkeypatch.setattr(third, "_settings", segmentation.Sam3Settings(threshold=0.0))
    for box in (None, (10, 10, 20, 20)):
        mask = third.cut(PICTURE, "red duck", box)
        assert mask.shape == (48, 64)
        assert mask.dtype == np.bool_


def test_sam3_takes_its_surest_instance(third: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    masks = torch.stack([logits(1, 4), logits(4, 10)])[None]
    out = SimpleNamespace(
        pred_logits=torch.tensor([[0.0, 2.0]]),
        pred_boxes=torch.rand(1, 2, 4),
        pred_masks=masks,
        presence_logits=torch.tensor([[9.0]]),
    )
    monkeypatch.setattr(third._model, "forward", lambda **inputs: out)
    mask = third.cut(PICTURE, "duck")
    np.testing.assert_allclose(box_of(mask), [16, 12, 40, 30], atol=1)
    monkeypatch.setattr(third, "_settings", segmentation.Sam3Settings(threshold=0.9))
    # sigmoid(2) * sigmoid(9) = 0.8807 * 0.9999
    with pytest.raises(ForegroundError, match=r"no 'duck' found: the surest outline scores 0.88"):
        third.cut(PICTURE, "duck")


def test_sam3_must_be_one(segmenters: dict[str, Path]) -> None:
    with pytest.raises(UserError, match=r"cannot load"):
        Sam3("no/such", {})
