from pathlib import Path
from types import SimpleNamespace
from typing import Any

import diffusers
import numpy as np
import pytest
import torch
from PIL import Image

from attacks.advdreamer.published.painting import (
    BlackedOutError,
    Painter,
    PaintSettings,
    _put,
    _quantised,
    fits,
    guidance_name,
)
from benchmark.errors import UserError

PICTURE = np.random.default_rng(0).integers(0, 256, (21, 32, 3), dtype=np.uint8)
REGION = np.zeros((21, 32), bool)
REGION[5:15, 8:20] = True


def settings(folder: Path, **more: Any) -> PaintSettings:
    return PaintSettings(**{"model": str(folder), "side": 32, "steps": 2, "prompt": "x", **more})


@pytest.fixture(scope="module")
def painter(pipelines: dict[str, Path]) -> Painter:
    return Painter(settings(pipelines["inpaint"]), "inpaint", "diffusion")


def test_the_same_seed_paints_the_same(painter: Painter, pipelines: dict[str, Path]) -> None:
    first = painter.paint(PICTURE, REGION)
    assert first.shape == (21, 32, 3)
    assert first.dtype == np.uint8
    painter.paint(255 - PICTURE, ~REGION)
    np.testing.assert_array_equal(painter.paint(PICTURE, REGION), first)
    other = Painter(settings(pipelines["inpaint"], seed=1), "inpaint", "diffusion")
    assert (other.paint(PICTURE, REGION) != first).any()


