"""Which commit of a repository is loaded."""

from pathlib import Path

from targets.pretrained import pinned


def test_a_commit_behind_an_at_sign_pins_a_repository(tmp_path: Path) -> None:
    assert pinned("org/name@abc", None) == ("org/name", "abc")
    assert pinned("org/name@abc", "main") == ("org/name", "abc")
    assert pinned("org/name", "main") == ("org/name", "main")
    folder = tmp_path / "run@3"
    folder.mkdir()
    assert pinned(str(folder), None) == (str(folder), None)
