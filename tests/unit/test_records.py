import errno
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmark.cache import pixels_digest
from benchmark.errors import UserError
from benchmark.jsonl import DamagedRunError
from benchmark.records import (
    DiskFullError,
    RunFolder,
    read_header,
    read_records,
    read_trace,
)
from benchmark.types import Record, TraceEntry
from tests.fakes import config, picture

RECORD = Record(
    id="a",
    group="g",
    status="success",
    text="a cat",
    adversarial_text="a dog",
    perturbation={"swap": ["cat", "dog"]},
    verdicts={"fooled": True, "tie": None},
    clean_score=0.25,
    score=0.5,
    picked=0,
    queries=1,
    queries_to_success=1,
)


def entry(sample_id: str, index: int = 0) -> TraceEntry:
    return TraceEntry(sample_id, index, "a dog", {}, {"fooled": True}, 0.5, True)


def named(sample_id: str, status: Any = "success") -> Record:
    return replace(RECORD, id=sample_id, status=status)


@pytest.fixture
def folder(out: Path) -> Any:
    with RunFolder.create(out, {"config": config().to_json()}) as made:
        yield made


def fill(folder: RunFolder, *ids: str) -> None:
    folder.append([(named(one), [entry(one), entry(one, 1)]) for one in ids])


def test_records_and_traces_come_back_equal(folder: RunFolder) -> None:
    folder.append([(RECORD, [entry("a")])])
    folder.append([(named("b"), [])])
    assert read_records(folder.path) == [RECORD, named("b")]
    assert read_trace(folder.path) == [entry("a")]
    assert read_records(folder.path / "records.jsonl") == [RECORD, named("b")]


def test_what_an_attack_found_comes_back(folder: RunFolder) -> None:
    conditions = {"far": {"n": 2, "fooled": 1, "valid": 0, "score": 0.25, "fitness": None}}
    full = replace(
        RECORD,
        artifacts={"image": "0" * 64, "mask": "1" * 64},
        clean_output="a cat",
        output="a dog",
        found={"mean": [0.5, 1.0]},
        conditions=conditions,
    )
    reported = replace(entry("a"), purpose="report", option_scores=[0.5, 0.25], output="a dog")
    folder.append([(full, [reported])])
    assert read_records(folder.path) == [full]
    assert read_trace(folder.path) == [reported]


def test_records_and_traces_of_an_older_version_are_read(out: Path) -> None:
    out.mkdir()
    record = {"id": "a", "group": "g", "status": "success", "text": "a cat", "picked": 0}
    line = {"id": "a", "index": 0, "text": "b", "perturbation": {}, "verdicts": {}}
    line |= {"score": 0.5, "success": True}
    (out / "records.jsonl").write_text(json.dumps(record) + "\n")
    (out / "trace.jsonl").write_text(json.dumps(line) + "\n")
    (read,), (traced,) = read_records(out), read_trace(out)
    assert (read.found, read.conditions, read.output, read.clean_output) == ({}, {}, None, None)
    assert (traced.purpose, traced.option_scores, traced.output) == ("search", [], None)


def test_any_text_survives(folder: RunFolder) -> None:
    odd = replace(RECORD, text="naïve 猫\n\u2028 \ud800")
    folder.append([(odd, [])])
    assert read_records(folder.path) == [odd]


def test_the_header_is_written_whole(folder: RunFolder) -> None:
    assert read_header(folder.path)["config"]["seed"] == 7
    folder.update(status="running", totals={"done": 3})
    assert read_header(folder.path)["totals"] == {"done": 3}
    assert [path.name for path in folder.path.glob(".run.json*")] == []


def test_a_folder_that_holds_a_run_is_refused(folder: RunFolder) -> None:
    with pytest.raises(UserError, match=r"holds a run already: add --resume .* or .* --out"):
        RunFolder.create(folder.path, {})


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="file is a file: name another folder"):
        RunFolder.create(tmp_path / "file", {})
    with pytest.raises(UserError, match="cannot make the run folder"):
        RunFolder.create(tmp_path / "file" / "run", {})


def test_an_empty_folder_is_taken(out: Path) -> None:
    out.mkdir()
    RunFolder.create(out, {}).close()
    assert (out / "run.json").exists()


def test_a_folder_without_a_run_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no run: it has no run\.json"):
        RunFolder.open(tmp_path)


@pytest.mark.parametrize("text", ['{"config": ', "[1]", ""])
def test_a_damaged_header_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(DamagedRunError, match=r"run\.json is damaged"):
        RunFolder.open(tmp_path)


# Repair.


@pytest.mark.parametrize("torn", [b'{"id": "c", "sta', b'{"id": "c"}', b"\x00\x00\n", b"[1]\n"])
def test_a_torn_last_line_is_cut(folder: RunFolder, torn: bytes) -> None:
    fill(folder, "a", "b")
    for name in ("records.jsonl", "trace.jsonl"):
        with (folder.path / name).open("ab") as file:
            file.write(torn)
    assert folder.repair() == 2
    assert [record.id for record in read_records(folder.path)] == ["a", "b"]
    assert len(read_trace(folder.path)) == 4


def test_trace_lines_without_a_record_go(folder: RunFolder) -> None:
    fill(folder, "a")
    with (folder.path / "trace.jsonl").open("a") as file:
        file.write('{"id": "b", "index": 0}\n')
    folder.repair()
    assert {one.id for one in read_trace(folder.path)} == {"a"}


