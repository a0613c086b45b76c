from pathlib import Path

import pytest

from benchmark.report.figures import (
    breakdowns,
    concept_map,
    generations,
    pose_axes,
    searches,
    shifts,
    success_curve,
)
from benchmark.report.runs import RunView, paired
from benchmark.stats import wilson
from tests import report_runs


def test_the_curve_rises_where_samples_were_first_fooled(tmp_path: Path) -> None:
    """Two of four decided samples fall at the second of four queries."""
    points = success_curve(RunView(report_runs.captions(tmp_path / "run")))
    assert [(p.x, p.y) for p in points] == [(0, 0.0), (2, 0.5), (4, 0.5)]
    assert (points[1].low, points[1].high) == wilson(2, 4)


def test_no_curve_without_a_success(tmp_path: Path) -> None:
    assert success_curve(RunView(report_runs.captions(tmp_path / "run", "FFF"))) == []


def test_shifts_have_an_edge_at_zero(tmp_path: Path) -> None:
    found = shifts(RunView(report_runs.captions(tmp_path / "run")))
    assert found is not None
    edges, fooled, held = found
    assert 0.0 in [round(edge, 12) for edge in edges]
    zero = [round(edge, 12) for edge in edges].index(0.0)
    assert (sum(fooled[:zero]), sum(fooled[zero:])) == (0, 2)
    assert (sum(held[:zero]), sum(held[zero:])) == (2, 0)


def test_poses_in_bins(tmp_path: Path) -> None:
    """Random yaws are -60, -48, ..., 48; p* is at 50; the five highest random ones fool."""
    axes, is_star = pose_axes(RunView(report_runs.poses(tmp_path / "run")))
    yaw = axes[0]
    assert is_star
    assert (yaw.edges[0], yaw.edges[-1]) == (-60, 50)
    assert list(yaw.found) == [0, 0, 0, 0, 0, 1]
    assert yaw.random is not None
    assert sum(yaw.random) == pytest.approx(1)
    assert yaw.fooled is not None
    assert [rate.value for rate in yaw.fooled] == [0, 0, 0, 1, 1, 1]
    assert [rate.n for rate in yaw.fooled] == [4, 4, 2, 4, 2, 4]
    assert axes[1].title == "pitch, degrees"


def test_without_a_distribution_the_picked_poses_are_shown(tmp_path: Path) -> None:
    axes, is_star = pose_axes(RunView(report_runs.captions(tmp_path / "run")))
    assert (axes, is_star) == ([], False)


def test_generations_are_means_over_samples(tmp_path: Path) -> None:
    points = generations(RunView(report_runs.poses(tmp_path / "run")))
    assert [(p.x, p.y) for p in points] == [(1, 0.0), (2, 0.75)]
    assert (points[1].low, points[1].high) == (0.5, 1.0)


def test_searches_leave_out_what_is_missing(tmp_path: Path) -> None:
    ((best, mean),) = searches(RunView(report_runs.searches(tmp_path / "run")))
    assert best.name == "evolution"
    assert [(p.x, p.y) for p in best.points] == [(6, 0.5), (30, 0.1)]
    assert [(p.x, p.y) for p in mean.points] == [(6, 0.6)]


def test_the_map_names_what_is_new_and_places_alike_captions_together(tmp_path: Path) -> None:
    found = concept_map(RunView(report_runs.searches(tmp_path / "run")))
    assert found is not None
    assert (found.pool, found.finals, found.weak) == (6, 3, 1)
    assert {"fog", "rocket"} <= {word for _, _, word in found.labels}
    assert "grass" not in {word for _, _, word in found.labels}
    assert [dot.look for dot in found.dots] == ["muted"] * 6 + ["a", "b", "b"]
    assert found.dots[-1].said == "a green rocket in the fog (not scored)"
    pool = [dot.x for dot in found.dots[:6]]
    finals = [dot.x for dot in found.dots[6:]]
    assert max(pool) < min(finals) or max(finals) < min(pool)


def test_parts_are_sorted_by_what_is_drawn(tmp_path: Path) -> None:
    (one,) = breakdowns(RunView(report_runs.captions(tmp_path / "run")))
    assert (one.kind, one.main) == ("operation", "total")
    assert [name for name, _ in one.lines] == ["replace-colour", "swap-objects"]


def test_pairs_of_runs(tmp_path: Path) -> None:
    """SFFS against FFSS: s0 only in the first, s2 only in the second, errors left out."""
    first = RunView(report_runs.captions(tmp_path / "a" / "run", "SFFSE"))
    second = RunView(report_runs.captions(tmp_path / "b" / "run", "FFSSS"))
    pair = paired(first, second)
    assert (pair.n, pair.difference) == (4, 0.0)
    assert (list(pair.only_first), list(pair.only_second)) == (["s0"], ["s2"])
    assert pair.interval is not None
    assert pair.interval.low < 0 < pair.interval.high
