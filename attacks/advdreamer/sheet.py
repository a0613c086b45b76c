"""The contact sheet of a run: what the stages made of each picture, and what the target saw in it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from PIL import Image, ImageDraw

from attacks.advdreamer.pose import Pose
from benchmark.gallery import font
from benchmark.types import Pixels, Record, Sample

SHOWN = 12
COLUMNS = (
    ("clean", "clean"),
    ("mask", "mask"),
    ("background", "background"),
    ("identity", "identity"),
    ("random/0", "random"),
    ("center", "center of p*"),
    ("true/center", "true object"),
)
"""Name of the picture among a record's artefacts -> heading."""

_SIDE, _GAP, _LINE, _TOP = 168, 12, 18, 76
_INK, _MUTED, _GOOD, _BAD, _PAPER, _LACKING = (
    "#1c2330", "#6b7484", "#0b7a4b", "#c02637", "#ffffff", "#eceff3",
)  # fmt: skip


def write_sheet(
    path: Path, title: str, records: Sequence[Record], samples: Iterable[Sample]
) -> bool:
    """Draw a row for each of up to twelve samples, of as many labels as there are.

    The pictures are read from the folder of `path`, where the run keeps them by their digests. Returns
    False, and writes nothing, if no sample has any.
    """
    chosen = {record.id: record for record in _spread(records)}
    if not chosen:
        return False
    clean: dict[str, Pixels] = {}
    for sample in samples:
        if sample.id in chosen and sample.image is not None:
            clean[sample.id] = sample.image.load()
        if len(clean) == len(chosen):
            break
    # Of a photograph nobody knows the true object.
    known = any("true/center" in record.artifacts for record in chosen.values())
    columns = [column for column in COLUMNS if known or column[0] != "true/center"]
    height = _SIDE + 2 * _LINE + _GAP
    size = (len(columns) * (_SIDE + _GAP) + _GAP, _TOP + len(chosen) * height)
    sheet = Image.new("RGB", size, _PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((_GAP, _GAP), title, _INK, font(20))
    for column, (_, heading) in enumerate(columns):
        draw.text((_left(column), _TOP - 24), heading, _MUTED, font(14))
    for row, record in enumerate(chosen.values()):
        _row(sheet, draw, _TOP + row * height, columns, record, clean.get(record.id), path.parent)
    path.parent.mkdir(exist_ok=True)
    sheet.save(path)
    return True


def _spread(records: Sequence[Record]) -> list[Record]:
    """One record of each label in turn, as many as are shown."""
    labels: dict[str, list[Record]] = {}
    for record in records:
        if "center" in record.artifacts:
            labels.setdefault(record.text, []).append(record)
    turns = [(turn, one) for group in labels.values() for turn, one in enumerate(group)]
    return [one for _, one in sorted(turns, key=lambda pair: pair[0])][:SHOWN]


def _row(
    sheet: Image.Image,
    draw: ImageDraw.ImageDraw,
    y: int,
    columns: Sequence[tuple[str, str]],
    record: Record,
    clean: Pixels | None,
    folder: Path,
) -> None:
    answers = cast("Mapping[str, Mapping[str, Any]]", record.found.get("answers", {}))
    for column, (name, _) in enumerate(columns):
        x = _left(column)
        picture = _picture(name, record, clean, folder)
        if picture is None:
            draw.rectangle((x, y, x + _SIDE, y + _SIDE), _LACKING)
        else:
            sheet.paste(_fitted(picture), (x, y))
        said = answers.get(name)
        if name == "clean":
            draw.text((x, y + _SIDE + 3), record.text, _INK, font(14))
        elif said is not None:
            text = said["answer"] or ("fooled" if said["fooled"] else "right")
            colour = _BAD if said["fooled"] else _GOOD
            draw.text((x, y + _SIDE + 3), str(text), colour, font(14))
        if name == "center" and "center" in record.found:
            pose = Pose.from_json(cast("Mapping[str, Any]", record.found["center"]))
            draw.text((x, y + _SIDE + 3 + _LINE), _words(pose), _MUTED, font(11))


def _picture(name: str, record: Record, clean: Pixels | None, folder: Path) -> Image.Image | None:
    if name == "clean":
        return None if clean is None else Image.fromarray(clean)
    path = folder / f"{record.artifacts.get(name, '')}.png"
    if not path.is_file():
        return None
    with Image.open(path) as image:
        return image.convert("RGB")


def _fitted(picture: Image.Image) -> Image.Image:
    """Scaled to the cell, in its middle."""
    scale = _SIDE / max(picture.size)
    width, height = (max(1, round(side * scale)) for side in picture.size)
    cell = Image.new("RGB", (_SIDE, _SIDE), _LACKING)
    scaled = picture.resize((width, height), Image.Resampling.LANCZOS)
    cell.paste(scaled, ((_SIDE - width) // 2, (_SIDE - height) // 2))
    return cell


def _words(pose: Pose) -> str:
    return (
        f"{pose.yaw_deg:+.0f} {pose.pitch_deg:+.0f} {pose.roll_deg:+.0f} deg,"
        f" {pose.dx:+.2f} {pose.dy:+.2f}, x{pose.scale:.2f}"
    )


def _left(column: int) -> int:
    return _GAP + column * (_SIDE + _GAP)
