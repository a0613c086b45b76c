"""From a sample's picture to one that can be given again with its object in any pose."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from attacks.advdreamer.background import hole_of
from attacks.advdreamer.foreground import solid
from attacks.advdreamer.stages import Box, ForegroundError, Manipulator, Mask, Stages
from benchmark.protocols import RunContext
from benchmark.types import Pixels, Sample

Outline = NDArray[np.bool_] | Box | None
"""Where an object is, as the data set or its user says: a mask, a box, or unknown."""

_STAGES = {
    "foreground": "foregrounds",
    "background": "backgrounds",
    "reconstruction": "reconstructions",
    "composer": "composers",
}
"""Setting -> registry kind."""


@dataclass(frozen=True, slots=True)
class Case:
    """One sample taken apart. `clean` is its picture as it goes into the stages."""

    clean: Pixels
    manipulator: Manipulator


class Pipeline:
    """The stages that the settings name, one after the other (eq. 2).

    A data set may offer `outline(sample)`: a mask of shape (height, width), a box, or None.
    """

    def __init__(self, run: RunContext, settings: Mapping[str, Any]) -> None:
        self.stages = Stages(
            **{key: run.model(kind, str(settings[key])) for key, kind in _STAGES.items()}
        )
        self._max_side = int(settings["max_side"])
        self._outline: Callable[[Sample], Outline] = getattr(
            run.dataset, "outline", lambda sample: None
        )

    def take_apart(self, sample: Sample) -> Case:
        """Segment, complete the background, reconstruct; larger pictures are scaled down first.

        Raises:
            ForegroundError: There is no object that can be used, or the mask has another size.
        """
        if sample.image is None:
            raise ForegroundError(f"sample {sample.id} has no picture: there is nothing to turn")
        original = sample.image.load()
        pixels = _shrunk(original, self._max_side)
        mask = self._mask(sample, original, pixels)
        hole = hole_of(pixels, mask)
        return Case(pixels, Manipulator.of(self.stages, pixels, mask, hole))

    def _mask(self, sample: Sample, original: Pixels, pixels: Pixels) -> Mask:
        outline = self._outline(sample)
        if isinstance(outline, np.ndarray):
            if outline.shape != original.shape[:2]:
                raise ForegroundError(
                    f"the mask has {outline.shape[1]} x {outline.shape[0]} pixels, the picture"
                    f" {original.shape[1]} x {original.shape[0]}: give a mask of the same size"
                )
            size = (pixels.shape[1], pixels.shape[0])
            shrunk = Image.fromarray(outline).resize(size, Image.Resampling.NEAREST)
            mask: Mask = solid(np.asarray(shrunk, dtype=np.bool_))
            return mask
        box = None
        if outline is not None:
            height, width = original.shape[:2]
            if outline[0] + outline[2] > width or outline[1] + outline[3] > height:
                raise ForegroundError(
                    f"box {','.join(map(str, outline))} leaves the picture, which has"
                    f" {width} x {height} pixels: give left,top,width,height within it"
                )
            box = _scaled(outline, len(pixels) / len(original))
        return self.stages.foreground.cut(pixels, sample.text, box)


def _shrunk(pixels: Pixels, max_side: int) -> Pixels:
    longest = max(pixels.shape[:2])
    if longest <= max_side:
        return pixels
    height, width = (max(1, round(side * max_side / longest)) for side in pixels.shape[:2])
    return np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling.LANCZOS))


def _scaled(box: Box, factor: float) -> Box:
    left, top, width, height = (round(value * factor) for value in box)
    return left, top, max(1, width), max(1, height)
