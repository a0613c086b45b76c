"""The sheet of successes: which samples it shows, and what is marked in them."""

from pathlib import Path

import numpy as np
from PIL import Image

from benchmark.gallery import SHOWN, changed_words, write_sheet
from benchmark.types import Pixels, Record, Sample


class Plain:
    """A picture of one colour that counts how often it is decoded."""

    def __init__(self) -> None:
        self.loads = 0

    @property
    def name(self) -> str:
        return "plain"

    def load(self) -> Pixels:
        self.loads += 1
        return np.full((40, 60, 3), 90, np.uint8)


def record(i: int, status: str = "success", kind: str = "swap-objects") -> Record:
    return Record(
        id=str(i),
        group=str(i),
        status=status,  # type: ignore[arg-type]
        text="a red duck",
        adversarial_text="a blue duck",
        clean_score=0.31,
        score=0.32,
        perturbation={"operation_found": kind},
    )


def test_changed_words_are_marked_on_both_sides() -> None:
    before, after = changed_words("a red duck on the grass", "a small duck on the beach")
    assert [word for word, changed in before if changed] == ["red", "grass"]
    assert [word for word, changed in after if changed] == ["small", "beach"]
    assert " ".join(word for word, _ in after) == "a small duck on the beach"


def test_no_success_draws_nothing(tmp_path: Path) -> None:
    path = tmp_path / "sheet.png"
    assert not write_sheet(path, "title", [record(0, "failure")], [])
    assert not path.exists()


def test_only_the_shown_pictures_are_decoded_and_kinds_take_turns(tmp_path: Path) -> None:
    pictures = [Plain() for _ in range(40)]
    samples = [Sample(str(i), "a red duck", p) for i, p in enumerate(pictures)]
    kinds = ["common"] * 39 + ["rare"]
    records = [record(i, kind=kind) for i, kind in enumerate(kinds)]
    assert write_sheet(tmp_path / "sheet.png", "title", records, samples)
    assert sum(p.loads for p in pictures) == SHOWN
    assert pictures[39].loads == 1, "the rare kind is shown although it comes last"
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.width > 800


def test_captions_of_any_text_are_drawn(tmp_path: Path) -> None:
    text = "<script>alert(1)</script> \u202e \u0645\u0631 " + "long " * 1000
    odd = Record(id="0", group="0", status="success", text=text, adversarial_text="x " + text)
    assert write_sheet(tmp_path / "sheet.png", "t", [odd], [Sample("0", text, Plain())])
