"""A pipeline of diffusers as one function: a picture, where to paint, what, and a seed.

Pictures go in at any size; the pipeline sees them scaled so that the longer side is what it was trained
on, and filled up at the right and below to whole latent cells. One picture at a time, each with its own
generator on the CPU, so that neither the company nor the device decides what a seed stands for.
"""

import importlib.util
import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import diffusers
import numpy as np
import torch
from diffusers.utils import logging as diffusers_logging
from huggingface_hub import hf_hub_download
from PIL import Image

from attacks.advdreamer.published.hub import device_of, dtype_of, info_of, loading, pinned
from attacks.advdreamer.stages import Mask
from benchmark.errors import UserError
from benchmark.types import ModelInfo, Pixels

Task = Literal["inpaint", "edit", "text"]
"""inpaint: paints within a mask. edit: paints a whole picture anew. text: paints from nothing."""

_CELL = 16
"""Sides are multiples of this: eight pixels a latent, and some models take latents by twos."""

_INDEX = "model_index.json"
_OFFLOADS = ("none", "model", "sequential")
_QUANTISATIONS = ("none", "8bit", "4bit")
_LARGEST = ("transformer", "unet", "text_encoder_2", "text_encoder_3")
"""Parts of pipelines that are worth quantising. The last two are T5, in FLUX and Stable Diffusion 3."""

_DOES = {"inpaint": "paint within a mask", "edit": "edit a picture", "text": "paint from a text"}


@dataclass(frozen=True, slots=True)
class PaintSettings:
    """What every painter can be told.

    model, revision: A repository on the hub, or a folder; "" is the pinned commit, if there is one.
    variant: Of the weight files, such as "fp16".
    pipeline: A class of diffusers by name; "" is the repository's own, or the one for the task.
    side: The longer side in pixels that the pipeline works at.
    steps, guidance, strength: None is the pipeline's own; strength is how much of the noise is added.
    prompt, negative: What is painted, and what is not.
    seed: Of the noise, the same for all pictures.
    offload: What waits in the CPU's memory until its turn, slower and with less of the GPU's memory:
        "none"; "model", whole models; "sequential", layer by layer.
    quantisation: Of the largest networks, by bitsandbytes: "none", "8bit" or "4bit".
    """

    model: str = "stable-diffusion-v1-5/stable-diffusion-inpainting"
    revision: str = ""
    variant: str = ""
    pipeline: str = ""
    device: str = "cpu"
    dtype: str = "auto"
    side: int = 512
    steps: int | None = None
    guidance: float | None = None
    strength: float | None = None
    prompt: str = ""
    negative: str = ""
    seed: int = 0
    offload: str = "none"
    quantisation: str = "none"


class BlackedOutError(ValueError):
    """A pipeline painted something that its own safety checker does not let out."""


