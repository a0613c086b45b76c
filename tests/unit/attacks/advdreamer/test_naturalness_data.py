"""On two real photographs of the embedded world, through the real pipeline."""

import csv
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from attacks.advdreamer import naturalness_data
from attacks.advdreamer.naturalness_data import (
    STAGES,
    Bench,
    Made,
    Setting,
    bench_of,
    pictures_of,
    write,
)
from attacks.advdreamer.pipeline import Pipeline
from attacks.advdreamer.stages import ForegroundError
from benchmark.datasets.toybox import ToyboxDataset
from benchmark.types import Sample

SETTINGS = {**STAGES, "max_side": 384}


@cache
def dataset() -> ToyboxDataset:
    return ToyboxDataset(
        "validation", {"n": 3, "kind": "single", "px": 128, "labels": True, "balanced": True}
    )


@cache
def pipeline() -> Pipeline:
    return Pipeline(Setting(dataset(), SETTINGS), SETTINGS)


@cache
def mug() -> Sample:
    samples: list[Sample] = list(dataset())
    return samples[2]


@cache
def made() -> list[Made]:
    return [*pictures_of(bench_of(mug(), pipeline()))]


def of_kind(kind: str) -> list[Made]:
    return [one for one in made() if one.kind == kind]


def plausibility(one: Made) -> float:
    assert one.faults is not None
    return one.faults.plausibility


def fidelity(one: Made) -> float:
    assert one.faults is not None
    return one.faults.fidelity


def test_every_kind_of_fault_is_there() -> None:
    counts = Counter(one.kind for one in made())
    assert sum(counts.values()) == 30
    assert {counts[kind] for kind in ("posed", "seam", "stretched", "several")} == {4}
    assert {one.pixels.shape for one in made()} == {(128, 128, 3)}


def test_what_is_whole_scores_5() -> None:
    assert mug().text == "mug"
    for kind in ("photograph", "identity"):
        (one,) = of_kind(kind)
        assert fidelity(one) > 4.9
        assert plausibility(one) == pytest.approx(5)
    clean = mug().image
    assert clean is not None
    np.testing.assert_array_equal(of_kind("photograph")[0].pixels, clean.load())


def test_each_fault_lowers_the_score_that_it_belongs_to() -> None:
    for kind in ("upside_down", "true upside_down"):
        assert plausibility(of_kind(kind)[0]) < 2
    for one in of_kind("floating"):
        assert one.faults is not None
        assert one.faults.floating > 0.15
        assert plausibility(one) <= 1 + 4 * (1 - one.faults.floating)
    for one in (*of_kind("seam"), *of_kind("several")):
        assert one.faults is not None
        assert one.faults.seam > 0
        assert fidelity(one) <= 1 + 4 * (1 - one.faults.seam)
    assert max(fidelity(one) for one in of_kind("stretched")) < 5
    # The true object has no seams and nothing made up.
    for one in made():
        if one.kind.startswith("true"):
            assert one.faults is not None
            assert one.faults.seam == one.faults.stretched == 0


def test_the_same_object_gives_the_same_pictures() -> None:
    again = [*pictures_of(bench_of(mug(), pipeline()))]
    for one, other in zip(made(), again, strict=True):
        np.testing.assert_array_equal(one.pixels, other.pixels)
        assert one.faults == other.faults


def test_without_the_truth_there_are_poses_and_no_scores() -> None:
    bench = bench_of(replace(mug(), scene=None), pipeline())
    pictures = [*pictures_of(bench)]
    assert {one.kind for one in pictures} == {"photograph", "identity", "posed", "corner"}
    assert all(one.faults is None for one in pictures)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_folder_has_pictures_and_ratings_and_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert write([mug()], pipeline(), tmp_path, lambda text: None) == 30
    rows = rows_of(tmp_path / "ratings.csv")
    assert len(rows) == 30
    assert all((tmp_path / row["image"]).is_file() for row in rows)
    assert {(row["group"], row["label"], row["split"]) for row in rows} == {
        (mug().id, "mug", "validation")
    }
    for row, one in zip(rows, made(), strict=True):
        assert float(row["fidelity"]) == pytest.approx(fidelity(one), abs=1e-4)
        assert float(row["plausibility"]) == pytest.approx(plausibility(one), abs=1e-4)

    def refuse(sample: Sample, pipeline: Pipeline) -> Bench:
        raise AssertionError(f"{sample.id} is there already")

    monkeypatch.setattr(naturalness_data, "bench_of", refuse)
    assert write([mug()], pipeline(), tmp_path, lambda text: None) == 30


def test_an_object_that_cannot_be_found_is_told_of_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(sample: Sample, pipeline: Pipeline) -> Bench:
        raise ForegroundError("there is nothing")

    monkeypatch.setattr(naturalness_data, "bench_of", fail)
    said: list[str] = []
    assert write([mug()], pipeline(), tmp_path, said.append) == 0
    assert said == [f"{mug().id}: there is nothing"]
    assert rows_of(tmp_path / "ratings.csv") == []


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(tmp_path), "--split", "validation", "test", "--objects", "1", "0"]
    with pytest.raises(SystemExit) as stopped:
        naturalness_data.main([*arguments[:-1]])
    assert stopped.value.code == 2
    assert "give one number of --objects for each --split" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        naturalness_data.main([str(tmp_path), "--dataset", "nothing"])
    assert "error: unknown data set 'nothing'" in capsys.readouterr().err
    assert naturalness_data.main([str(tmp_path), "--split", "validation", "--objects", "1"]) == 0
    assert "wrote 30 pictures" in capsys.readouterr().out