def test_errors_go_so_that_they_are_tried_again(folder: RunFolder) -> None:
    fill(folder, "a")
    folder.append([(named("b", "error"), [entry("b")]), (named("c", "skipped"), [])])
    assert folder.finished_ids() == {"a", "c"}
    assert folder.repair() == 2
    assert [record.id for record in read_records(folder.path)] == ["a", "c"]
    assert {one.id for one in read_trace(folder.path)} == {"a"}


def test_repairing_what_is_whole_touches_nothing(folder: RunFolder) -> None:
    fill(folder, "a", "b")
    files = [folder.path / "records.jsonl", folder.path / "trace.jsonl"]
    before = [(file.read_bytes(), file.stat().st_ino) for file in files]
    folder.repair()
    assert [(file.read_bytes(), file.stat().st_ino) for file in files] == before


def test_repairing_an_empty_folder(folder: RunFolder) -> None:
    assert folder.repair() == 0
    assert folder.finished_ids() == set()
    assert read_trace(folder.path) == []


def test_appending_goes_on_after_a_repair(folder: RunFolder) -> None:
    fill(folder, "a")
    folder.append([(named("b", "error"), [entry("b")])])
    folder.close()
    with RunFolder.open(folder.path) as again:
        again.repair()
        fill(again, "b")
    assert [record.id for record in read_records(folder.path)] == ["a", "b"]


def test_damage_in_the_middle_names_file_and_line(folder: RunFolder) -> None:
    fill(folder, "a", "b", "c")
    lines = (folder.path / "records.jsonl").read_bytes().splitlines(keepends=True)
    (folder.path / "records.jsonl").write_bytes(lines[0] + b"junk\n" + lines[2])
    for read in (folder.repair, lambda: read_records(folder.path)):
        with pytest.raises(DamagedRunError, match=r"records\.jsonl, line 2 is damaged: delete"):
            read()


def test_a_line_of_something_else_is_named(folder: RunFolder) -> None:
    (folder.path / "records.jsonl").write_text('{"id": "a"}\n')
    with pytest.raises(DamagedRunError, match=r"line 1: group, status, text missing"):
        read_records(folder.path)


def test_keys_of_later_versions_are_ignored(folder: RunFolder) -> None:
    fill(folder, "a")
    line = json.loads((folder.path / "records.jsonl").read_text())
    (folder.path / "records.jsonl").write_text(json.dumps(line | {"future": 1}) + "\n")
    assert read_records(folder.path) == [named("a")]


# Refusal.


def test_the_same_config_goes_on(folder: RunFolder) -> None:
    folder.refuse_if_different(config())
    folder.refuse_if_different(config(settings={"candidates": 4}))


def test_each_differing_key_is_listed_with_both_values(folder: RunFolder) -> None:
    other = config(seed=8, settings={"candidates": 16, "mode": "general"})
    with pytest.raises(UserError) as caught:
        folder.refuse_if_different(other)
    message = str(caught.value)
    assert "seed was 7 and is now 8" in message
    assert "settings.candidates was 4 and is now 16" in message
    assert 'settings.mode was absent and is now "general"' in message
    assert "attack" not in message
    assert "\n" not in message


def test_other_weights_are_another_experiment(folder: RunFolder) -> None:
    folder.update(models={"target": {"weights": "w0"}})
    folder.refuse_if_different(config(), models={"target": {"weights": "w0"}})
    with pytest.raises(UserError, match=r'models\.target\.weights was "w0" and is now "w1"'):
        folder.refuse_if_different(config(), models={"target": {"weights": "w1"}})


# Lock.

_HOLD = """
import sys, time
from pathlib import Path
from benchmark.records import RunFolder
folder = RunFolder.open(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_two_processes_cannot_write_and_a_dead_one_holds_nothing(out: Path) -> None:
    RunFolder.create(out, {}).close()
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(out)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(UserError, match=rf"written by another process \(pid {other.pid} on"):
            RunFolder.open(out)
        other.kill()
        other.wait()
    RunFolder.open(out).close()


# Pictures.


def test_pictures_are_lossless_and_named_by_content(folder: RunFolder) -> None:
    pixels = picture(3)
    digest = folder.save_image(pixels)
    assert digest == pixels_digest(pixels)
    stored = np.asarray(Image.open(folder.path / "artifacts" / f"{digest}.png"))
    assert np.array_equal(stored, pixels)
    assert folder.save_image(pixels.copy()) == digest
    assert len(list((folder.path / "artifacts").iterdir())) == 1


# A full disk.


def test_a_full_disk_is_one_line_and_loses_nothing(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(folder, "a", "b")
    plain = os.write

    def write(descriptor: int, data: Any) -> int:
        if len(data) > 200:
            return plain(descriptor, bytes(data)[:200])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(DiskFullError) as caught:
        fill(folder, "c")
    monkeypatch.undo()
    assert caught.value.strerror is not None
    assert "trace.jsonl cannot be written: 2 finished samples are kept" in caught.value.strerror
    assert "free some space and run the same command with --resume" in caught.value.strerror
    assert [record.id for record in read_records(folder.path)] == ["a", "b"]
    assert len(read_trace(folder.path)) == 4
    fill(folder, "c")
    assert len(read_records(folder.path)) == 3


def test_a_header_that_cannot_be_written_leaves_the_old_one(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(DiskFullError, match=r"run\.json cannot be written"):
        folder.update(status="finished")
    monkeypatch.undo()
    assert "status" not in read_header(folder.path)
    assert list(folder.path.glob(".run*")) == []


def test_other_failures_of_the_disk_keep_their_message(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(descriptor: int, data: Any) -> int:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(OSError, match="Input/output error"):
        fill(folder, "c")
