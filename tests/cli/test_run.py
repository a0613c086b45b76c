"""`run` from its flags to its table, its folder and its exit code."""

import json
import os
import shlex
import signal
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmark import records
from benchmark.commands.watch import banner
from benchmark.config import resolve
from benchmark.protocols import Embeddings, Search
from benchmark.records import DiskFullError
from benchmark.types import Sample
from tests.cli.conftest import Trident

PAINT = ("run", "--attack", "repaint", "--target", "colours")


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def spoil(paint: ModuleType, monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    """Let every so-manyth sample of the attack fail."""
    plain, seen = paint.Repaint.search, []

    def search(self: Any, sample: Sample, rng: np.random.Generator) -> Search:
        seen.append(sample.id)
        if len(seen) % every == 0:
            raise RuntimeError("out\nof paint")
        picked: int | None = yield from plain(self, sample, rng)
        return picked

    monkeypatch.setattr(paint.Repaint, "search", search)


def interrupt(paint: ModuleType, monkeypatch: pytest.MonkeyPatch, *calls: int) -> None:
    """Send Ctrl-C during these calls of the target, counted from 1."""
    plain, seen = paint.Colours.encode_texts, []

    def encode_texts(self: Any, texts: list[str]) -> Embeddings:
        seen.append(texts)
        if len(seen) in calls:
            os.kill(os.getpid(), signal.SIGINT)
        embeddings: Embeddings = plain(self, texts)
        return embeddings

    monkeypatch.setattr(paint.Colours, "encode_texts", encode_texts)


def resume_line(text: str) -> list[str]:
    """The command after "go on with:", without "python -m benchmark"."""
    words = shlex.split(text.partition("go on with:\n")[2].splitlines()[0])
    assert words[:3] == ["python", "-m", "benchmark"]
    return words[3:]


def test_a_run_shows_what_it_resolved_and_ends_with_its_table(
    trident: Trident, paint: ModuleType
) -> None:
    result = trident(*PAINT, "--samples", "12", "--seed", "3", "--out", "run")
    assert result.code == 0, result.err
    for text in (
        "attack  repaint",
        "target  colours",
        "data    toybox, split test, at most 12 samples",
        "models  judge toybox, tagger toybox",
        "preset  mini, seed 3, access score, no query budget",
        "out     run",
        "version 1 of the attack",
        "loaded  target: colours 1",
        "12/12 samples",
    ):
        assert text in result.err
    assert (Path("run") / "table.csv").is_file()
    assert len(lines(Path("run/records.jsonl"))) == 12
    assert "95% interval" in result.out
    closing = result.out.splitlines()[-2:]
    assert closing[0].startswith("12 samples: ")
    assert "0 skipped, 0 errors; 36 queries, in 0:0" in closing[0]
    kept = "sheet.png, table.csv, table.md, records.jsonl, trace.jsonl, run.json"
    assert closing[1] == f"run: {kept}"
    with Image.open("run/sheet.png") as sheet:
        assert sheet.width > 100


def test_a_picture_that_cannot_be_drawn_costs_nothing_else(
    trident: Trident, paint: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> bool:
        raise OSError("no font")

    monkeypatch.setattr("benchmark.gallery.write_sheet", fail)
    result = trident(*PAINT, "-n", "2", "--out", "run")
    assert result.code == 0
    assert "warning: no sheet.png: no font\n" in result.err
    assert "sheet.png" not in result.out


def test_the_banner_says_what_a_short_name_stands_for(trident: Trident) -> None:
    config = resolve("mac", "clip", overrides=["target.revision=abc"], query_budget=8)
    text = banner(config, Path("runs/x"))
    assert "target  clip = miniature:clip-mini, revision abc" in text
    assert "attack  mac, candidates 4, mode general, generation parallel" in text
    assert "models  writer miniature:writer-mini, judge toybox, tagger toybox" in text
    assert "8 queries" in text


def test_the_banner_names_what_each_attack_works_with() -> None:
    text = banner(resolve("advdreamer", "clip"), Path("runs/x"))
    assert "attack  advdreamer, generations 15, population 20, selection two-stage" in text
    assert "naturalness miniature:naturalness-mini" in text
    assert "judge" not in text
    text = banner(resolve("evolution", "lvlm"), Path("runs/x"))
    assert "data    searches, searches evolution random_search lance nl_adv, repeats 1" in text
    assert "models  painter toybox, capture capture:parser=toybox" in text
    assert "niches no" in text
    assert "llm" not in text.replace("evolution", "")


def test_quiet_prints_the_table_only(trident: Trident, paint: ModuleType) -> None:
    result = trident(*PAINT, "-n", "3", "--out", "run", "--quiet")
    assert (result.code, result.err) == (0, "")
    assert "run.json" not in result.out


def test_runs_have_folders_named_by_time_attack_and_target(
    trident: Trident, paint: ModuleType
) -> None:
    for _ in range(2):
        assert trident(*PAINT, "-n", "1").code == 0
    names = sorted(path.name for path in Path("runs").iterdir())
    assert len(names) == 2
    for name in names:
        date, time, *rest = name.split("-")
        assert (len(date), len(time), rest[:2]) == (8, 6, ["repaint", "colours"])


def test_flags_reach_the_run(trident: Trident, paint: ModuleType) -> None:
    flags = "-n 4 --set tries=5 --query-budget 2 --access decision --no-trace --no-cache --out run"
    assert trident(*PAINT, *flags.split()).code == 0
    assert [record["queries"] for record in lines(Path("run/records.jsonl"))] == [2] * 4
    assert not Path("run/trace.jsonl").exists()
    assert not Path("cache").exists()
    config = json.loads(Path("run/run.json").read_text())["config"]
    assert (config["access"], config["query_budget"]) == ("decision", 2)


def test_a_folder_that_is_in_use_is_refused(trident: Trident, paint: ModuleType) -> None:
    Path("full").mkdir()
    Path("full/notes.txt").write_text("mine")
    Path("file").write_text("mine")
    assert trident(*PAINT, "-n", "1", "--out", "run").code == 0
    for out, message in {
        "full": "error: --out full is not empty: name another folder\n",
        "run": "error: --out run is not empty: add --resume to go on with it, or name another",
        "file": "error: --out file is a file: name a folder\n",
    }.items():
        result = trident(*PAINT, "--out", out)
        assert result.code == 2
        assert result.err.startswith(message)
    assert Path("full/notes.txt").read_text() == "mine"


def test_resuming_another_experiment_is_refused_with_the_differing_keys(
    trident: Trident, paint: ModuleType
) -> None:
    assert trident(*PAINT, "-n", "2", "--out", "run").code == 0
    result = trident(*PAINT, "-n", "2", "--seed", "9", "--set", "tries=1", "--resume", "run")
    assert result.code == 2
    assert "seed was 0 and is now 9" in result.err
    assert "settings.tries was 3 and is now 1" in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--resume", "error: --resume needs the folder of the run: --resume DIR"),
        ("--resume nowhere", "error: nowhere holds no run"),
        ("--resume a --out b", "error: --resume a and --out b differ"),
        ("--resume run --seed 4 --samples 2", "leave out --samples, --seed, or give --attack"),
        ("--resume other", "error: other/run.json holds no config: it is not from a run"),
    ],
)
def test_a_wrong_resume_is_refused(
    trident: Trident, paint: ModuleType, flags: str, message: str
) -> None:
    assert trident(*PAINT, "-n", "1", "--out", "run").code == 0
    Path("other").mkdir()
    Path("other/run.json").write_text("{}")
    result = trident("run", *flags.split())
    assert result.code == 2
    assert message in result.err


