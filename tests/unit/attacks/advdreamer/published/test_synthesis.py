from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attacks.advdreamer.published.hub import PINNED, read
from attacks.advdreamer.published.painting import BlackedOutError
from attacks.advdreamer.published.synthesis import (
    PAINTERS,
    SyntheticScenes,
    TextSettings,
    TextToImage,
    placed,
)
from attacks.advdreamer.stages import Box, ForegroundError, Mask
from benchmark import registry
from benchmark.errors import UserError
from benchmark.protocols import Painter
from benchmark.types import JSON, ModelInfo, Pixels

PX = 32


class Centre:
    """Cuts out the middle of every picture, but not of the first `refusals` ones."""

    info = ModelInfo(id="centre")

    def __init__(self, refusals: int = 0) -> None:
        self.refusals = refusals
        self.asked: list[str] = []

    def cut(self, pixels: Pixels, label: str, box: Box | None = None) -> Mask:
        self.asked.append(label)
        if len(self.asked) <= self.refusals:
            raise ForegroundError("it touches the border")
        mask = np.zeros(pixels.shape[:2], bool)
        mask[10:22, 8:24] = True
        return mask


@pytest.fixture
def foreground(monkeypatch: pytest.MonkeyPatch) -> Centre:
    centre = Centre()

    def create(kind: str, spec: str, settings: Mapping[str, Any]) -> Centre:
        assert (kind, spec) == ("foregrounds", "grounded_sam")
        return centre

    monkeypatch.setattr(registry, "create", create)
    return centre


@pytest.fixture
def scenes(pipelines: dict[str, Path], foreground: Centre) -> SyntheticScenes:
    given: dict[str, JSON] = {"classes": "duck, red mug", "samples": 3, "device": "cpu"}
    return SyntheticScenes(f"{pipelines['text']},px={PX},side=32,steps=2", given)


def test_prompts_are_painted(pipelines: dict[str, Path]) -> None:
    tool = TextToImage(f"{pipelines['text']},px={PX},side=32,steps=2", {})
    first, again, other, same = tool.ask(["a duck", "a duck", ("a duck", 7), ("a duck", 0)])
    assert first.shape == (PX, PX, 3)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()
    assert tool.info.id == f"text_to_image:{pipelines['text']}"
    assert tool.ask([]) == []


