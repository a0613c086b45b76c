"""Which differences make two runs incomparable, and by which keys."""

from pathlib import Path
from typing import Any

import pytest

from benchmark.errors import UserError
from benchmark.gate.comparable import Difference, RunData, differences, notes, paired
from tests.gate_runs import MODELS, record, statuses, write_run

SAME = statuses(3, 1)


def compared(tmp_path: Path, **changes: Any) -> list[str]:
    """Differences of a run and one that was changed."""
    new = changes.pop("records", SAME)
    before = RunData.read(write_run(tmp_path / "before", SAME))
    now = RunData.read(write_run(tmp_path / "now", new, **changes))
    return [str(one) for one in differences(before, now)]


def test_another_target_is_what_is_compared(tmp_path: Path) -> None:
    models = {"target": {**MODELS["target"], "id": "x", "weights": "b" * 64, "revision": "main"}}
    assert compared(tmp_path, target="siglip", models=models) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"header": {"attack_version": "2"}}, ["attack_version: 1 -> 2"]),
        ({"header": {"status": "interrupted"}}, ["status: finished -> interrupted"]),
        ({"header": {"attack_details": {"prompts": "x"}}}, ["attack_details.prompts: abc -> x"]),
        ({"seed": 7}, ["seed: 0 -> 7"]),
        ({"query_budget": 9}, ["query_budget: none -> 9"]),
        ({"access": "output"}, ["access: score -> output"]),
        ({"overrides": ["candidates=8"]}, ["candidates: 4 -> 8"]),
        ({"overrides": ["dataset.px=32"]}, ["dataset.px: nothing -> 32"]),
        ({"overrides": ["metrics=success_rates"]}, []),
        (
            {"models": {"target": {**MODELS["target"], "dtype": "float16"}}},
            ["dtype: float32 -> float16"],
        ),
        (
            {"models": {"target": {**MODELS["target"], "preprocessing": "resize 32"}}},
            ["preprocessing: resize 64 -> resize 32"],
        ),
        (
            {"models": {"judge toybox": {"id": "toybox", "revision": "2", "weights": ""}}},
            ["judge: toybox 1 -> toybox 2"],
        ),
        ({"models": {"tool x": {"id": "x"}}}, ["tool: nothing -> x"]),
    ],
)
def test_each_difference_is_named(
    tmp_path: Path, changes: dict[str, Any], expected: list[str]
) -> None:
    assert compared(tmp_path, **changes) == expected


def test_other_data_is_named_by_its_hash_and_by_its_samples(tmp_path: Path) -> None:
    changed = [record(f"s{n}", "failure") for n in range(3)]
    changed.append(record("s3", "failure", text="a dog", image_sha256="e" * 64))
    models = {"data set": {"id": "toybox", "revision": "test", "weights": "0" * 64}}
    first, second = compared(tmp_path, records=changed, models=models)
    assert first.startswith("data: toybox test ddd")
    assert second == f"data: sample s3: 'a red cube s3' {'f' * 12} -> 'a dog' {'e' * 12}"


def test_missing_samples_are_counted_and_named(tmp_path: Path) -> None:
    (line,) = compared(tmp_path, records=SAME[:2])
    assert line == "samples: 4 (NEW lacks s2, s3) -> 2 (BASELINE lacks none)"


def test_two_unfinished_runs_are_not_comparable_either(tmp_path: Path) -> None:
    header = {"status": "interrupted"}
    one, two = (
        RunData.read(write_run(tmp_path / name, SAME, header=header)) for name in ("one", "two")
    )
    assert [str(it) for it in differences(one, two)] == ["status: interrupted -> interrupted"]


def test_a_key_or_what_it_begins_with_can_be_allowed() -> None:
    one = Difference("dataset.px", "64", "32")
    assert one.is_allowed({"dataset.px"})
    assert one.is_allowed({"dataset"})
    assert not one.is_allowed({"data", "px"})


def test_long_values_are_cut_in_the_middle() -> None:
    text = str(Difference("preprocessing", "a" * 100, "b"))
    assert text == f"preprocessing: {'a' * 30}...{'a' * 30} -> b"


def test_versions_and_device_are_notes(tmp_path: Path) -> None:
    before = RunData.read(write_run(tmp_path / "before", SAME))
    header = {"versions": {"torch": "2.7"}, "sessions": [{"device": "cuda"}]}
    now = RunData.read(write_run(tmp_path / "now", SAME, header=header))
    assert differences(before, now) == []
    assert notes(before, now) == ["device: cpu -> cuda", "torch: 2.6 -> 2.7"]


def test_folders_of_runs_are_paired_by_attack(tmp_path: Path) -> None:
    write_run(tmp_path / "before" / "a", SAME)
    write_run(tmp_path / "before" / "b", SAME, attack="advdreamer")
    write_run(tmp_path / "now" / "x", SAME, attack="advdreamer")
    write_run(tmp_path / "now" / "y", SAME)
    pairs, missing = paired(tmp_path / "before", tmp_path / "now")
    assert [(one.path.name, two.path.name) for one, two in pairs] == [("a", "y"), ("b", "x")]
    assert missing == []


def test_two_runs_of_one_attack_are_paired_by_their_folders_names(tmp_path: Path) -> None:
    for side in ("before", "now"):
        write_run(tmp_path / side / "seen", SAME)
        write_run(tmp_path / side / "unseen", SAME)
    write_run(tmp_path / "now" / "third", SAME)
    pairs, missing = paired(tmp_path / "before", tmp_path / "now")
    assert [(one.path.name, two.path.name) for one, two in pairs] == [
        ("seen", "seen"),
        ("unseen", "unseen"),
    ]
    assert [str(one) for one in missing] == ["runs: nothing -> third (mac)"]


def test_an_attack_without_counterpart_is_a_difference(tmp_path: Path) -> None:
    write_run(tmp_path / "before" / "a", SAME)
    write_run(tmp_path / "before" / "b", SAME, attack="advdreamer")
    now = write_run(tmp_path / "now", SAME)
    pairs, missing = paired(tmp_path / "before", now)
    assert len(pairs) == 1
    assert [str(one) for one in missing] == ["runs: b (advdreamer) -> nothing"]


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no run: it has no run\.json"):
        paired(tmp_path, tmp_path)
