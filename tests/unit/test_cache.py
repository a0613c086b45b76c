import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmark import cache as module
from benchmark.cache import Cache, call_key, is_identified, is_usable, pixels_digest
from benchmark.types import ModelInfo, Pixels

MODEL = ModelInfo("clip", "r1", "w1", "float32", "resize 224")
KEY, OTHER = call_key("text", MODEL, "a"), call_key("text", MODEL, "b")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "calls.sqlite"


def test_values_survive_closing(path: Path) -> None:
    first = Cache(path, pytest.fail)
    first.put_many({KEY: b"\x00value", OTHER: b""})
    first.close()
    assert Cache(path, pytest.fail).get_many([KEY, OTHER, "00"]) == {KEY: b"\x00value", OTHER: b""}


def test_more_keys_than_one_query_takes(path: Path) -> None:
    values = {call_key("text", MODEL, str(n)): b"%d" % n for n in range(1201)}
    cache = Cache(path, pytest.fail)
    cache.put_many(values)
    assert cache.get_many(list(values)) == values


def test_pictures_of_equal_bytes_and_other_size_differ() -> None:
    flat = np.zeros((2, 8, 3), dtype=np.uint8)
    assert pixels_digest(flat) != pixels_digest(flat.reshape(4, 4, 3))
    assert pixels_digest(flat) != pixels_digest(flat.reshape(8, 2, 3))


def test_a_digest_sees_one_level_of_one_channel_and_not_the_memory_layout() -> None:
    picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    changed = picture.copy()
    changed[3, 3, 2] += 1
    assert pixels_digest(changed) != pixels_digest(picture)
    assert pixels_digest(np.asfortranarray(picture)) == pixels_digest(picture)


@pytest.mark.parametrize(
    "pixels",
    [np.zeros((4, 4, 3)), np.zeros((4, 4), dtype=np.uint8), np.zeros((4, 4, 4), dtype=np.uint8)],
)
def test_what_is_not_8_bit_rgb_is_refused(pixels: Pixels) -> None:
    with pytest.raises(ValueError, match=r"uint8 of shape \(height, width, 3\), not .*convert"):
        pixels_digest(pixels)


@pytest.mark.parametrize("field", ["id", "revision", "weights", "dtype", "preprocessing"])
def test_the_key_covers_all_of_the_model(field: str) -> None:
    assert call_key("text", replace(MODEL, **{field: "other"}), "a") != KEY


def test_the_key_covers_kind_input_and_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {
        KEY,
        call_key("image", MODEL, "a"),
        call_key("text", MODEL, "a "),
        call_key("text", MODEL, "a", 1),
        call_key("text", MODEL, "a", {"temperature": 0.7}),
        call_key("text", MODEL, "a", {"temperature": 0.8}),
    }
    monkeypatch.setattr(module, "SCHEMA_VERSION", 999)
    assert len(keys | {call_key("text", MODEL, "a")}) == 7


def test_the_license_of_a_model_is_not_part_of_the_key() -> None:
    assert call_key("text", replace(MODEL, license="MIT"), "a") == KEY


def test_a_model_without_weights_or_revision_is_not_identified() -> None:
    assert is_identified(ModelInfo("m", weights="w"))
    assert is_identified(ModelInfo("m", revision="r"))
    assert not is_identified(ModelInfo("m"))


def test_a_file_that_is_no_database_is_put_aside_with_one_line(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is not SQLite " * 100)
    warnings: list[str] = []
    cache = Cache(path, warnings.append)
    cache.put_many({KEY: b"new"})
    assert cache.get_many([KEY]) == {KEY: b"new"}
    assert len(warnings) == 1
    assert "damaged" in warnings[0]
    assert "\n" not in warnings[0]
    assert path.with_name("calls.sqlite.damaged").read_bytes().startswith(b"this is not")


def test_damage_that_shows_later_is_put_aside(path: Path) -> None:
    cache = Cache(path, pytest.fail)
    cache.put_many({call_key("text", MODEL, str(n)): b"x" * 2000 for n in range(50)})
    cache.close()
    blob = bytearray(path.read_bytes())
    blob[4096:] = b"\xff" * (len(blob) - 4096)
    path.write_bytes(blob)
    warnings: list[str] = []
    cache = Cache(path, warnings.append)
    assert cache.get_many([KEY]) == {}
    cache.put_many({KEY: b"again"})
    assert cache.get_many([KEY]) == {KEY: b"again"}
    assert len(warnings) == 1


def test_a_flipped_bit_in_a_value_counts_as_missing(path: Path) -> None:
    cache = Cache(path, pytest.fail)
    cache.put_many({KEY: b"value", OTHER: b"other"})
    with sqlite3.connect(path) as database:
        database.execute(
            "UPDATE calls SET value = ? WHERE key = ?",
            (b"\x00\x00\x00\x00value", bytes.fromhex(KEY)),
        )
    database.close()
    assert cache.get_many([KEY, OTHER]) == {OTHER: b"other"}


def test_a_locked_file_is_left_alone_with_one_line(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.05)
    Cache(path, pytest.fail).close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    warnings: list[str] = []
    cache = Cache(path, warnings.append)
    cache.put_many({KEY: b"v"})
    assert cache.get_many([KEY]) == {}
    assert len(warnings) == 1
    assert "locked" in warnings[0]
    assert "--no-cache" in warnings[0]
    holder.close()


def test_a_place_that_cannot_be_written_costs_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    warnings: list[str] = []
    cache = Cache(tmp_path / "file" / "calls.sqlite", warnings.append)
    cache.put_many({KEY: b"v"})
    assert cache.get_many([KEY]) == {}
    assert len(warnings) == 1
    assert not is_usable(tmp_path / "file" / "calls.sqlite")


def test_two_runs_share_a_file(path: Path) -> None:
    assert is_usable(path)
    one, two = Cache(path, pytest.fail), Cache(path, pytest.fail)
    one.put_many({KEY: b"1"})
    two.put_many({OTHER: b"2"})
    assert two.get_many([KEY]) | one.get_many([OTHER]) == {KEY: b"1", OTHER: b"2"}
