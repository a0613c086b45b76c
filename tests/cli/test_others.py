"""show, score, world, doctor."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from benchmark import doctor
from tests.cli.conftest import Trident

PAINT = ("run", "--attack", "repaint", "--target", "colours", "-n", "3", "--out", "run")


def test_show_prints_the_table_of_a_run(trident: Trident, paint: ModuleType) -> None:
    ran = trident(*PAINT, "--quiet")
    shown = trident("show", "run")
    assert shown.code == 0
    assert shown.out.splitlines()[0] == "repaint on colours, data toybox, preset mini"
    assert ran.out.strip() in shown.out


def test_show_for_programs_and_web_pages(trident: Trident, paint: ModuleType) -> None:
    trident(*PAINT, "--quiet")
    text = trident("show", "run", "--format", "csv").out
    assert text == Path("run/table.csv").read_text()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["attack"] for row in rows} == {"repaint"}
    assert trident("show", "run", "--format", "md").out == Path("run/table.md").read_text()


def test_show_of_an_unfinished_run_says_how_to_finish_it(
    trident: Trident, paint: ModuleType
) -> None:
    trident(*PAINT, "--quiet")
    Path("run/table.csv").unlink()
    result = trident("show", "run")
    assert result.code == 2
    assert "finish the run with `python -m benchmark run --resume run`" in result.err


def test_score_writes_scores_and_prints_the_summary(trident: Trident) -> None:
    pair = {"id": 7, "text": "a red cube on grass", "adversarial": "a blue cube on grass"}
    Path("pairs.jsonl").write_text(json.dumps(pair) + "\n")
    result = trident("score", "mac", "pairs.jsonl", "--tagger", "toybox", "--out", "scores")
    assert result.code == 0, result.err
    summary = dict(
        line.split() for line in result.out.splitlines() if line.count(" ") and ":" not in line
    )
    # One caption, one word changed: tokens D_ADJ_red and I_ADJ_blue, so H = ln 2.
    assert (summary["n"], summary["tokens"], summary["entropy"]) == ("1", "2", "0.6931")
    assert result.err == "1/1 pairs\n"
    (line,) = Path("scores/scores.jsonl").read_text().splitlines()
    assert json.loads(line)["distance"] == 1
    assert json.loads(Path("scores/summary.json").read_text())["n"] == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": 1, "text": "a"}', "adversarial missing"),
        ("not json", "not JSON"),
    ],
)
def test_score_names_the_line_that_it_cannot_use(trident: Trident, line: str, message: str) -> None:
    Path("pairs.jsonl").write_text(line + "\n")
    result = trident("score", "mac", "pairs.jsonl", "--tagger", "toybox", "--out", "scores")
    assert result.code == 2
    assert result.err.startswith("error: pairs.jsonl:1: ")
    assert message in result.err
    assert not Path("scores").exists()


def test_score_refuses_an_unknown_data_set(trident: Trident) -> None:
    flags = "--dataset-name cocoa --tagger toybox --out scores"
    result = trident("score", "mac", "pairs.jsonl", *flags.split())
    assert (result.code, "cocoa" in result.err) == (2, True)


def test_world_draws_a_sheet(trident: Trident) -> None:
    result = trident("world", "--out", "w", "--n", "3", "--px", "32", "--split", "validation")
    assert result.code == 0, result.err
    assert result.out.startswith("w/sheet.png")
    assert len(json.loads(Path("w/manifest.json").read_text())) == 3
    assert (Path("w") / "sheet.png").is_file()


@pytest.mark.parametrize(("level", "code"), [("ok", 0), ("note", 0), ("fail", 1)])
def test_doctor_prints_findings_and_remedies(
    trident: Trident, monkeypatch: pytest.MonkeyPatch, level: doctor.Level, code: int
) -> None:
    def examine(cache: Path, folder: Path) -> Iterator[doctor.Finding]:
        yield doctor.Finding("python", "ok", "3.11")
        yield doctor.Finding("disk", level, f"{cache} {folder}", "tidy up")

    monkeypatch.setattr(doctor, "examine", examine)
    result = trident("doctor", "--cache", "c", "--out", "o")
    assert result.code == code
    assert result.out.splitlines() == [
        "ok    python    3.11",
        f"{level:4}  disk      c o",
        "                -> tidy up",
    ]


def test_doctor_makes_every_check(trident: Trident, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not torch itself, whose import takes seconds: see tests/unit/test_doctor.py.
    monkeypatch.setattr(doctor, "device", lambda: doctor.Finding("device", "ok", "torch"))
    names = [line.split()[1] for line in trident("doctor").out.splitlines() if "->" not in line]
    assert names == [
        "python", "packages", "device", "weights", "cache", "disk", "hub", "spacy",
    ]  # fmt: skip
