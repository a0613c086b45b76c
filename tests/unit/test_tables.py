import sys
from pathlib import Path

import pytest

from benchmark import tables
from benchmark.errors import UserError
from benchmark.tables import COLUMNS, Row, read_csv, rows, to_csv, to_markdown, to_text, write_csv
from benchmark.types import Measure
from tests.fakes import config

MEASURES = [
    Measure("Total", 0.4125, 0.35, 0.4775, 240, "share"),
    Measure("H", None),
    Measure("Dist", 1.0, 0.98, 1.0, 240, "share", flags="ceiling"),
    Measure("Total", 0.5, 0.25, 0.75, 12, "share", slice="operation=swap-objects"),
    Measure("Dist", 1.0, 0.75, 1.0, 12, "share", slice="operation=swap-objects"),
    Measure("Total", 0.1, 0.0, 0.2, 10, "share", slice="operation=count"),
]
TABLE = rows(MEASURES, config(settings={"variant": "paper"}), surrogate="other")


def test_columns_are_the_documented_ones() -> None:
    assert ",".join(COLUMNS) == (
        "attack,target,surrogate,dataset,preset,variant,slice,metric,"
        "value,ci_low,ci_high,n,unit,flags"
    )


def test_a_row_says_what_it_is_about() -> None:
    assert TABLE[3] == Row(
        attack="edit",
        target="fake:target",
        surrogate="other",
        dataset="fake:data",
        preset="mini",
        variant="paper",
        slice="operation=swap-objects",
        metric="Total",
        value=0.5,
        ci_low=0.25,
        ci_high=0.75,
        n=12,
        unit="share",
        flags="",
    )
    assert rows(MEASURES, config())[0].variant == ""


def test_csv_has_fixed_digits_and_empty_fields_for_what_is_missing() -> None:
    lines = to_csv(TABLE).splitlines()
    assert lines[1] == (
        "edit,fake:target,other,fake:data,mini,paper,,Total,0.4125,0.3500,0.4775,240,share,"
    )
    assert lines[2] == "edit,fake:target,other,fake:data,mini,paper,,H,,,,0,,"


def test_csv_comes_back_equal(tmp_path: Path) -> None:
    write_csv(TABLE, tmp_path / "table.csv")
    assert read_csv(tmp_path / "table.csv") == TABLE


def test_scores_that_agree_to_1e_5_print_the_same_and_zero_has_no_sign() -> None:
    near = [rows([Measure("m", value)], config()) for value in (0.123402, 0.123412)]
    assert to_csv(near[0]) == to_csv(near[1])
    assert ",m,0.0000," in to_csv(rows([Measure("m", -0.00001)], config()))


def test_columns_of_later_versions_are_ignored(tmp_path: Path) -> None:
    lines = to_csv(TABLE).splitlines()
    extended = [f"{line},{'future' if n == 0 else 1}" for n, line in enumerate(lines)]
    (tmp_path / "t.csv").write_text("\n".join(extended))
    assert read_csv(tmp_path / "t.csv") == TABLE


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("image,caption\n")
    with pytest.raises(UserError, match=r"t\.csv is not a table of a run: it has no column 'atta"):
        read_csv(tmp_path / "t.csv")


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(to_csv(TABLE).replace("0.3500", "x"))
    with pytest.raises(UserError, match=r"t\.csv, line 2 is damaged: .*'x'"):
        read_csv(tmp_path / "t.csv")


def test_markdown_has_all_samples_first_and_then_each_part() -> None:
    assert (
        to_markdown(TABLE)
        == """\
| metric | value | 95% interval | n | unit | flags |
| --- | ---: | ---: | ---: | ---: | ---: |
| Total | 0.4125 | [0.3500, 0.4775] | 240 | share |  |
| H | - | - | 0 |  |  |
| Dist | 1.0000 | [0.9800, 1.0000] | 240 | share | ceiling |

**per operation**

| operation | n | Total | Dist |
| --- | ---: | ---: | ---: |
| swap-objects | 12 | 0.5000 | 1.0000 |
| count | 10 | 0.1000 | - |
"""
    )


def test_text_is_aligned() -> None:
    assert (
        to_text(TABLE)
        == """\
metric   value      95% interval    n  unit   flags
Total   0.4125  [0.3500, 0.4775]  240  share
H            -                 -    0
Dist    1.0000  [0.9800, 1.0000]  240  share  ceiling

per operation
operation      n   Total    Dist
swap-objects  12  0.5000  1.0000
count         10  0.1000       -
"""
    )


def test_conditions_and_pairs_are_compared_so_they_show_intervals_and_flags() -> None:
    compared = [
        Measure("accuracy", 0.25, 0.125, 0.375, 12, slice="condition=random"),
        Measure("accuracy", None, slice="condition=center"),
        Measure("gap", -0.5, -0.75, 0.25, 12, slice="pair=a - b", flags="tie"),
    ]
    text = to_text(rows(compared, config()))
    assert "random     12  0.2500 [0.1250, 0.3750]\n" in text
    assert text.splitlines()[3].split() == ["center", "0", "-"]
    assert "a - b  12  -0.5000 [-0.7500, 0.2500] tie\n" in text


def test_text_fits_its_width() -> None:
    text = to_text(TABLE, width=30)
    assert max(map(len, text.splitlines())) <= 30
    for cell in ("0.4125", "[0.3500, 0.4775]", "ceiling", "swap-objects"):
        assert cell in text


def test_pipes_do_not_break_markdown() -> None:
    assert r"a\|b" in to_markdown(rows([Measure("a|b", 1.0)], config()))


def test_an_empty_table() -> None:
    assert to_text([]) == "\n"
    assert to_markdown([]) == ""


def test_tables_of_several_runs_in_one_frame(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    write_csv(TABLE, tmp_path / "one" / "table.csv")
    write_csv(TABLE[:1], tmp_path / "two.csv")
    frame = tables.load([tmp_path / "one", tmp_path / "two.csv"])
    assert list(frame.columns) == ["run", *COLUMNS]
    assert frame["value"].sum() == pytest.approx(0.4125 + 1 + 0.5 + 1 + 0.1 + 0.4125)
    assert frame["value"].isna().sum() == 1
    assert frame["run"].tolist()[-1].endswith("two.csv")


def test_frames_without_pandas_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UserError, match="pip install pandas"):
        tables.load([])
