"""`compare`, `noise` and `run --ids`: verdicts, exit codes, files, and commands that really work."""

import json
import shlex
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Trident
from tests.gate_runs import statuses, write_run

PAINT = ("run", "--attack", "repaint", "--target", "colours", "--no-cache", "--quiet")


def records(run: str) -> dict[str, dict[str, Any]]:
    lines = (Path(run) / "records.jsonl").read_text().splitlines()
    found = {one["id"]: one for one in map(json.loads, lines)}
    for one in found.values():
        del one["seconds"]
    return found


def run_on_a_sound_target(
    trident: Trident, paint: ModuleType, monkeypatch: pytest.MonkeyPatch, *flags: str
) -> None:
    """A target that likes every caption alike, so no other one better: nothing fools it."""
    grey = paint.Colours("", {}).encode_texts(["grey"])
    with monkeypatch.context() as patch:
        patch.setattr(paint.Colours, "encode_texts", lambda self, texts: grey.repeat(len(texts), 0))
        assert trident(*PAINT, *flags).code == 0


@pytest.mark.parametrize(
    ("before", "now", "flags", "code"),
    [
        (statuses(200, 40), statuses(200, 40), [], 0),
        (statuses(200, 40), statuses(150, 90), [], 10),
        (statuses(200, 40), statuses(196, 44), [], 11),
        (statuses(200, 40), statuses(196, 44), ["--margin", "0.1"], 0),
        (statuses(18, 2), statuses(18, 2), [], 11),
        (statuses(18, 2), statuses(17, 2), [], 12),
        (statuses(200, 40), statuses(200, 39), ["--allow", "samples"], 0),
    ],
)
def test_exit_codes(
    trident: Trident, before: list[Any], now: list[Any], flags: list[str], code: int
) -> None:
    write_run(Path("before"), before)
    write_run(Path("now"), now)
    result = trident("compare", "before", "now", *flags)
    assert (result.code, result.err) == (code, "")
    verdict = {0: "PASS", 10: "REGRESSION", 11: "INCONCLUSIVE", 12: "NOT COMPARABLE"}[code]
    assert result.out.startswith(f"{verdict}  ")


def test_twenty_samples_say_how_many_would_decide(trident: Trident) -> None:
    write_run(Path("run"), statuses(18, 2))
    result = trident("compare", "run", "run")
    assert result.code == 11
    assert "20 samples are too few: 149 would decide (PASS)" in result.out


def test_differences_are_named_one_a_line(trident: Trident) -> None:
    write_run(Path("before"), statuses(5, 0))
    write_run(Path("now"), statuses(5, 0), seed=3, overrides=["candidates=8"])
    result = trident("compare", "before", "now", "--allow", "seed")
    assert result.code == 12
    assert "\n  candidates: 4 -> 8\n" in result.out
    assert "\n  allowed: seed: 0 -> 3\n" in result.out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--margin", "2"], "argument --margin: '2' must be from 0 to 1"),
        (["--margin", "1"], "margin 1 cannot be used"),
        (["--alpha", "0.9"], "alpha 0.9 cannot be used"),
        (["--junit", "no/where.xml"], "--junit no/where.xml: there is no folder no"),
        (["--waivers", "w.toml"], "waivers w.toml are not TOML"),
    ],
)
def test_mistakes_are_usage_errors(trident: Trident, flags: list[str], message: str) -> None:
    write_run(Path("run"), statuses(5, 0))
    Path("w.toml").write_text("[[")
    result = trident("compare", "run", "run", *flags)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_no_run_is_a_usage_error(trident: Trident) -> None:
    result = trident("compare", "a", "b")
    assert result.code == 2
    assert "a holds no run" in result.err


def test_files_and_the_step_summary(trident: Trident, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(Path("before"), statuses(200, 40))
    write_run(Path("now"), statuses(150, 90))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "steps.md")
    Path("steps.md").write_text("# Earlier\n")
    flags = "--junit gate.xml --sarif gate.sarif --summary gate.md"
    assert trident("compare", "before", "now", *flags.split()).code == 10
    assert ElementTree.parse("gate.xml").getroot().get("failures") == "1"
    assert json.loads(Path("gate.sarif").read_text())["version"] == "2.1.0"
    summary = Path("gate.md").read_text()
    assert summary.startswith("## ❌ REGRESSION")
    assert Path("steps.md").read_text() == f"# Earlier\n{summary}"


def test_waivers_from_a_file(trident: Trident) -> None:
    write_run(Path("before"), statuses(200, 40))
    write_run(Path("now"), statuses(180, 60))
    waiver = '[[waiver]]\nsample = "s{}"\nowner = "ana"\nreason = "known"\nexpires = 2999-01-01\n'
    Path("w.toml").write_text("".join(waiver.format(n) for n in range(180, 200)))
    assert trident("compare", "before", "now").code == 10
    result = trident("compare", "before", "now", "--waivers", "w.toml")
    assert result.code == 0
    assert "without waivers: REGRESSION" in result.out


