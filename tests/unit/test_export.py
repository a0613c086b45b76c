import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.datasets.mm3dtbench import MM3DTBenchDataset
from benchmark.errors import UserError
from benchmark.export import export_mm3dtbench, orientation
from benchmark.records import RunFolder
from benchmark.types import Record
from tests import fakes

LABELS = ["duck", "mug", "car", "tree", "house"]
POSES = {
    "identity": [[0, 0, 0, 0, 0, 1]],
    "center": [[40, -20, 3, 0.1, 0, 1.2]],
    "random": [[170, 0, 0, 0, 0, 1], [0, 0, 20, 0, 0, 1]],
}


@dataclass
class Run:
    path: Path
    digests: dict[str, str]


def make(path: Path, attack: str = "advdreamer", **changes: Any) -> Run:
    """A run of two samples as advdreamer leaves it behind; the second one ended in an error."""
    header = {
        "config": fakes.config(attack=attack).to_json(),
        "attack_details": {"labels": LABELS},
    }
    with RunFolder.create(path, header) as folder:
        names = ("image", "mask", "identity", "center", "random/0", "random/1", "true/center")
        digests = {name: folder.save_image(fakes.picture(n)) for n, name in enumerate(names)}
        found = {
            "poses": POSES,
            "answers": {
                "center": {"fooled": True, "answer": "house"},
                "random/0": {"fooled": False, "answer": "duck"},
                "true/center": {"fooled": True, "answer": None},
            },
        }
        pose = dict(
            zip(
                ("yaw_deg", "pitch_deg", "roll_deg", "dx", "dy", "scale"),
                [1, 2, 3, 0, 0, 1],
                strict=True,
            )
        )
        values: dict[str, Any] = {
            "id": "test/7", "group": "test/7", "status": "success", "text": "duck",
            "perturbation": pose, "artifacts": digests, "found": found,
        } | changes  # fmt: skip
        failed = Record("test/8", "test/8", "error", "mug", error="OSError: gone")
        folder.append([(Record(**values), ()), (failed, ())])
    return Run(path, digests)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return make(tmp_path / "source")


def lines(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "mm3dtbench.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_a_picture_becomes_a_question(run: Run, out: Path) -> None:
    counts = export_mm3dtbench(run.path, out, conditions=["center"], question="What is it?")
    assert counts == {"center": 1}
    (line,) = lines(out)
    choices = line.pop("choices")
    assert line == {
        "id": "test/7/center",
        "image": f"images/{run.digests['center']}.png",
        "group": "test/7",
        "label": "duck",
        "question": "What is it?",
        "answer": "duck",
        "orientation": "turned right, leaning left",
        "source": "digital",
        "theta": [40, -20, 3, 0.1, 0, 1.2],
    }
    assert len(set(choices)) == 4
    assert {"duck", "house"} <= set(choices) <= set(LABELS)


def test_what_was_written_can_be_asked(run: Run, out: Path) -> None:
    conditions = ["picked", "identity", "center", "random", "true/center"]
    counts = export_mm3dtbench(run.path, out, conditions=conditions)
    assert counts == {
        "picked": 1, "identity": 1, "center": 1, "random": 2, "true/center": 1,
    }  # fmt: skip
    samples = {
        s.id.removeprefix("test/7/"): s for s in MM3DTBenchDataset(f"{out}/mm3dtbench.jsonl", {})
    }
    for name, sample in samples.items():
        assert sample.image is not None
        seed = list(run.digests).index("image" if name == "picked" else name)
        np.testing.assert_array_equal(sample.image.load(), fakes.picture(seed))
    assert samples["picked"].scene.theta == (1, 2, 3, 0, 0, 1)
    assert samples["random/1"].scene.theta == (0, 0, 20, 0, 0, 1)
    assert samples["true/center"].scene.theta == samples["center"].scene.theta
    assert samples["true/center"].scene.source == "reproduced"
    assert samples["random/0"].scene.orientation == "seen from behind"


def test_choices_are_drawn_by_the_seed_and_fit_the_labels(run: Run, tmp_path: Path) -> None:
    def choices(name: str, **how: Any) -> list[str]:
        export_mm3dtbench(run.path, tmp_path / name, conditions=["random"], **how)
        offered: list[str] = lines(tmp_path / name)[0]["choices"]
        return offered

    first = choices("a")
    assert choices("b") == first
    assert any(choices(f"seed {seed}", seed=seed) != first for seed in range(1, 4))
    assert sorted(choices("all", choices=9)) == sorted(LABELS)
    assert len(choices("two", choices=2)) == 2


def test_pictures_that_did_not_fool_can_be_left_out(run: Run, out: Path) -> None:
    conditions = ["center", "random", "identity"]
    counts = export_mm3dtbench(run.path, out, conditions=conditions, only_fooled=True)
    assert counts == {"center": 1}


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            {"conditions": ["center", "centre"]},
            "keeps no pictures of centre, only of center, identity, picked, random, true/center: choose",
        ),
        ({}, "keeps no pictures of distribution, .* or run again with --set pictures=all"),
        (
            {"conditions": ["random"], "only_fooled": True},
            "no picture of random fooled: drop --fooled",
        ),
    ],
)
def test_what_is_not_there_is_named(
    run: Run, out: Path, how: Mapping[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        export_mm3dtbench(run.path, out, **how)
    assert not out.exists()


def test_runs_that_cannot_be_exported(tmp_path: Path, out: Path) -> None:
    other = make(tmp_path / "other", "mac")
    with pytest.raises(UserError, match="holds a run of mac: export mm3dtbench needs one of advdr"):
        export_mm3dtbench(other.path, out)
    with pytest.raises(UserError, match=r"holds no run: it has no run\.json"):
        export_mm3dtbench(tmp_path / "none", out)
    bare = make(tmp_path / "bare", artifacts={}, found={})
    with pytest.raises(UserError, match="no pictures of center, distribution, only of none at all"):
        export_mm3dtbench(bare.path, out)


def test_nothing_is_overwritten(run: Run, out: Path) -> None:
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="is not an empty folder: name another one"):
        export_mm3dtbench(run.path, out, conditions=["center"])


def test_a_lost_picture_is_named(run: Run, out: Path) -> None:
    (run.path / "artifacts" / f"{run.digests['center']}.png").unlink()
    with pytest.raises(UserError, match=r"\.png is gone: export needs the run's artifacts folder"):
        export_mm3dtbench(run.path, out, conditions=["center"])


@pytest.mark.parametrize(
    ("theta", "words"),
    [
        ((0, 0, 0), "as photographed"),
        ((14, -9, 9), "as photographed"),
        ((350, 0, 0), "as photographed"),
        ((-20, 20, 0), "turned left, tilted towards the viewer"),
        ((0, 0, -20), "leaning right"),
        ((190, 0, 0), "seen from behind"),
        ((0, 0, 180), "upside down"),
        # Roll is about the object's own front: turned by 90 degrees it shows as a tilt.
        ((90, 0, 30), "turned right, tilted towards the viewer"),
        ((-90, 0, 30), "turned left, tilted away"),
        ((90, 30, 0), "turned right, leaning right"),
    ],
)
def test_orientations(theta: tuple[float, ...], words: str) -> None:
    assert orientation(theta) == words
