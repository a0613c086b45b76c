"""A dual encoder of one's own, loaded from its folder as a miniature."""

import shutil
from pathlib import Path

import pytest

from benchmark.errors import UserError
from targets.miniature.load import WEIGHTS, target


def test_a_folder_is_a_miniature(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(WEIGHTS / "clip-mini", folder)
    mine, shipped = target(str(folder), {}), target("clip-mini", {})
    assert (mine.info.id, mine.info.license) == (f"miniature:{folder}", "")
    assert mine.info.weights == shipped.info.weights
    assert mine.info.preprocessing == shipped.info.preprocessing


def test_a_folder_that_is_not_there_is_an_unknown_name(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="unknown miniature"):
        target(str(tmp_path / "gone"), {})
