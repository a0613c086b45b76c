"""How well and how fast AdvDreamer's embedded stages work, on single scenes of the validation split.

Run `python -m bench.advdreamer_stages` from the root of the checkout. Each class is shown in three of the
four lights. Masks are compared with what the renderer's rays meet; times are CPU milliseconds on one core.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from attacks.advdreamer.background import Inpainting, hole_of
from attacks.advdreamer.compose import Blend
from attacks.advdreamer.foreground import GrabCut
from attacks.advdreamer.inflate import Inflation
from attacks.advdreamer.pose import IDENTITY, PRESETS
from attacks.advdreamer.stages import Box, ForegroundError, Mask, Rendering
from benchmark.toybox import words
from benchmark.toybox.render import render
from benchmark.toybox.render_geometry import Mesh, View
from benchmark.toybox.sampling import SPLITS, sample_scene
from benchmark.toybox.scene import Scene
from benchmark.types import Pixels

T = TypeVar("T")

POSES = 10
"""Random frontal poses a picture that rendering and composition are timed on."""

SHOWN = (
    "gift",
    "mug",
    "bus",
    "house",
    "car",
    "chair",
    "boat",
    "airplane",
    "duck",
    "tree",
    "rocket",
)
"""Classes on the sheet, the first scene of each, and the first lamp."""


class Case(NamedTuple):
    """A scene, its picture, the same place without the object, and where the object is."""

    scene: Scene
    picture: Pixels
    empty: Pixels
    truth: Mask


def cases(per_class: int, px: int) -> Iterator[Case]:
    """The first scenes of each class whose object keeps off the border, no light twice a class."""
    wanted = dict.fromkeys(words.CLASSES, per_class)
    used: set[tuple[str, str]] = set()
    for seed in SPLITS["validation"]:
        if not any(wanted.values()):
            return
        scene = sample_scene(seed, "single")
        thing = scene.objects[0]
        if not wanted[thing.cls] or (thing.cls, scene.light) in used:
            continue
        hit = Mesh.of(scene).caster.run(*View.of(scene.camera, px, 4).rays()) >= 0
        truth = np.asarray(hit.reshape(px, 4, px, 4).mean(axis=(1, 3)) > 0.5)
        if truth[[0, -1]].any() or truth[:, [0, -1]].any():
            continue
        used.add((thing.cls, scene.light))
        wanted[thing.cls] -= 1
        behind = replace(scene, objects=(replace(thing, x=0.0, y=-60.0),))
        yield Case(scene, render(scene, px), render(behind, px), truth)


def overlap(a: Mask, b: Mask) -> float:
    """Intersection over union."""
    return float((a & b).sum() / max(1, (a | b).sum()))


def loose_box(truth: Mask) -> Box:
    """As a person draws it: a tenth and three pixels too large on each side."""
    rows, columns = np.flatnonzero(truth.any(axis=1)), np.flatnonzero(truth.any(axis=0))
    x, y = int(0.1 * np.ptp(columns)) + 3, int(0.1 * np.ptp(rows)) + 3
    left, top = max(1, int(columns[0]) - x), max(1, int(rows[0]) - y)
    right, bottom = (
        min(side - 1, int(last) + 1 + margin)
        for side, last, margin in ((truth.shape[1], columns[-1], x), (truth.shape[0], rows[-1], y))
    )
    return left, top, right - left, bottom - top


class Clock:
    """CPU milliseconds by name."""

    def __init__(self) -> None:
        self.spent: dict[str, list[float]] = defaultdict(list)

    def time(self, name: str, step: Callable[[], T]) -> T:
        """What the step returns."""
        start = time.process_time()
        result = step()
        self.spent[name].append((time.process_time() - start) * 1e3)
        return result


def measured(case: Case, clock: Clock, rng: np.random.Generator) -> tuple[dict[str, float], Pixels]:
    """All figures of one case, and its row of the sheet."""
    picture, truth = case.picture, case.truth
    mask = clock.time("foreground", lambda: GrabCut().cut(picture, "object"))
    boxed = GrabCut().cut(picture, "object", loose_box(truth))
    hole = clock.time("hole with shadow", lambda: hole_of(picture, mask))
    background = clock.time("background", lambda: Inpainting().complete(picture, hole))
    model = clock.time("inflation", lambda: Inflation().build(picture, mask))
    place = clock.time("place", lambda: Blend().prepare(picture, mask, background))
    identity = clock.time("first rendering (builds the tree)", lambda: model.render(IDENTITY))
    poses = [PRESETS["frontal"].uniform(rng) for _ in range(POSES)]
    renderings: list[Rendering] = [
        clock.time("rendering", lambda pose=pose: model.render(pose))  # type: ignore[misc]
        for pose in poses
    ]
    pictures = [
        clock.time("composition", lambda r=r, p=p: place.compose([r], [p])[0])  # type: ignore[misc]
        for r, p in zip(renderings, poses, strict=True)
    ]
    again = place.compose([identity], [IDENTITY])[0]
    true_hole = hole_of(picture, truth)
    filled = Inpainting().complete(picture, true_hole)
    error = np.abs(filled.astype(float) - case.empty).mean(axis=2)
    figures = {
        "mask IoU": overlap(mask, truth),
        "mask IoU, given a loose box": overlap(boxed, truth),
        "identity silhouette IoU": overlap(identity.rgba[..., 3] > 0.5, mask),
        "identity picture, mean error 0..255": float(np.abs(again.astype(float) - picture).mean()),
        "background in the hole, mean error 0..255": float(error[true_hole].mean()),
        "background outside the hole, mean error 0..255": float(error[~true_hole].mean()),
    }
    cut_out = np.where(mask[..., None], picture, np.array([255, 0, 255], np.uint8))
    return figures, np.concatenate([picture, cut_out, background, again, *pictures[:3]], axis=1)


def summary(values: Sequence[float]) -> str:
    """Mean, median and extremes."""
    array: NDArray[np.float64] = np.array(values)
    return (
        f"mean {array.mean():7.3f}   median {np.median(array):7.3f}   "
        f"least {array.min():7.3f}   most {array.max():7.3f}"
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Prints quality, then milliseconds, then mask IoU by light and class."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-class", type=int, default=3, help="scenes a class (default 3)")
    parser.add_argument("--px", type=int, default=128, help="side of the pictures (default 128)")
    parser.add_argument("--sheet", type=Path, help="where to save a contact sheet of 12 objects")
    args = parser.parse_args(argv)
    clock, rng = Clock(), np.random.default_rng(0)
    found: dict[str, list[float]] = defaultdict(list)
    groups: dict[str, list[float]] = defaultdict(list)
    rows: dict[str, Pixels] = {}
    refused = 0
    for case in cases(args.per_class, args.px):
        cls = case.scene.objects[0].cls
        try:
            figures, row = measured(case, clock, rng)
        except ForegroundError as error:
            refused += 1
            print(f"refused: {error}")
            continue
        rows.setdefault(cls, row)
        for name, value in figures.items():
            found[name].append(value)
        for group in (case.scene.light, cls):
            groups[group].append(figures["mask IoU"])
    print(f"{len(found['mask IoU'])} pictures of {args.px} px, {refused} refused")
    for name, values in found.items():
        print(f"{name:<48} {summary(values)}")
    print("CPU ms")
    for name, values in clock.spent.items():
        print(f"{name:<48} {summary(values)}")
    print("mask IoU by light and class")
    print("  ".join(f"{name} {np.mean(values):.2f}" for name, values in groups.items()))
    if args.sheet:
        sheet = np.concatenate([rows[cls] for cls in (*SHOWN, "lamp") if cls in rows])
        size = (2 * sheet.shape[1], 2 * sheet.shape[0])
        Image.fromarray(sheet).resize(size, Image.Resampling.NEAREST).save(args.sheet)


if __name__ == "__main__":
    main()
