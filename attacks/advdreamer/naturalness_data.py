"""Makes pictures for a naturalness model: `python -m attacks.advdreamer.naturalness_data OUT --objects 500`.

Each photograph of the embedded world is taken apart and put together again in many poses and with faults
of every kind; the true object is shown in some of the poses too. Scores follow from the faults
(`naturalness_faults`) and stand in OUT/ratings.csv. Pictures of another data set (`--dataset`) are only
posed, and their scores left empty: `python -m attacks.advdreamer.naturalness_annotator` fills them in.

Every object has a folder and is drawn from its id alone, so a run that was killed goes on where it was.
"""

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from attacks.advdreamer.naturalness_faults import (
    Faults,
    faults_of,
    names,
    seam_severity,
    texture_severity,
)
from attacks.advdreamer.naturalness_spoils import Spoiling, drawn_out, halo, jagged, patch
from attacks.advdreamer.pipeline import Pipeline
from attacks.advdreamer.pose import IDENTITY, PRESETS, Pose
from attacks.advdreamer.reproduce import can_reproduce, reproduced
from attacks.advdreamer.stages import ForegroundError, Manipulator, Rendering
from benchmark import registry
from benchmark.errors import UserError
from benchmark.protocols import Dataset
from benchmark.toybox.render import render
from benchmark.toybox.scene import Scene
from benchmark.types import Pixels, Sample

COLUMNS = ("image", "fidelity", "plausibility", "group", "label", "split", "kind", *names())
STAGES = {
    "foreground": "grabcut",
    "background": "inpainting",
    "reconstruction": "inflation",
    "composer": "blend",
}
POSED = ("upright", "frontal", "frontal", "full")
"""Presets of bounds that poses without a further fault are drawn from."""

_BASES = ("mild", "mild", "frontal")
"""Presets of the poses that one fault is added to."""

SPOILS = (halo, halo, patch, jagged)


@dataclass(frozen=True, slots=True)
class Made:
    """A picture, how it was made, and what is wrong with it if that is known."""

    pixels: Pixels
    kind: str
    faults: Faults | None


@dataclass(frozen=True, slots=True)
class Bench:
    """One object, taken apart, on which pictures are made."""

    clean: Pixels
    manipulator: Manipulator
    scene: Scene | None
    rng: np.random.Generator

    def posed(self, kind: str, pose: Pose) -> Made:
        """The manipulated picture."""
        return Made(self.manipulator.pictures([pose])[0], kind, self.faults(pose))

    def real(self, kind: str, pose: Pose) -> Made:
        """The true object in the same pose: nothing of it is made up."""
        assert self.scene is not None
        scene = reproduced(self.scene, pose, self._pivot)
        return Made(render(scene, len(self.clean)), kind, faults_of(scene))

    def spoilt(
        self, kind: str, pose: Pose, spoil: Spoiling | None = None, *, stretch: bool = False
    ) -> Made:
        """With its edge spoilt, or with the texture of a part drawn out, or both."""
        rendering = self.manipulator.model.render(pose)
        picture, mask = self._composed(rendering, pose), rendering.rgba[..., 3] > 0.5
        severities = {}
        if stretch:
            drawn = replace(rendering, rgba=drawn_out(rendering.rgba, self.rng))
            before, picture = picture, self._composed(drawn, pose)
            severities["stretched"] = texture_severity(before, picture, mask)
        if spoil is not None:
            before, picture = picture, spoil(picture, mask, self.rng)
            severities["seam"] = seam_severity(before, picture)
        return self._with(kind, picture, pose, **severities)

    def floating(self) -> Made | None:
        """The object lifted off its shadow; None if the model does not know its shadow."""
        pose = _base(self.rng)
        ground = self.manipulator.model.render(pose)
        if ground.shadow is None:
            return None
        gap = self.rng.uniform(0.1, 0.6) * self.manipulator.box[3] * pose.scale
        lifted = replace(pose, dy=round(pose.dy + gap / max(self.clean.shape[:2]), 6))
        rendering = self.manipulator.model.render(lifted)
        spoilt = self._composed(replace(rendering, shadow=ground.shadow), lifted)
        height = np.ptp(np.flatnonzero((ground.rgba[..., 3] > 0.5).any(axis=1))) + 1
        return self._with("floating", spoilt, lifted, floating=min(1.0, 2 * gap / float(height)))

    def faults(self, pose: Pose) -> Faults | None:
        """What a pose alone does."""
        if self.scene is None:
            return None
        return faults_of(reproduced(self.scene, pose, self._pivot), self.scene)

    def _with(self, kind: str, pixels: Pixels, pose: Pose, **severities: float) -> Made:
        """Adds a fault to those of the pose; of one that is there already, a share is left."""
        faults = self.faults(pose)
        assert faults is not None
        added = {
            name: 1 - (1 - getattr(faults, name)) * (1 - severity)
            for name, severity in severities.items()
        }
        return Made(pixels, kind, replace(faults, **added))

    def _composed(self, rendering: Rendering, pose: Pose) -> Pixels:
        return self.manipulator.composition.compose([rendering], [pose])[0]

    @property
    def _pivot(self) -> tuple[float, float]:
        left, top, width, height = self.manipulator.box
        return (
            (left + width / 2) / self.clean.shape[1],
            (top + height / 2) / self.clean.shape[0],
        )


