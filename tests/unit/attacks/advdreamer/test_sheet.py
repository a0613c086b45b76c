from pathlib import Path

import numpy as np
from PIL import Image

from attacks.advdreamer.pose import Pose
from attacks.advdreamer.sheet import COLUMNS, SHOWN, write_sheet
from benchmark.types import JSON, Pixels, Record
from tests.unit.attacks.advdreamer.stage_fakes import samples

CELL = 168


def kept(folder: Path, index: int, names: tuple[str, ...]) -> dict[str, str]:
    """Pictures of one shade each on disk, by name."""
    folder.mkdir(exist_ok=True)
    digests = {}
    for place, name in enumerate(names):
        digest = f"{index}-{place}"
        shade: Pixels = np.full((16, 16, 3), 60 + 20 * place, np.uint8)
        Image.fromarray(shade).save(folder / f"{digest}.png")
        digests[name] = digest
    return digests


def records(folder: Path, n: int, names: tuple[str, ...]) -> list[Record]:
    answers: dict[str, JSON] = {
        name: {"fooled": name == "center", "answer": "dog" if name == "center" else "cat"}
        for name in ("identity", "random/0", "center")
    }
    return [
        Record(
            id=sample.id,
            group=sample.id,
            status="success",
            text=sample.text,
            artifacts=kept(folder, index, names),
            found={"answers": answers, "center": Pose(yaw_deg=30).to_json()},
        )
        for index, sample in enumerate(samples(n))
    ]


def opened(path: Path) -> Pixels:
    with Image.open(path) as image:
        return np.array(image)


def cell(sheet: Pixels, row: int, column: int) -> Pixels:
    """The middle of a cell, as a colour."""
    middle: Pixels = sheet[76 + row * 216 + CELL // 2, 12 + column * 180 + CELL // 2]
    return middle


def test_every_column_shows_its_picture(tmp_path: Path) -> None:
    names = tuple(name for name, _ in COLUMNS[1:])
    path = tmp_path / "artifacts" / "sheet.png"
    assert write_sheet(path, "a title", records(path.parent, 2, names), samples(2))
    sheet = opened(path)
    assert sheet.shape == (76 + 2 * 216, 7 * 180 + 12, 3)
    # The clean picture has a bright box in its middle, 180 and 185; the others a shade each.
    assert abs(int(cell(sheet, 0, 0)[0]) - 180) < 3
    assert abs(int(cell(sheet, 1, 0)[0]) - 185) < 3
    assert [int(cell(sheet, 0, column)[0]) for column in range(1, 7)] == [
        60,
        80,
        100,
        120,
        140,
        160,
    ]


def test_what_is_missing_stays_empty(tmp_path: Path) -> None:
    path = tmp_path / "artifacts" / "sheet.png"
    found = records(path.parent, 1, ("mask", "identity", "center"))
    assert write_sheet(path, "a title", found, samples(1))
    sheet = opened(path)
    assert cell(sheet, 0, 2).tolist() == [0xEC, 0xEF, 0xF3]
    # Of a photograph nobody knows the true object: no column for it.
    assert sheet.shape == (76 + 216, 6 * 180 + 12, 3)


def test_labels_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "artifacts" / "sheet.png"
    found = records(path.parent, 30, ("center",))
    assert write_sheet(path, "a title", found, samples(30))
    assert len(opened(path)) == 76 + SHOWN * 216


def test_nothing_to_show_is_no_sheet(tmp_path: Path) -> None:
    path = tmp_path / "artifacts" / "sheet.png"
    broken = Record(id="s0", group="s0", status="error", text="cat")
    assert not write_sheet(path, "a title", [broken], samples(1))
    assert not path.exists()
