from hashlib import sha256
from pathlib import Path

import pytest

from targets.weights import sha256_of


def test_one_file_has_its_own_hash(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"weights" * 500_000)
    assert sha256_of([tmp_path / "a"]) == sha256(b"weights" * 500_000).hexdigest()


def test_several_files_are_hashed_by_name_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").write_bytes(b"2")
    lines = f"a {sha256(b'1').hexdigest()}\nb {sha256(b'2').hexdigest()}\n"
    expected = sha256(lines.encode()).hexdigest()
    assert sha256_of([tmp_path / "b", tmp_path / "a"]) == expected
    (tmp_path / "b").rename(tmp_path / "c")
    assert sha256_of([tmp_path / "c", tmp_path / "a"]) != expected


def test_no_files_are_an_error() -> None:
    with pytest.raises(ValueError, match="no weight files"):
        sha256_of([])