def test_a_worse_target_is_found_and_each_flip_can_be_made_again(
    trident: Trident, paint: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_on_a_sound_target(trident, paint, monkeypatch, "-n", "60", "--out", "before")
    trident(*PAINT, "-n", "60", "--out", "now")
    result = trident("compare", "before", "now", "--replay", "--flips", "2")
    assert result.code == 10, result.out
    commands = [line.split() for line in result.out.splitlines() if "python -m benchmark" in line]
    assert [words[3] for words in commands] == ["run", "transfer"]
    before, now = records("before"), records("now")

    run, transfer = (shlex.split(" ".join(words))[3:] for words in commands)
    made = trident(*run, "--no-cache", "--quiet", "--out", "again")
    assert made.code == 0, made.err
    (again,) = records("again").values()
    assert again == now[again["id"]]
    assert (before[again["id"]]["status"], again["status"]) == ("failure", "success")

    made = trident(*transfer, "--no-cache", "--quiet", "--out", "shown")
    assert made.code == 0, made.err
    (shown,) = records("shown").values()
    assert (before[shown["id"]]["status"], shown["status"]) == ("failure", "success")
    assert shown["adversarial_text"] == before[shown["id"]]["adversarial_text"]


def test_the_same_target_passes_in_both_modes(trident: Trident, paint: ModuleType) -> None:
    trident(*PAINT, "-n", "160", "--out", "run")
    result = trident("compare", "run", "run", "--replay")
    assert result.code == 0, result.out
    assert [line.split()[-1] for line in result.out.splitlines() if " 160 " in line] == ["PASS"] * 2


def test_a_run_of_some_samples_is_like_the_whole(trident: Trident, paint: ModuleType) -> None:
    trident(*PAINT, "-n", "12", "--out", "whole")
    whole = records("whole")
    ids = [list(whole)[7], list(whole)[2]]
    result = trident(*PAINT, "-n", "12", "--ids", *ids, "--out", "part")
    assert result.code == 0, result.err
    assert records("part") == {id: whole[id] for id in sorted(ids, key=list(whole).index)}
    subset = json.loads(Path("part/run.json").read_text())["models"]["subset"]
    assert (subset["id"].split(), subset["revision"]) == (sorted(ids), "2 samples")
    # It is another experiment than the whole, for a resume and for a comparison.
    assert "models.subset" in trident("run", "--resume", "part", "--no-cache").err
    assert trident("run", "--resume", "part", "--no-cache", "--ids", *ids).code == 0
    assert trident("compare", "whole", "part").code == 12


def test_an_id_that_is_not_there_is_refused_before_anything_is_made(
    trident: Trident, paint: ModuleType
) -> None:
    result = trident(*PAINT, "-n", "3", "--ids", "test/1", "--out", "part")
    assert result.code == 2
    assert "has no sample 'test/1' among its first 3 samples" in result.err
    assert not Path("part").exists()


def test_noise_attacks_again_with_fresh_seeds(trident: Trident, paint: ModuleType) -> None:
    trident(*PAINT, "--set", "tries=1", "-n", "30", "--out", "run")
    result = trident("noise", "run", "--repeats", "2", "--no-cache")
    assert result.code == 0, result.err
    found = json.loads(Path("run-noise/noise.json").read_text())
    assert [one["seed"] for one in found["repeats"]] == [0, 1, 2]
    fooled = [sum(one["status"] == "success" for one in records("run").values())]
    fooled += [
        sum(one["status"] == "success" for one in records(f"run-noise/seed-{n}").values())
        for n in (1, 2)
    ]
    assert [one["fooled"] for one in found["repeats"]] == fooled
    assert found["flips"] > 0
    assert f"seed 0: {fooled[0]} of 30 fooled" in result.out
    assert "noise floor:" in result.out
    # What is there is not made again.
    made = Path("run-noise/seed-1/records.jsonl").stat().st_mtime_ns
    assert trident("noise", "run", "--repeats", "2", "--no-cache").code == 0
    assert Path("run-noise/seed-1/records.jsonl").stat().st_mtime_ns == made


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"status": "interrupted"}, "run is no finished run: finish it with `run --resume run`"),
        ({"surrogate": {"target": "x"}}, "run is a transfer, in which nothing is searched"),
    ],
)
def test_noise_refuses_what_cannot_be_repeated(
    trident: Trident, header: dict[str, Any], message: str
) -> None:
    write_run(Path("run"), statuses(5, 0), header=header)
    result = trident("noise", "run")
    assert result.code == 2
    assert message in result.err
