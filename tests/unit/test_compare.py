"""Two runs become one verdict, and are told to people and machines."""

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmark import replay
from benchmark.compare import Comparison, compare
from benchmark.errors import UserError
from benchmark.gate import files, text
from benchmark.gate.waivers import Waiver
from benchmark.replay import Replayed
from benchmark.types import Record, Status
from tests.gate_runs import record, statuses, write_run

TODAY = date(2026, 12, 1)


def pair(
    tmp_path: Path, before: Sequence[Any], now: Sequence[Any], **new: Any
) -> tuple[Path, Path]:
    one = write_run(tmp_path / "before", before)
    return one, write_run(tmp_path / "now", now, **new)


def compared(
    tmp_path: Path, before: Sequence[Any], now: Sequence[Any], **options: Any
) -> Comparison:
    return compare(*pair(tmp_path, before, now), today=TODAY, **options)


def clean(id: str, status: Status, fooled: int) -> Record:
    return record(id, status, conditions={"clean": {"n": 1, "fooled": fooled}})


def test_a_run_against_itself_passes(tmp_path: Path) -> None:
    found = compared(tmp_path, statuses(200, 40), statuses(200, 40))
    assert (found.verdict, found.exit_code, found.flips) == ("PASS", 0, ())


def test_a_drop_is_a_regression(tmp_path: Path) -> None:
    found = compared(tmp_path, statuses(200, 40), statuses(150, 90))
    assert (found.verdict, found.exit_code) == ("REGRESSION", 10)
    assert [flip.id for flip in found.broken] == [f"s{n}" for n in range(150, 200)]


def test_few_samples_are_inconclusive(tmp_path: Path) -> None:
    found = compared(tmp_path, statuses(18, 2), statuses(18, 2))
    assert (found.verdict, found.exit_code) == ("INCONCLUSIVE", 11)
    assert "149 would decide (PASS)" in text.render(found)


def test_a_wider_margin_passes_what_a_narrow_one_does_not(tmp_path: Path) -> None:
    runs = pair(tmp_path, statuses(200, 40), statuses(188, 52))
    assert compare(*runs, margin=0.02).verdict != "PASS"
    assert compare(*runs, margin=0.1).verdict == "PASS"


def test_what_is_not_comparable_gets_no_verdict_until_it_is_allowed(tmp_path: Path) -> None:
    runs = pair(tmp_path, statuses(200, 40), statuses(200, 40), seed=1, query_budget=9)
    found = compare(*runs)
    assert (found.verdict, found.exit_code, found.answers) == ("NOT COMPARABLE", 12, ())
    assert [one.key for _, one in found.refused] == ["seed", "query_budget"]
    found = compare(*runs, allow=["seed"])
    assert [one.key for _, one in found.refused] == ["query_budget"]
    found = compare(*runs, allow=["seed", "query_budget"])
    assert found.verdict == "PASS"
    assert "allowed: seed: 0 -> 1" in text.render(found)


def test_all_attacks_must_pass(tmp_path: Path) -> None:
    for side, fooled in (("before", 40), ("now", 100)):
        write_run(tmp_path / side / "mac", statuses(200, 40))
        write_run(tmp_path / side / "poses", statuses(240 - fooled, fooled), attack="advdreamer")
    found = compare(tmp_path / "before", tmp_path / "now")
    assert [(one.question.attack, one.verdict) for one in found.answers] == [
        ("mac", "PASS"),
        ("advdreamer", "REGRESSION"),
    ]
    assert found.verdict == "REGRESSION"


def test_clean_inputs_are_guarded_on_their_own(tmp_path: Path) -> None:
    # More robust under attack, and worse at the clean pictures.
    before = [clean(f"s{n}", "success", 0) for n in range(200)]
    now = [clean(f"s{n}", "failure", int(n < 40)) for n in range(200)]
    found = compared(tmp_path, before, now)
    assert [(one.question.mode, one.verdict) for one in found.answers] == [
        ("adaptive", "PASS"),
        ("clean", "REGRESSION"),
    ]
    assert found.verdict == "REGRESSION"
    assert text.headline(found) == "clean accuracy fell by more than 2 points"


