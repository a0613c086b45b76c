"""`submit` and `leaderboard`: from a run to a page, with exit codes."""

import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from benchmark.config import Execution, resolve
from benchmark.runner import run
from tests.cli.conftest import Trident


@pytest.fixture(scope="module")
def mac_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "mac"
    run(resolve("mac", "clip", overrides=["writer=grammar"], samples=6), Execution(), out)
    return out


@pytest.fixture
def entries(trident: Trident, mac_run: Path, tmp_path: Path) -> Path:
    result = trident("submit", str(mac_run), "--model-name", "CLIP mini", "--out", "entries")
    assert result.code == 0, result.err
    assert "passes `leaderboard validate`" in result.out
    return tmp_path / "entries"


def test_a_submission_passes_and_becomes_a_page(trident: Trident, entries: Path) -> None:
    result = trident("leaderboard", "validate", "entries")
    assert (result.code, result.out) == (0, "1 entry checked, 0 problems\n")
    result = trident("leaderboard", "build", "--entries", "entries", "--out", "site")
    assert result.code == 0, result.err
    assert "site: 3 pages; open site/index.html" in result.out
    assert "CLIP mini" in Path("site/mac-v1-score-4.html").read_text()


def test_a_replay_is_told_and_kept(trident: Trident, entries: Path) -> None:
    result = trident("leaderboard", "validate", "entries", "--replay", "--keep", "the keepers")
    assert result.code == 0, result.out
    assert "5 of 5 replayed examples agree" in result.out
    (kept,) = entries.rglob("reproduced.json")
    assert json.loads(kept.read_text())["by"] == "the keepers"


def test_problems_end_with_exit_code_1(trident: Trident, entries: Path) -> None:
    (table,) = entries.rglob("table.csv")
    table.write_text(table.read_text().replace(",total,", ",totally,"))
    result = trident("leaderboard", "validate", "entries")
    assert result.code == 1
    assert "problem: " in result.out
    assert result.out.endswith("1 entry checked, 1 problem\n")


def test_a_pull_request_is_a_list_of_changes(trident: Trident, entries: Path) -> None:
    files = [file.relative_to(Path.cwd()) for file in entries.rglob("*") if file.is_file()]
    Path("diff.txt").write_text("".join(f"A\t{file}\n" for file in files))
    command = ("leaderboard", "validate", "diff.txt", "--entries", "entries")
    assert trident(*command).code == 0
    Path("diff.txt").write_text(f"D\t{files[0]}\nM\tsetup.py\n")
    result = trident(*command)
    assert result.code == 1
    assert "is removed: entries stay" in result.out
    assert "'setup.py' is outside entries" in result.out


def test_a_run_that_cannot_be_submitted_says_why(
    trident: Trident, mac_run: Path, tmp_path: Path
) -> None:
    result = trident("submit", str(mac_run), "--model-name", "<b>", "--paper", "ftp://x")
    assert result.code == 1
    assert "may not be in a name" in result.err
    assert "expected an address that begins with https://" in result.err
    assert not (tmp_path / "submissions").exists()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("submit", "nowhere", "--model-name", "x"), "holds no run"),
        (("submit", "nowhere"), "--model-name"),
        (("leaderboard", "validate", "nowhere"), "there is no folder or file nowhere"),
        (("leaderboard", "validate", ".", "--keep", "me"), "add --replay"),
        (("leaderboard",), "ACTION"),
        (("leaderboard", "build"), "--out"),
    ],
)
def test_mistakes_are_one_line(trident: Trident, arguments: tuple[str, ...], text: str) -> None:
    result = trident(*arguments)
    assert result.code == 2
    assert text in result.err
    assert result.err.count("\n") == 1


def test_a_run_is_submitted_once(trident: Trident, entries: Path, mac_run: Path) -> None:
    result = trident("submit", str(mac_run), "--model-name", "again", "--out", "entries")
    assert result.code == 2
    assert "is there already" in result.err


def test_the_pull_request_check_as_documented(
    trident: Trident, entries: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """merge-base, worktree, diff, validate - on a repository with one entry and a request for another."""

    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    folder = Path("repo/leaderboards/entries")
    folder.parent.mkdir(parents=True)
    shutil.copytree(entries, folder)
    monkeypatch.chdir("repo")
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "base")
    git("worktree", "add", "-q", "--detach", str(tmp_path / "base"), "main")
    base = str(tmp_path / "base" / "leaderboards" / "entries")
    command = ("leaderboard", "validate", "-", "--base", base)

    def check() -> tuple[int, str]:
        git("add", "-A")
        git("commit", "-qm", "request")
        diff = git(
            "diff",
            "--name-status",
            "--no-renames",
            git("merge-base", "main", "HEAD").strip(),
            "HEAD",
        )
        monkeypatch.setattr("sys.stdin", io.StringIO(diff))
        result = trident(*command)
        return result.code, result.out

    git("checkout", "-qb", "request")
    (card,) = Path("leaderboards/entries").rglob("card.json")
    card.write_text(card.read_text().replace("CLIP mini", "CLIP maxi"))
    code, out = check()
    assert code == 1
    assert "changed in silence" in out
    shutil.rmtree(card.parent)
    code, out = check()
    assert code == 1
    assert "is removed: entries stay" in out
