"""ASR by generation and by scaling of the covariance: numbers, places, and what a file must withstand."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from attacks.advdreamer.plots import (
    Point,
    generation_points,
    scaling_points,
    write_generations,
    write_scaling,
)
from benchmark.types import JSON, Record, Sample, Status

Write = Callable[[Path, str, Iterable[Record], Iterable[Sample]], bool]
SVG = "{http://www.w3.org/2000/svg}"


def record(
    name: str,
    fooled: Sequence[float] = (),
    conditions: Mapping[str, tuple[int, int]] | None = None,
    status: Status = "success",
) -> Record:
    """`fooled` by generation; `conditions` as (fooled, n)."""
    history: list[JSON] = [{"loss": 1.0, "fooled": share} for share in fooled]
    counts: dict[str, dict[str, JSON]] = {
        key: {"fooled": of[0], "n": of[1]} for key, of in (conditions or {}).items()
    }
    return Record(
        id=name,
        group=name,
        status=status,
        text="cat",
        found={"generations": history},
        conditions=counts,
    )


def means(points: Sequence[Point]) -> list[tuple[float, float, int]]:
    return [(point.x, round(point.mean, 12), point.images) for point in points]


def classed(svg: ET.Element, name: str) -> list[ET.Element]:
    return [element for element in svg.iter() if element.get("class") == name]


def words(svg: ET.Element) -> list[str]:
    return [element.text or "" for element in svg.iter(f"{SVG}text")]


def drawn(path: Path) -> ET.Element:
    return ET.fromstring(path.read_text("utf-8"))


def test_generations_are_means_over_samples() -> None:
    points = generation_points([record("a", [0.2, 0.6]), record("b", [0.4, 1.0])])
    assert means(points) == [(1, 0.3, 2), (2, 0.8, 2)]
    # Two images: a quarter of the resamples holds one of them only, so the interval ends there.
    assert [point.interval for point in points] == [(0.2, 0.4), (0.6, 1.0)]


def test_a_search_that_was_cut_counts_as_far_as_it_came() -> None:
    points = generation_points([record("a", [0.2, 0.6]), record("b", [0.4])])
    assert means(points) == [(1, 0.3, 2), (2, 0.6, 1)]
    assert points[1].interval is None


def test_samples_of_one_image_are_one_cluster() -> None:
    same = [replace(record(name, [share]), group="g") for name, share in (("a", 0.0), ("b", 1.0))]
    assert generation_points(same) == [Point(1, 0.5, None, 1)]


def test_errors_are_left_out() -> None:
    assert generation_points([record("a", [0.5], status="error")]) == []
    assert (
        scaling_points([record("a", conditions={"distribution*4": (1, 2)}, status="error")]) == []
    )


def test_scalings_are_sorted_by_factor_and_the_unscaled_is_at_one() -> None:
    conditions = {"distribution*16": (1, 10), "distribution": (4, 10), "distribution*0.5": (9, 10)}
    found = record("a", conditions={**conditions, "random": (3, 10), "true/distribution": (0, 10)})
    assert means(scaling_points([found])) == [(0.5, 0.9, 1), (1, 0.4, 1), (16, 0.1, 1)]


def test_the_same_distribution_under_two_names_is_pooled() -> None:
    found = record("a", conditions={"distribution": (1, 10), "distribution*1.0": (4, 10)})
    assert means(scaling_points([found])) == [(1, 0.25, 1)]


@pytest.mark.parametrize("name", ["distribution", "center", "distribution*inf"])
def test_without_a_scaled_condition_there_is_no_such_plot(tmp_path: Path, name: str) -> None:
    path = tmp_path / "asr.svg"
    assert not write_scaling(path, "t", [record("a", conditions={name: (1, 2)})], [])
    assert not path.exists()


@pytest.mark.parametrize("write", [write_generations, write_scaling])
@pytest.mark.parametrize("records", [[], [record("a")]])
def test_nothing_to_draw_is_no_file(tmp_path: Path, write: Write, records: list[Record]) -> None:
    path = tmp_path / "artifacts" / "asr.svg"
    assert not write(path, "t", records, [])
    assert not path.parent.exists()


def test_the_picture_shows_the_numbers(tmp_path: Path) -> None:
    path = tmp_path / "artifacts" / "asr.svg"
    records = [record("a", [0.2, 0.6]), record("b", [0.4, 1.0])]
    assert write_generations(path, "advdreamer on clip", records, [])
    svg = drawn(path)
    # 100 % is at y = 88 and 0 % at 336: 30 % is 336 - 0.3 * 248.
    (line,) = [one for one in classed(svg, "line") if one.tag == f"{SVG}polyline"]
    assert line.get("points") == "92,261.6 596,137.6"
    (band,) = [one for one in classed(svg, "band") if one.tag == f"{SVG}polygon"]
    assert band.get("points") == "92,236.8 596,88 596,187.2 92,286.4"
    shown = words(svg)
    assert {"0", "20", "100", "1", "2", "generation", "attack success rate (%)"} <= set(shown)
    assert {"mean of 2 images", "95 % interval", "advdreamer on clip"} <= set(shown)
    assert svg.findtext(f"{SVG}desc") == (
        "Means with 95 % intervals, by a bootstrap over images."
        " generation 1: 30.0 % (20.0 to 40.0 %, 2 images);"
        " generation 2: 80.0 % (60.0 to 100.0 %, 2 images)."
    )
    assert svg.get("aria-labelledby") == "title desc"
    assert "prefers-color-scheme: dark" in (svg.findtext(f"{SVG}style") or "")


def test_factors_are_on_a_log_scale_unless_one_is_zero(tmp_path: Path) -> None:
    def places(*factors: str) -> list[str | None]:
        conditions = {f"distribution*{factor}": (1, 2) for factor in factors}
        assert write_scaling(tmp_path / "asr.svg", "t", [record("a", conditions=conditions)], [])
        return [dot.get("cx") for dot in classed(drawn(tmp_path / "asr.svg"), "dot")]

    assert places("0.25", "1", "4") == ["92", "344", "596"]
    assert places("0", "1", "4") == ["92", "218", "596"]
    assert places("4") == ["344"]


def test_one_generation_of_two_images_is_a_dot_with_a_bar(tmp_path: Path) -> None:
    path = tmp_path / "asr.svg"
    assert write_generations(path, "t", [record("a", [0.0]), record("b", [1.0])], [])
    svg = drawn(path)
    assert [(dot.get("cx"), dot.get("cy")) for dot in classed(svg, "dot")] == [("344", "212")]
    assert [(bar.get("y1"), bar.get("y2")) for bar in classed(svg, "bar")] == [("88", "336")]


def test_one_image_has_no_interval(tmp_path: Path) -> None:
    path = tmp_path / "asr.svg"
    assert write_generations(path, "t", [record("a", [0.5])], [])
    svg = drawn(path)
    assert not classed(svg, "band")
    assert not classed(svg, "bar")
    assert "generation 1: 50.0 % (no interval, 1 image)." in (svg.findtext(f"{SVG}desc") or "")
    assert "mean of 1 image" in words(svg)


def test_numbers_of_the_axis_do_not_touch(tmp_path: Path) -> None:
    path = tmp_path / "asr.svg"
    assert write_generations(path, "t", [record("a", [0.5] * 100)], [])
    numbers = [
        float(text.get("x") or "nan")
        for text in drawn(path).iter(f"{SVG}text")
        if (text.text or "").isdigit() and text.get("text-anchor") == "middle"
    ]
    assert len(numbers) > 10
    assert all(b - a >= 34 for a, b in pairwise(numbers))


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "asr.svg"
    title = '</title><script>alert("1")</script>&amp; \x00\x1b\ud800\uffff ]]> é'
    assert write_generations(path, title, [record("a", [0.5])], [])
    svg = drawn(path)
    assert not list(svg.iter(f"{SVG}script"))
    clean = '</title><script>alert("1")</script>&amp; \ufffd\ufffd\ufffd\ufffd ]]> é'
    assert svg.findtext(f"{SVG}title") == f"Attack success rate by generation: {clean}"
    assert clean in words(svg)


def test_a_long_title_is_cut_where_it_is_shown_only(tmp_path: Path) -> None:
    path = tmp_path / "asr.svg"
    assert write_generations(path, "x" * 500, [record("a", [0.5])], [])
    svg = drawn(path)
    assert "x" * 95 + "…" in words(svg)
    assert (svg.findtext(f"{SVG}title") or "").endswith("x" * 500)
