"""The embedded world as a data set: rendered scenes, each with the full caption."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from benchmark.datasets.images import mean_words
from benchmark.errors import UserError
from benchmark.toybox.captions import full_caption
from benchmark.toybox.render import SceneImage
from benchmark.toybox.sampling import SPLITS, sample_scene
from benchmark.types import JSON, ModelInfo, Sample

_FOR_MEAN = 1000
_FOR_DIGEST = 64


class ToyboxDataset:
    """Scenes of one split, in the order of their seeds; one caption a scene.

    Pictures are rendered one at a time when they are loaded (about 7 ms each at 64 px), so the first
    is there at once; starting worker processes takes longer than drawing some hundred pictures.

    Settings:
        split: "test" (default), "validation" or "train"; seeds of different splits differ.
        n: How many scenes; the whole split by default.
        px: Width and height of a picture, 64 by default.

    Raises:
        UserError: The split is unknown, or n or px cannot be used.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        self._split = str(argument or settings.get("split", "test"))
        if self._split not in SPLITS:
            raise UserError(f"split {self._split!r} is unknown: use {', '.join(SPLITS)}")
        whole = len(SPLITS[self._split])
        n = _count(settings, "n", whole, whole)
        self._px = _count(settings, "px", 64, 4096)
        self._seeds: Sequence[int] = SPLITS[self._split][:n]

    def __iter__(self) -> Iterator[Sample]:
        for seed in self._seeds:
            scene = sample_scene(seed)
            yield Sample(
                id=f"{self._split}/{seed}",
                text=full_caption(scene),
                image=SceneImage(scene, self._px),
                group=f"{self._split}/{seed}",
                scene=scene,
            )

    def __len__(self) -> int:
        return len(self._seeds)

    @cached_property
    def mean_words(self) -> float:
        """Over the first 1,000 captions of the split, whatever n: a limit must not depend on n."""
        seeds = SPLITS[self._split][:_FOR_MEAN]
        return mean_words(full_caption(sample_scene(seed)) for seed in seeds)

    @cached_property
    def info(self) -> ModelInfo:
        """`weights` hashes what the world makes of the first 64 seeds, and the first picture."""
        digest = hashlib.sha256(f"{self._split} {self._seeds!r} {self._px}\n".encode())
        for index, sample in enumerate(islice(self, _FOR_DIGEST)):
            digest.update(f"{sample.id} {sample.text} {sample.scene!r}\n".encode())
            if index == 0 and sample.image is not None:
                digest.update(sample.image.load().tobytes())
        return ModelInfo(id="toybox", revision=self._split, weights=digest.hexdigest())


def _count(settings: Mapping[str, JSON], key: str, default: int, most: int) -> int:
    value = settings.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise UserError(f"{key} {value!r} cannot be used: give a whole number from 1 to {most}")
    return value
