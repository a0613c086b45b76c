"""What a miniature dual encoder can and cannot tell, on scenes that it has not seen.

Every number is a share in 0..1 over one split. `REQUIRED` are gates; the rest describes weaknesses, which
stay as training makes them. Choices are made on the validation split, cards are written on the test split.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from benchmark.protocols import DualEncoder
from benchmark.toybox import words
from benchmark.toybox.captions import full_facts
from benchmark.toybox.facts import Facts, Thing
from benchmark.toybox.grammar import generate
from benchmark.toybox.scene import Scene
from benchmark.types import Pixels
from targets.miniature.world_data import pictures

REQUIRED = {
    "class_20": 0.88,
    "colour_9": 0.90,
    "place_5": 0.90,
    "light_4": 0.95,
    "wrong_object_rejected": 0.90,
    "wrong_colour_rejected": 0.90,
}
SIZES = {"single": 2000, "pair": 1000, "counted": 600}
"""Scenes of each kind that a full measurement takes from a split."""

_CLASS_TEMPLATES = (None, *words.PLACES)
_T = TypeVar("_T")


def held_out(
    split: str, work: Path, fraction: float = 1.0, report: Callable[[str], None] = print
) -> dict[str, tuple[Pixels, list[Scene]]]:
    """The measured scenes with their pictures, by kind; `fraction` takes the first part of each."""
    return {
        kind: pictures(split, max(1, round(n * fraction)), work, kind=kind, report=report)
        for kind, n in SIZES.items()
    }


def measure(model: DualEncoder, data: dict[str, tuple[Pixels, list[Scene]]]) -> dict[str, float]:
    """All shares, keyed as on the card."""
    out: dict[str, float] = {}
    images, scenes = data["single"]
    embedded = model.encode_images(list(images))
    first = [s.objects[0] for s in scenes]
    out["class_20"] = _choose_class(model, embedded, [o.cls for o in first])
    out["colour_9"] = _choose(
        model, embedded, [o.colour for o in first], words.COLOURS,
        lambda i, colour: Facts((Thing(first[i].cls, colour),)),
    )  # fmt: skip
    out["size_2"] = _choose(
        model, embedded, [o.size for o in first], words.SIZES,
        lambda i, size: Facts((Thing(first[i].cls, first[i].colour, size),)),
    )  # fmt: skip
    out["material_2"] = _choose(
        model, embedded, [o.material for o in first], words.MATERIALS,
        lambda i, m: Facts((Thing(first[i].cls, first[i].colour, None, m),)),
    )  # fmt: skip
    out["place_5"] = _choose(
        model, embedded, [s.place for s in scenes], tuple(words.PLACES),
        lambda i, place: Facts((Thing(first[i].cls),), place=place),
    )  # fmt: skip
    out["light_4"] = _choose(
        model, embedded, [s.light for s in scenes], tuple(words.LIGHTS),
        lambda i, light: Facts((Thing(first[i].cls),), place=scenes[i].place, light=light),
    )  # fmt: skip
    out |= _pairs(model, *data["pair"])
    images, scenes = data["counted"]
    out["count_3"] = _choose(
        model, model.encode_images(list(images)), [len(s.objects) for s in scenes], (1, 2, 3),
        lambda i, n: Facts((Thing(scenes[i].objects[0].cls, scenes[i].objects[0].colour),), n),
    )  # fmt: skip
    return {name: round(value, 4) for name, value in out.items()}


def shortfalls(measured: dict[str, float]) -> list[str]:
    """The gates that were missed, in words."""
    return [
        f"{name} {measured[name]:.3f} < {least}"
        for name, least in REQUIRED.items()
        if measured[name] < least
    ]


def _choose_class(
    model: DualEncoder, images: npt.NDArray[np.float32], truth: Sequence[str]
) -> float:
    """20-way zero-shot: each class is the mean of six captions, as prompt ensembles are."""
    texts = [
        generate(Facts((Thing(name),), place=place))
        for name in words.CLASSES
        for place in _CLASS_TEMPLATES
    ]
    embedded = model.encode_texts(texts).reshape(len(words.CLASSES), len(_CLASS_TEMPLATES), -1)
    mean = embedded.mean(1)
    mean /= np.linalg.norm(mean, axis=1, keepdims=True)
    chosen = (images @ mean.T).argmax(1)
    return float(np.mean([words.CLASSES[c] == t for c, t in zip(chosen, truth, strict=True)]))


def _choose(
    model: DualEncoder,
    images: npt.NDArray[np.float32],
    truth: Sequence[_T],
    options: Sequence[_T],
    caption: Callable[[int, _T], Facts],
) -> float:
    """The share of pictures whose true option has the best caption of all options."""
    texts = [generate(caption(i, option)) for i in range(len(truth)) for option in options]
    scores = _scores(model, np.repeat(images, len(options), axis=0), texts)
    chosen = scores.reshape(len(truth), len(options)).argmax(1)
    return float(np.mean([options[c] == t for c, t in zip(chosen, truth, strict=True)]))


def _scores(
    model: DualEncoder, images: npt.NDArray[np.float32], texts: Sequence[str]
) -> npt.NDArray[np.float32]:
    distinct = list(dict.fromkeys(texts))
    place = {text: i for i, text in enumerate(distinct)}
    embedded = model.encode_texts(distinct)[[place[text] for text in texts]]
    scores: npt.NDArray[np.float32] = np.einsum("nd,nd->n", images, embedded)
    return scores


def _pairs(model: DualEncoder, images: Pixels, scenes: list[Scene]) -> dict[str, float]:
    """How often the true full caption of a pair beats an altered one, by what was altered."""
    embedded = model.encode_images(list(images))
    facts = [full_facts(scene) for scene in scenes]
    true = _scores(model, embedded, [generate(f) for f in facts])
    sideways = np.array([f.relation in ("left of", "right of") for f in facts])

    def beats(alter: Callable[[Facts], Facts], rows: npt.NDArray[np.bool_] | None = None) -> float:
        wins = true > _scores(model, embedded, [generate(alter(f)) for f in facts])
        return float(np.mean(wins if rows is None else wins[rows]))

    return {
        "wrong_object_rejected": beats(_wrong_object),
        "wrong_colour_rejected": beats(_wrong_colour),
        "left_right_swap_rejected": beats(_opposite, sideways),
        "front_behind_swap_rejected": beats(_opposite, ~sideways),
        "objects_swapped_rejected": beats(_objects_swapped),
        "colours_swapped_rejected": beats(_colours_swapped),
    }


def _wrong_object(facts: Facts) -> Facts:
    present = {t.cls for t in facts.things}
    wrong = next(c for c in _from(facts, words.CLASSES) if c not in present)
    return facts.with_thing(0, replace(facts.things[0], cls=wrong))


def _wrong_colour(facts: Facts) -> Facts:
    present = {t.colour for t in facts.things}
    wrong = next(c for c in _from(facts, words.COLOURS) if c not in present)
    return facts.with_thing(0, replace(facts.things[0], colour=wrong))


def _from(facts: Facts, options: tuple[str, ...]) -> tuple[str, ...]:
    """The options from a place that depends on the facts, so that all of them are used as wrong ones."""
    start = sum(map(ord, generate(facts))) % len(options)
    return options[start:] + options[:start]


def _opposite(facts: Facts) -> Facts:
    assert facts.relation is not None
    return replace(facts, relation=words.OPPOSITE[facts.relation])


def _objects_swapped(facts: Facts) -> Facts:
    a, b = facts.things
    return replace(facts, things=(replace(a, cls=b.cls), replace(b, cls=a.cls)))


def _colours_swapped(facts: Facts) -> Facts:
    a, b = facts.things
    return replace(facts, things=(replace(a, colour=b.colour), replace(b, colour=a.colour)))
