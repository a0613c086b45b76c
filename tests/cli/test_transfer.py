"""`transfer` on the embedded world: what fooled the one miniature, shown to the other."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmark.datasets.toybox import ToyboxDataset
from benchmark.protocols import DualEncoder
from benchmark.replay import replay
from targets.miniature.load import target
from tests.cli.conftest import Trident

MAC = ("run", "--attack", "mac", "--target", "clip", "--samples", "6", "--out", "first", "--quiet")
POSES = (
    "run", "--attack", "advdreamer", "--target", "clip", "--out", "first", "--no-cache", "--quiet",
    "--samples", "2", "--set", "naturalness=none", "--set", "selection=loss",
    "--set", "generations=2", "--set", "population=6", "--set", "shortlist=3",
    "--set", "parents=2", "--set", "draws=2",
)  # fmt: skip


def records(folder: str) -> dict[str, Any]:
    lines = (Path(folder) / "records.jsonl").read_text().splitlines()
    return {line["id"]: line for line in map(json.loads, lines)}


def table(folder: str) -> dict[tuple[str, str], dict[str, str]]:
    with (Path(folder) / "table.csv").open() as file:
        return {(row["slice"], row["metric"]): row for row in csv.DictReader(file)}


def test_captions_that_one_model_prefers_are_scored_by_another(trident: Trident) -> None:
    assert trident(*MAC).code == 0
    result = trident("transfer", "first", "--target", "siglip")
    assert result.code == 0, result.err
    assert "shown   what first picked for 6 samples on miniature:clip-mini" in result.err
    found, shown = records("first"), records("first-to-siglip")
    assert list(shown) == list(found)

    # By hand: the cosines of siglip-mini's own embeddings.
    model = target("siglip-mini", {"device": "cpu"})
    assert isinstance(model, DualEncoder)
    samples = {
        sample.id: sample
        for sample, _ in zip(ToyboxDataset("", {"split": "test"}), range(6), strict=False)
    }
    for id, record in shown.items():
        assert record["adversarial_text"] == found[id]["adversarial_text"]
        image = samples[id].image
        assert image is not None
        (picture,) = model.encode_images([image.load()])
        clean, new = model.encode_texts([record["text"], record["adversarial_text"]])
        assert record["clean_score"] == pytest.approx(float(picture @ clean), abs=1e-5)
        assert record["score"] == pytest.approx(float(picture @ new), abs=1e-5)
        assert record["verdicts"]["crossmodal"] == (float(picture @ new) > float(picture @ clean))
    assert {row["surrogate"] for row in table("first-to-siglip").values()} == {
        "miniature:clip-mini"
    }


def test_pictures_are_measured_again_under_the_conditions_that_were_kept(
    trident: Trident,
) -> None:
    assert trident(*POSES).code == 0
    before = records("first")
    for one in replay(Path("first")):
        assert one.record.status == one.baseline.status
        assert one.record.score == pytest.approx(one.baseline.score, abs=1e-5)
        kept = ("clean", "identity", "random", "distribution", "center", "true/center")
        assert set(one.record.conditions) == set(kept)
        for name in kept:
            was, now = one.baseline.conditions[name], one.record.conditions[name]
            assert (now["n"], now["fooled"], now["valid"]) == (
                was["n"],
                was["fooled"],
                was["valid"],
            )
            assert now["score"] == pytest.approx(was["score"], abs=1e-5)
            assert now["fitness"] == pytest.approx(was["fitness"], abs=1e-5)

    result = trident("transfer", "first", "--target", "siglip", "--out", "second", "--no-cache")
    assert result.code == 0, result.err
    assert "second: artifacts/sheet.png, table.csv" in result.out
    after = records("second")
    for id, record in after.items():
        assert record["artifacts"] == before[id]["artifacts"]
        assert record["found"]["poses"] == before[id]["found"]["poses"]
        assert "generations" not in record["found"]
        right = record["found"]["answers"]["center"]["answer"] == record["text"]
        assert right != bool(record["conditions"]["center"]["fooled"])
    for condition in ("clean", "identity", "random", "distribution", "center"):
        assert (f"condition={condition}", "accuracy") in table("second")
    assert ("condition=corner", "accuracy") not in table("second")


def test_what_cannot_be_shown_is_refused_in_a_line(trident: Trident) -> None:
    assert trident(*POSES).code == 0
    for words, message in (
        (("nowhere", "--target", "siglip"), "nowhere holds no run"),
        (("first", "--target", "siglipp"), "did you mean 'siglip'"),
        (("first", "--target", "siglip", "--out", "first"), "--out first is not empty"),
        (("first", "--target", "siglip", "--set", "dataset.px=8"), "data are those of the run"),
        (("first", "--target", "siglip", "--base-url", "http://x"), "--base-url is for targets"),
        (("first",), "--target"),
    ):
        result = trident("transfer", *words)
        assert result.code == 2
        assert message in result.err
        assert result.err.count("\n") == 1
    (record, *_) = records("first").values()
    file = Path(f"first/artifacts/{record['artifacts']['distribution/1']}.png")
    pixels = np.zeros((128, 128, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(file)
    result = trident("transfer", "first", "--target", "siglip")
    assert result.code == 2
    assert "was changed" in result.err
    assert "picture 'distribution/1'" in result.err
    assert not Path("first-to-siglip").exists()


def test_a_transfer_is_not_resumed_as_a_run(trident: Trident) -> None:
    assert trident(*MAC).code == 0
    assert trident("transfer", "first", "--target", "siglip", "--out", "second").code == 0
    result = trident("run", "--resume", "second")
    assert result.code == 2
    assert "second holds a transfer: go on with `python -m benchmark transfer" in result.err
    again = trident("transfer", "first", "--target", "siglip", "--out", "second", "--resume")
    assert again.code == 0
    assert "resumed 6 samples are there already" in again.err
