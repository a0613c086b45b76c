"""Pictures for the page: exact pixels as PNG while they fit, previews (and said to be) for the rest."""

import base64
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import islice

import numpy as np
from PIL import Image

from benchmark import registry
from benchmark.cache import pixels_digest
from benchmark.errors import UserError
from benchmark.records import ARTIFACTS
from benchmark.report.runs import RunView
from benchmark.types import ImageSource, Pixels, Record

BUDGET = 8_500_000
"""Bytes of pictures on a page, as they are written into it."""

PREVIEW_SIDE = 160
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as the page holds it. `is_exact`: pixel for pixel as the target was shown it."""

    uri: str
    width: int
    height: int
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """One picture of the page; those first in line are embedded exactly first."""

    key: tuple[str, str]
    pixels: Pixels


def originals(run: RunView, ids: Collection[str]) -> tuple[dict[str, Pixels], str]:
    """The pictures that samples had before the attack, and why some are missing ("": none is).

    They are rebuilt through the run's data set and must have the digest that the record has.
    """
    wanted = {id for id in ids if run.records[id].image_sha256}
    if not wanted:
        return {}, ""
    try:
        dataset = registry.create("datasets", run.config.dataset, run.config.dataset_settings)
        found: dict[str, Pixels] = {}
        unlike: list[str] = []
        for sample in islice(dataset, run.config.samples):
            if sample.id not in wanted or sample.image is None:
                continue
            pixels = _loaded(sample.image)
            if pixels is None or pixels_digest(pixels) != run.records[sample.id].image_sha256:
                unlike.append(sample.id)
            else:
                found[sample.id] = pixels
            if len(found) + len(unlike) == len(wanted):
                break
    except (UserError, OSError, ValueError, ImportError) as error:
        return {}, f"the data set {run.config.dataset} cannot be read here: {error}"
    if unlike:
        return found, (
            f"{_samples(len(unlike))} of the data set cannot be read or are not what the run had"
        )
    if missing := len(wanted) - len(found):
        return found, f"the data set no longer has {_samples(missing)}"
    return found, ""


def artefact(run: RunView, record: Record, name: str) -> Pixels | None:
    """The picture that a record keeps under `name`; None if it is gone or was changed."""
    digest = record.artifacts.get(name)
    if not isinstance(digest, str) or _DIGEST.fullmatch(digest) is None:
        return None
    try:
        with Image.open(run.path / ARTIFACTS / f"{digest}.png") as image:
            pixels = np.asarray(image.convert("RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    return pixels if pixels_digest(pixels) == digest else None


def embed(wanted: Sequence[Wanted], budget: int = BUDGET) -> Mapping[tuple[str, str], Picture]:
    """Write every picture as a data URI: exactly while `budget` lasts, else small and as JPEG."""
    exact = {one.key: _png(one.pixels) for one in wanted}
    left = budget - sum(len(uri) for uri in exact.values())
    found: dict[tuple[str, str], Picture] = {}
    # Those last in line give way first.
    for one in reversed(wanted):
        uri, is_exact = exact[one.key], True
        if left < 0:
            uri, is_exact = _preview(one.pixels), False
            left += len(exact[one.key]) - len(uri)
        height, width = one.pixels.shape[:2]
        found[one.key] = Picture(uri, width, height, is_exact)
    return found


def _loaded(image: ImageSource) -> Pixels | None:
    try:
        return image.load()
    except (OSError, ValueError):
        return None


def _samples(count: int) -> str:
    return "1 sample" if count == 1 else f"{count} samples"


def _png(pixels: Pixels) -> str:
    encoded = BytesIO()
    Image.fromarray(pixels).save(encoded, format="PNG", compress_level=9)
    return _uri("png", encoded)


def _preview(pixels: Pixels) -> str:
    image = Image.fromarray(pixels)
    image.thumbnail((PREVIEW_SIDE, PREVIEW_SIDE))
    encoded = BytesIO()
    image.save(encoded, format="JPEG", quality=80)
    return _uri("jpeg", encoded)


def _uri(kind: str, encoded: BytesIO) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(encoded.getvalue()).decode('ascii')}"
