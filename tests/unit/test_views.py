import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from benchmark import tables, views
from benchmark.errors import UserError
from benchmark.grids import latex
from benchmark.types import Measure
from tests.fakes import config

CLIP_H = "transformers:laion/CLIP-ViT-H-14-laion2B-s32B-b79K"
LLAMA = "transformers:meta-llama/Meta-Llama-3.1-8B-Instruct@0e9e39f"
CAPTIONS = [
    Measure("cross", 0.375, 0.35, 0.4, 400, "rate"),
    Measure("total", 0.195, 0.16, 0.24, 400, "rate"),
    Measure("H", 7.5, 7.4, 7.6, 400, "nats"),
    Measure("D1", None),
]


def folder(
    path: Path,
    measures: list[Measure],
    surrogate: str = "",
    answers: list[Measure] | None = None,
    **changes: Any,
) -> views.RunTable:
    """A finished run with these numbers, read back."""
    path.mkdir()
    given = config(**changes)
    header = {"config": given.to_json(), "digest": given.digest, "totals": {"done": 400}}
    (path / "run.json").write_text(json.dumps(header))
    tables.write_csv(tables.rows(measures, given, surrogate), path / "table.csv")
    if answers is not None:
        tables.write_csv(tables.rows(answers, given, surrogate), path / "answers.csv")
    return views.read(path)


def caption_run(path: Path, measures: list[Measure] = CAPTIONS, **changes: Any) -> views.RunTable:
    settings = {
        "candidates": 4,
        "mode": "general",
        "generation": "parallel",
        "modality": "image",
        "writer": LLAMA,
        **changes.pop("settings", {}),
    }
    published = {"preset": "paper", "target": CLIP_H, "dataset_name": "coco"}
    return folder(path, measures, attack="mac", settings=settings, **{**published, **changes})


