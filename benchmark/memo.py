"""Values of model calls: made once, in batches of one shape, remembered in memory and on disk."""

import struct
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from benchmark.cache import Cache, call_key, is_identified
from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Pixels

REMEMBERED = 16384
"""Values kept in memory for each kind of call; older ones are left to the cache on disk."""

V = TypeVar("V")
T = TypeVar("T")
Vector = npt.NDArray[np.float32]


@dataclass(slots=True)
class Counts:
    """Calls of one model: logical ones and physical ones.

    `asked` are the scores or replies that were wanted; the others are what was really computed and
    what the cache on disk had.
    """

    asked: int = 0
    images_encoded: int = 0
    texts_encoded: int = 0
    pairs_scored: int = 0
    replies_generated: int = 0
    pictures_painted: int = 0
    cache_hits: int = 0

    def to_json(self) -> dict[str, int]:
        """Plain data for run.json."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """How a value is stored in the cache."""

    encode: Callable[[T], bytes]
    decode: Callable[[bytes], T]


VECTOR: Codec[Vector] = Codec(
    lambda vector: vector.astype("<f4").tobytes(),
    lambda blob: np.frombuffer(blob, dtype="<f4"),
)
NUMBER: Codec[float] = Codec(
    lambda number: struct.pack("<f", number),
    lambda blob: float(struct.unpack("<f", blob)[0]),
)
TEXT: Codec[str] = Codec(
    lambda text: text.encode("utf-8", "surrogatepass"),
    lambda blob: blob.decode("utf-8", "surrogatepass"),
)


PICTURE: Codec[Pixels | None] = Codec(
    lambda pixels: b"" if pixels is None else _to_png(pixels),
    lambda blob: _from_png(blob) if blob else None,
)
"""None is a picture that the painter would not paint."""


class Memo(Generic[V]):
    """One kind of call of one model: least recently used values in memory, the cache behind."""

    def __init__(
        self,
        info: ModelInfo,
        cache: Cache | None,
        batch_size: int,
        remembered: int,
        counts: Counts,
        codec: Codec[V],
        *,
        journal: Cache | None = None,
    ) -> None:
        """`journal` takes the place of `cache` for a model that does not say which weights it has."""
        if batch_size < 1:
            raise UserError(f"batch size {batch_size} is too small: give 1 or more")
        self._info = info
        self._cache = cache if is_identified(info) else journal
        self._batch_size = batch_size
        self._remembered = remembered
        self._counts = counts
        self._codec = codec
        self._recent: OrderedDict[str, V] = OrderedDict()

    def key(self, kind: str, *parts: JSON) -> str:
        """The key of one call: its kind and its exact input."""
        return call_key(kind, self._info, *parts)

    def fetch(
        self, keys: Sequence[str], compute: Callable[[Sequence[int]], list[V]], counted: str
    ) -> list[V]:
        """The value of each key. `compute` makes those of some positions, `batch_size` at a time.

        `counted` names the count to raise by what was computed, padding not included.
        """
        position = {key: index for index, key in reversed(list(enumerate(keys)))}
        found = {key: self._recent[key] for key in position if key in self._recent}
        missing = [key for key in position if key not in found]
        if self._cache is not None and missing:
            for key, blob in self._cache.get_many(missing).items():
                found[key] = self._codec.decode(blob)
                self._counts.cache_hits += 1
            missing = [key for key in missing if key not in found]
        missing.sort(key=position.__getitem__)
        for start in range(0, len(missing), self._batch_size):
            batch = missing[start : start + self._batch_size]
            rows = [position[key] for key in batch]
            padding = [rows[-1]] * (self._batch_size - len(rows))
            values = dict(zip(batch, compute(rows + padding), strict=False))
            setattr(self._counts, counted, getattr(self._counts, counted) + len(batch))
            if self._cache is not None:
                self._cache.put_many(
                    {key: self._codec.encode(value) for key, value in values.items()}
                )
            found.update(values)
        for key, value in found.items():
            self._recent[key] = value
            self._recent.move_to_end(key)
        while len(self._recent) > self._remembered:
            self._recent.popitem(last=False)
        return [found[key] for key in keys]


def checked_texts(replies: Sequence[str], n: int, who: str, asked: str) -> list[str]:
    """A model's replies, checked to be one text for each of `n` things `asked`."""
    replies = list(replies)
    if len(replies) != n or not all(isinstance(reply, str) for reply in replies):
        raise ValueError(
            f"{who} returned {len(replies)} replies for {n} {asked}, expected one text for each"
        )
    return replies


def _to_png(pixels: Pixels) -> bytes:
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, format="PNG", compress_level=1)
    return buffer.getvalue()


def _from_png(blob: bytes) -> Pixels:
    with Image.open(BytesIO(blob)) as picture:
        return np.asarray(picture.convert("RGB"), dtype=np.uint8)
