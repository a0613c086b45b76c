"""A run that was cut short anywhere and resumed is the run that was not."""

import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.config import Execution
from benchmark.records import read_header, read_records, read_trace
from benchmark.runner import run
from tests import report_fakes
from tests.fakes import build, config

N = 12
CONFIG = config(settings={"candidates": 3, "n": N})


def comparable(path: Path) -> tuple[list[Any], list[Any], bytes]:
    """Records and traces by id, and the table. Records without what a clock says."""
    records = sorted(read_records(path), key=lambda record: record.id)
    trace = sorted(read_trace(path), key=lambda entry: (entry.id, entry.index))
    return (
        [asdict(replace(record, seconds=0)) for record in records],
        [asdict(entry) for entry in trace],
        (path / "table.csv").read_bytes(),
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uninterrupted run."""
    path = tmp_path_factory.mktemp("whole") / "run"
    run(CONFIG, Execution(batch_size=4), path, build)
    return path


def writes(path: Path) -> list[tuple[str, bytes]]:
    """What a run appends, in order: a sample's trace, then its record."""
    trace: dict[str, bytes] = {}
    for entry, line in zip(
        read_trace(path), (path / "trace.jsonl").read_bytes().splitlines(keepends=True), strict=True
    ):
        trace[entry.id] = trace.get(entry.id, b"") + line
    lines = (path / "records.jsonl").read_bytes().splitlines(keepends=True)
    return [
        write
        for record, line in zip(read_records(path), lines, strict=True)
        for write in (("trace.jsonl", trace[record.id]), ("records.jsonl", line))
    ]


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uninterrupted run with options, questions and reports, which leaves more behind."""
    path = tmp_path_factory.mktemp("reported") / "run"
    run(CONFIG, Execution(batch_size=4), path, report_fakes.build)
    return path


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_process_that_dies_after_any_byte_loses_no_finished_sample(
    data: st.DataObject, whole: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    dies_and_resumes(data, whole, tmp_path_factory, build)


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_neither_does_a_report_get_lost_nor_half_recorded(
    data: st.DataObject, reported: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = dies_and_resumes(data, reported, tmp_path_factory, report_fakes.build)
    for record in read_records(path):
        assert list(record.conditions) == ["clean", "found", "random"]
        assert list(record.artifacts) == ["image", "mask", "reference"]


def dies_and_resumes(
    data: st.DataObject, whole: Path, tmp_path_factory: pytest.TempPathFactory, build: Any
) -> Path:
    """Cut what `whole` wrote after some byte, resume it there; returns the folder."""
    log = writes(whole)
    left = data.draw(st.integers(0, sum(len(content) for _, content in log)), label="bytes")
    path = tmp_path_factory.mktemp("cut") / "run"
    path.mkdir()
    (path / "run.json").write_bytes((whole / "run.json").read_bytes())
    finished = 0
    for name, content in log:
        with (path / name).open("ab") as file:
            file.write(content[:left])
        finished += name == "records.jsonl" and len(content) <= left
        left = max(0, left - len(content))
    summary = run(CONFIG, Execution(batch_size=4), path, build, resume=True)
    assert summary.totals.resumed == finished
    assert comparable(path) == comparable(whole)
    return path


def test_resuming_what_is_finished_changes_nothing(whole: Path) -> None:
    before = comparable(whole)
    summary = run(CONFIG, Execution(batch_size=4), whole, build, resume=True)
    assert summary.totals.resumed == N
    assert comparable(whole) == before


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_a_resume_may_use_another_batch_size(whole: Path, tmp_path: Path, batch_size: int) -> None:
    path = tmp_path / "run"
    path.mkdir()
    (path / "run.json").write_bytes((whole / "run.json").read_bytes())
    for name, content in writes(whole)[:10]:
        with (path / name).open("ab") as file:
            file.write(content)
    run(CONFIG, Execution(batch_size=batch_size), path, build, resume=True)
    for left, right in zip(comparable(path)[:2], comparable(whole)[:2], strict=True):
        for one, other in zip(left, right, strict=True):
            for key in ("score", "clean_score", "fitness"):
                assert one.pop(key, 0) == pytest.approx(other.pop(key, 0), abs=1e-5)
            assert one == other
    assert comparable(path)[2] == comparable(whole)[2]


SLOW = config(settings={"candidates": 3, "n": 30, "delay": 0.02})
_RUN = """
import sys
from pathlib import Path
from benchmark.config import Execution
from benchmark.runner import run
from tests.fakes import build
from tests.property.test_resume import SLOW
run(SLOW, Execution(batch_size=4, cache=sys.argv[2]), Path(sys.argv[1]), build, resume=True)
"""


def kill_when(path: Path, cache: Path, lines: int) -> None:
    """Start a run in a process of its own and SIGKILL it once `lines` records are written."""
    records = path / "records.jsonl"
    command = [sys.executable, "-c", _RUN, str(path), str(cache)]
    with subprocess.Popen(command, cwd=Path(__file__).parents[2]) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            written = records.read_bytes().count(b"\n") if records.exists() else 0
            if (path / "run.json").exists() and written >= lines:
                break
            time.sleep(0.002)
        assert process.poll() is None, "the run ended before it could be killed"
        process.kill()


@pytest.mark.parametrize("lines", [0, 9, 22])
def test_a_killed_process_is_resumed(tmp_path: Path, lines: int) -> None:
    kill_when(tmp_path / "run", tmp_path / "cache", lines)
    assert read_header(tmp_path / "run")["status"] == "running"
    execution = Execution(batch_size=4, cache=str(tmp_path / "cache"))
    summary = run(SLOW, execution, tmp_path / "run", build, resume=True)
    assert summary.status == "finished"
    assert lines <= summary.totals.resumed < 30
    run(SLOW, Execution(batch_size=4), tmp_path / "whole", build)
    assert comparable(tmp_path / "run") == comparable(tmp_path / "whole")


def test_a_process_may_be_killed_again_and_again(tmp_path: Path) -> None:
    for lines in (2, 8, 14):
        kill_when(tmp_path / "run", tmp_path / "cache", lines)
    run(SLOW, Execution(batch_size=4), tmp_path / "run", build, resume=True)
    run(SLOW, Execution(batch_size=4), tmp_path / "whole", build)
    assert comparable(tmp_path / "run") == comparable(tmp_path / "whole")
