"""Entries that are there stay, and change only with a word about it."""

import shutil
from pathlib import Path, PurePosixPath

import pytest

from leaderboards import history
from leaderboards.keeper import Keeper
from leaderboards.submission import read
from tests.unit.leaderboards.conftest import New
from tests.unit.leaderboards.drafts import Draft

ENTRIES = PurePosixPath("leaderboards/entries")
ENTRY = "leaderboards/entries/mac/mini/model@1/0123"


@pytest.fixture
def base(new: New) -> Path:
    return new(name="base").root


def changes(new: Path, base: Path, *, keeper: bool = False) -> list[str]:
    return list(history.of_base(new, base, keeper=keeper))


def test_an_untouched_folder_has_no_changes(new: New, base: Path) -> None:
    assert changes(new().root, base) == []


def test_a_removed_entry_is_told(new: New, base: Path) -> None:
    draft = new()
    shutil.rmtree(draft.path)
    (problem,) = changes(draft.root, base)
    assert "is removed: entries stay" in problem


def test_a_silent_change_is_told(new: New, base: Path) -> None:
    draft = new()
    draft.edit("card.json", lambda card: card.update(note="better now"))
    (problem,) = changes(draft.root, base)
    assert "changed in silence" in problem
    assert read(next(base.glob("*/*/*/*"))).digest in problem


def explain(draft: Draft, was: str) -> None:
    line = {"date": "2026-11-30", "was": was, "reason": "typing error"}
    draft.edit("card.json", lambda card: card["history"].append(line))


def test_a_change_that_says_so_passes(new: New, base: Path) -> None:
    draft = new()
    was = read(draft.path).digest
    draft.edit("card.json", lambda card: card.update(note="the note was wrong"))
    explain(draft, was)
    assert changes(draft.root, base) == []
    assert Keeper().validate(draft.root, base=base).passed


def test_a_history_must_not_lie(new: New, base: Path) -> None:
    draft = new()
    explain(draft, "0" * 64)
    (problem,) = changes(draft.root, base)
    assert "says it was 000000000000" in problem


def test_an_entry_is_withdrawn_not_removed(new: New, base: Path) -> None:
    draft = new()
    was = read(draft.path).digest
    draft.edit("card.json", lambda card: card.update(withdrawn="trained on the test set"))
    explain(draft, was)
    assert Keeper().validate(draft.root, base=base).passed


@pytest.mark.parametrize("keeper", [True, False])
def test_reproductions_are_the_keepers(new: New, base: Path, keeper: bool) -> None:
    draft = new()
    draft.write("reproduced.json", b"{}")
    problems = changes(draft.root, base, keeper=keeper)
    assert ("written by the keepers" in "".join(problems)) is not keeper


@pytest.mark.parametrize(
    ("diff", "reason"),
    [
        (f"D\t{ENTRY}/card.json", "is removed"),
        (f"R100\t{ENTRY}/card.json\t{ENTRY}9/card.json", "is removed"),
        (f"M\t{ENTRY}/records.jsonl", "changed in silence"),
        (f"A\t{ENTRY}/reproduced.json", "written by the keepers"),
        ("A\t.github/workflows/x.yml", "is outside leaderboards/entries"),
        ("A\t../../etc/passwd", "is outside"),
        ("A\t/etc/passwd", "is outside"),
        (f"A\t{ENTRIES}/../../setup.py", "is outside"),
        (f"A\t{ENTRIES}/notes.txt", "belongs to no entry"),
        ('A\t"leaderboards/entries/caf\\303\\251/x', "is outside"),
        ("hello", "no line of `git diff"),
    ],
)
def test_what_a_diff_must_not_do(diff: str, reason: str) -> None:
    change = history.parse_diff(diff + "\n", ENTRIES)
    problems = [*change.problems, *history.of_diff(change, keeper=False)]
    assert any(reason in one for one in problems), problems


def test_a_diff_that_only_adds_is_fine() -> None:
    change = history.parse_diff(f"A\t{ENTRY}/card.json\nA\t{ENTRY}/artifacts/a.png\n", ENTRIES)
    assert [*change.problems, *history.of_diff(change, keeper=False)] == []
    assert change.touched == {
        PurePosixPath("mac/mini/model@1/0123"): {"card.json", "artifacts/a.png"}
    }


def test_the_entries_of_a_diff_are_checked_in_full(new: New, tmp_path: Path) -> None:
    draft = new(name="leaderboards/entries")
    name = draft.path.relative_to(tmp_path)
    diff = "".join(f"A\t{name}/{file.name}\n" for file in draft.path.iterdir())
    good = Keeper().validate_diff(diff, tmp_path, str(ENTRIES))
    assert (good.problems, good.entries) == ([], 1)
    draft.edit_lines("records.jsonl", lambda lines: lines[0].update(queries=-1))
    assert not Keeper().validate_diff(diff, tmp_path, str(ENTRIES)).passed
    gone = Keeper().validate_diff(f"A\t{ENTRY}/card.json", tmp_path, str(ENTRIES))
    assert any("is in the diff, but not in" in one for one in gone.problems)