def lines(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


# Copied from the papers by hand, one or two a table, so that a slip in the data files shows.
@pytest.mark.parametrize(
    ("view", "line", "column", "value", "extra"),
    [
        ("mac-table2", ("N=1", "RoCOCO rand-voca"), "Image (CLIP/COCO): Cross", 24.33, None),
        ("mac-table2", ("N=1", "VideoCon*"), "Video (LB/MSRVTT): D1", 0.610, None),
        ("mac-table2", ("N=4", "CompA*†"), "Audio (LB/AudioCaps): Cross", 49.38, None),
        ("mac-table2", ("N=4", "+ Self-Train"), "Audio (LB/AudioCaps): Total", 47.35, None),
        ("mac-table3", ("BLIP",), "source: NegCLIP", 18.02, 8.94),
        ("advdreamer-table1", ("BLIP-2 ViT-G/14", "4.1B"), "Θ*", 15.7, 65),
        ("advdreamer-table3", ("GPT-4o", "p*"), "NoCaps: B@4", 6.5, 5.2),
        (
            "advdreamer-table3",
            ("LLaVa-1.5 Vicuna (7B)", "Clean"),
            "COCO Caption: C",
            126.1,
            None,
        ),
        ("evolution-table1", ("IC", "Ours"), "Llama-3.2", 0.0910, None),
        ("evolution-table2", ("VQA", "Molmo"), "GPT-4o", 0.1066, None),
    ],
)
def test_published_values(
    view: str, line: tuple[str, ...], column: str, value: float, extra: float | None
) -> None:
    shape = views.shapes()[view]
    (found,) = [c for (at, col), c in shape.cells.items() if at == line and col.name == column]
    assert (found.value, found.extra) == (value, extra)


@pytest.mark.parametrize(
    ("view", "arxiv", "size"),
    [
        ("mac-table2", "2505.22943", (16, 12)),
        ("mac-table3", "2505.22943", (4, 4)),
        ("advdreamer-table1", "2412.03002", (6, 4)),
        ("advdreamer-table3", "2412.03002", (28, 9)),
        ("evolution-table1", "2505.15265", (8, 7)),
        ("evolution-table2", "2505.15265", (14, 7)),
    ],
)
def test_every_view_is_a_published_table_with_its_source(
    view: str, arxiv: str, size: tuple[int, int]
) -> None:
    shape = views.shapes()[view]
    assert f"arXiv:{arxiv}, Table " in shape.source
    assert (len(shape.lines), len(shape.columns)) == size
    assert set(views.VIEWS) == set(views.shapes())


def test_the_published_drop_is_what_the_paper_prints() -> None:
    """Table 1 rounds the difference of its own numbers; off by at most one where it says so."""
    shape = views.shapes()["advdreamer-table1"]
    clean = {line: cell.value for (line, col), cell in shape.cells.items() if col.title == "Clean"}
    for (line, column), cell in shape.cells.items():
        if column.title != "Clean":
            assert cell.extra is not None
            assert cell.value is not None
            assert abs(clean[line] - cell.value - cell.extra) <= 1.0, (line, column)  # type: ignore[operator]


def test_ours_stands_above_the_published_line_of_the_same_setting(tmp_path: Path) -> None:
    grid = views.build("mac-table2", [caption_run(tmp_path / "run")])
    body = lines(grid.to_csv())
    at = next(i for i, line in enumerate(body) if line[2] == "run")
    assert body[at][:7] == [
        "N=4",
        "Deceptive-General Prompt (zero-shot)",
        "run",
        "37.50",
        "19.50",
        "7.500",
        "",
    ]
    assert body[at + 1][:7] == [
        "N=4",
        "Deceptive-General Prompt (zero-shot)",
        "paper",
        "37.29",
        "19.19",
        "7.571",
        "0.130",
    ]
    assert len(body) == 1 + 16 + 1


@pytest.mark.parametrize(
    "changes",
    [
        {"target": "open_clip:ViT-B-32/openai"},
        {"dataset_name": "flickr"},
        {"settings": {"candidates": 16}},
        {"settings": {"mode": "specific"}},
        {"settings": {"writer": "openai:gpt-4o"}},
    ],
)
def test_another_setting_has_a_line_of_its_own(tmp_path: Path, changes: dict[str, Any]) -> None:
    grid = views.build("mac-table2", [caption_run(tmp_path / "run", **changes)])
    (own,) = {line for line, _ in grid.ours}
    assert own not in views.shapes()["mac-table2"].lines


def test_nothing_published_stands_beside_a_miniature(tmp_path: Path) -> None:
    run = caption_run(
        tmp_path / "run", preset="mini", target="miniature:clip-mini", dataset_name="toybox"
    )
    for view in ("mac-table2", "mac-table3"):
        grid = views.build(view, [run])
        assert grid.published == {}
        for text in (grid.to_text(), grid.to_markdown(), grid.to_csv(), grid.to_latex()):
            assert "arXiv" not in text
            assert "37.29" not in text
        assert all(cell["published"] is None for cell in json.loads(grid.to_json())["cells"])


def test_nothing_published_stands_beside_the_embedded_world(tmp_path: Path) -> None:
    run = caption_run(tmp_path / "run", dataset_name="toybox")
    assert views.build("mac-table2", [run]).published == {}


def test_what_is_missing_is_a_dash(tmp_path: Path) -> None:
    run = caption_run(tmp_path / "run", preset="mini")
    line = views.build("mac-table2", [run]).body()[1]
    assert line[2:] == ["37.50", "19.50", "7.500", "-", *["-"] * 8]


def test_transfer_has_a_column_for_each_source(tmp_path: Path) -> None:
    mini: dict[str, Any] = {"preset": "mini", "dataset_name": "toybox"}
    total = [Measure("total", 0.25, n=8)]
    runs = [
        caption_run(tmp_path / "a", target="miniature:a", **mini),
        caption_run(tmp_path / "b", total, target="miniature:b", surrogate="miniature:a", **mini),
    ]
    assert lines(views.build("mac-table3", runs).to_csv()) == [
        ["target", "source: miniature:a"],
        ["miniature:a", "19.50"],
        ["miniature:b", "25.00"],
    ]


def test_two_runs_of_one_cell_are_refused(tmp_path: Path) -> None:
    runs = [caption_run(tmp_path / "a"), caption_run(tmp_path / "b")]
    with pytest.raises(UserError, match=r"a and .*b both fill CLIP, source: CLIP: leave one out"):
        views.build("mac-table3", runs)


def test_presets_and_attacks_are_not_mixed(tmp_path: Path) -> None:
    runs = [caption_run(tmp_path / "a"), caption_run(tmp_path / "b", preset="mini")]
    with pytest.raises(UserError, match="presets mini, paper in one table: show them apart"):
        views.build("mac-table2", runs)
    with pytest.raises(UserError, match="a run of mac, advdreamer-table1 is a table of advdreamer"):
        views.build("advdreamer-table1", runs)


def poses(**accuracy: float) -> list[Measure]:
    return [
        Measure("accuracy", value, n=6, slice=f"condition={condition}")
        for condition, value in accuracy.items()
    ]


def test_poses_print_their_fall_from_the_clean_picture(tmp_path: Path) -> None:
    run = folder(
        tmp_path / "run",
        poses(clean=0.98, random=0.7, distribution=0.125, corner=0.5),
        attack="advdreamer",
        preset="paper",
        target="open_clip:ViT-B-16/laion2b_s34b_b88k",
    )
    grid = views.build("advdreamer-table1", [run])
    body = lines(grid.to_csv())
    assert body[1] == ["OpenCLIP ViT-B/16", "149M", "run", "98.0", "70.0 (↓28)", "12.5 (↓86)", ""]
    assert body[2][:5] == ["OpenCLIP ViT-B/16", "149M", "paper", "98.0", "62.6 (↓35)"]
    assert r"70.0 ($\downarrow$28) & 12.5 ($\downarrow$86) & - \\" in grid.to_latex()


def test_answers_need_to_be_marked_first(tmp_path: Path) -> None:
    run = folder(tmp_path / "run", poses(clean=1.0), attack="advdreamer")
    with pytest.raises(UserError, match="no marks of answers: make them with `python -m benchmark"):
        views.build("advdreamer-table3", [run])


def test_marked_answers_are_read_from_beside_the_table(tmp_path: Path) -> None:
    marks = [
        Measure("cider_d", 1.25, n=6, slice="condition=clean"),
        Measure("cider_d", 0.5, n=6, slice="condition=center"),
        Measure("gpt_score", 24.5, n=6, slice="condition=clean"),
    ]
    run = folder(
        tmp_path / "run",
        poses(clean=1.0),
        answers=marks,
        attack="advdreamer",
        preset="paper",
        dataset_name="coco",
        target="openai:gpt-4o",
    )
    body = lines(views.build("advdreamer-table3", [run]).to_csv())
    ours = [line for line in body if line[2] == "run"]
    assert ours[0][:7] == ["GPT-4o", "Clean", "run", "125.0", "", "", "24.5"]
    assert ours[1][:4] == ["GPT-4o", "Θ*", "run", "50.0 (↓75.0)"]


def test_searches_are_lines_and_models_columns(tmp_path: Path) -> None:
    measures = [
        Measure("capture_random", 0.61, n=200, slice="search=evolution"),
        Measure("capture_fresh", 0.21, n=25, slice="search=evolution"),
        Measure("capture_selected", 0.11, n=25, slice="search=evolution"),
        Measure("capture_fresh", 0.4, n=25, slice="search=lance"),
        Measure("capture_fresh", 0.35, n=25, slice="search=random_search"),
    ]
    run = folder(tmp_path / "run", measures, attack="evolution", target="miniature:lvlm-mini")
    assert lines(views.build("evolution-table1", [run]).to_csv()) == [
        ["task", "method", "miniature:lvlm-mini"],
        ["IC", "Random", "0.6100"],
        ["IC", "Ours", "0.2100"],
        ["IC", "LANCE", "0.4000"],
        ["IC", "Random search", "0.3500"],
    ]
    other = folder(
        tmp_path / "other",
        measures,
        attack="evolution",
        target="miniature:other",
        surrogate="miniature:lvlm-mini",
    )
    assert lines(views.build("evolution-table2", [run, other]).to_csv()) == [
        ["task", "surrogate", "miniature:lvlm-mini", "miniature:other"],
        ["IC", "miniature:lvlm-mini", "0.2100", "0.2100"],
    ]


def test_text_fits_and_keeps_groups_together(tmp_path: Path) -> None:
    run = caption_run(
        tmp_path / "run",
        preset="mini",
        target="miniature:clip-mini",
        settings={"writer": "miniature:writer-mini"},
    )
    text = views.build("mac-table2", [run]).to_text(90)
    body = text.split("\n\n", 1)[1].rpartition("\n\n")[0]
    assert max(map(len, body.splitlines())) <= 90
    assert sum("Image (CLIP/COCO)" in line for line in body.splitlines()) == 1


def test_json_has_intervals_and_the_run(tmp_path: Path) -> None:
    whole = json.loads(views.build("mac-table3", [caption_run(tmp_path / "run")]).to_json())
    (own,) = [cell for cell in whole["cells"] if cell["value"] is not None]
    assert own["target"] == "CLIP"
    assert own["ci_low"] == pytest.approx(16)
    assert own["n"] == 400
    assert own["run"] == str(tmp_path / "run")
    assert own["published"] == 42.1


def test_markdown_and_latex_escape() -> None:
    assert latex("50% of a_b & {c}") == r"50\% of a\_b \& \{c\}"


def test_a_run_without_a_table_says_how_to_finish_it(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    with pytest.raises(UserError, match="has no table yet: finish the run with"):
        views.read(tmp_path / "run")
