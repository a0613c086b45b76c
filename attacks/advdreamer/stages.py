"""The stages of monocular pose manipulation (AdvDreamer sec. 3.2.1, eq. 2), and the line they form.

    pixels --Foreground--> mask --Background--> background
                            |--Reconstruction--> Model3D --render(pose)--> Rendering
                            '--Composer--> Composition --compose(renderings)--> pictures

Each stage has an embedded and a published implementation; the settings name them, the registry makes them
as it makes models: `factory(argument, settings)`, with `info` for the run's record. All pictures of one
sample have the size of its clean picture, whatever that is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from attacks.advdreamer.pose import Pose
from benchmark.types import ModelInfo, Pixels

Mask = NDArray[np.bool_]
"""Shape (height, width), True where the object is."""

Box = tuple[int, int, int, int]
"""left, top, width, height in pixels."""


class ForegroundError(ValueError):
    """A picture or a mask that cannot be used, why, and what to do: it becomes the sample's error."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """An object in one pose, on nothing.

    rgba: Shape (height, width, 4), float32, 0..1, sRGB, not premultiplied.
    depth: Shape (height, width), float32, distance along the viewing axis in pixels (the focal length
        being in pixels too); inf where there is no object.
    shadow: Shape (height, width), float32, the share of light that the object takes from the ground at
        full strength, 0..1; None if the model knows no ground, so that the composer has to guess.
    """

    rgba: NDArray[np.float32]
    depth: NDArray[np.float32]
    shadow: NDArray[np.float32] | None = None


class Foreground(Protocol):
    """Finds the object."""

    info: ModelInfo

    def cut(self, pixels: Pixels, label: str, box: Box | None = None) -> Mask:
        """The mask of the object that `label` names: one solid piece that keeps off the border.

        Raises:
            ForegroundError: There is none, it touches the border, or it fills the frame.
        """
        ...


class Background(Protocol):
    """Completes the picture behind the object."""

    info: ModelInfo

    def complete(self, pixels: Pixels, hole: Mask) -> Pixels:
        """The picture with `hole` filled: the object's mask, widened by its halo and cast shadow."""
        ...


class Model3D(Protocol):
    """An object that can be turned."""

    def render(self, pose: Pose) -> Rendering:
        """Its look in a pose, in the size of the picture it was built from. Deterministic."""
        ...


class Reconstruction(Protocol):
    """Makes a 3D model from one view."""

    info: ModelInfo

    def build(self, pixels: Pixels, mask: Mask) -> Model3D:
        """The model of what `mask` covers; at the identity pose it looks as it did."""
        ...


class Composition(Protocol):
    """A place into which renderings of one object are put."""

    def compose(self, renderings: Sequence[Rendering], poses: Sequence[Pose]) -> list[Pixels]:
        """One picture for each rendering; the same rendering gives the same picture in any company."""
        ...


class Composer(Protocol):
    """Puts an object back."""

    info: ModelInfo

    def prepare(self, original: Pixels, mask: Mask, background: Pixels) -> Composition:
        """What has to be known only once: how strong the light is, where the object stood."""
        ...


@dataclass(frozen=True, slots=True)
class Stages:
    """One implementation of each stage."""

    foreground: Foreground
    background: Background
    reconstruction: Reconstruction
    composer: Composer


@dataclass(frozen=True, slots=True)
class Manipulator:
    """One picture, taken apart: gives it again with its object in any pose (T of eq. 2)."""

    mask: Mask
    background: Pixels
    model: Model3D
    composition: Composition

    @classmethod
    def of(cls, stages: Stages, pixels: Pixels, mask: Mask, hole: Mask) -> Self:
        """Run the stages that come once a picture. `hole` is the mask with halo and cast shadow."""
        background = stages.background.complete(pixels, hole)
        return cls(
            mask,
            background,
            stages.reconstruction.build(pixels, mask),
            stages.composer.prepare(pixels, mask, background),
        )

    @property
    def box(self) -> Box:
        """The silhouette's box."""
        rows, columns = np.flatnonzero(self.mask.any(axis=1)), np.flatnonzero(self.mask.any(axis=0))
        left, top = int(columns[0]), int(rows[0])
        return left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1

    def pictures(self, poses: Sequence[Pose]) -> list[Pixels]:
        """X' = T(Theta, X) for each pose."""
        renderings = [self.model.render(pose) for pose in poses]
        return self.composition.compose(renderings, poses)
