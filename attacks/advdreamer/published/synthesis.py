"""Pictures from text: a tool that paints prompts, and a data set of scenes of which nothing was ever seen.

A synthetic scene is an object painted on a plain ground and cut out, in a place painted without it. Both
are made from text, so its mask is known and its background needs no guess where the object was put.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from attacks.advdreamer.published.hub import read
from attacks.advdreamer.published.painting import BlackedOutError, Painter, PaintSettings
from attacks.advdreamer.stages import Foreground, ForegroundError, Mask
from benchmark import registry
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Pixels, Sample

_TRIES = 3
"""Objects that cannot be cut out, at the border for example, are painted again so often."""
_TALLEST = 0.75
"""Of the frame, that an object may take up."""


@dataclass(frozen=True, slots=True)
class TextSettings(PaintSettings):
    """See `PaintSettings`. px: Height and width of a picture."""

    model: str = "stable-diffusion-v1-5/stable-diffusion-v1-5"
    px: int = 512


PAINTERS: dict[str, dict[str, JSON]] = {
    "flux-dev": {
        "model": "black-forest-labs/FLUX.1-dev",
        "dtype": "bfloat16",
        "px": 1024,
        "side": 1024,
        "steps": 50,
        "guidance": 3.5,
    },
    "sd3.5": {
        "model": "stabilityai/stable-diffusion-3.5-large",
        "dtype": "bfloat16",
        "px": 1024,
        "side": 1024,
        "steps": 28,
        "guidance": 3.5,
    },
    "sd1.5": {
        "model": "stable-diffusion-v1-5/stable-diffusion-v1-5",
        "px": 512,
        "side": 512,
        "steps": 50,
        "guidance": 7.5,
    },
}
"""Short names for models with the settings in general use; any of them can be given another value."""


class TextToImage:
    """A tool that paints prompts: `text_to_image:MODEL`, with a repository or one of `PAINTERS`.

    `text_to_image:flux-dev,offload=model,quantisation=4bit` paints on a GPU of 16 GB.

    Raises:
        UserError: A setting cannot be used, or the model makes no pictures from text or cannot be loaded.
    """

    info: ModelInfo

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        name, _, rest = argument.partition(",")
        if name in PAINTERS:
            argument, settings = rest, {**PAINTERS[name], **settings}
        self._settings = read(TextSettings, argument, settings)
        if self._settings.px < 16:
            raise UserError(f"px = {self._settings.px}: give at least 16 pixels")
        self._painter = Painter(self._settings, "text", "text_to_image")
        self.info = self._painter.info

    def paint(self, texts: Sequence[str], seeds: Sequence[int]) -> list[Pixels | None]:
        """One picture (px, px, 3) of each text, None where the safety checker blacked it out."""
        return [self._painted(text, seed) for text, seed in zip(texts, seeds, strict=True)]

    def _painted(self, text: str, seed: int) -> Pixels | None:
        px = self._settings.px
        try:
            return self._painter.from_text(text, px, px, seed)
        except BlackedOutError:
            return None

    def ask(self, items: Sequence[str | tuple[str, int]]) -> list[Pixels]:
        """One picture (px, px, 3) for each item, a prompt or a pair (prompt, seed).

        Raises:
            BlackedOutError: The pipeline's safety checker blacked a picture out.
        """
        px, seed = self._settings.px, self._settings.seed
        asked = [(item, seed) if isinstance(item, str) else item for item in items]
        return [self._painter.from_text(prompt, px, px, one) for prompt, one in asked]


@dataclass(frozen=True, slots=True)
class SceneSettings(TextSettings):
    """See `TextSettings`.

    classes: What is to be seen: "cat, dog, ..." or a file with one label a line.
    samples: How many scenes, the classes in turn.
    foreground: What cuts the object out; one of `list foregrounds`.
    object_prompt: What {label} is made into.
    places: Where it may be, with | between them.
    """

    classes: str = ""
    samples: int = 100
    foreground: str = "grounded_sam"
    object_prompt: str = "a photo of one whole {label}, centred, on a plain white background"
    places: str = (
        "a photo of an empty meadow|a photo of an empty street|a photo of an empty beach"
        "|a photo of an empty room with a wooden floor|a photo of an empty snowy field"
    )


@dataclass(frozen=True, slots=True)
class SyntheticScene:
    """An object in a place, both made from text."""

    picture: Pixels
    mask: Mask
    background: Pixels


@dataclass(frozen=True, slots=True)
class _LazyPicture:
    """A picture that is painted when it is needed."""

    scenes: "SyntheticScenes"
    index: int

    @property
    def name(self) -> str:
        """What it is a picture of, and which."""
        return f"synthetic/{self.scenes.label(self.index)}/{self.index}"

    def load(self) -> Pixels:
        """The pixels, shape (px, px, 3)."""
        return self.scenes.scene(self.index).picture


class SyntheticScenes:
    """A data set of synthetic scenes: `synthetic:MODEL`, with the label as the text.

    Raises:
        UserError: There are no classes, a setting cannot be used, or a model cannot be loaded.
    """

    info: ModelInfo

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        chosen = self._settings = read(SceneSettings, argument, settings)
        self.labels = _classes(chosen.classes)
        self._places = [place.strip() for place in chosen.places.split("|") if place.strip()]
        if "{label}" not in chosen.object_prompt or not self._places:
            raise UserError("object_prompt needs {label} in it, and places at least one place")
        self._painter = Painter(chosen, "text", "synthetic")
        self._foreground: Foreground = registry.create("foregrounds", chosen.foreground, settings)
        made = f"{self._painter.info.preprocessing} cut out by {self._foreground.info}"
        self.info = replace(self._painter.info, preprocessing=made)
        # A sample is read for its picture, then for its mask.
        self._made = lru_cache(maxsize=4)(self._make)

    def __iter__(self) -> Iterator[Sample]:
        for index in range(len(self)):
            picture = _LazyPicture(self, index)
            yield Sample(id=picture.name, text=self.label(index), image=picture, group=picture.name)

    def __len__(self) -> int:
        return self._settings.samples

    @property
    def mean_words(self) -> float:
        """Mean number of words of the labels."""
        return float(np.mean([len(label.split()) for label in self.labels]))

    def label(self, index: int) -> str:
        """What the scene of that number shows."""
        return self.labels[index % len(self.labels)]

    def outline(self, sample: Sample) -> NDArray[np.bool_]:
        """The object's mask (px, px).

        Raises:
            ForegroundError: What was painted for the label could not be cut out.
        """
        return self.scene(int(sample.id.rsplit("/", 1)[1])).mask

    def scene(self, index: int) -> SyntheticScene:
        """The scene of that number, the same every time.

        Raises:
            ForegroundError: What was painted for the label could not be cut out.
        """
        return self._made(index)

    def _make(self, index: int) -> SyntheticScene:
        chosen, label = self._settings, self.label(index)
        rng = np.random.default_rng([chosen.seed, index])
        place = self._places[int(rng.integers(len(self._places)))]
        background = self._painted(place, int(rng.integers(2**31)))
        reason = ""
        for _ in range(_TRIES):
            seed = int(rng.integers(2**31))
            cutting = self._painted(chosen.object_prompt.replace("{label}", label), seed)
            try:
                mask = self._foreground.cut(cutting, label)
            except ForegroundError as error:
                reason = str(error)
                continue
            return placed(cutting, mask, background, rng)
        raise ForegroundError(f"no {label!r} could be cut out in {_TRIES} tries: {reason}")

    def _painted(self, prompt: str, seed: int) -> Pixels:
        return self._painter.from_text(prompt, self._settings.px, self._settings.px, seed)


def placed(
    cutting: Pixels, mask: Mask, background: Pixels, rng: np.random.Generator
) -> SyntheticScene:
    """An object put into a place: 40 to 60 % of the frame, its lowest point at 75 to 90 % of the height.

    Args:
        cutting: A picture of the object.
        mask: Where in it the object is.
        background: The place, of any size.
        rng: For size and position.
    """
    height, width = background.shape[:2]
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    box = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
    wanted = float(rng.uniform(0.4, 0.6)) * min(height, width)
    factor = wanted / np.sqrt((box[2] - box[0]) * (box[3] - box[1]))
    factor = min(
        factor, _TALLEST * height / (box[3] - box[1]), _TALLEST * width / (box[2] - box[0])
    )
    size = tuple(max(1, round(factor * (box[i + 2] - box[i]))) for i in (0, 1))
    # Premultiplied, so that the plain ground does not shine through at the edge.
    premultiplied = (cutting * mask[..., None]).astype(np.uint8)
    colours, share = (
        np.asarray(Image.fromarray(part).crop(box).resize(size, Image.Resampling.BOX), np.float32)
        for part in (premultiplied, mask.astype(np.uint8) * 255)
    )
    bottom = round(float(rng.uniform(0.75, 0.9)) * height)
    top = max(1, bottom - size[1])
    left = round(float(rng.uniform(0.15, 0.85)) * (width - size[0] - 2)) + 1
    alpha = np.zeros((height, width, 1), np.float32)
    pasted = np.zeros((height, width, 3), np.float32)
    part = slice(top, top + size[1]), slice(left, left + size[0])
    alpha[part] = share[..., None] / 255
    pasted[part] = colours
    picture = np.clip(background * (1 - alpha) + pasted + 0.5, 0, 255).astype(np.uint8)
    return SyntheticScene(picture, alpha[..., 0] > 0.5, background)


def _classes(text: str) -> tuple[str, ...]:
    if not text.strip():
        raise UserError(
            'a synthetic data set needs classes: give "cat, dog, ..." or a file of labels'
        )
    path = Path(text)
    listed = text.split(",") if "," in text or not path.is_file() else path.read_text().splitlines()
    return tuple(dict.fromkeys(label.strip() for label in listed if label.strip()))
