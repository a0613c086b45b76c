"""Re-composition by diffusion, in the silhouette's ring and shadow only.

Another composer pastes the object and casts its shadow; then a pipeline repaints a ring about the
silhouette's edge and the shadow, at low strength and always from the same noise. All else is put back, the
object's interior above all, so a harmonised picture shows the pose that was rendered.

`diffusion:MODEL` inpaints, by default with Stable Diffusion. `edit:MODEL` tells an instruction-editing
pipeline what to do, such as `edit:timbrooks/instruct-pix2pix` (the default),
`edit:black-forest-labs/FLUX.1-Kontext-dev,dtype=bfloat16,side=1024` or
`edit:Qwen/Qwen-Image-Edit,dtype=bfloat16,side=1024`; `pipeline=` names another class of diffusers, such
as FluxKontextInpaintPipeline, which knows masks as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from attacks.advdreamer.pose import Pose
from attacks.advdreamer.published.hub import read
from attacks.advdreamer.published.painting import Painter, PaintSettings
from attacks.advdreamer.published.regions import feathered, laid_over, ring_and_shadow
from attacks.advdreamer.stages import Composer, Composition, Mask, Rendering
from benchmark import registry
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Pixels


@dataclass(frozen=True, slots=True)
class HarmonySettings(PaintSettings):
    """See `PaintSettings`.

    base: The composer that pastes; one of `list composers`.
    outer, inner: The ring's widths outside and inside the silhouette, shares of the longer side.
    """

    strength: float | None = 0.35
    prompt: str = "a photograph of an object in a scene, natural light, soft contact shadow"
    negative: str = "outline, halo, collage, sticker"
    base: str = "feather"
    outer: float = 0.016
    inner: float = 0.006


@dataclass(frozen=True, slots=True)
class EditSettings(HarmonySettings):
    """See `HarmonySettings`; the prompt is an instruction."""

    model: str = "timbrooks/instruct-pix2pix"
    prompt: str = (
        "Blend the pasted object into the scene: match the light and the colours along its edge and give"
        " it a soft shadow where it touches the ground. Do not move, turn or change the object."
    )


class HarmonisingComposer:
    """Pastes with another composer and has a painter go over the seams (`Composer`)."""

    info: ModelInfo

    def __init__(self, base: Composer, painter: Painter, settings: HarmonySettings) -> None:
        for name in ("outer", "inner"):
            if not 0 <= getattr(settings, name) < 0.5:
                value = getattr(settings, name)
                raise UserError(f"{name} = {value:g}: give a share from 0 to below 0.5")
        self._base = base
        self._painter = painter
        self._settings = settings
        self.info = replace(
            painter.info, preprocessing=f"{painter.info.preprocessing} over {base.info}"
        )

    @classmethod
    def inpainting(cls, argument: str, settings: Mapping[str, JSON]) -> Self:
        """The composer `diffusion`: repaints by an inpainting pipeline.

        Raises:
            UserError: A setting cannot be used, or a model cannot be loaded.
        """
        chosen = read(HarmonySettings, argument, settings)
        painter = Painter(chosen, "inpaint", "diffusion")
        return cls(_base(chosen, settings), painter, chosen)

    @classmethod
    def editing(cls, argument: str, settings: Mapping[str, JSON]) -> Self:
        """The composer `edit`: has an instruction-editing pipeline retouch the picture.

        Raises:
            UserError: A setting cannot be used, or a model cannot be loaded.
        """
        chosen = read(EditSettings, argument, settings)
        return cls(_base(chosen, settings), Painter(chosen, "edit", "edit"), chosen)

    def prepare(self, original: Pixels, mask: Mask, background: Pixels) -> Composition:
        """What the base has to know only once."""
        base = self._base.prepare(original, mask, background)
        return _Harmonised(base, background, self._painter, self._settings)


def _base(chosen: HarmonySettings, settings: Mapping[str, JSON]) -> Composer:
    base: Composer = registry.create("composers", chosen.base, settings)
    return base


@dataclass(frozen=True, slots=True)
class _Harmonised:
    """A place into which objects are put, and their seams repainted."""

    base: Composition
    background: Pixels
    painter: Painter
    settings: HarmonySettings

    def compose(self, renderings: Sequence[Rendering], poses: Sequence[Pose]) -> list[Pixels]:
        """One picture for each rendering; the same rendering gives the same picture in any company.

        Raises:
            ValueError: The pipeline's safety checker blacked a picture out.
        """
        pasted = self.base.compose(renderings, poses)
        return [self._harmonised(*pair) for pair in zip(pasted, renderings, strict=True)]

    def _harmonised(self, pasted: Pixels, rendering: Rendering) -> Pixels:
        side = max(pasted.shape[:2])
        # At least a pixel, or small pictures would have no ring.
        outer, inner = (
            max(1.0, width * side) for width in (self.settings.outer, self.settings.inner)
        )
        silhouette = rendering.rgba[..., 3] > 0
        region = ring_and_shadow(silhouette, pasted, self.background, outer, inner)
        if not region.any():
            return pasted
        painted = self.painter.paint(pasted, region)
        return laid_over(pasted, painted, feathered(region, inner))