def test_ctrl_c_finishes_what_is_in_flight_and_prints_the_line_that_resumes(
    trident: Trident, paint: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = trident(*PAINT, "-n", "20", "--out", "whole")
    assert whole.code == 0
    interrupt(paint, monkeypatch, 2)
    how = ("--batch-size", "4", "--no-cache")
    result = trident(*PAINT, "-n", "20", "--out", "run", *how)
    assert result.code == 1
    assert "finishing the samples in flight, 4 at most; Ctrl-C again stops at once" in result.err
    assert 0 < len(lines(Path("run/records.jsonl"))) < 20
    command = resume_line(result.err)
    assert command == ["run", "--resume", "run", *how]
    again = trident(*command)
    assert again.code == 0, again.err
    assert "samples are there already" in again.err
    assert Path("run/table.csv").read_text() == Path("whole/table.csv").read_text()


def test_a_second_ctrl_c_stops_at_once(
    trident: Trident, paint: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(paint, monkeypatch, 2, 3)
    result = trident(*PAINT, "-n", "20", "--out", "run", "--batch-size", "2", "--no-cache")
    assert result.code == 1
    assert "stopped at once; go on with:" in result.err
    assert trident(*resume_line(result.err)).code == 0
    assert len(lines(Path("run/records.jsonl"))) == 20


def test_too_many_errors_end_in_exit_code_3(
    trident: Trident, paint: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        spoil(paint, patch, every=2)
        result = trident(*PAINT, "-n", "10", "--out", "run")
    assert result.code == 3
    assert "95% interval" in result.out
    assert result.err.count("errored: RuntimeError: out of paint") == 3
    assert "further errors are in records.jsonl only" in result.err
    closing = result.err.splitlines()[-1]
    assert closing.startswith("error: 5 of 10 samples errored, more than --max-error-rate 0 allows")
    assert "`python -m benchmark run --resume run` tries them again" in closing
    again = trident("run", "--resume", "run")
    assert again.code == 0
    assert "10 samples: " in again.out


def test_a_share_of_errors_can_be_allowed(
    trident: Trident, paint: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(paint, monkeypatch, every=2)
    assert trident(*PAINT, "-n", "10", "--out", "run", "--max-error-rate", "0.5").code == 0


def test_a_full_disk_is_one_line(
    trident: Trident, paint: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Any, outcomes: Any) -> None:
        raise DiskFullError(28, "the disk is full: free some space and resume")

    monkeypatch.setattr(records.RunFolder, "append", full)
    result = trident(*PAINT, "-n", "4", "--out", "run")
    assert result.code == 1
    assert result.err.splitlines()[-1] == "error: the disk is full: free some space and resume"
    assert "Traceback" not in result.err


def make_pairs(folder: Path, header: str = "image,caption") -> Path:
    """Three pictures and their captions; the second picture is cut off in the middle."""
    rng = np.random.default_rng(0)
    rows = [header]
    for number in range(3):
        pixels = rng.integers(0, 256, (48, 64, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
        rows.append(f"{number}.png,a red ball and a blue box number {number}")
    whole = (folder / "1.png").read_bytes()
    (folder / "1.png").write_bytes(whole[: len(whole) // 2])
    path = folder / "pairs.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_truncated_picture_costs_one_sample(
    trident: Trident, paint: ModuleType, tmp_path: Path
) -> None:
    make_pairs(tmp_path)
    result = trident(*PAINT, "--dataset", "pairs.csv", "--out", "run")
    assert result.code == 3
    assert "error: 1 of 3 samples errored" in result.err
    statuses = [record["status"] for record in lines(Path("run/records.jsonl"))]
    assert statuses.count("error") == 1
    assert "1.png" in result.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--dataset nowhere.csv", "nowhere.csv"),
        ("--dataset pairs.csv", "caption"),
        ("--dataset coco --data-root empty", "empty"),
        ("--dataset coco", "--data-root DIR"),
    ],
)
def test_data_that_cannot_be_used_is_one_line(
    trident: Trident, paint: ModuleType, tmp_path: Path, flags: str, message: str
) -> None:
    make_pairs(tmp_path, header="image,text")
    (tmp_path / "empty").mkdir()
    result = trident(*PAINT, *flags.split(), "--out", "run", "--quiet")
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert result.err.startswith("error: ")
    assert message in result.err
    assert not Path("run").exists()
