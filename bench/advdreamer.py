"""What AdvDreamer costs in the embedded world: ms per render, per query and per image, and their shares.

    python bench/advdreamer.py [--images 10] [--set reconstruction=inflate ...]

CPU time of this process on one thread, so other work on the machine does not count. A query is rendered,
composed, shown to the target in full batches, and half the queries to the naturalness model.
"""

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np


class Clock:
    """CPU seconds by name of the work, and how often it was done."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.times: dict[str, int] = defaultdict(int)

    @contextmanager
    def __call__(self, name: str, times: int = 1) -> Iterator[None]:
        """Count what is done within the block, which does it `times` times over."""
        start = time.process_time()
        yield
        self.seconds[name] += time.process_time() - start
        self.times[name] += times

    def ms(self, name: str) -> float:
        """Milliseconds each time; 0 for what was never done."""
        return 1e3 * self.seconds[name] / max(1, self.times[name])


def main(argv: Sequence[str] | None = None) -> None:
    """Prints one row for each kind of work, and the sum of an image."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=10, metavar="N")
    parser.add_argument("--target", default="clip")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args(argv)
    os.environ.setdefault("OMP_NUM_THREADS", "1")

    from benchmark.assembly import assemble
    from benchmark.config import Execution, resolve

    config = resolve("advdreamer", options.target, overrides=options.set)
    parts = assemble(config, Execution())
    clock, refused = Clock(), 0
    for sample in islice(parts.dataset, options.images):
        refused += not _measured(clock, parts, config.settings, sample)
    print(f"{options.images} images, {refused} refused; CPU time on one thread")
    _report(clock, config.settings)


def _measured(clock: Clock, parts: Any, settings: Mapping[str, Any], sample: Any) -> bool:
    """Time everything that is done to a sample; False if it has no object that can be used."""
    from attacks.advdreamer.background import hole_of
    from attacks.advdreamer.pose import bounds_named
    from attacks.advdreamer.reproduce import reproduced
    from attacks.advdreamer.stages import ForegroundError, Manipulator
    from benchmark.serving import Target
    from benchmark.toybox.render import render

    stages, pixels = parts.attack.stages, sample.image.load()
    try:
        with clock("foreground"):
            mask = stages.foreground.cut(pixels, sample.text)
    except ForegroundError:
        return False
    with clock("hole"):
        hole = hole_of(pixels, mask)
    with clock("background"):
        background = stages.background.complete(pixels, hole)
    with clock("reconstruction"):
        model = stages.reconstruction.build(pixels, mask)
    with clock("composer"):
        composition = stages.composer.prepare(pixels, mask, background)
    bounds, rng = bounds_named(settings["bounds"]), np.random.default_rng(0)
    poses = [bounds.uniform(rng) for _ in range(3 * settings["population"])]
    with clock("render", len(poses)):
        renderings = [model.render(pose) for pose in poses]
    with clock("compose", len(poses)):
        pictures = composition.compose(renderings, poses)
    target, texts = Target(parts.target), parts.attack.options(sample)
    with clock("target", len(poses)):
        target.score([(picture, text) for picture in pictures for text in texts])
    if "naturalness" in parts.tools:
        with clock("naturalness", len(poses)):
            parts.tools["naturalness"].ask(pictures)
    left, top, width, height = Manipulator(mask, background, model, composition).box
    pivot = ((left + width / 2) / len(pixels), (top + height / 2) / len(pixels))
    scenes = [reproduced(sample.scene, pose, pivot) for pose in poses[:5]]
    with clock("true object", len(scenes)):
        for scene in scenes:
            render(scene, len(pixels), 2)
    return True


def _report(clock: Clock, settings: Mapping[str, Any]) -> None:
    queries = settings["generations"] * settings["population"]
    by_naturalness = settings["selection"] == "two-stage"
    asked = by_naturalness * settings["shortlist"] / settings["population"]
    once = ["foreground", "hole", "background", "reconstruction", "composer"]
    each = {"render": 1.0, "compose": 1.0, "target": 1.0, "naturalness": asked}
    query = sum(clock.ms(name) * share for name, share in each.items())
    image = sum(map(clock.ms, once)) + queries * query
    for name in once:
        print(f"{name:<16} {clock.ms(name):9.2f} ms/image {clock.ms(name) / image:7.1%}")
    for name, share in each.items():
        part = queries * share * clock.ms(name) / image
        print(f"{name:<16} {clock.ms(name):9.2f} ms       {part:7.1%}  x {queries * share:.0f}")
    print(f"{'query':<16} {query:9.2f} ms")
    print(f"{'image':<16} {image:9.0f} ms       {'100.0%':>7}  {queries} queries")
    print(f"{'true object':<16} {clock.ms('true object'):9.2f} ms/render, beside the above")


if __name__ == "__main__":
    main()
