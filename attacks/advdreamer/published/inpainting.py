"""Backgrounds by diffusion: what is behind the object, painted by an inpainting pipeline.

`diffusion:MODEL`, such as `diffusion:stable-diffusion-v1-5/stable-diffusion-inpainting` (the default),
`diffusion:diffusers/stable-diffusion-xl-1.0-inpainting-0.1,side=1024` or
`diffusion:black-forest-labs/FLUX.1-Fill-dev,dtype=bfloat16,side=1024`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from attacks.advdreamer.published.hub import read
from attacks.advdreamer.published.painting import Painter, PaintSettings
from attacks.advdreamer.published.regions import feathered, grown, laid_over
from attacks.advdreamer.stages import Mask
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Pixels


@dataclass(frozen=True, slots=True)
class BackgroundSettings(PaintSettings):
    """See `PaintSettings`.

    margin: Share of the longer side that the hole is widened by: a halo of the object or of its shadow
        is enough for the object to be painted again.
    """

    strength: float | None = 1.0
    prompt: str = "an empty place, background only, natural light, photograph"
    negative: str = "object, animal, person, text, watermark, frame"
    margin: float = 0.02


class DiffusionBackground:
    """Completes the picture behind the object by diffusion (`Background`).

    The same picture and the same hole give the same background.

    Raises:
        UserError: A setting cannot be used, or the model cannot be loaded.
    """

    info: ModelInfo

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        self._settings = read(BackgroundSettings, argument, settings)
        if not 0 <= self._settings.margin < 0.5:
            raise UserError(f"margin = {self._settings.margin:g}: give a share from 0 to below 0.5")
        self._painter = Painter(self._settings, "inpaint", "diffusion")
        self.info = self._painter.info

    def complete(self, pixels: Pixels, hole: Mask) -> Pixels:
        """The picture with `hole` filled; beyond the margin about the hole, it is as it was.

        Raises:
            ValueError: The pipeline's safety checker blacked the picture out.
        """
        if not hole.any():
            return pixels.copy()
        margin = self._settings.margin * max(hole.shape)
        region = grown(hole, margin)
        painted = self._painter.paint(pixels, region)
        return laid_over(pixels, painted, feathered(region, margin, hole))
