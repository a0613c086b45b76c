"""Foregrounds by published models: the label says what to look for.

`grounded_sam:SEGMENTER` finds the label's box with GroundingDINO and its outline with a model of the SAM
family (SAM, SAM-HQ, SAM 2, EdgeTAM), such as `grounded_sam:facebook/sam-vit-base`. `sam3:MODEL` needs no
detector. A box that the data set or its user gives is taken instead of the detector's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import (
    AutoModelForMaskGeneration,
    AutoModelForZeroShotObjectDetection,
    AutoProcessor,
    Sam3Model,
    Sam3Processor,
)
from transformers.utils import logging as transformers_logging

from attacks.advdreamer.foreground import solid
from attacks.advdreamer.published.hub import device_of, dtype_of, info_of, loading, pinned, read
from attacks.advdreamer.stages import Box, ForegroundError, Mask
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Pixels

_DETECTORS = ("grounding-dino", "mm-grounding-dino")


@dataclass(frozen=True, slots=True)
class GroundedSettings:
    """What `GroundedSam` can be told.

    model, revision: The segmenter, on the hub or in a folder; "" is the pinned commit, if there is one.
    detector, detector_revision: Likewise.
    box_threshold, text_threshold: GroundingDINO's; its released code has 0.35 and 0.25, transformers 0.25.
    """

    model: str = "facebook/sam2.1-hiera-large"
    revision: str = ""
    detector: str = "IDEA-Research/grounding-dino-base"
    detector_revision: str = ""
    box_threshold: float = 0.25
    text_threshold: float = 0.25
    device: str = "cpu"
    dtype: str = "float32"


@dataclass(frozen=True, slots=True)
class Sam3Settings:
    """What `Sam3` can be told. threshold: Of an instance's score; mask_threshold: of its pixels'."""

    model: str = "facebook/sam3"
    revision: str = ""
    threshold: float = 0.3
    mask_threshold: float = 0.5
    device: str = "cpu"
    dtype: str = "float32"


class GroundedSam:
    """GroundingDINO for the box, SAM for the mask (`Foreground`).

    Raises:
        UserError: A setting cannot be used, or a model is of another kind or cannot be loaded.
    """

    info: ModelInfo

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        chosen = self._settings = read(GroundedSettings, argument, settings)
        self._device = device_of(chosen.device)
        self._dtype = dtype_of(chosen.dtype, self._device)
        revision = pinned(chosen.model, chosen.revision)
        found = pinned(chosen.detector, chosen.detector_revision)
        self._segmenter, self._processor = self._loaded(
            AutoModelForMaskGeneration, AutoProcessor, chosen.model, revision
        )
        self._detector, self._reader = self._loaded(
            AutoModelForZeroShotObjectDetection, AutoProcessor, chosen.detector, found
        )
        if (kind := self._detector.config.model_type) not in _DETECTORS:
            raise UserError(
                f"{chosen.detector} is a {kind!r} model: give a detector of type"
                f" {' or '.join(_DETECTORS)}"
            )
        info = info_of("grounded_sam", chosen.model, chosen, "config.json", revision, self._dtype)
        other = info_of("", chosen.detector, chosen, "config.json", found, self._dtype)
        self.info = ModelInfo(
            id=f"{info.id},detector={chosen.detector}",
            revision=f"{info.revision},{other.revision}".strip(","),
            weights=f"{info.weights},{other.weights}",
            dtype=info.dtype,
            preprocessing=info.preprocessing,
        )

    def cut(self, pixels: Pixels, label: str, box: Box | None = None) -> Mask:
        """The mask of the object that `label` names: one solid piece that keeps off the border.

        Raises:
            ForegroundError: There is none, it touches the border, or it fills the frame.
        """
        corners = self._found(pixels, label) if box is None else _corners(box)
        inputs = self._processor(images=pixels, input_boxes=[[corners]], return_tensors="pt").to(
            self._device
        )
        inputs["pixel_values"] = inputs["pixel_values"].to(self._dtype)
        sizes = {key: inputs.pop(key).tolist() for key in _SIZES if key in inputs}
        with torch.inference_mode():
            outputs = self._segmenter(**inputs, multimask_output=False)
        masks = self._processor.post_process_masks(outputs.pred_masks.float().cpu(), **sizes)
        mask: Mask = solid(np.asarray(masks[0][0, 0].numpy() > 0), repr(label))
        return mask

    def _found(self, pixels: Pixels, label: str) -> list[float]:
        """Corners of the box that GroundingDINO is surest of."""
        # It was trained on lower-case phrases that end with a full stop.
        text = f"{label.strip().lower().rstrip('.')}."
        inputs = self._reader(images=pixels, text=text, return_tensors="pt").to(self._device)
        inputs["pixel_values"] = inputs["pixel_values"].to(self._dtype)
        with torch.inference_mode():
            outputs = self._detector(**inputs)
        found = self._reader.post_process_grounded_object_detection(
            outputs,
            inputs["input_ids"],
            threshold=0.0,
            text_threshold=self._settings.text_threshold,
            target_sizes=[pixels.shape[:2]],
        )[0]
        scores = found["scores"]
        best = float(scores.max()) if len(scores) else 0.0
        if best <= self._settings.box_threshold:
            raise ForegroundError(
                f"no {label!r} found: the surest box scores {best:.2f},"
                f" {self._settings.box_threshold:g} is needed; lower box_threshold, or give a box or"
                " a mask"
            )
        return [float(edge) for edge in found["boxes"][scores.argmax()]]

    def _loaded(self, kind: Any, reader: Any, model: str, revision: str | None) -> tuple[Any, Any]:
        return _loaded(kind, reader, model, revision, self._device, self._dtype)


_SIZES = ("original_sizes", "reshaped_input_sizes")
"""What processors of the SAM family tell their own post-processing, and not the model."""


class Sam3:
    """SAM 3, which finds what a text names and outlines it (`Foreground`).

    Raises:
        UserError: A setting cannot be used, or the model is of another kind or cannot be loaded.
    """

    info: ModelInfo

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        chosen = self._settings = read(Sam3Settings, argument, settings)
        self._device = device_of(chosen.device)
        self._dtype = dtype_of(chosen.dtype, self._device)
        revision = pinned(chosen.model, chosen.revision)
        self._model, self._processor = _loaded(
            Sam3Model, Sam3Processor, chosen.model, revision, self._device, self._dtype
        )
        self.info = info_of("sam3", chosen.model, chosen, "config.json", revision, self._dtype)

    def cut(self, pixels: Pixels, label: str, box: Box | None = None) -> Mask:
        """The mask of the object that `label` names: one solid piece that keeps off the border.

        Raises:
            ForegroundError: There is none, it touches the border, or it fills the frame.
        """
        given = {} if box is None else {"input_boxes": [[_corners(box)]]}
        inputs = self._processor(
            images=pixels, text=label.strip().lower(), return_tensors="pt", **given
        ).to(self._device)
        inputs["pixel_values"] = inputs["pixel_values"].to(self._dtype)
        inputs.pop("original_sizes")
        with torch.inference_mode():
            outputs = self._model(**inputs)
        found = self._processor.post_process_instance_segmentation(
            outputs,
            threshold=0.0,
            mask_threshold=self._settings.mask_threshold,
            target_sizes=[pixels.shape[:2]],
        )[0]
        scores = found["scores"].float()
        best = float(scores.max()) if len(scores) else 0.0
        if best <= self._settings.threshold:
            raise ForegroundError(
                f"no {label!r} found: the surest outline scores {best:.2f},"
                f" {self._settings.threshold:g} is needed; lower threshold, or give a mask"
            )
        mask: Mask = solid(
            np.asarray(found["masks"][scores.argmax()].cpu().numpy() > 0), repr(label)
        )
        return mask


def _corners(box: Box) -> list[float]:
    left, top, width, height = box
    return [float(left), float(top), float(left + width), float(top + height)]


def _loaded(
    kind: Any,
    reader: Any,
    model: str,
    revision: str | None,
    device: torch.device,
    dtype: torch.dtype,
) -> tuple[Any, Any]:
    """A model in evaluation mode and its processor."""
    library: Any = transformers_logging
    shows = library.is_progress_bar_enabled()
    library.disable_progress_bar()
    try:
        with loading("transformers", model):
            loaded = kind.from_pretrained(model, revision=revision, dtype=dtype)
            processor = reader.from_pretrained(model, revision=revision)
    finally:
        if shows:
            library.enable_progress_bar()
    return loaded.to(device).eval(), processor