def test_a_painter_of_texts(pipelines: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    tool = TextToImage(f"{pipelines['text']},px={PX},side=32,steps=2", {})
    assert isinstance(tool, Painter)
    first, other = tool.paint(["a duck", "a duck"], [3, 4])
    assert first is not None
    assert other is not None
    assert first.shape == (PX, PX, 3)
    assert not np.array_equal(first, other)
    np.testing.assert_array_equal(first, tool.ask([("a duck", 3)])[0])

    def blacked_out(prompt: str, height: int, width: int, seed: int) -> Pixels:
        if seed == 4:
            raise BlackedOutError("not for you")
        return np.zeros((height, width, 3), np.uint8)

    monkeypatch.setattr(tool._painter, "from_text", blacked_out)
    painted = tool.paint(["a duck", "a duck"], [3, 4])
    assert [one is None for one in painted] == [False, True]


def test_painters_by_a_short_name(pipelines: dict[str, Path]) -> None:
    text = str(pipelines["text"])
    small = f"model={text},px={PX},side=32,steps=2"
    tool = TextToImage(f"sd1.5,{small}", {"device": "cpu"})
    assert '"guidance": 7.5' in tool.info.preprocessing
    assert '"steps": 2' in tool.info.preprocessing
    assert set(PAINTERS) == {"flux-dev", "sd3.5", "sd1.5"}
    for preset in PAINTERS.values():
        assert preset["model"] in PINNED
        read(TextSettings, "", preset)


def test_samples_take_the_classes_in_turn(scenes: SyntheticScenes) -> None:
    samples = list(scenes)
    assert [sample.text for sample in samples] == ["duck", "red mug", "duck"]
    assert [sample.id for sample in samples] == [
        "synthetic/duck/0", "synthetic/red mug/1", "synthetic/duck/2",
    ]  # fmt: skip
    assert len(scenes) == 3
    assert scenes.labels == ("duck", "red mug")
    assert scenes.mean_words == 1.5
    assert "centre" in scenes.info.preprocessing


def test_a_scene_is_an_object_in_a_place(scenes: SyntheticScenes, foreground: Centre) -> None:
    sample = list(scenes)[1]
    assert foreground.asked == []  # nothing is painted before it is needed
    assert sample.image is not None
    picture = sample.image.load()
    mask = scenes.outline(sample)
    assert foreground.asked == ["red mug"]
    scene = scenes.scene(1)
    np.testing.assert_array_equal(mask, scene.mask)
    np.testing.assert_array_equal(picture, scene.picture)
    changed = (picture != scene.background).any(axis=2)
    assert changed[mask].mean() > 0.9
    assert not changed[0].any()
    np.testing.assert_array_equal(scenes._make(1).picture, picture)
    assert (scenes.scene(0).picture != picture).any()


def test_what_cannot_be_cut_out_is_painted_again(
    scenes: SyntheticScenes, foreground: Centre
) -> None:
    foreground.refusals = 2
    scenes.scene(0)
    assert foreground.asked == ["duck"] * 3


def test_after_three_tries_it_is_an_error(scenes: SyntheticScenes, foreground: Centre) -> None:
    foreground.refusals = 9
    with pytest.raises(ForegroundError, match=r"no 'duck' could be cut out in 3 tries: it touches"):
        scenes.scene(0)


@pytest.mark.parametrize("seed", range(5))
def test_placed_objects_stand_within_the_frame(seed: int) -> None:
    cutting = np.full((50, 50, 3), 255, np.uint8)
    mask = np.zeros((50, 50), bool)
    mask[10:40, 20:30] = True
    cutting[mask] = (200, 0, 0)
    background = np.zeros((80, 100, 3), np.uint8)
    scene = placed(cutting, mask, background, np.random.default_rng(seed))
    rows = np.flatnonzero(scene.mask.any(axis=1))
    columns = np.flatnonzero(scene.mask.any(axis=0))
    assert rows[0] > 0
    assert 0.7 * 80 < rows[-1] < 0.92 * 80
    assert 0 < columns[0] < columns[-1] < 99
    height, width = len(rows), len(columns)
    assert height / width == pytest.approx(3, rel=0.15)
    # 40 to 60 % of 80 as the geometric mean of its sides, or 75 % of the height.
    assert height <= 0.75 * 80 + 1
    assert height * width >= 0.3**2 * 80**2
    # Nothing of the white ground comes along.
    assert (scene.picture[..., 1:] == 0).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"classes": ""}, r"needs classes: give \"cat, dog, ...\" or a file of labels"),
        ({"classes": "cat", "object_prompt": "a photo"}, r"object_prompt needs \{label\} in it"),
        ({"classes": "cat", "places": " | "}, r"places at least one place"),
    ],
)
def test_what_cannot_be_used(
    given: dict[str, Any], message: str, pipelines: dict[str, Path]
) -> None:
    with pytest.raises(UserError, match=message):
        SyntheticScenes(str(pipelines["text"]), given)


def test_a_picture_has_pixels() -> None:
    with pytest.raises(UserError, match=r"px = 4: give at least 16 pixels"):
        TextToImage("px=4", {})


def test_classes_from_a_file(
    pipelines: dict[str, Path], foreground: Centre, tmp_path: Path
) -> None:
    (tmp_path / "labels.txt").write_text("duck\n\nmug\nduck\n")
    given = {"classes": str(tmp_path / "labels.txt")}
    assert SyntheticScenes(str(pipelines["text"]), given).labels == ("duck", "mug")
