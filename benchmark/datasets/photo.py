"""One picture of one's own, what it shows, and where that is if one cares to say."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from benchmark.datasets.images import ImageFile, read_image, sha256_of_rows
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Sample

Box = tuple[int, int, int, int]


class PhotoDataset:
    """A data set of one sample: `photo:FILE`, with the label as its text.

    Settings:
        label: What the picture shows, a name of the label set.
        mask: A picture of the same size, white where the object is and black elsewhere.
        box: left,top,width,height of the object in pixels, instead of a mask.

    Raises:
        UserError: A file is missing, there is no label, the box is none, or there is a mask as well.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        self._path = Path(argument)
        if not argument or not self._path.is_file():
            raise UserError(f"no picture {argument!r}: give its file, --image FILE --label NAME")
        self._label = str(settings.get("label", "")).strip()
        if not self._label:
            raise UserError(f"picture {argument} has no label: say what it shows, --label NAME")
        mask, box = str(settings.get("mask", "")), str(settings.get("box", ""))
        if mask and box:
            raise UserError("a mask and a box are given: one of them is enough")
        self._mask = _mask(Path(mask)) if mask else None
        self._box = _box(box) if box else None
        shape = "" if self._mask is None else sha256(np.packbits(self._mask).tobytes()).hexdigest()
        digest = sha256_of_rows([(self._label, box, shape)] if shape else [(self._label, box)])
        self.info = ModelInfo(id=f"photo:{self._path.name}", weights=digest)

    def __iter__(self) -> Iterator[Sample]:
        name = self._path.name
        yield Sample(id=name, text=self._label, image=ImageFile(self._path), group=name)

    def __len__(self) -> int:
        return 1

    @property
    def mean_words(self) -> float:
        """Words of the label."""
        return float(len(self._label.split()))

    def outline(self, sample: Sample) -> npt.NDArray[np.bool_] | Box | None:
        """Where the object is: a mask of shape (height, width), a box, or None if nobody said."""
        del sample
        return self._box if self._mask is None else self._mask


def _mask(path: Path) -> npt.NDArray[np.bool_]:
    try:
        pixels = read_image(path)
    except OSError as error:
        raise UserError(f"mask: {error}") from error
    grey = np.asarray(Image.fromarray(pixels).convert("L"))
    return np.asarray(grey > 127)


def _box(text: str) -> Box:
    try:
        left, top, width, height = (int(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"box {text!r}: give left,top,width,height in whole pixels") from None
    if min(left, top) < 0 or min(width, height) < 1:
        raise UserError(f"box {text!r} holds nothing: give left,top,width,height in whole pixels")
    return left, top, width, height