def test_the_share_of_pictures_drawn_from_what_was_found_is_compared(tmp_path: Path) -> None:
    # Some query fools every model; of ten pictures drawn from what was found 2, and then 6, do.
    def drawn(fooled: int) -> list[Record]:
        conditions = {"distribution": {"n": 10, "fooled": fooled}, "random": {"n": 1, "fooled": 0}}
        return [record(f"s{n}", "success", conditions=conditions) for n in range(160)]

    found = compared(tmp_path, drawn(2), drawn(6))
    assert [(one.question.mode, one.verdict) for one in found.answers] == [
        ("adaptive", "PASS"),
        ("distribution", "REGRESSION"),
    ]
    assert found.answers[1].drop == pytest.approx(0.4)
    assert found.flips == ()


def test_errors_make_it_inconclusive_only_where_they_could_turn_it(tmp_path: Path) -> None:
    found = compared(tmp_path, statuses(239, 1), statuses(239, 0, 1))
    assert found.verdict == "PASS"
    errors: list[Status] = ["error"] * 5
    found = compared(tmp_path / "more", statuses(235, 5), [*errors, *statuses(230, 5)])
    assert found.verdict == "INCONCLUSIVE"
    assert "5 of 240 outcomes are unknown (errors)" in text.render(found)


def test_samples_that_both_skipped_are_left_out_and_one_sided_ones_are_unknown(
    tmp_path: Path,
) -> None:
    before = [*statuses(200, 0), "skipped", "skipped"]
    found = compared(tmp_path, before, [*statuses(200, 0), "skipped", "failure"])
    (answer,) = found.answers
    assert (found.skipped, answer.n, answer.unknown) == (1, 200, 1)
    assert "1 samples that both runs skipped are left out" in text.render(found)