def pictures_of(bench: Bench) -> Iterator[Made]:
    """All pictures of one object, 30 if its scene is known, else those that need no truth."""
    rng = bench.rng
    yield Made(bench.clean, "photograph", None if bench.scene is None else Faults())
    yield bench.posed("identity", IDENTITY)
    for preset in POSED:
        yield bench.posed("posed", PRESETS[preset].uniform(rng))
    yield bench.posed("corner", PRESETS["frontal"].corner(rng))
    if bench.scene is None:
        return
    for _ in range(2):
        yield bench.posed("out_of_frame", _aside(rng))
    yield bench.real("true out_of_frame", _aside(rng))
    yield bench.posed("upside_down", _upside_down(rng))
    yield bench.real("true upside_down", _upside_down(rng))
    yield bench.posed("turned", _turned(rng))
    for _ in range(2):
        yield bench.real("true turned", _turned(rng))
    yield bench.real("true posed", PRESETS["frontal"].uniform(rng))
    for spoil in SPOILS:
        yield bench.spoilt("seam", _base(rng), spoil)
    for _ in range(4):
        yield bench.spoilt("stretched", _base(rng), stretch=True)
    for make in (_aside, _turned, _upside_down, _base):
        stretch = bool(rng.integers(2))
        yield bench.spoilt("several", make(rng), SPOILS[rng.integers(len(SPOILS))], stretch=stretch)
    for _ in range(2):
        if (made := bench.floating()) is not None:
            yield made


def bench_of(sample: Sample, pipeline: Pipeline) -> Bench:
    """Take a sample's picture apart. Its chance depends on its id alone.

    Raises:
        ForegroundError: It cannot be.
    """
    case = pipeline.take_apart(sample)
    seed = int.from_bytes(sha256(sample.id.encode()).digest()[:8], "big")
    scene = sample.scene if can_reproduce(sample.scene) else None
    return Bench(case.clean, case.manipulator, scene, np.random.default_rng(seed))


def write(
    samples: Sequence[Sample], pipeline: Pipeline, out: Path, report: Callable[[str], None] = print
) -> int:
    """Write pictures and ratings of all samples; returns the number of pictures.

    Pictures whose object cannot be found are told of and left out.
    """
    rows: list[dict[str, str]] = []
    for index, sample in enumerate(samples):
        folder = out / sample.id.replace("/", "-")
        if not (folder / "ratings.csv").exists():
            try:
                made = [*pictures_of(bench_of(sample, pipeline))]
            except ForegroundError as error:
                report(f"{sample.id}: {error}")
                made = []
            _write_object(folder, sample, made)
        with (folder / "ratings.csv").open(encoding="utf-8", newline="") as file:
            rows += csv.DictReader(file)
        if (index + 1) % 20 == 0:
            report(f"{index + 1} of {len(samples)} objects, {len(rows)} pictures")
    _write_rows(out / "ratings.csv", rows)
    return len(rows)


@dataclass(slots=True)
class Setting:
    """What the pipeline is built from, without a run."""

    dataset: Dataset
    settings: Mapping[str, Any]
    seed: int = 0

    def model(self, kind: str, spec: str) -> Any:
        """A stage by name."""
        return registry.create(kind, spec)


