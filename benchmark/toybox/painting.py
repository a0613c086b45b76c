"""Scenes to order: one that makes the facts of a caption true, all that they leave open by chance.

Every choice has a stream of its own, so that two captions that differ in one word get, with the same
seed, scenes that differ in that alone, as far as the word allows.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmark.toybox import words
from benchmark.toybox.facts import Facts, Thing
from benchmark.toybox.sampling import OUTDOOR_LIGHTS, SCALES, WALLS, camera_for, spots
from benchmark.toybox.scene import Scene, SceneObject
from benchmark.toybox.truth import objects_of

_SETTING, _LAYOUT, _PLACEMENT, _CAMERA, _WALL, _KIND, _POSE = range(7)
"""The streams of random numbers; of the last two every object has its own."""


def scene_of(facts: Facts, seed: int) -> Scene | None:
    """The scene of facts and a seed: it shows the things that are named and no others.

    Where nothing is said of them, sizes, colours, materials, poses, placement, setting and camera are
    drawn as `sample_scene` draws them; a colour is then one that no other thing has. The same facts
    and seed always give the same scene.

    Returns:
        The scene; None where there can be none, such as fog in a room.
    """
    shown = objects_of(facts)
    if shown is None:
        return None
    kinds = _complete(list(shown.kinds.values()), seed)
    things = kinds * shown.number
    objects = [_posed(thing, index, seed) for index, thing in enumerate(things)]
    relation = facts.relation
    if relation is None and len(kinds) == 2:
        relation = _pick(_stream(seed, _LAYOUT), words.RELATIONS)
    where = spots(_stream(seed, _PLACEMENT), objects, relation)
    placed = tuple(
        replace(one, x=float(x), y=float(y)) for one, (x, y) in zip(objects, where, strict=True)
    )
    counted = shown.number > 1
    place, light = _setting(facts, seed)
    return Scene(
        placed,
        place,
        light,
        camera_for(_stream(seed, _CAMERA), placed),
        seed,
        counted,
        None if counted else relation,
        WALLS[int(_stream(seed, _WALL).integers(len(WALLS)))],
    )


def _complete(kinds: Sequence[Thing], seed: int) -> list[Thing]:
    """The kinds with every attribute: those that are not said drawn by chance."""
    taken = {thing.colour for thing in kinds}
    complete = []
    for index, thing in enumerate(kinds):
        rng = _stream(seed, _KIND, index)
        colours = [words.COLOURS[i] for i in rng.permutation(len(words.COLOURS))]
        size, material = _pick(rng, words.SIZES), _pick(rng, words.MATERIALS)
        colour = thing.colour or next(one for one in colours if one not in taken)
        taken.add(colour)
        complete.append(
            Thing(thing.cls, colour, thing.size or size, thing.material or material),
        )
    return complete


def _posed(thing: Thing, index: int, seed: int) -> SceneObject:
    """An object at the origin. All attributes of the thing are known."""
    rng = _stream(seed, _POSE, index)
    size = str(thing.size)
    return SceneObject(
        cls=thing.cls,
        colour=str(thing.colour),
        size=size,
        material=str(thing.material),
        x=0.0,
        y=0.0,
        scale=SCALES[size] * float(rng.uniform(0.95, 1.05)),
        yaw=float(rng.uniform(-np.pi, np.pi)),
    )


def _setting(facts: Facts, seed: int) -> tuple[str, str]:
    rng = _stream(seed, _SETTING)
    outdoors = facts.light not in (None, *words.INDOOR_LIGHTS)
    places = [place for place in words.PLACES if not (outdoors and place == "room")]
    # Drawn whether or not they are said, so that what is said moves nothing else.
    drawn = _pick(rng, places)
    indoor = _pick(rng, words.INDOOR_LIGHTS)
    outdoor = _pick(rng, tuple(OUTDOOR_LIGHTS), tuple(OUTDOOR_LIGHTS.values()))
    place = facts.place or drawn
    return place, facts.light or (indoor if place == "room" else outdoor)


def _stream(seed: int, *which: int) -> np.random.Generator:
    return np.random.default_rng([seed, *which])


def _pick(
    rng: np.random.Generator, options: Sequence[str], shares: Sequence[float] | None = None
) -> str:
    return options[int(rng.choice(len(options), p=shares))]
