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
_SIDE, _GAP, _LINE = 264, 24, 20
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
    tiles = [_Tile(record, found[record.id]) for record in shown]
    rows = [tiles[i : i + _COLUMNS] for i in range(0, len(tiles), _COLUMNS)]
    heights = [max(tile.height for tile in row) + _GAP for row in rows]
    width = min(_COLUMNS, len(tiles)) * (_SIDE + _GAP) + _GAP
    sheet = Image.new("RGB", (width, 2 * _GAP + 14 + sum(heights)), color=_PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((_GAP, _GAP - 6), title, _INK, font(20))
    y = 2 * _GAP + 14
    for row, height in zip(rows, heights, strict=True):
        for i, tile in enumerate(row):
            tile.draw(sheet, draw, _GAP + i * (_SIDE + _GAP), y)
        y += height
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


class _Tile:
    """A picture with the true caption and the preferred one below it."""

    def __init__(self, record: Record, pixels: Pixels) -> None:
        known_false = record.verdicts.get("false_of_image") is True
        label = "preferred, but false" if known_false else "preferred instead"
        before, after = changed_words(record.text, record.adversarial_text or "")
        self._picture = _fitted(pixels)
        self._captions = (
            ("true", record.clean_score, _lines(before), _GOOD),
            (label, record.score, _lines(after), _BAD),
        )
        self.height = self._picture.height + sum(
            _LINE * (1 + len(lines)) + 10 for _, _, lines, _ in self._captions
        )

    def draw(self, sheet: Image.Image, draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
        sheet.paste(self._picture, (x, y))
        y += self._picture.height + 8
        for label, score, lines, colour in self._captions:
            draw.text((x, y), label, _MUTED, font(13))
            if score is not None:
                draw.text((x + _SIDE, y), f"{score:.4f}", colour, font(14), anchor="ra")
            for line in lines:
                y += _LINE
                left = float(x)
                for word, changed in line:
                    ink, stroke = (colour, 0.4) if changed else (_INK, 0)
                    draw.text((left, y), word, ink, font(15), stroke_width=stroke)
                    left += font(15).getlength(word + " ")
            y += _LINE + 8


def _fitted(pixels: Pixels) -> Image.Image:
    picture = Image.fromarray(pixels)
    scale = _SIDE / max(picture.size)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    return picture.resize(size, Image.Resampling.BICUBIC)


def _lines(words: list[tuple[str, bool]]) -> list[list[tuple[str, bool]]]:
    """The words wrapped to the width of a picture; what needs more than four lines is cut."""
    lines: list[list[tuple[str, bool]]] = [[]]
    left = 0.0
    for word, changed in words:
        width = font(15).getlength(word[:80] + " ")
        if lines[-1] and left + width > _SIDE:
            if len(lines) == _TEXT_LINES:
                lines[-1].append(("...", False))
                break
            lines.append([])
            left = 0.0
        lines[-1].append((word[:80], changed))
        left += width
    return lines


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The one that sheets are written with, which Pillow brings along."""
    return ImageFont.load_default(size)
