import sys
from pathlib import Path

import pytest

from benchmark.errors import UserError
from benchmark.toybox import words
from metrics.capture.stop_words import stop_words


def test_our_own_list() -> None:
    own = stop_words()
    assert {"moment", "scene", "background", "vantage point"} <= own.words
    assert not own.words & {"sheep", "court", "countertop", "red", "white", *words.CLASSES}
    assert all(word == word.strip().lower() for word in own.words)
    assert len(own.sha256) == 64


def test_no_list() -> None:
    assert stop_words("none").words == frozenset()
    assert stop_words("none").sha256 != stop_words().sha256


def test_the_published_list_is_read_and_never_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "capture_metric"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "stop_words.py").write_text("stop_words_list = [\n 'scene',\n 'city life'\n]\n")
    monkeypatch.syspath_prepend(tmp_path)
    released = stop_words("released")
    assert released.words == {"scene", "city life"}
    assert "capture_metric" not in sys.modules
    (package / "stop_words.py").write_text("words = 3\n")
    with pytest.raises(UserError, match="holds no list of words"):
        stop_words("released")


def test_errors_name_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.capture.stop_words.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install --no-deps capture-metric==0\.1\.13"):
        stop_words("released")
    with pytest.raises(UserError, match="unknown stop list 'mine': expected one of trident"):
        stop_words("mine")