class Painter:
    """A diffusion pipeline, ready to paint.

    Raises:
        UserError: A setting cannot be used, the pipeline is not of the task's kind, or it is not on this
            machine and cannot be fetched.
    """

    def __init__(self, settings: PaintSettings, task: Task, adapter: str) -> None:
        _check(settings)
        self._settings = settings
        self._task = task
        device = device_of(settings.device)
        dtype = dtype_of(settings.dtype, device)
        revision = pinned(settings.model, settings.revision)
        load: dict[str, Any] = {"revision": revision, "dtype": dtype}
        if settings.variant:
            load["variant"] = settings.variant
        if settings.offload != "none" and device.type == "cpu":
            raise UserError(
                f"offload = {settings.offload} needs a GPU to work on: add --device cuda"
            )
        library: Any = diffusers_logging
        shows = library.is_progress_bar_enabled()
        library.disable_progress_bar()
        try:
            with loading("diffusers", settings.model):
                index = _model_index(settings.model, revision)
                kind = _pipeline_class(settings, task, index)
                if settings.quantisation != "none":
                    load["quantization_config"] = _quantised(settings.quantisation, index, dtype)
                pipe = kind.from_pretrained(settings.model, **load)
        finally:
            if shows:
                library.enable_progress_bar()
        self._pipe: Any = _put(pipe, settings.offload, device)
        self._pipe.set_progress_bar_config(disable=True)
        self._accepts = _parameters(type(pipe))
        self._guidance = guidance_name(type(pipe))
        self.info: ModelInfo = info_of(adapter, settings.model, settings, _INDEX, revision, dtype)

    def paint(self, pixels: Pixels, region: Mask | None = None, prompt: str = "") -> Pixels:
        """The picture (height, width, 3) painted anew, within `region` if the pipeline knows masks.

        Also outside the region pixels differ, as a picture goes through the latents: lay only what is
        wanted over the original.

        Raises:
            BlackedOutError: The pipeline's safety checker blacked the picture out.
        """
        canvas = _Canvas.of(pixels.shape[:2], self._settings.side)
        call: dict[str, Any] = {"image": canvas.picture(pixels)}
        if region is not None and "mask_image" in self._accepts:
            call["mask_image"] = canvas.mask(region)
        return canvas.restored(self._run(canvas, prompt, self._settings.seed, call))

    def from_text(self, prompt: str, height: int, width: int, seed: int) -> Pixels:
        """A picture (height, width, 3) of what the prompt says.

        Raises:
            BlackedOutError: The pipeline's safety checker blacked the picture out.
        """
        canvas = _Canvas.of((height, width), self._settings.side)
        return canvas.restored(self._run(canvas, prompt, seed, {}))

    def _run(self, canvas: "_Canvas", prompt: str, seed: int, call: dict[str, Any]) -> Pixels:
        chosen = self._settings
        wanted: dict[str, Any] = {
            "prompt": prompt or chosen.prompt,
            "negative_prompt": chosen.negative or None,
            "height": canvas.height,
            "width": canvas.width,
            "num_inference_steps": chosen.steps,
            self._guidance: chosen.guidance,
            "strength": chosen.strength,
        }
        for name, value in wanted.items():
            if value is not None and name in self._accepts:
                call[name] = value
        generator = torch.Generator("cpu").manual_seed(seed)
        with torch.inference_mode():
            result = self._pipe(**call, generator=generator, output_type="pil")
        if any(getattr(result, "nsfw_content_detected", None) or ()):
            raise BlackedOutError(
                f"the safety checker of {chosen.model} blacked a picture out: try another seed,"
                " or a model without one"
            )
        return canvas.fitted(result.images[0])


def _check(settings: PaintSettings) -> None:
    if settings.side < _CELL:
        raise UserError(f"side = {settings.side}: give at least {_CELL} pixels")
    if settings.steps is not None and settings.steps < 1:
        raise UserError(f"steps = {settings.steps}: give at least 1")
    if settings.strength is not None and not 0 < settings.strength <= 1:
        raise UserError(f"strength = {settings.strength:g}: give a number above 0 and at most 1")
    for key, known in (("offload", _OFFLOADS), ("quantisation", _QUANTISATIONS)):
        if (value := getattr(settings, key)) not in known:
            raise UserError(f"{key} = {value!r} is unknown: use {', '.join(known)}")


def _put(pipe: Any, offload: str, device: torch.device) -> Any:
    """The pipeline where it shall work: on the device, or on its way there piece by piece."""
    match offload:
        case "model":
            pipe.enable_model_cpu_offload(device=device)
        case "sequential":
            pipe.enable_sequential_cpu_offload(device=device)
        case _:
            return pipe.to(device)
    return pipe


def _quantised(bits: str, index: Mapping[str, Any], dtype: torch.dtype) -> Any:
    """How the largest networks of a pipeline are loaded in 8 or 4 bits.

    Raises:
        UserError: bitsandbytes is not installed.
    """
    if importlib.util.find_spec("bitsandbytes") is None:
        raise UserError(f"quantisation = {bits} needs bitsandbytes: pip install bitsandbytes")
    how: dict[str, Any] = {"load_in_8bit": True}
    if bits == "4bit":
        how = {
            "load_in_4bit": True,
            "bnb_4bit_quant_type": "nf4",
            "bnb_4bit_compute_dtype": dtype,
        }
    library: Any = diffusers
    return library.PipelineQuantizationConfig(
        quant_backend=f"bitsandbytes_{bits}",
        quant_kwargs=how,
        components_to_quantize=[name for name in _LARGEST if name in index],
    )


