"""How long a picture takes: CPU milliseconds an image on one core, and where they go.

Run `python -m bench.render` from the root of the checkout.
"""

import argparse
import cProfile
import pstats
import time
from collections.abc import Sequence

from benchmark.toybox.render import render
from benchmark.toybox.sampling import scenes
from benchmark.toybox.scene import Scene

STEPS = {
    "of": "placing the objects' triangles",
    "rays": "directions of the rays",
    "surroundings": "ground, far side and sky",
    "shadow_ground": "shadows on the ground",
    "object_colours": "shading of objects",
}
"""Functions of the renderer, and what they do."""


def milliseconds(
    drawn: Sequence[Scene], px: int, samples: int, ambient_occlusion: bool = False
) -> float:
    """CPU time an image, in milliseconds."""
    start = time.process_time()
    for scene in drawn:
        render(scene, px, samples, ambient_occlusion)
    return (time.process_time() - start) * 1e3 / len(drawn)


def shares(drawn: Sequence[Scene], px: int, samples: int) -> dict[str, float]:
    """The part of the time that each step takes, in per cent; profiling slows all of them alike."""
    profile = cProfile.Profile()
    profile.runcall(lambda: [render(scene, px, samples) for scene in drawn])
    stats = pstats.Stats(profile).get_stats_profile()
    found = {
        said: stats.func_profiles[name].cumtime / stats.total_tt * 100
        for name, said in STEPS.items()
    }
    return found | {"building the tree, first rays, fog, averaging": 100 - sum(found.values())}


def main(argv: Sequence[str] | None = None) -> None:
    """Prints one row a size, then the shares at 64 px."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=200, help="scenes to draw (default 200)")
    n = parser.parse_args(argv).n
    start = time.process_time()
    render(scenes("validation", 1)[0])
    print(f"first picture of this process: {(time.process_time() - start) * 1e3:.0f} ms")
    drawn = scenes("validation", n)
    print(f"{'px':>4} {'1 sample':>9} {'2 x 2':>7} {'2 x 2 + occlusion':>18}")
    for px in (64, 96, 128, 224):
        few = drawn if px == 64 else drawn[: max(1, n // 4)]
        times = [milliseconds(few, px, s, ao) for s, ao in ((1, False), (2, False), (2, True))]
        print(f"{px:>4} {times[0]:>9.1f} {times[1]:>7.1f} {times[2]:>18.1f}")
    for name, share in shares(drawn, 64, 2).items():
        print(f"{share:5.1f} %  {name}")


if __name__ == "__main__":
    main()
