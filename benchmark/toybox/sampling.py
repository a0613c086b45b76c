"""Scenes by chance: `sample_scene(seed)` is the world's only source of randomness."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from benchmark.toybox import words
from benchmark.toybox.objects import template
from benchmark.toybox.scene import Camera, Scene, SceneObject

SPLITS: dict[str, range] = {
    "train": range(0, 10_000_000),
    "validation": range(10_000_000, 11_000_000),
    "test": range(11_000_000, 12_000_000),
}
"""The seeds of each split. They do not overlap, so no scene is in two splits."""

KINDS = {"single": 0.35, "pair": 0.40, "triple": 0.13, "counted": 0.12}
"""How often each kind of scene is drawn."""

SCALES = {"small": 0.75, "large": 1.12}
OUTDOOR_LIGHTS = {"day": 0.4, "night": 0.2, "sunset": 0.2, "fog": 0.2}
WALLS = ((0.69, 0.62, 0.48), (0.42, 0.58, 0.70), (0.62, 0.42, 0.42), (0.48, 0.60, 0.44))
_DISTANCES = {1: 2.25, 2: 3.3, 3: 4.0}


def sample_scene(seed: int, kind: str | None = None) -> Scene:
    """The scene of a seed; the same seed and kind always give the same scene.

    Args:
        seed: Any non-negative integer; `SPLITS` says which belong to which split.
        kind: "single", "pair", "triple" or "counted"; drawn by `KINDS` if None.

    Raises:
        ValueError: If there is no such kind.
    """
    if kind is not None and kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}: expected one of {', '.join(KINDS)}")
    rng = np.random.default_rng([seed])
    drawn = _pick(rng, tuple(KINDS), tuple(KINDS.values()))
    kind = kind or drawn
    place = _pick(rng, tuple(words.PLACES))
    if place == "room":
        light = _pick(rng, words.INDOOR_LIGHTS)
    else:
        light = _pick(rng, tuple(OUTDOOR_LIGHTS), tuple(OUTDOOR_LIGHTS.values()))
    count = {"single": 1, "pair": 2, "triple": 3}.get(kind) or int(rng.integers(2, 4))
    counted = kind == "counted"
    relation = _pick(rng, words.RELATIONS) if kind == "pair" else None
    things = _things(rng, count, counted=counted)
    objects = tuple(
        replace(thing, x=float(x), y=float(y))
        for thing, (x, y) in zip(things, spots(rng, things, relation), strict=True)
    )
    camera = camera_for(rng, objects)
    wall = WALLS[int(rng.integers(len(WALLS)))]
    return Scene(objects, place, light, camera, seed, counted, relation, wall)


def scenes(split: str, n: int, start: int = 0, kind: str | None = None) -> list[Scene]:
    """The n scenes of a split from its `start`-th seed on.

    Raises:
        ValueError: If there is no such split or it has fewer seeds.
    """
    if split not in SPLITS:
        raise ValueError(f"unknown split {split!r}: expected one of {', '.join(SPLITS)}")
    seeds = SPLITS[split]
    if n < 0 or start < 0 or start + n > len(seeds):
        raise ValueError(
            f"split {split!r} has {len(seeds)} scenes, so {n} from {start} on is outside it"
        )
    return [sample_scene(seed, kind) for seed in seeds[start : start + n]]


def split_of(seed: int) -> str:
    """The split that a seed belongs to, or "other"."""
    return next((name for name, seeds in SPLITS.items() if seed in seeds), "other")


def _pick(
    rng: np.random.Generator, options: tuple[str, ...], shares: tuple[float, ...] | None = None
) -> str:
    return options[int(rng.choice(len(options), p=shares))]


def _things(rng: np.random.Generator, count: int, *, counted: bool) -> list[SceneObject]:
    """Objects at the origin: all of one kind if counted, else no class or colour twice."""
    classes = [words.CLASSES[i] for i in rng.permutation(len(words.CLASSES))[:count]]
    colours = [words.COLOURS[i] for i in rng.permutation(len(words.COLOURS))[:count]]
    sizes = [_pick(rng, words.SIZES) for _ in range(count)]
    materials = [_pick(rng, words.MATERIALS) for _ in range(count)]
    kinds = [0] * count if counted else range(count)
    return [
        SceneObject(
            cls=classes[i],
            colour=colours[i],
            size=sizes[i],
            material=materials[i],
            x=0.0,
            y=0.0,
            scale=SCALES[sizes[i]] * float(rng.uniform(0.95, 1.05)),
            yaw=float(rng.uniform(-np.pi, np.pi)),
        )
        for i in kinds
    ]


def spots(
    rng: np.random.Generator, things: Sequence[SceneObject], relation: str | None
) -> list[tuple[float, float]]:
    """Where the things stand, (x, y) each; with a relation, the first stands so to the second."""
    if len(things) == 1:
        return [(rng.uniform(-0.16, 0.16), rng.uniform(-0.2, 0.2))]
    if relation in ("in front of", "behind"):
        side = rng.choice([-1, 1]) * rng.uniform(0.32, 0.46)
        near, far = (side, -0.65), (-1.15 * side, 0.85)
        return [near, far] if relation == "in front of" else [far, near]
    # From left to right; the order of naming says nothing unless there is a relation.
    order = [1, 0] if relation == "right of" else list(range(len(things)))
    if len(things) == 3:
        order = [int(i) for i in rng.permutation(3)]
    widths = [_half_extent(things[i])[0] for i in order]
    least = {2: 1.0, 3: 0.80}[len(things)]
    steps = [
        max(least, left + right + 0.06) + rng.uniform(0.0, 0.14) for left, right in pairwise(widths)
    ]
    edges = np.cumsum([0.0, *steps])
    middle = (edges[0] - widths[0] + edges[-1] + widths[-1]) / 2  # of what the row covers
    tilts = [0.0, 0.0, 0.0]
    tilts[0] = rng.uniform(-0.2, 0.2)
    tilts[1] = -tilts[0] * 0.4
    tilts[2] = rng.uniform(-0.2, 0.2)
    placed = [(0.0, 0.0)] * len(things)
    for place, i in enumerate(order):
        placed[i] = (edges[place] - middle, tilts[place])
    return placed


def camera_for(rng: np.random.Generator, objects: Sequence[SceneObject]) -> Camera:
    """A camera that looks at all of the objects, where they stand."""
    nearest = _DISTANCES[len(objects)] * float(rng.uniform(0.95, 1.08))
    tallest = max(float(template(o.cls).high[2]) * o.scale for o in objects)
    farthest = 1.25 * _DISTANCES[len(objects)]
    return Camera(
        elevation=float(np.radians(rng.uniform(10.0, 24.0))),
        distance=max(nearest, min(_distance_to_fit(objects), farthest)),
        height=min(max(0.46 * tallest, 0.22), 0.5),
    )


def _half_extent(thing: SceneObject) -> tuple[float, float]:
    """Half of what a thing covers from left to right and from front to back, as it is turned."""
    x, y = (float(half) * thing.scale for half in template(thing.cls).high[:2])
    cos, sin = abs(np.cos(thing.yaw)), abs(np.sin(thing.yaw))
    return float(cos * x + sin * y), float(sin * x + cos * y)


def _distance_to_fit(objects: Sequence[SceneObject]) -> float:
    """The camera distance from which about every object is wholly inside the picture."""
    slope = 0.97 * float(np.tan(np.radians(Camera(0.0, 1.0).fov_deg) / 2))
    fits = []
    for thing in objects:
        width, depth = _half_extent(thing)
        height = float(template(thing.cls).high[2]) * thing.scale
        fits.append((abs(thing.x) + width) / slope - thing.y)
        fits.append((0.5 * height + 0.25 * depth) / slope + 0.8 * depth - thing.y)
    return max(fits)