def test_groups_reach_the_test(tmp_path: Path) -> None:
    records = [record(f"s{n}", "failure", group=f"image {n // 5}") for n in range(150)]
    assert compared(tmp_path, records, records).verdict == "INCONCLUSIVE"


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A replay in which ten examples that the baseline held fool the new target."""
    asked: list[dict[str, Any]] = []

    def show(run: Path, **options: Any) -> list[Replayed]:
        asked.append({"run": run, **options})
        return [
            Replayed(
                f"s{n}",
                record(f"s{n}", "failure"),
                record(f"s{n}", "success" if n < 10 else "failure"),
            )
            for n in range(100)
        ]

    monkeypatch.setattr(replay, "replay", show)
    return asked


def test_a_replay_stands_beside_the_new_attack(
    tmp_path: Path, replayed: list[dict[str, Any]]
) -> None:
    same = statuses(200, 40)
    options = {"target": "siglip", "overrides": ["target.dtype=float16"]}
    before = write_run(tmp_path / "before", same)
    now = write_run(tmp_path / "now", same, **options)  # type: ignore[arg-type]
    found = compare(before, now, replay=True)
    assert [(one.question.mode, one.verdict) for one in found.answers] == [
        ("adaptive", "PASS"),
        ("replay", "REGRESSION"),
    ]
    assert found.verdict == "REGRESSION"
    (asked,) = replayed
    assert (asked["run"], asked["target"]) == (before, "miniature:siglip-mini")
    assert asked["target_settings"] == {"dtype": "float16"}
    assert found.broken[0].command == (
        f"python -m benchmark transfer {before} --target miniature:siglip-mini"
        " --set target.dtype=float16 --ids s0"
    )


def test_without_replay_no_model_is_asked(tmp_path: Path, replayed: list[dict[str, Any]]) -> None:
    compared(tmp_path, statuses(5, 0), statuses(5, 0))
    assert replayed == []


def waiver(sample: str, expires: date = TODAY, attack: str = "") -> Waiver:
    return Waiver(sample, "ana", "known", expires, attack)


def test_waived_samples_are_left_out_and_named(tmp_path: Path) -> None:
    waivers = [waiver(f"s{n}") for n in range(180, 200)]
    found = compared(tmp_path, statuses(200, 40), statuses(180, 60), waivers=waivers)
    assert (found.verdict, found.verdict_unwaived) == ("PASS", "REGRESSION")
    assert (found.answers[0].n, len(found.broken), len(found.flips)) == (220, 0, 20)
    shown = text.render(found)
    assert "waived: s180 (ana, until 2026-12-01: known)" in shown
    assert "without waivers: REGRESSION" in shown
    assert "flipped: 0 broken, 20 waived, 0 mended" in shown


def test_expired_and_useless_waivers_are_reported(tmp_path: Path) -> None:
    waivers = [waiver("s3", date(2026, 11, 30)), waiver("gone"), waiver("s4", attack="advdreamer")]
    found = compared(tmp_path, statuses(200, 40), statuses(200, 40), waivers=waivers)
    assert (found.applied, found.verdict_unwaived) == ((), None)
    shown = text.render(found)
    assert "waiver expired, not applied: s3 (ana, until 2026-11-30: known)" in shown
    assert shown.count("waiver about no sample of these runs:") == 2


def test_fitness_is_shown_and_tested_on_demand(tmp_path: Path) -> None:
    runs = pair(tmp_path, statuses(200, 40), statuses(200, 40))
    found = compare(*runs)
    assert [one.verdict for one in found.scores] == [None]
    assert "mac adaptive: fitness +0.000 [+0.000, +0.000]" in text.render(found)
    found = compare(*runs, score_margin=0.01)
    assert [one.verdict for one in found.scores] == ["PASS"]
    drifted = [record(f"s{n}", "failure", fitness=-0.1 if n % 2 else -0.2) for n in range(200)]
    runs = pair(tmp_path / "drift", statuses(200, 0), drifted)
    assert compare(*runs).verdict == "PASS"
    found = compare(*runs, score_margin=0.05)
    assert found.verdict == "REGRESSION"
    assert text.headline(found) == "adversarial examples got fitter by more than the margin"


@pytest.mark.parametrize(
    ("options", "message"),
    [({"margin": 1.0}, "margin 1 cannot be used"), ({"alpha": 0.5}, "alpha 0.5 cannot be used")],
)
def test_numbers_that_cannot_be_used_are_refused(
    tmp_path: Path, options: dict[str, float], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        compare(tmp_path, tmp_path, **options)  # type: ignore[arg-type]


def test_the_text_is_short_and_fits(tmp_path: Path) -> None:
    found = compared(tmp_path, statuses(200, 40), statuses(150, 90))
    lines = text.render(found, width=100).splitlines()
    assert lines[0] == "REGRESSION  robust accuracy fell by more than 2 points"
    # 200 -> 150 of 240 held: 83.3 -> 62.5.
    assert lines[5].split()[:6] == ["mac", "adaptive", "240", "83.3", "62.5", "+20.8"]
    assert lines[5].endswith("REGRESSION")
    assert len(lines) < 20
    assert max(map(len, lines)) <= 100
    assert "    mac adaptive s150: red -> blue" in lines
    assert "      python -m benchmark run --attack mac --target clip --ids s150" in lines
    assert "\x1b" not in text.render(found)
    assert "\x1b[1;31mREGRESSION\x1b[0m" in text.render(found, colour=True)


def test_junit(tmp_path: Path) -> None:
    found = compared(tmp_path, statuses(200, 40), statuses(150, 90))
    suite = ElementTree.fromstring(files.junit(found))
    counts = {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "1", "failures": "1", "errors": "0", "skipped": "0"}
    (case,) = suite
    assert (case.get("classname"), case.get("name")) == ("trident.mac", "adaptive")
    failure = case.find("failure")
    assert failure is not None
    assert str(failure.get("message")).startswith(
        "REGRESSION: the drop exceeds 2 points; 83.3 -> 62.5"
    )
    output = case.findtext("system-out") or ""
    assert "broken s150: a red cube s150 -> a blue cube s150" in output
    assert "python -m benchmark run --attack mac --target clip --ids s150" in output


@pytest.mark.parametrize(
    ("n", "changes", "tag"), [(20, {}, "skipped"), (240, {}, None), (240, {"seed": 1}, "error")]
)
def test_junit_of_other_verdicts(
    tmp_path: Path, n: int, changes: dict[str, Any], tag: str | None
) -> None:
    found = compare(*pair(tmp_path, statuses(n, 0), statuses(n, 0), **changes))
    (case,) = ElementTree.fromstring(files.junit(found))
    assert {child.tag for child in case} - {"system-out"} == ({tag} if tag else set())


def test_sarif(tmp_path: Path) -> None:
    waivers = [waiver("s150")]
    found = compared(tmp_path, statuses(200, 40), statuses(150, 90), waivers=waivers)
    document = json.loads(files.sarif(found))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    verdict, *flips = run["results"]
    assert {result["ruleId"] for result in run["results"]} == rules
    assert (verdict["kind"], verdict["level"]) == ("fail", "error")
    assert verdict["message"]["text"].startswith("REGRESSION: ")
    assert len(flips) == 50
    place = flips[0]["locations"][0]["physicalLocation"]
    line = place["region"]["startLine"]
    file = Path(place["artifactLocation"]["uri"].removeprefix("file://"))
    assert json.loads(file.read_text().splitlines()[line - 1])["id"] == "s150"
    assert flips[0]["suppressions"] == [
        {"kind": "external", "justification": "s150 (ana, until 2026-12-01: known)"}
    ]
    assert "suppressions" not in flips[1]
    assert len({flip["partialFingerprints"]["sample/v1"] for flip in flips}) == 50


@pytest.mark.parametrize(
    ("n", "changes", "kind"),
    [(20, {}, "review"), (240, {}, "pass"), (240, {"seed": 1}, "fail")],
)
def test_sarif_of_other_verdicts(
    tmp_path: Path, n: int, changes: dict[str, Any], kind: str
) -> None:
    found = compare(*pair(tmp_path, statuses(n, 0), statuses(n, 0), **changes))
    (result,) = json.loads(files.sarif(found))["runs"][0]["results"]
    # SARIF: what is no failure has no level.
    assert (result["kind"], result["level"]) == (kind, "error" if kind == "fail" else "none")


def test_hostile_texts_change_nothing(tmp_path: Path) -> None:
    hostile = 'a <script>alert("1")</script> | `x` [y](z) \x00\x1b[31m \ud800 ]]> & \u202e'
    now = [record(f"s{n}", "success", adversarial_text=hostile) for n in range(60)]
    found = compared(tmp_path, statuses(60, 0), now)
    output = ElementTree.fromstring(files.junit(found)).findtext("testcase/system-out") or ""
    assert '<script>alert("1")</script>' in output
    shown = files.markdown(found)
    assert "<script" not in shown
    assert "\n| mac | adaptive | 60 | 100.0 | 0.0 | +100.0 |" in shown
    json.loads(files.sarif(found))
    files.markdown(found).encode()
    for drawn in (text.render(found), shown):
        assert "\x1b" not in drawn
        assert "\x00" not in drawn
        drawn.encode()


def test_markdown(tmp_path: Path) -> None:
    found = compared(tmp_path, statuses(200, 40), statuses(150, 90))
    lines = files.markdown(found).splitlines()
    assert lines[0] == "## ❌ REGRESSION: robust accuracy fell by more than 2 points"
    assert any(
        line.startswith("| mac | adaptive | 240 | 83.3 | 62.5 | +20.8 | \\[") for line in lines
    )
    assert "<details><summary>flipped: 50 broken, 0 mended</summary>" in lines
    assert (
        "  <br><code>python -m benchmark run --attack mac --target clip --ids s150</code>" in lines
    )


def test_markdown_lists_differences(tmp_path: Path) -> None:
    found = compare(*pair(tmp_path, statuses(5, 0), statuses(5, 0), seed=1))
    assert "- seed: 0 -> 1" in files.markdown(found)


def test_a_summary_is_added_to(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    files.append(path, "one\n")
    files.append(path, "two\n")
    assert path.read_text() == "one\ntwo\n"
