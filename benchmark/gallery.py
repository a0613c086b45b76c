"""A picture of a run: samples that fooled the target, with the words that changed.

For attacks on captions. `sheet.png` is written beside the table, so that a person can look before reading.
"""

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from benchmark.types import Pixels, Record, Sample

SHOWN = 8
_COLUMNS = 4
_SIDE, _GAP, _LINE = 264, 24, 21
_TEXT_LINES = 4
_INK, _MUTED, _GOOD, _BAD, _PAPER = "#1c2330", "#6b7484", "#0b7a4b", "#c02637", "#ffffff"


def write_sheet(
    path: Path, title: str, records: Sequence[Record], samples: Iterable[Sample]
) -> bool:
    """Draw up to eight successes; returns False, and writes nothing, if there are none.

    The successes are spread evenly over the kinds of edit (`operation_found`), first come first.
    `samples` is the data set: only the pictures that are shown are loaded.
    """
    chosen = {record.id: record for record in _spread(records)}
    if not chosen:
        return False
    found: dict[str, Pixels] = {}
    for sample in samples:
        if sample.id in chosen and sample.image is not None:
            found[sample.id] = sample.image.load()
        if len(found) == len(chosen):
            break
    shown = [record for record in chosen.values() if record.id in found]
    if not shown:
        return False
    rows = -(-len(shown) // _COLUMNS)
    columns = min(_COLUMNS, len(shown))
    height = _SIDE + 2 * _TEXT_LINES * _LINE + 3 * _LINE + _GAP
    sheet = Image.new(
        "RGB", (columns * (_SIDE + _GAP) + _GAP, rows * height + 3 * _GAP), color=_PAPER
    )
    draw = ImageDraw.Draw(sheet)
    draw.text((_GAP, _GAP - 6), title, _INK, _font(20))
    for i, record in enumerate(shown):
        x = _GAP + (i % _COLUMNS) * (_SIDE + _GAP)
        y = 2 * _GAP + 12 + (i // _COLUMNS) * height
        _tile(sheet, draw, x, y, found[record.id], record)
    sheet.save(path)
    return True


def changed_words(before: str, after: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """The words of both texts, each with whether it is one of those that differ."""
    a, b = before.split(), after.split()
    kept_a, kept_b = set[int](), set[int]()
    for block in SequenceMatcher(a=a, b=b, autojunk=False).get_matching_blocks():
        kept_a |= set(range(block.a, block.a + block.size))
        kept_b |= set(range(block.b, block.b + block.size))
    return (
        [(word, i not in kept_a) for i, word in enumerate(a)],
        [(word, i not in kept_b) for i, word in enumerate(b)],
    )


def _spread(records: Sequence[Record]) -> Iterator[Record]:
    """Successes in turns: one of each kind of edit, then a second one of each, ..."""
    kinds: dict[str, list[Record]] = {}
    for record in records:
        if record.status == "success" and record.adversarial_text is not None:
            kind = str(record.perturbation.get("operation_found", ""))
            kinds.setdefault(kind, []).append(record)
    turns = ((i, record) for group in kinds.values() for i, record in enumerate(group))
    yield from (record for _, record in islice(sorted(turns, key=lambda t: t[0]), SHOWN))


def _tile(
    sheet: Image.Image, draw: ImageDraw.ImageDraw, x: int, y: int, pixels: Pixels, record: Record
) -> None:
    picture = Image.fromarray(pixels)
    small = max(picture.size) < _SIDE
    picture.thumbnail((_SIDE, _SIDE), Image.Resampling.LANCZOS)
    if small:
        scale = _SIDE / max(picture.size)
        size = (round(picture.width * scale), round(picture.height * scale))
        picture = picture.resize(size, Image.Resampling.BICUBIC)
    sheet.paste(picture, (x, y))
    before, after = changed_words(record.text, record.adversarial_text or "")
    y += _SIDE + 6
    y = _caption(draw, x, y, "true", record.clean_score, before, _GOOD)
    _caption(draw, x, y + 4, "preferred, but false", record.score, after, _BAD)


def _caption(
    draw: ImageDraw.ImageDraw,
    x: int,
    y: int,
    label: str,
    score: float | None,
    words: list[tuple[str, bool]],
    colour: str,
) -> int:
    """Draw a label with the score and the words below it, wrapped; returns the y below."""
    draw.text((x, y), label, _MUTED, _font(13))
    if score is not None:
        draw.text((x + _SIDE, y), f"{score:.4f}", colour, _font(14), anchor="ra")
    y += _LINE - 2
    left, lines = x, 1
    for word, changed in words:
        font = _font(15)
        width = draw.textlength(word + " ", font)
        if left + width > x + _SIDE:
            left, y, lines = x, y + _LINE - 2, lines + 1
            if lines > _TEXT_LINES:
                draw.text((left, y - _LINE + 2), "...", _MUTED, font)
                break
        draw.text((left, y), word, colour if changed else _INK, font, stroke_width=0.4 * changed)
        left += round(width)
    return y + _LINE + 4


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
