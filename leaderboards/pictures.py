"""A PNG from a stranger: nothing is decoded before its size is known, and only pixels may be in it."""

import struct
import zlib
from collections.abc import Iterator
from io import BytesIO

import numpy as np
from PIL import Image

from benchmark.cache import pixels_digest
from leaderboards import limits

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct(">IIBBBBB")


class PictureError(ValueError):
    """Not a picture as a run keeps it; the message says why."""


def digest_of(data: bytes) -> str:
    """The digest of a picture's pixels: 8-bit RGB, at most `limits.SIDE` pixels a side.

    Raises:
        PictureError: It is another kind of file, damaged, or holds more than its pixels.
    """
    if not data.startswith(_SIGNATURE):
        raise PictureError("not a PNG")
    chunks = list(_chunks(data))
    names = [name for name, _ in chunks]
    if not names or names[0] != b"IHDR" or names[-1] != b"IEND" or names.count(b"IHDR") > 1:
        raise PictureError("not a PNG: it does not go from IHDR to IEND")
    if extra := sorted({name.decode("ascii", "replace") for name in names[1:-1]} - {"IDAT"}):
        raise PictureError(f"holds {', '.join(extra)} beside its pixels: save it plainly")
    if len(chunks[0][1]) != _HEADER.size or chunks[-1][1]:
        raise PictureError("not a PNG: its header is damaged")
    width, height, depth, colour, packing, filtering, interlaced = _HEADER.unpack(chunks[0][1])
    if not (1 <= width <= limits.SIDE and 1 <= height <= limits.SIDE):
        raise PictureError(
            f"is {width} x {height} pixels: from 1 to {limits.SIDE} a side are allowed"
        )
    if (depth, colour, packing, filtering, interlaced) != (8, 2, 0, 0, 0):
        raise PictureError("is not plain 8-bit RGB: runs keep nothing else")
    packed = b"".join(body for name, body in chunks if name == b"IDAT")
    _check_unpacked(packed, height * (1 + 3 * width))
    try:
        with Image.open(BytesIO(data), formats=["PNG"]) as image:
            return pixels_digest(np.asarray(image))
    except (OSError, ValueError, SyntaxError) as error:
        raise PictureError(f"is damaged: {error}") from error


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at < len(data):
        if at + 12 > len(data):
            raise PictureError("is cut off")
        (size,) = struct.unpack_from(">I", data, at)
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        end = at + 12 + size
        if end > len(data):
            raise PictureError("is cut off")
        if zlib.crc32(name + body) != struct.unpack_from(">I", data, end - 4)[0]:
            raise PictureError("is damaged: a checksum is wrong")
        yield name, body
        at = end
        if name == b"IEND":
            break
    if at < len(data):
        raise PictureError("has bytes after its end")


def _check_unpacked(packed: bytes, size: int) -> None:
    """The pixels unpack to exactly `size` bytes; no more than one further is ever unpacked."""
    unpacking = zlib.decompressobj()
    try:
        rows = unpacking.decompress(packed, size + 1)
    except zlib.error as error:
        raise PictureError(f"is damaged: {error}") from error
    if len(rows) != size or unpacking.unconsumed_tail or not unpacking.eof:
        raise PictureError("unpacks to another size than its header says")
    if unpacking.unused_data:
        raise PictureError("has bytes after its pixels")