def _parameters(kind: type) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(kind.__call__).parameters


def guidance_name(kind: type) -> str:
    """What a pipeline calls the weight of its prompt.

    Where the usual scale is missing or has no default, it is for distilled models only.
    """
    usual = _parameters(kind).get("guidance_scale")
    return "true_cfg_scale" if usual is None or usual.default is None else "guidance_scale"


def _pipeline_class(settings: PaintSettings, task: Task, index: Mapping[str, Any]) -> Any:
    """The class to load: the one that is named, the repository's own if it fits, or the task's.

    Raises:
        UserError: diffusers does not have it, or it does not fit the task.
    """
    name = settings.pipeline
    if not name:
        name = str(index.get("_class_name"))
    kind = getattr(diffusers, name, None)
    if kind is None:
        raise UserError(
            f"pipeline {name!r} of {settings.model} is not in diffusers {diffusers.__version__}:"
            " name another one (pipeline=...), or pip install --upgrade diffusers"
        )
    if fits(kind, task):
        return kind
    if task == "inpaint" and not settings.pipeline and "image" not in _parameters(kind):
        return diffusers.AutoPipelineForInpainting  # which knows the class that goes with this one
    raise UserError(
        f"{name} of {settings.model} cannot {_DOES[task]}: name a model or a pipeline that can"
    )


def _model_index(model: str, revision: str | None) -> Mapping[str, Any]:
    folder = Path(model)
    path = (
        folder
        if folder.is_dir()
        else Path(hf_hub_download(model, _INDEX, revision=revision)).parent
    )
    index: Mapping[str, Any] = json.loads((path / _INDEX).read_text(encoding="utf-8"))
    return index


def fits(kind: Any, task: Task) -> bool:
    """Whether a class of diffusers takes what the task gives it."""
    names = _parameters(kind).keys()
    match task:
        case "inpaint":
            return {"image", "mask_image"} <= names
        case "edit":
            return "image" in names
        case "text":
            return "mask_image" not in names


@dataclass(frozen=True, slots=True)
class _Canvas:
    """How a picture lies on what the pipeline sees: scaled, in the upper left, edges repeated."""

    size: tuple[int, int]
    scaled: tuple[int, int]
    height: int
    width: int

    @classmethod
    def of(cls, size: tuple[int, ...], side: int) -> "_Canvas":
        height, width = size[0], size[1]
        factor = side / max(height, width)
        scaled = max(1, round(height * factor)), max(1, round(width * factor))
        return cls((height, width), scaled, *(-(-length // _CELL) * _CELL for length in scaled))

    def picture(self, pixels: Pixels) -> Image.Image:
        height, width = self.scaled
        resized = Image.fromarray(pixels).resize((width, height), Image.Resampling.LANCZOS)
        return Image.fromarray(self._padded(np.asarray(resized)))

    def mask(self, region: Mask) -> Image.Image:
        height, width = self.scaled
        grey = Image.fromarray(region.astype(np.uint8) * 255)
        resized = np.asarray(grey.resize((width, height), Image.Resampling.BILINEAR))
        # All that the region touches: what is painted too much is not used.
        return Image.fromarray(self._padded((resized > 0).astype(np.uint8) * 255))

    def fitted(self, picture: Image.Image) -> Pixels:
        """What a pipeline gave, in the canvas's size: some choose another one."""
        rgb = picture.convert("RGB")
        if rgb.size != (self.width, self.height):
            rgb = rgb.resize((self.width, self.height), Image.Resampling.LANCZOS)
        return np.asarray(rgb)

    def restored(self, pixels: Pixels) -> Pixels:
        height, width = self.scaled
        cut = Image.fromarray(np.ascontiguousarray(pixels[:height, :width]))
        return np.array(cut.resize((self.size[1], self.size[0]), Image.Resampling.LANCZOS))

    def _padded(self, array: Pixels) -> Pixels:
        missing = (0, self.height - self.scaled[0]), (0, self.width - self.scaled[1])
        return np.pad(array, (*missing, (0, 0))[: array.ndim], mode="edge")
