"""A contact sheet of the embedded world: pictures with their captions, and all data behind them."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from benchmark.toybox.captions import full_caption
from benchmark.toybox.grammar import generate
from benchmark.toybox.render import render_many
from benchmark.toybox.sampling import scenes

_COLUMNS = 8
_MARGIN = 24
_GAP = 14
_LINES = 4
_SAMPLES = 3
"""Rays a pixel along each side: these pictures are for people, so their edges are smoother."""


def write_world(out: Path, n: int = 48, split: str = "test", px: int = 192) -> Path:
    """Draws the first n scenes of a split into a folder, which is made if it does not exist.

    The folder then holds `sheet.png`, one `<seed>.png` a scene, and `manifest.json`: a list with
    `seed`, `file`, `caption` (the data set's), `facts` (all that is so, in words) and `scene` each.

    Returns:
        The path of the sheet.

    Raises:
        ValueError: If n or px is below 1, or there is no such split.
    """
    if n < 1 or px < 1:
        raise ValueError(f"n={n}, px={px}: a sheet needs at least 1 of each")
    chosen = scenes(split, n)
    pictures = render_many(chosen, px, _SAMPLES)
    captions = [full_caption(scene) for scene in chosen]
    out.mkdir(parents=True, exist_ok=True)
    manifest = []
    for scene, picture, caption in zip(chosen, pictures, captions, strict=True):
        file = f"{scene.seed}.png"
        Image.fromarray(picture).save(out / file)
        manifest.append(
            {
                "seed": scene.seed,
                "file": file,
                "caption": caption,
                "facts": generate(scene.facts),
                "scene": asdict(scene),
            }
        )
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    sheet = out / "sheet.png"
    contact_sheet(pictures, captions).save(sheet)
    return sheet


def contact_sheet(
    pictures: NDArray[np.uint8], captions: Sequence[str], columns: int = _COLUMNS
) -> Image.Image:
    """Pictures of shape (n, px, px, 3) in rows, each with its caption below."""
    n, px = pictures.shape[:2]
    columns = min(columns, n)
    rows = -(-n // columns)
    points = max(9.0, px / 13.5)
    font = ImageFont.load_default(points)
    line = round(points * 1.25)
    height = px + 6 + _LINES * line
    size = (
        2 * _MARGIN + columns * px + (columns - 1) * _GAP,
        2 * _MARGIN + rows * height + (rows - 1) * _GAP,
    )
    sheet = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(sheet)
    for i, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        x = _MARGIN + i % columns * (px + _GAP)
        y = _MARGIN + i // columns * (height + _GAP)
        sheet.paste(Image.fromarray(picture), (x, y))
        for k, text in enumerate(_wrapped(caption, px, font)):
            draw.text((x, y + px + 6 + k * line), text, fill=(40, 40, 40), font=font)
    return sheet


def _wrapped(
    text: str, width: int, font: ImageFont.FreeTypeFont | ImageFont.ImageFont
) -> list[str]:
    """The text in lines no wider than `width` pixels; what does not fit ends in an ellipsis."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    if len(lines) > _LINES:
        last = lines[_LINES - 1]
        while last and font.getlength(last + " …") > width:
            last = last.rpartition(" ")[0]
        lines = [*lines[: _LINES - 1], f"{last} …".strip()]
    return lines
