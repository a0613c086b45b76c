"""report: the command."""

from pathlib import Path
from types import ModuleType

from tests.cli.conftest import Trident

PAINT = ("run", "--attack", "repaint", "--target", "colours", "-n", "3", "--quiet", "--out")


def test_report_writes_one_file(trident: Trident, paint: ModuleType) -> None:
    trident(*PAINT, "a")
    result = trident("report", "a", "--out", "pages/report.html")
    assert result.code == 0, result.err
    assert result.out.startswith("pages/report.html: ")
    html = Path("pages/report.html").read_text(encoding="utf-8")
    assert "repaint" in html
    assert html.count("<article") == 3
    assert html.count("data:image/png") >= 3


def test_report_of_two_runs_goes_into_the_first(trident: Trident, paint: ModuleType) -> None:
    trident(*PAINT, "a")
    trident(*PAINT, "b", "--seed", "1")
    result = trident("report", "a", "--compare", "b", "--examples", "2")
    assert result.code == 0, result.err
    html = Path("a/report.html").read_text(encoding="utf-8")
    assert html.count("<article") == 2
    assert "What was run on what: B" in html


def test_mistakes_are_one_line(trident: Trident, paint: ModuleType) -> None:
    trident(*PAINT, "a")
    assert "b holds no run" in trident("report", "b").err
    assert "holds no run" in trident("report", "a", "--compare", "b").err
    result = trident("report", "a", "--out", ".")
    assert result.code == 2
    assert result.err == "error: . is a folder: name a file, such as report.html\n"
