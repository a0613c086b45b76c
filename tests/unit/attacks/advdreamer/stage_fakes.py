"""Stages without any vision: the object is a bright box on a dark ground, and moves as it is told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from attacks.advdreamer.pose import Pose
from attacks.advdreamer.stages import Box, ForegroundError, Mask, Rendering
from benchmark.protocols import Dataset
from benchmark.types import ModelInfo, Pixels, Sample
from tests.fakes import FakeDataset

SIZE = 32
LABELS = ("cat", "dog", "cow")
INFO = ModelInfo("fake-stage")


@dataclass(frozen=True)
class BoxPicture:
    """A picture of a box, or of nothing at all."""

    name: str
    shade: int = 200
    size: int = SIZE

    def load(self) -> Pixels:
        pixels = np.full((self.size, self.size, 3), 40, np.uint8)
        low, high = self.size * 3 // 8, self.size * 5 // 8
        pixels[low:high, low:high] = self.shade
        return pixels


def samples(n: int) -> list[Sample]:
    return [
        Sample(f"s{i}", LABELS[i % 3], BoxPicture(f"box {i}", 180 + 5 * i), group=f"s{i}")
        for i in range(n)
    ]


@dataclass
class Threshold:
    info: ModelInfo = INFO
    boxes: list[Box | None] = field(default_factory=list)

    def cut(self, pixels: Pixels, label: str, box: Box | None = None) -> Mask:
        self.boxes.append(box)
        mask: Mask = pixels[..., 0] > 128
        if not mask.any():
            raise ForegroundError(f"no {label} stands out: give a mask or a box")
        return mask


class Flat:
    info = INFO

    def complete(self, pixels: Pixels, hole: Mask) -> Pixels:
        filled = pixels.copy()
        filled[hole] = np.median(pixels[~hole], axis=0)
        return filled


@dataclass(frozen=True)
class Sprite:
    """A box of one colour; yaw darkens it."""

    centre: tuple[float, float]
    half: float
    colour: npt.NDArray[np.float64]
    size: int

    def render(self, pose: Pose) -> Rendering:
        rows, columns = np.indices((self.size, self.size)) + 0.5
        x = columns - self.centre[0] - pose.dx * self.size
        y = rows - self.centre[1] + pose.dy * self.size
        inside = np.maximum(abs(x), abs(y)) <= self.half * pose.scale
        rgba = np.zeros((self.size, self.size, 4), np.float32)
        rgba[inside, :3] = self.colour / 255 * np.cos(np.radians(pose.yaw_deg) / 2)
        rgba[inside, 3] = 1
        return Rendering(rgba, np.where(inside, 100, np.inf).astype(np.float32))


class Sprites:
    info = INFO

    def build(self, pixels: Pixels, mask: Mask) -> Sprite:
        rows, columns = np.nonzero(mask)
        centre = (columns.mean() + 0.5, rows.mean() + 0.5)
        half = (columns.max() - columns.min() + 1) / 2
        return Sprite(centre, half, pixels[mask].mean(axis=0), len(pixels))


@dataclass(frozen=True)
class Pasted:
    background: Pixels

    def compose(self, renderings: Sequence[Rendering], poses: Sequence[Pose]) -> list[Pixels]:
        assert len(renderings) == len(poses)
        return [self._paste(rendering.rgba) for rendering in renderings]

    def _paste(self, rgba: npt.NDArray[np.float32]) -> Pixels:
        alpha = rgba[..., 3:]
        mixed = self.background * (1 - alpha) + 255 * rgba[..., :3] * alpha
        return np.asarray(mixed + 0.5).astype(np.uint8)


class Paste:
    info = INFO

    def prepare(self, original: Pixels, mask: Mask, background: Pixels) -> Pasted:
        return Pasted(background)


@dataclass
class LabelledData(FakeDataset):
    labels: tuple[str, ...] = LABELS


@dataclass
class Run:
    """A `RunContext` whose models are the stages above."""

    settings: Mapping[str, Any]
    dataset: Dataset = field(default_factory=lambda: LabelledData(samples(3)))
    seed: int = 0
    foreground: Threshold = field(default_factory=Threshold)

    def model(self, kind: str, spec: str) -> Any:
        assert spec == "fake"
        return {
            "foregrounds": self.foreground,
            "backgrounds": Flat(),
            "reconstructions": Sprites(),
            "composers": Paste(),
        }[kind]


@dataclass
class LeftIsBetter:
    """A target: the true label fits the less, the further right the box is and the smaller."""

    info: ModelInfo = field(default_factory=lambda: ModelInfo("left", weights="l"))

    def match(self, images: Sequence[Pixels], texts: Sequence[str]) -> npt.NDArray[np.float64]:
        return np.array([self._score(*pair) for pair in zip(images, texts, strict=True)])

    def _score(self, image: Pixels, text: str) -> float:
        bright = image[..., 0] > 90
        if "cat" not in text:
            return 0.25
        columns = np.nonzero(bright)[1]
        right = columns.mean() / image.shape[1] - 0.5 if len(columns) else 0.5
        return float(0.4 - 2 * right + 0.3 * (bright.mean() - 0.0625))


@dataclass
class LikesItLarge:
    """A naturalness model: the larger the box, the more natural."""

    info: ModelInfo = field(default_factory=lambda: ModelInfo("large", weights="n"))
    asked: int = 0

    def ask(self, items: Sequence[Pixels]) -> list[tuple[float, float]]:
        self.asked += len(items)
        shares = [float((item[..., 0] > 90).mean()) for item in items]
        return [(min(5.0, 1 + 20 * share), 3.0) for share in shares]


def settings(**changes: Any) -> dict[str, Any]:
    """A small attack by the fakes."""
    small = {
        "generations": 3,
        "population": 12,
        "shortlist": 6,
        "parents": 3,
        "draws": 4,
        "prompt": "{article} {label}",
        "naturalness": "fake",
        **dict.fromkeys(("foreground", "background", "reconstruction", "composer"), "fake"),
    }
    return small | changes


def cats(n: int) -> list[Sample]:
    """Samples of one label, which `LeftIsBetter` knows."""
    return [replace(sample, text="cat") for sample in samples(n)]
