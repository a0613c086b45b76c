"""The embedded world as a data set: rendered scenes, each with the full caption."""

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import count, islice

from benchmark.datasets.images import mean_words
from benchmark.errors import UserError
from benchmark.toybox.captions import full_caption
from benchmark.toybox.render import SceneImage
from benchmark.toybox.sampling import KINDS, SPLITS, sample_scene
from benchmark.toybox.scene import Scene
from benchmark.toybox.words import CLASSES
from benchmark.types import JSON, ModelInfo, Sample

_FOR_MEAN = 1000
_FOR_DIGEST = 64

_BALANCED = 0.9
"""Share of a split that can be had with every class equally often: chance gives no class 10 % less."""


class ToyboxDataset:
    """Scenes of one split, in the order of their seeds; one caption a scene.

    Pictures are rendered one at a time when they are loaded (about 7 ms each at 64 px), so the first
    is there at once; starting worker processes takes longer than drawing some hundred pictures.

    Settings:
        split: "test" (default), "validation" or "train"; seeds of different splits differ.
        n: How many scenes; the whole split by default.
        px: Width and height of a picture, 64 by default.
        kind: "single", "pair", "triple", "counted", or "any" (default) of them, drawn by chance.
        labels: The text of a sample is its object's class instead of a caption; single scenes only.
        balanced: Classes take turns, so that the first 20 n samples have n of each; single scenes
            only. Seeds are taken in order, none twice.

    Raises:
        UserError: The split or kind is unknown, n or px cannot be used, or labels or balance are
            asked of scenes with several objects.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        self._split = str(argument or settings.get("split", "test"))
        if self._split not in SPLITS:
            raise UserError(f"split {self._split!r} is unknown: use {', '.join(SPLITS)}")
        kind = str(settings.get("kind", "any"))
        if kind != "any" and kind not in KINDS:
            raise UserError(f"kind {kind!r} is unknown: use any, {', '.join(KINDS)}")
        self._kind = None if kind == "any" else kind
        self._labelled = bool(settings.get("labels", False))
        self._balanced = bool(settings.get("balanced", False))
        for key, wanted in (("labels", self._labelled), ("balanced", self._balanced)):
            if wanted and kind != "single":
                raise UserError(
                    f"{key} = true needs scenes of one object: set dataset.kind=single as well"
                )
        whole = len(SPLITS[self._split])
        if self._balanced:
            whole = int(_BALANCED * whole)
        self._n = _count(settings, "n", whole, whole)
        self._px = _count(settings, "px", 64, 4096)
        self.labels: tuple[str, ...] = CLASSES if self._labelled else ()
        self.info = self._info()

    def __iter__(self) -> Iterator[Sample]:
        for scene in islice(self._scenes(), self._n):
            yield Sample(
                id=f"{self._split}/{scene.seed}",
                text=self._text(scene),
                image=SceneImage(scene, self._px),
                group=f"{self._split}/{scene.seed}",
                scene=scene,
            )

    def __len__(self) -> int:
        return self._n

    def _text(self, scene: Scene) -> str:
        return scene.objects[0].cls if self._labelled else full_caption(scene)

    def _scenes(self) -> Iterator[Scene]:
        scenes = (sample_scene(seed, self._kind) for seed in SPLITS[self._split])
        if not self._balanced:
            yield from scenes
            return
        waiting: dict[str, deque[Scene]] = {name: deque() for name in CLASSES}
        for turn in count():
            queue = waiting[CLASSES[turn % len(CLASSES)]]
            while not queue:
                scene = next(scenes, None)
                if scene is None:
                    return
                waiting[scene.objects[0].cls].append(scene)
            yield queue.popleft()

    @cached_property
    def mean_words(self) -> float:
        """Over the first 1,000 texts of the split, whatever n: a limit must not depend on n."""
        seeds = SPLITS[self._split][:_FOR_MEAN]
        return mean_words(self._text(sample_scene(seed, self._kind)) for seed in seeds)

    def _info(self) -> ModelInfo:
        """`weights` hashes what the world makes of the first 64 seeds, and the first picture."""
        # Spelt as in earlier versions, so that what is as it was keeps its hash.
        seeds = SPLITS[self._split][: self._n]
        digest = hashlib.sha256(f"{self._split} {seeds!r} {self._px}\n".encode())
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
