"""What a miniature vision-language model says about scenes that it has not seen, against the truth.

Captions are read by the grammar, so every share is exact: objects are matched by class (two of three
counted ducks are two right ones), attributes count on objects named rightly, a relation counts where both
of its objects are named rightly and is right if it is true of the scene. An answer is right if it means
what the true answer means. Choices are made on the validation split, cards are written on the test split.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmark.protocols import Answerer
from benchmark.toybox.facts import Facts, Thing
from benchmark.toybox.grammar import parse, tokens
from benchmark.toybox.questions import DESCRIBE, canonical, questions
from benchmark.toybox.sampling import KINDS
from benchmark.toybox.scene import Scene
from benchmark.toybox.truth import true_of
from benchmark.types import Pixels, Sampling
from targets.miniature.world_data import pictures

REQUIRED = {"object_f1_single": 0.9, "object_f1_mixed": 0.8, "colour": 0.85}
SAMPLING = Sampling(temperature=0, max_new_tokens=64)
MIXED, SINGLE, ASKED = 1_500, 1_000, 600
"""Scenes of all kinds as they are sampled, single objects, and scenes of all kinds that are asked about."""

Held = dict[str, tuple[Pixels, list[Scene]]]


@dataclass(frozen=True, slots=True)
class Marks:
    """Right, said and true objects; then (right, of how many) for everything else."""

    objects: tuple[int, int, int]
    shares: dict[str, tuple[int, int]]


def held_out(split: str, work: Path, fraction: float = 1.0) -> Held:
    """Pictures and scenes: "mixed" as sampled, "single"; `fraction` takes the first part of each."""
    sizes = {"mixed": (MIXED, None), "single": (SINGLE, "single")}
    return {
        name: pictures(split, max(1, round(n * fraction)), work, kind=kind)
        for name, (n, kind) in sizes.items()
    }


def measure(model: Answerer, data: Held) -> dict[str, float]:
    """All shares, keyed as on the card."""
    images, scenes = data["mixed"]
    mixed = captioned(model, images, scenes)
    out = {"object_f1_single": object_f1(captioned(model, *data["single"]))}
    out |= {"object_f1_mixed": object_f1(mixed)}
    for kind in KINDS:
        part = [m for m, s in zip(mixed, scenes, strict=True) if kind_of(s) == kind]
        if part:
            out[f"object_f1_{kind}_of_mixed"] = object_f1(part)
    out |= shares(mixed)
    asked = max(1, round(ASKED * len(scenes) / MIXED))
    out |= answered(model, images[:asked], scenes[:asked])
    return {name: round(value, 4) for name, value in out.items()}


def shortfalls(measured: dict[str, float]) -> list[str]:
    """The gates that were missed, in words."""
    return [
        f"{name} {measured[name]:.3f} < {least}"
        for name, least in REQUIRED.items()
        if measured[name] < least
    ]


def kind_of(scene: Scene) -> str:
    """Which of the sampler's kinds a scene is."""
    if scene.counted:
        return "counted"
    return {1: "single", 2: "pair", 3: "triple"}[len(scene.objects)]


def captioned(model: Answerer, images: Pixels, scenes: Sequence[Scene]) -> list[Marks]:
    """One caption a picture, marked."""
    captions = model.answer(list(images), [DESCRIBE] * len(images), SAMPLING)
    return [mark(text, scene) for text, scene in zip(captions, scenes, strict=True)]


def mark(caption: str, scene: Scene) -> Marks:
    """What is right in a caption. One that is no caption of the world names nothing."""
    true = Counter(o.cls for o in scene.objects)
    said = parse(caption)
    if said is None:
        return Marks((0, 0, len(scene.objects)), {"well_formed": (0, 1)})
    named = Counter([thing.cls for thing in said.things] * said.count)
    right = [thing for thing in said.things if true[thing.cls]]
    found = {
        "well_formed": (1, 1),
        "colour": _agreeing(right, scene, "colour"),
        "size": _agreeing(right, scene, "size"),
        "place": (int(said.place == scene.place), 1),
        "light": (int(said.light == scene.light), 1),
        "true_caption": (int(true_of(said, scene)), 1),
    }
    if scene.relation is not None and named == true:
        related = said.relation is not None and true_of(_bare(said), scene)
        found["relation"] = (int(related), 1)
    if scene.counted and named.keys() == true.keys():
        found["count"] = (int(said.count == len(scene.objects)), 1)
    return Marks(((named & true).total(), named.total(), true.total()), found)


def _agreeing(things: Sequence[Thing], scene: Scene, attribute: str) -> tuple[int, int]:
    true = {o.cls: getattr(o, attribute) for o in scene.objects}  # equal where counted
    return sum(getattr(t, attribute) == true[t.cls] for t in things), len(things)


def _bare(facts: Facts) -> Facts:
    return Facts(tuple(Thing(thing.cls) for thing in facts.things), 1, facts.relation)


def object_f1(marks: Sequence[Marks]) -> float:
    """F1 of the objects named, over all pictures together."""
    right, said, true = (sum(m.objects[i] for m in marks) for i in range(3))
    return 2 * right / (said + true) if said + true else float("nan")


def shares(marks: Sequence[Marks]) -> dict[str, float]:
    """Each share over all pictures that it can be told of."""
    names = dict.fromkeys(name for m in marks for name in m.shares)
    totals = {name: np.sum([m.shares.get(name, (0, 0)) for m in marks], axis=0) for name in names}
    return {name: float(right / n) for name, (right, n) in totals.items() if n}


def answered(model: Answerer, images: Pixels, scenes: Sequence[Scene]) -> dict[str, float]:
    """The share of right answers to all questions about these scenes, by kind of question."""
    asked = [
        (i, question)
        for i, scene in enumerate(scenes)
        for question in questions(canonical(scene), np.random.default_rng([scene.seed]))
    ]
    answers = model.answer([images[i] for i, _ in asked], [q.text for _, q in asked], SAMPLING)
    right: dict[str, list[bool]] = {}
    for (_, question), answer in zip(asked, answers, strict=True):
        right.setdefault(question.kind, []).append(_same(answer, question.answer))
    return {f"answer_{kind}": float(np.mean(marks)) for kind, marks in right.items()}


def _same(answer: str, true: str) -> bool:
    return tokens(answer) == tokens(true)


def concept_figures(
    model: Answerer, images: Pixels, scenes: Sequence[Scene], concepts: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Figures on the scenes that show each concept, and on the "rest" that shows none of them.

    `named`: the share of captions that say the concept.
    """
    captions = model.answer(list(images), [DESCRIBE] * len(images), SAMPLING)
    marked = [mark(text, scene) for text, scene in zip(captions, scenes, strict=True)]
    shown = [{scene.light, *(o.cls for o in scene.objects)} for scene in scenes]
    out: dict[str, dict[str, float]] = {}
    for concept in (*concepts, "rest"):
        rows = [
            i
            for i, there in enumerate(shown)
            if (there.isdisjoint(concepts) if concept == "rest" else concept in there)
        ]
        part = [marked[i] for i in rows]
        figures = {"scenes": float(len(rows)), "object_f1": object_f1(part), **shares(part)}
        if concept != "rest":
            figures["named"] = float(np.mean([_says(captions[i], concept) for i in rows]))
        out[concept] = {name: round(value, 4) for name, value in figures.items()}
    return out


def _says(caption: str, concept: str) -> bool:
    said = parse(caption)
    if said is None:
        return concept in tokens(caption)
    return concept == said.light or concept in {thing.cls for thing in said.things}