def test_pictures_go_in_as_whole_cells(painter: Painter, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    class Pipe:
        def __call__(self, **call: Any) -> SimpleNamespace:
            seen.update(call)
            return SimpleNamespace(images=[Image.new("RGB", (64, 64), (9, 8, 7))])

    monkeypatch.setattr(painter, "_pipe", Pipe())
    out = painter.paint(PICTURE, REGION, "a duck")
    # 21 rows are filled up to 32; the pipeline's own size does not matter.
    assert seen["image"].size == seen["mask_image"].size == (32, 32)
    assert (seen["height"], seen["width"], seen["num_inference_steps"]) == (32, 32, 2)
    assert seen["prompt"] == "a duck"
    np.testing.assert_array_equal(np.asarray(seen["image"])[:21], PICTURE)
    np.testing.assert_array_equal(np.asarray(seen["image"])[31], PICTURE[20])
    np.testing.assert_array_equal(np.asarray(seen["mask_image"])[:21] > 0, REGION)
    assert "guidance_scale" not in seen
    assert out.shape == PICTURE.shape
    assert (out == (9, 8, 7)).all()


def test_small_pictures_are_enlarged(painter: Painter, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[Any] = []

    def pipe(**call: Any) -> SimpleNamespace:
        sizes.append(call["image"].size)
        return SimpleNamespace(images=[call["image"]])

    monkeypatch.setattr(painter, "_pipe", pipe)
    flat = np.full((8, 4, 3), 50, np.uint8)
    out = painter.paint(flat, np.ones((8, 4), bool))
    assert sizes == [(16, 32)]
    np.testing.assert_array_equal(out, flat)


def test_editors_get_no_mask(pipelines: dict[str, Path]) -> None:
    editor = Painter(settings(pipelines["edit"], guidance=3.0), "edit", "edit")
    first = editor.paint(PICTURE, REGION, "make it blue")
    assert first.shape == PICTURE.shape
    np.testing.assert_array_equal(editor.paint(PICTURE, None, "make it blue"), first)


def test_pictures_from_text(pipelines: dict[str, Path]) -> None:
    painter = Painter(settings(pipelines["text"]), "text", "text_to_image")
    first = painter.from_text("a duck", 20, 32, seed=3)
    assert first.shape == (20, 32, 3)
    np.testing.assert_array_equal(painter.from_text("a duck", 20, 32, seed=3), first)
    assert (painter.from_text("a duck", 20, 32, seed=4) != first).any()


def test_a_text_model_can_be_made_to_inpaint(pipelines: dict[str, Path]) -> None:
    painter = Painter(settings(pipelines["text"], strength=0.9), "inpaint", "diffusion")
    assert painter.paint(PICTURE, REGION).shape == PICTURE.shape


def test_a_pipeline_by_name(pipelines: dict[str, Path]) -> None:
    named = settings(pipelines["text"], pipeline="StableDiffusionImg2ImgPipeline", strength=0.9)
    assert Painter(named, "edit", "edit").paint(PICTURE, REGION).shape == PICTURE.shape


def test_info(painter: Painter, pipelines: dict[str, Path]) -> None:
    assert painter.info.id == f"diffusion:{pipelines['inpaint']}"
    assert len(painter.info.weights) == 64
    assert painter.info.dtype == "float32"
    assert '"steps": 2' in painter.info.preprocessing


@pytest.mark.parametrize(
    ("task", "name", "more", "message"),
    [
        (
            "edit",
            "text",
            {},
            r"StableDiffusionPipeline of .* cannot edit a picture: name a model or",
        ),
        ("text", "inpaint", {}, r"cannot paint from a text"),
        ("inpaint", "edit", {}, r"cannot paint within a mask"),
        (
            "inpaint",
            "text",
            {"pipeline": "NoPipeline"},
            r"'NoPipeline' of .* is not in diffusers 0",
        ),
        ("inpaint", "text", {"pipeline": "StableDiffusionPipeline"}, r"cannot paint within a mask"),
        ("inpaint", "inpaint", {"strength": 0.0}, r"strength = 0: give a number above 0 and at"),
        ("inpaint", "inpaint", {"steps": 0}, r"steps = 0: give at least 1"),
        ("inpaint", "inpaint", {"side": 8}, r"side = 8: give at least 16 pixels"),
        ("inpaint", "inpaint", {"dtype": "int8"}, r"dtype 'int8' is unknown"),
        ("text", "text", {"offload": "all"}, r"offload = 'all' is unknown: use none, model, seq"),
        ("text", "text", {"offload": "model"}, r"offload = model needs a GPU to work on: add --d"),
        ("text", "text", {"quantisation": "2bit"}, r"'2bit' is unknown: use none, 8bit, 4bit"),
    ],
)
def test_what_cannot_be_used(
    task: Any, name: str, more: dict[str, Any], message: str, pipelines: dict[str, Path]
) -> None:
    with pytest.raises(UserError, match=message):
        Painter(settings(pipelines[name], **more), task, "adapter")


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"diffusers cannot load 'no/such' \(.*connect to the netw"):
        Painter(PaintSettings(model="no/such"), "inpaint", "diffusion")
    with pytest.raises(UserError, match=r"must be one that save_pretrained wrote"):
        Painter(PaintSettings(model=str(tmp_path)), "inpaint", "diffusion")


def test_a_picture_that_was_blacked_out(painter: Painter, monkeypatch: pytest.MonkeyPatch) -> None:
    black = SimpleNamespace(images=[Image.new("RGB", (32, 32))], nsfw_content_detected=[True])
    monkeypatch.setattr(painter, "_pipe", lambda **call: black)
    with pytest.raises(
        BlackedOutError, match=r"safety checker of .* blacked a picture out: try another"
    ):
        painter.paint(PICTURE, REGION)


@pytest.mark.parametrize(
    ("name", "tasks", "guidance"),
    [
        ("StableDiffusionXLInpaintPipeline", {"inpaint", "edit"}, "guidance_scale"),
        ("FluxFillPipeline", {"inpaint", "edit"}, "guidance_scale"),
        ("FluxKontextPipeline", {"edit", "text"}, "guidance_scale"),
        ("FluxKontextInpaintPipeline", {"inpaint", "edit"}, "guidance_scale"),
        ("QwenImageEditPipeline", {"edit", "text"}, "true_cfg_scale"),
        ("QwenImageEditInpaintPipeline", {"inpaint", "edit"}, "true_cfg_scale"),
        ("StableDiffusionXLPipeline", {"text"}, "guidance_scale"),
    ],
)
def test_newer_pipelines_fit_too(name: str, tasks: set[str], guidance: str) -> None:
    kind = getattr(diffusers, name)
    assert {task for task in ("inpaint", "edit", "text") if fits(kind, task)} == tasks
    assert guidance_name(kind) == guidance


def test_offloading_takes_the_place_of_the_move_to_the_device() -> None:
    done: list[tuple[str, Any]] = []

    class Pipe:
        def to(self, device: Any) -> "Pipe":
            done.append(("to", device))
            return self

        def enable_model_cpu_offload(self, device: Any) -> None:
            done.append(("model", device))

        def enable_sequential_cpu_offload(self, device: Any) -> None:
            done.append(("sequential", device))

    pipe, device = Pipe(), torch.device("cpu")
    assert [_put(pipe, how, device) for how in ("none", "model", "sequential")] == [pipe] * 3
    assert done == [("to", device), ("model", device), ("sequential", device)]


def test_the_largest_networks_are_quantised(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []

    def config(**how: Any) -> str:
        made.append(how)
        return "config"

    monkeypatch.setattr(diffusers, "PipelineQuantizationConfig", config)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    index: dict[str, Any] = {"transformer": [], "text_encoder": [], "text_encoder_2": [], "vae": []}
    assert _quantised("4bit", index, torch.bfloat16) == "config"
    _quantised("8bit", index, torch.bfloat16)
    four, eight = made
    assert four["components_to_quantize"] == ["transformer", "text_encoder_2"]
    assert four["quant_backend"] == "bitsandbytes_4bit"
    assert four["quant_kwargs"]["bnb_4bit_compute_dtype"] is torch.bfloat16
    assert eight["quant_kwargs"] == {"load_in_8bit": True}


def test_quantising_needs_its_library(
    pipelines: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"quantisation = 4bit needs bitsandbytes: pip install"):
        Painter(settings(pipelines["text"], quantisation="4bit"), "text", "text_to_image")
