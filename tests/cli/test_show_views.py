"""show: several runs, papers' tables, formats."""

import json
from pathlib import Path
from types import ModuleType

from tests.cli.conftest import Trident

PAINT = ("run", "--attack", "repaint", "--target", "colours", "-n", "3", "--quiet", "--out")


def test_several_runs_are_shown_one_after_the_other(trident: Trident, paint: ModuleType) -> None:
    trident(*PAINT, "a")
    trident(*PAINT, "b", "--seed", "1")
    assert trident("show", "a", "b").out.count("repaint on colours, data toybox, preset mini") == 2
    rows = json.loads(trident("show", "a", "b", "--format", "json").out)
    assert {row["run"] for row in rows} == {"a", "b"}
    assert {"metric", "value", "ci_low", "ci_high", "n", "flags"} <= rows[0].keys()
    assert trident("show", "a", "b", "--format", "md").out.count("## repaint on colours") == 2
    both = trident("show", "a", "b", "--format", "csv").out.splitlines()
    assert len(both) == 1 + len(rows)


def test_a_latex_table_has_only_columns_that_hold_something(
    trident: Trident, paint: ModuleType
) -> None:
    trident(*PAINT, "a")
    text = trident("show", "a", "--format", "latex").out
    assert text.splitlines()[1].startswith(r"\begin{tabular}{l")
    assert text.rstrip().endswith(r"\end{tabular}")
    assert "surrogate" not in text
    assert r"ci\_low" in text


def test_a_view_of_another_attack_is_refused(trident: Trident, paint: ModuleType) -> None:
    trident(*PAINT, "a")
    result = trident("show", "a", "--view", "mac-table2")
    assert result.code == 2
    assert "a is a run of repaint, mac-table2 is a table of mac: leave it out" in result.err


def test_an_unknown_view_is_a_mistake(trident: Trident) -> None:
    result = trident("show", str(Path("a")), "--view", "mac-table9")
    assert result.code == 2
    assert "mac-table9" in result.err
