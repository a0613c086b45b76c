from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from benchmark.cache import pixels_digest
from leaderboards.pictures import PictureError, digest_of
from tests.unit.leaderboards.drafts import chunk, png

PIXELS = np.arange(5 * 4 * 3, dtype=np.uint8).reshape(5, 4, 3)


def saved(mode: str = "RGB", kind: str = "PNG") -> bytes:
    data = BytesIO()
    Image.fromarray(PIXELS).convert(mode).save(data, kind)
    return data.getvalue()


def test_a_picture_as_runs_keep_it_has_its_digest() -> None:
    assert digest_of(saved()) == pixels_digest(PIXELS)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (saved(kind="JPEG"), "not a PNG"),
        (saved("L"), "not plain 8-bit RGB"),
        (saved("RGBA"), "not plain 8-bit RGB"),
        (saved()[:-20], "cut off|damaged"),
        (saved() + b"more", "bytes after its end"),
        (saved()[:40] + b"\0" + saved()[41:], "checksum is wrong"),
        (png(0, 5), "0 x 5 pixels"),
        (png(5, 100_000, b""), "5 x 100000 pixels"),
        (png(4, 4, b"\0" * 51), "another size"),
        (png(4, 4, b"\x09" + b"\0" * 51), "damaged|another size"),
        (png(4, 4, None, chunk(b"iCCP", b"x")), "holds iCCP"),
        (png(4, 4, None, chunk(b"acTL", b"\0" * 8)), "holds acTL"),
        (b"\x89PNG\r\n\x1a\n", "not a PNG"),
        (b"", "not a PNG"),
    ],
)
def test_anything_else_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(PictureError, match=reason):
        digest_of(data)


@given(st.binary(max_size=200))
def test_noise_is_refused(data: bytes) -> None:
    with pytest.raises(PictureError):
        digest_of(b"\x89PNG\r\n\x1a\n" + data)
