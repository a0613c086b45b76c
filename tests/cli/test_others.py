"""show, score, world, doctor."""

import csv
import io
import json
import sys
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


CAPTURE = ("score", "capture", "pairs.jsonl", "--out", "scores")
TOYBOX = ("--parser", "toybox", "--matching", "exact", "--empty", "renormalise")


def test_score_capture(trident: Trident) -> None:
    pair = {"id": 7, "reference": "a red dog on the grass", "candidate": "a blue dog on the grass"}
    Path("pairs.jsonl").write_text(json.dumps(pair) + "\n")
    result = trident(*CAPTURE, *TOYBOX)
    assert result.code == 0, result.err
    # Objects and relations agree, attributes do not: (.5 + .2) / 1.2.
    assert ["capture", "0.5833"] in [line.split() for line in result.out.splitlines()]
    assert ["capture_low", "-"] in [line.split() for line in result.out.splitlines()]
    assert result.err == "1/1 pairs\n"
    assert json.loads(Path("scores/scores.jsonl").read_text())["f1_attribute"] == 0
    settings = json.loads(Path("scores/summary.json").read_text())["settings"]
    assert (settings["parser"]["id"], settings["matching"]) == ("toybox", ["exact"])


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--matching exact+loose", "unknown matching stage 'loose': expected one of exact"),
        ("--matching exact,soft --encoder none", "soft matching needs an encoder"),
        ("--variant code", "unknown variant 'code': expected one of released, paper"),
        ("--matching exact --parser toy", "unknown parser 'toy': did you mean 'toybox'?"),
        ("--matching exact --stop-words mine", "unknown stop list 'mine'"),
        ("--tagger toybox", "score capture has no --tagger"),
    ],
)
def test_score_capture_refuses_what_it_cannot_do(
    trident: Trident, flags: str, message: str
) -> None:
    pair = {"id": 7, "reference": "a dog", "candidate": "a dog"}
    Path("pairs.jsonl").write_text(json.dumps(pair) + "\n")
    result = trident(*CAPTURE, *flags.split())
    assert (result.code, message in result.err) == (2, True), result.err
    assert not Path("scores").exists()


def test_score_capture_names_the_line(trident: Trident) -> None:
    Path("pairs.jsonl").write_text('{"id": 1, "reference": "a dog", "candidate": 3}\n')
    result = trident(*CAPTURE, *TOYBOX)
    assert result.code == 2
    assert result.err.startswith("error: pairs.jsonl:1: candidate is 3: expected a text, a graph")


def test_a_bare_encoder_is_one_of_sentence_transformers(
    trident: Trident, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.delitem(sys.modules, "metrics.capture.encoder_sentence", raising=False)
    graphs = {"id": 1, "reference": {"objects": ["a"]}, "candidate": {"objects": ["b"]}}
    Path("pairs.jsonl").write_text(json.dumps(graphs) + "\n")
    result = trident(*CAPTURE, "--matching", "exact,soft", "--encoder", "org/name")
    assert result.code == 2
    assert "encoder sentence_transformers needs sentence_transformers: pip" in result.err
    soft = trident(*CAPTURE, "--matching", "exact,soft", "--encoder", "miniature:clip-mini")
    assert soft.code == 0, soft.err


def test_score_mac_refuses_what_is_of_capture(trident: Trident) -> None:
    result = trident("score", "mac", "pairs.jsonl", "--variant", "paper", "--out", "scores")
    assert (result.code, "score mac has no --variant" in result.err) == (2, True)


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
        "python", "packages", "device", "weights", "cache", "disk", "hub", "spacy", "nltk",
    ]  # fmt: skip
