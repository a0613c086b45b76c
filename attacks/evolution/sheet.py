"""The contact sheet of a run: final captions, their pictures, what the target said of them, the score."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from PIL import Image, ImageDraw

from attacks.evolution.concepts import words_in
from attacks.evolution.plots import in_order, title_of
from benchmark.answer_guards import words_of
from benchmark.gallery import font
from benchmark.toybox.grammar import parse
from benchmark.types import Record, Sample

COLUMNS = 5
FIRST = 25
"""Finals that are shown of evolution, or of the first search of a run without it."""
OTHERS = 5
"""Finals that are shown of each other search."""

_SIDE, _GAP, _LINE, _TEXT, _SMALL = 224, 22, 18, 14, 13
_CAPTION_LINES, _ANSWER_LINES = 8, 9
_INK, _MUTED, _GOOD, _BAD, _PAPER, _LACKING = (
    "#1c2330", "#5b6474", "#0b7a4b", "#c02637", "#ffffff", "#eceff3",
)  # fmt: skip

_WHERE = frozenset(("two", "three", "left", "right", "front", "behind"))

Words = list[tuple[str, bool]]
"""Words of a text, each with whether it is marked."""


@dataclass(frozen=True, slots=True)
class Search:
    """One search of the run, and which of its finals are shown."""

    record: Record
    shown: int

    @property
    def found(self) -> Mapping[str, Any]:
        """What it found."""
        return cast("Mapping[str, Any]", self.record.found)

    @property
    def finals(self) -> list[Mapping[str, Any]]:
        """The finals that are shown, the one described worst first, those without a score last."""
        finals = list(self.found["finals"])
        order = sorted(range(len(finals)), key=lambda n: _place(finals[n], n))
        return [finals[n] for n in order[: self.shown]]


def write_sheet(
    path: Path, title: str, records: Sequence[Record], samples: Iterable[Sample]
) -> bool:
    """Draw the first repeat of every search: 25 finals of evolution, five of each other one.

    The pictures are read from the folder of `path`, where the run keeps them by their digests. Returns
    False, and writes nothing, if no search has any.
    """
    del samples
    searches = chosen(records)
    if not searches:
        return False
    blocks = [(search, _rows(search, path.parent)) for search in searches]
    width = COLUMNS * (_SIDE + _GAP) + _GAP
    height = 64 + sum(62 + sum(row.height for row in rows) for _, rows in blocks)
    sheet = Image.new("RGB", (width, height), _PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((_GAP, 16), title, _INK, font(20))
    y = 60
    for search, rows in blocks:
        draw.text(
            (_GAP, y), title_of(str(search.found["search"])), _INK, font(18), stroke_width=0.3
        )
        draw.text((_GAP, y + 26), _summary(search.found), _MUTED, font(_TEXT))
        y += 56
        for row in rows:
            for column, tile in enumerate(row.tiles):
                tile.draw(sheet, draw, _GAP + column * (_SIDE + _GAP), y)
            y += row.height
        y += 6
    path.parent.mkdir(exist_ok=True)
    sheet.save(path)
    return True


def chosen(records: Sequence[Record]) -> list[Search]:
    """The first repeat of every search that found something, evolution first."""
    first: dict[str, Record] = {}
    for record in records:
        if record.found.get("finals") and any(
            name.startswith("final-") for name in record.artifacts
        ):
            first.setdefault(str(record.found["search"]), record)
    return [
        Search(first[name], FIRST if place == 0 else OTHERS)
        for place, name in enumerate(in_order(first))
    ]


def missed_words(caption: str, answer: str) -> tuple[Words, Words]:
    """The words of both texts: marked are those of the caption that the answer lacks, and the reverse.

    Words that only hold others together are never marked, nor do case and plural endings matter. Prose
    says much that a caption leaves out, so answers are marked in the embedded world only. Nothing is
    missed where there is no answer.
    """
    said, meant = _telling(answer), _telling(caption)
    is_closed = parse(caption) is not None
    return (
        [(word, bool(answer and _telling(word) - said)) for word in caption.split()],
        [(word, is_closed and bool(_telling(word) - meant)) for word in answer.split()],
    )


def _telling(text: str) -> frozenset[str]:
    """Words that say what is there, how often and where."""
    return words_in(text) | (_WHERE & set(words_of(text)))


def _place(final: Mapping[str, Any], position: int) -> tuple[bool, float, int]:
    fresh = final.get("capture_fresh")
    return fresh is None, 0.0 if fresh is None else float(fresh), position


def _summary(found: Mapping[str, Any]) -> str:
    finals = found["finals"]
    fresh = [float(one["capture_fresh"]) for one in finals if one.get("capture_fresh") is not None]
    selected = [value for one in finals if (value := _selected(one)) is not None]
    parts = [
        f"CAPTURE of {len(finals)} final captions on fresh pictures {_mean(fresh)}",
        f"as selected {_mean(selected)}",
        f"of random captions {_score(found['pool'].get('mean'))}",
    ]
    if found.get("evaluations"):
        parts.append(f"{found['evaluations']} evaluations")
    unscored = {k: n for k, n in found.get("counted", {}).items() if k != "scored" and n}
    parts += [f"{n} {status}" for status, n in unscored.items()]
    return ", ".join(parts)


def _selected(final: Mapping[str, Any]) -> float | None:
    """The mean score of the pictures that selection saw."""
    scores = final.get("scores") or [final.get("selected")]
    known = [float(score) for score in scores if score is not None]
    return sum(known) / len(known) if known else None


def _mean(values: Sequence[float]) -> str:
    return _score(sum(values) / len(values) if values else None)


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


@dataclass(frozen=True, slots=True)
class _Tile:
    """A final: its picture, its score, the caption, and the answer."""

    picture: Image.Image | None
    final: Mapping[str, Any]
    caption: list[Words]
    answer: list[Words]

    @classmethod
    def of(cls, final: Mapping[str, Any], record: Record, folder: Path) -> "_Tile":
        answer = final.get("answer")
        caption, said = missed_words(str(final["text"]), str(answer or ""))
        lines = _wrapped(said, _ANSWER_LINES)
        if not answer:
            lines = [[(str((final.get("fresh_status") or ["no answer"])[0]), False)]]
        picture = _picture(folder / f"{record.artifacts.get(str(final['picture']), '')}.png")
        return cls(picture, final, _wrapped(caption, _CAPTION_LINES), lines)

    @property
    def height(self) -> int:
        return _SIDE + 30 + _LINE * (len(self.caption) + len(self.answer) + 1) + _GAP

    def draw(self, sheet: Image.Image, draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
        if self.picture is None:
            draw.rectangle((x, y, x + _SIDE, y + _SIDE), _LACKING)
        else:
            sheet.paste(self.picture, (x, y))
        y += _SIDE + 6
        fresh = self.final.get("capture_fresh")
        draw.text((x, y), _score(fresh), _INK, font(15), stroke_width=0.3)
        selected = f"selected {_score(_selected(self.final))}"
        draw.text((x + _SIDE, y + 1), selected, _MUTED, font(_SMALL), anchor="ra")
        y += 24
        y = _written(draw, x, y, self.caption, _INK)
        draw.text((x, y + 2), "the target said", _MUTED, font(_SMALL))
        _written(draw, x, y + _LINE, self.answer, _MUTED)


@dataclass(frozen=True, slots=True)
class _Row:
    tiles: Sequence[_Tile]

    @property
    def height(self) -> int:
        return max(tile.height for tile in self.tiles)


def _rows(search: Search, folder: Path) -> list[_Row]:
    tiles = [_Tile.of(final, search.record, folder) for final in search.finals]
    return [_Row(tiles[i : i + COLUMNS]) for i in range(0, len(tiles), COLUMNS)]


def _picture(path: Path) -> Image.Image | None:
    """A picture scaled to the cell, in its middle; None where none was kept."""
    if not path.is_file():
        return None
    with Image.open(path) as image:
        rgb = image.convert("RGB")
    scale = _SIDE / max(rgb.size)
    size = (max(1, round(rgb.width * scale)), max(1, round(rgb.height * scale)))
    cell = Image.new("RGB", (_SIDE, _SIDE), _LACKING)
    at = ((_SIDE - size[0]) // 2, (_SIDE - size[1]) // 2)
    cell.paste(rgb.resize(size, Image.Resampling.BICUBIC), at)
    return cell


def _written(draw: ImageDraw.ImageDraw, x: float, y: int, lines: Sequence[Words], ink: str) -> int:
    """Write lines, marked words in red; returns where the next line would be."""
    for line in lines:
        left = float(x)
        for word, marked in line:
            stroke = 0.3 if marked else 0.0
            draw.text((left, y), word, _BAD if marked else ink, font(_TEXT), stroke_width=stroke)
            left += font(_TEXT).getlength(word + " ")
        y += _LINE
    return y


def _wrapped(words: Words, most: int) -> list[Words]:
    """The words in lines as wide as a picture; what needs more than `most` lines is cut."""
    lines: list[Words] = [[]]
    left = 0.0
    for word, marked in words:
        shown = word if font(_TEXT).getlength(word) <= _SIDE else f"{word[:24]}…"
        width = font(_TEXT).getlength(shown + " ")
        if lines[-1] and left + width > _SIDE:
            if len(lines) == most:
                lines[-1].append(("…", False))
                break
            lines.append([])
            left = 0.0
        lines[-1].append((shown, marked))
        left += width
    return lines
