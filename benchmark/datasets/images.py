"""Pictures on disk."""

import hashlib
import struct
import warnings
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from benchmark.types import Pixels

_BROKEN = (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error)
"""What PIL raises for files that are not, or not wholly, a picture."""


@dataclass(frozen=True, slots=True)
class ImageFile:
    """A picture in a file, decoded when it is needed."""

    path: Path

    @property
    def name(self) -> str:
        """The path, as it was given."""
        return str(self.path)

    def load(self) -> Pixels:
        """Decode it upright as RGB, shape (height, width, 3).

        Raises:
            OSError: The file is missing, truncated, no picture, or too large to be one in earnest.
        """
        return read_image(self.path)


def read_image(path: Path) -> Pixels:
    """Decode a picture: turned as its EXIF data says, RGB, transparency dropped.

    Raises:
        OSError: The file is missing, truncated, no picture, or too large to be one in earnest.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                return np.asarray(_rgb(ImageOps.exif_transpose(image)), dtype=np.uint8)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"image {path} does not exist: correct its path") from error
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        limit = Image.MAX_IMAGE_PIXELS
        raise OSError(f"image {path} has more than {limit} pixels: scale it down first") from error
    except UnidentifiedImageError as error:
        raise OSError(f"image {path} is not a picture that PIL can read: convert it") from error
    except _BROKEN as error:
        raise OSError(f"image {path} cannot be decoded ({error}): replace the file") from error


def sha256_of_rows(rows: Iterable[tuple[str, ...]]) -> str:
    """sha256 of a data set's ids, texts and file names, in order."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update("\x1f".join(row).encode() + b"\x1e")
    return digest.hexdigest()


def mean_words(captions: Iterable[str]) -> float:
    """Mean number of words between white space (MAC's L_D).

    Raises:
        ValueError: There are no captions.
    """
    counts = [len(caption.split()) for caption in captions]
    if not counts:
        raise ValueError("no captions, so no mean length")
    return sum(counts) / len(counts)


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I;16") or image.mode == "I":
        # PIL would clip 16-bit grey values at 255 and so whiten the picture.
        eight_bits = np.asarray(image).astype(np.uint32) >> 8
        return Image.fromarray(eight_bits.clip(0, 255).astype(np.uint8)).convert("RGB")
    if image.mode in ("P", "PA"):
        image = image.convert("RGBA")  # PIL warns where a palette has transparent entries
    return image.convert("RGB")