def _write_object(folder: Path, sample: Sample, made: Sequence[Made]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, one in enumerate(made):
        name = f"{number:02d}-{one.kind.replace(' ', '-')}.png"
        Image.fromarray(one.pixels).save(folder / name)
        scores = {"fidelity": "", "plausibility": ""}
        if one.faults is not None:
            scores = {
                "fidelity": f"{one.faults.fidelity:.4f}",
                "plausibility": f"{one.faults.plausibility:.4f}",
                **{fault: f"{getattr(one.faults, fault):.4f}" for fault in names()},
            }
        rows.append(
            {
                "image": f"{folder.name}/{name}",
                "group": sample.id,
                "label": sample.text,
                "split": sample.id.partition("/")[0],
                "kind": one.kind,
                **scores,
            }
        )
    _write_rows(folder / "ratings.csv", rows)


def _write_rows(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    partial.replace(path)


def _base(rng: np.random.Generator) -> Pose:
    """What a seam, a stretched texture or a gap is added to."""
    return PRESETS[_BASES[rng.integers(len(_BASES))]].uniform(rng)


def _aside(rng: np.random.Generator) -> Pose:
    """Partly or wholly outside the picture, to any side."""
    angle, far = rng.uniform(0, 2 * np.pi), rng.uniform(0.25, 0.5)
    base = PRESETS["mild"].uniform(rng)
    moved = {"dx": far * np.cos(angle), "dy": far * np.sin(angle)}
    return Pose.of([*base.theta[:3], moved["dx"], moved["dy"], base.scale])


def _upside_down(rng: np.random.Generator) -> Pose:
    base = PRESETS["mild"].uniform(rng)
    return Pose.of([base.yaw_deg, base.pitch_deg, 180 + rng.uniform(-25, 25), *base.theta[3:]])


def _turned(rng: np.random.Generator) -> Pose:
    """Rolled by any angle, and pitched."""
    base = PRESETS["mild"].uniform(rng)
    return Pose.of([base.yaw_deg, rng.uniform(-60, 60), rng.uniform(-180, 180), *base.theta[3:]])


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line, write the folder."""
    parser = argparse.ArgumentParser(
        prog="python -m attacks.advdreamer.naturalness_data",
        description="Make pictures with known faults, to train a naturalness model on.",
        epilog="Example:\n  python -m attacks.advdreamer.naturalness_data rated --objects 100",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("out", type=Path, help="folder for pictures and ratings.csv")
    parser.add_argument("--objects", type=int, nargs="+", default=[100], metavar="N",
                        help="pictures to take apart, of each split (default: 100)")  # fmt: skip
    parser.add_argument("--split", nargs="+", default=["train"],
                        help="of the embedded world (default: train)")  # fmt: skip
    parser.add_argument("--dataset", default="toybox", help="another one gives no scores")
    parser.add_argument("--data-root", help="where its pictures are")
    for stage, name in STAGES.items():
        parser.add_argument(f"--{stage}", default=name, help="(default: %(default)s)")
    given = parser.parse_args(argv)
    if len(given.objects) != len(given.split):
        parser.error("give one number of --objects for each --split")
    try:
        samples: list[Sample] = []
        for split, n in zip(given.split, given.objects, strict=True):
            dataset = _dataset(given.dataset, split, n, given.data_root)
            samples += islice(dataset, n)
        stages = {stage: getattr(given, stage) for stage in STAGES}
        settings = {**stages, "max_side": 384}
        pipeline = Pipeline(Setting(dataset, settings), settings)
    except UserError as error:
        parser.exit(2, f"error: {error}\n")
    n = write(samples, pipeline, given.out, _say)
    _say(f"wrote {n} pictures to {given.out}")
    return 0


def _dataset(spec: str, split: str, n: int, root: str | None) -> Dataset:
    toybox = {"kind": "single", "px": 128, "labels": True, "balanced": True}
    settings: dict[str, Any] = {"split": split, "n": n} | (toybox if spec == "toybox" else {})
    if root is not None:
        settings["data_root"] = root
    dataset: Dataset = registry.create("datasets", spec, settings)
    return dataset


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)  # noqa: T201  (a command's output)


if __name__ == "__main__":
    sys.exit(main())
