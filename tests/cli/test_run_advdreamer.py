"""`run --attack advdreamer` on the embedded world: its table, its sheet, its pictures, a photo."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmark.toybox.render import render
from benchmark.toybox.sampling import sample_scene
from tests.cli.conftest import Trident

SMALL = (
    "run", "--attack", "advdreamer", "--target", "clip", "--out", "run", "--no-cache", "--quiet",
    "--set", "naturalness=none", "--set", "selection=loss", "--set", "generations=2",
    "--set", "population=6", "--set", "shortlist=3", "--set", "parents=2", "--set", "draws=2",
)  # fmt: skip


def test_a_run_ends_with_accuracies_and_a_sheet(trident: Trident) -> None:
    result = trident(*SMALL, "--samples", "2")
    assert result.code == 0, result.err
    with Path("run/table.csv").open() as file:
        table = {(row["slice"], row["metric"]): row for row in csv.DictReader(file)}
    for condition in ("identity", "random", "corner", "best_of_random", "distribution", "center"):
        for metric in ("accuracy", "accuracy_reproduced"):
            assert 0 <= float(table[f"condition={condition}", metric]["value"]) <= 1
    assert table["", "queries"]["value"] == "12.0000"
    assert "condition=clean" in {row for row, _ in table}
    with Image.open("run/artifacts/sheet.png") as sheet:
        assert sheet.height > 2 * 168
    assert "generation 2: " in Path("run/artifacts/asr_generations.svg").read_text("utf-8")
    assert not Path("run/artifacts/asr_scaling.svg").exists()
    for line in Path("run/records.jsonl").read_text().splitlines():
        record = json.loads(line)
        assert record["error"] is None
        for name in ("mask", "background", "identity", "center", "true/center", "distribution/1"):
            assert Path(f"run/artifacts/{record['artifacts'][name]}.png").is_file()


def test_asr_is_drawn_where_the_covariance_was_scaled(trident: Trident) -> None:
    result = trident(
        *(word for word in SMALL if word != "--quiet"),
        *("--samples", "2", "--set", 'conditions=["distribution", "distribution*4"]'),
    )
    assert result.code == 0, result.err
    said = Path("run/artifacts/asr_scaling.svg").read_text("utf-8")
    with Path("run/table.csv").open() as file:
        table = {(row["slice"], row["metric"]): row for row in csv.DictReader(file)}
    for factor, condition in ((1, "distribution"), (4, "distribution*4")):
        rate = 1 - float(table[f"condition={condition}", "accuracy"]["value"])
        assert f"covariance times {factor}: {100 * rate:.1f} %" in said
    assert "run: artifacts/asr_generations.svg, artifacts/asr_scaling.svg, " in result.out


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    scene = sample_scene(11_000_005, "single")
    path = tmp_path / "ball.png"
    Image.fromarray(render(scene, 96)).save(path)
    return path


def test_a_picture_of_ones_own(trident: Trident, photo: Path) -> None:
    result = trident(*SMALL, "--image", str(photo), "--label", "ball")
    assert result.code == 0, result.err
    record = json.loads(Path("run/records.jsonl").read_text())
    assert record["error"] is None
    assert "true/center" not in record["conditions"]  # nobody knows the true object
    assert "center" in record["conditions"]


@pytest.mark.parametrize(
    ("label", "mask", "message"),
    [
        ("cat", None, "label 'cat' is not among the 20 labels (ball, gift, mug"),
        ("ball", "border", "touches the picture's border"),
        ("ball", "full", "fills 100% of the frame"),
        ("ball", "empty", "no foreground"),
    ],
)
def test_what_cannot_be_attacked_is_that_samples_error(
    trident: Trident, photo: Path, label: str, mask: str | None, message: str
) -> None:
    flags: list[str] = []
    if mask is not None:
        white = np.zeros((96, 96), np.uint8)
        white[{"border": slice(0, 40), "full": slice(None), "empty": slice(0, 0)}[mask], :] = 255
        Image.fromarray(white).save("mask.png")
        flags = ["--mask", "mask.png"]
    result = trident(*SMALL, "--image", str(photo), "--label", label, *flags)
    assert result.code == 3
    record = json.loads(Path("run/records.jsonl").read_text())
    assert record["status"] == "error"
    assert message in record["error"]


def test_the_run_goes_on_after_pictures_that_cannot_be_attacked(
    trident: Trident, photo: Path
) -> None:
    with Image.open(photo) as image:
        whole = np.asarray(image)
    noise = np.random.default_rng(0).integers(0, 256, whole.shape, dtype=np.uint8)
    Image.fromarray(np.full_like(whole, 130)).save("blank.png")
    Image.fromarray(noise).save("noise.png")
    Image.fromarray(whole[30:70, 30:66]).save("fills.png")
    Path("torn.png").write_bytes(photo.read_bytes()[:300])
    rows = {
        "blank.png,ball": "no foreground: nothing stands out where 'ball' should be",
        "noise.png,ball": "touches the picture's border: the object is cut off",
        "fills.png,ball": "the object is cut off or fills the frame",
        f"{photo},bal": "label 'bal' is not among the 20 labels",
        "torn.png,ball": "torn.png cannot be decoded",
        f"{photo},ball": None,
    }
    table = ["image,caption,id", *(f"{row},{number}" for number, row in enumerate(rows))]
    Path("pairs.csv").write_text("\n".join(table))
    result = trident(*SMALL, "--dataset", "pairs.csv")
    assert result.code == 3
    lines = Path("run/records.jsonl").read_text().splitlines()
    errors = {line["id"]: line["error"] for line in map(json.loads, lines)}
    for number, (row, message) in enumerate(rows.items()):
        error = errors[str(number)]
        assert (error is None) == (message is None), row
        assert message is None or message in error, row
