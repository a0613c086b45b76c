"""The contact sheet and its manifest."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmark.toybox.captions import full_caption
from benchmark.toybox.grammar import parse
from benchmark.toybox.render import render
from benchmark.toybox.sampling import sample_scene
from benchmark.toybox.scene import Camera, Scene, SceneObject
from benchmark.toybox.sheet import contact_sheet, write_world


def _scene(data: dict[str, Any]) -> Scene:
    """A scene from its manifest entry, as a reader of the file would rebuild it."""
    objects = tuple(SceneObject(**o) for o in data.pop("objects"))
    camera, wall = Camera(**data.pop("camera")), tuple(data.pop("wall"))
    return Scene(objects=objects, camera=camera, wall=wall, **data)


def test_the_folder_holds_sheet_pictures_and_manifest(tmp_path: Path) -> None:
    sheet = write_world(tmp_path / "new" / "world", n=5, split="validation", px=40)
    assert sheet == tmp_path / "new" / "world" / "sheet.png"
    manifest = json.loads((sheet.parent / "manifest.json").read_text("utf-8"))
    assert [entry["seed"] for entry in manifest] == [10_000_000 + i for i in range(5)]
    assert {p.name for p in sheet.parent.iterdir()} == {
        "sheet.png", "manifest.json", *(f"{10_000_000 + i}.png" for i in range(5))
    }  # fmt: skip
    for entry in manifest:
        scene = sample_scene(entry["seed"])
        assert entry["caption"] == full_caption(scene)
        assert parse(entry["facts"]) == scene.facts
        assert _scene(entry["scene"]) == scene
        with Image.open(sheet.parent / entry["file"]) as picture:
            np.testing.assert_array_equal(np.asarray(picture), render(scene, 40, 3))


def test_pictures_are_laid_out_in_rows_with_captions_below() -> None:
    pictures = np.zeros((5, 40, 40, 3), np.uint8)
    sheet = np.asarray(contact_sheet(pictures, ["a red ball"] * 5, columns=3).convert("L"))
    # Three columns of 40 with two gaps of 14 between margins of 24.
    assert sheet.shape[1] == 3 * 40 + 2 * 14 + 2 * 24
    assert (sheet[24:64, 24:64] == 0).all()
    caption = sheet[66:80, 24:64]
    assert 0 < (caption < 128).mean() < 0.5
    last = sheet[-60:, 24 + 2 * 54 :]
    assert (last > 250).all(), "the second row has two pictures only"


def test_long_captions_end_in_an_ellipsis_inside_their_column() -> None:
    pictures = np.full((1, 60, 60, 3), 255, np.uint8)
    sheet = np.asarray(contact_sheet(pictures, ["umbrella " * 30], columns=1).convert("L"))
    assert (sheet[:, :22] == 255).all()
    assert (sheet[:, -20:] == 255).all()
    assert (sheet < 128).any()


def test_an_empty_sheet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="n=0, px=192: a sheet needs at least 1 of each"):
        write_world(tmp_path, n=0)
    assert not list(tmp_path.iterdir())
