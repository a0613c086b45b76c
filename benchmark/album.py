"""The pictures of one sample: the one that was decoded, and copies of those that were tried."""

import math
import tempfile
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from benchmark.cache import pixels_digest
from benchmark.types import Pixels

PICKED = "image"
"""The name of the picked candidate's picture among a record's artefacts."""

_IN_MEMORY = 8 * 2**20


@dataclass(frozen=True, slots=True)
class Decoded:
    """A picture that was decoded already. Read-only: an attack cannot change its input."""

    name: str
    pixels: Pixels

    def load(self) -> Pixels:
        """The pixels."""
        return self.pixels


class Album:
    """Copies of the pictures that were tried, in memory up to a limit and then in a file.

    A copy, because an attack may go on drawing into the array that it had scored.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._places: dict[int, tuple[int, tuple[int, ...]]] = {}

    def put(self, index: int, pixels: Pixels) -> None:
        """Keep a picture under `index`."""
        if self._file is None:
            self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)
        self._places[index] = (self._file.seek(0, 2), pixels.shape)
        self._file.write(np.ascontiguousarray(pixels).tobytes())

    def get(self, index: int) -> Pixels | None:
        """The picture kept under `index`, None if there is none."""
        if self._file is None or index not in self._places:
            return None
        offset, shape = self._places[index]
        self._file.seek(offset)
        return np.frombuffer(self._file.read(math.prod(shape)), dtype=np.uint8).reshape(shape)

    def close(self) -> None:
        """Let go of all pictures."""
        if self._file is not None:
            self._file.close()


def kept(name: str, pixels: Any) -> Pixels:
    """A copy of a picture that is to be an artefact called `name`.

    Raises:
        ValueError: The name is empty or taken, or `pixels` is not 8-bit RGB.
    """
    if not isinstance(name, str) or name in ("", PICKED):
        raise ValueError(
            f"a picture cannot be kept as {name!r:.80}: give it a name other than {PICKED!r}, "
            "which is the picked candidate's"
        )
    copy = np.array(pixels, order="C")
    pixels_digest(copy)
    return copy
