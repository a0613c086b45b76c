"""`run --image`: one picture of one's own, from its flags to its record."""

import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from tests.cli.conftest import Trident

PAINT = ("run", "--attack", "repaint", "--target", "colours", "--out", "run")


@pytest.fixture(autouse=True)
def _photo(tmp_path: Path) -> None:
    Image.fromarray(np.full((8, 8, 3), 90, np.uint8)).save(tmp_path / "cat.png")


def test_a_picture_and_its_label_are_enough(trident: Trident, paint: ModuleType) -> None:
    result = trident(*PAINT, "--image", "cat.png", "--label", "a red cat", "--box", "1,1,4,4")
    assert result.code == 0, result.err
    record = json.loads(Path("run/records.jsonl").read_text())
    assert (record["id"], record["text"]) == ("cat.png", "a red cat")
    config = json.loads(Path("run/run.json").read_text())["config"]
    assert config["dataset_settings"] == {"label": "a red cat", "box": "1,1,4,4"}
    assert config["dataset"] == f"photo:{Path('cat.png').absolute()}"


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--label", "cat"), "--label need a picture: --image FILE"),
        (("--mask", "m.png", "--label", "cat"), "--label and --mask need a picture"),
        (("--image", "cat.png"), "has no label: say what it shows, --label NAME"),
        (("--image", "cat.png", "--dataset", "toybox"), "--image and --dataset are given"),
        (
            ("--image", "cat.png", "--label", "cat", "--box", "1,1,4,4", "--mask", "m.png"),
            "not allowed with argument",
        ),
    ],
)
def test_what_does_not_go_together(
    trident: Trident, paint: ModuleType, flags: tuple[str, ...], message: str
) -> None:
    result = trident(*PAINT, *flags)
    assert result.code == 2
    assert message in result.err
