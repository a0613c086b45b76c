"""The conditions under which a target is measured (AdvDreamer sec. 4.1), pictured and real.

- identity: taken apart and put together again, unturned.
- random: uniform in the box of poses. corner: random corners of that box.
- best_of_random: as many random poses as the search had queries, selected by the very same rule. This is
  what the queries buy without an optimiser.
- best_of_search: the search's own queries, selected likewise, so that the two can be compared.
- distribution: draws from p*. "distribution*4": with its covariance times four (Fig. 6B).
- center: Theta*, where p* is centred.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import cast

import numpy as np

from attacks.advdreamer.cmaes import Gaussian
from attacks.advdreamer.pose import IDENTITY, Bounds, Pose
from attacks.advdreamer.reproduce import can_reproduce, reproduced
from attacks.advdreamer.selection import Asking, Naturalness, Selection, rate
from attacks.advdreamer.stages import Manipulator
from benchmark.errors import UserError
from benchmark.toybox.render import render
from benchmark.types import JSON, Candidate, Feedback, Pixels, Score, Submission

BEST_OF_RANDOM = "best_of_random"
BEST_OF_SEARCH = "best_of_search"
CONDITIONS = (
    "identity", "random", "corner", BEST_OF_RANDOM, BEST_OF_SEARCH, "distribution", "center",
)  # fmt: skip
TRUE = "true/"
"""Before the name of a condition: the same poses of the object itself."""

_KEPT = ("identity", "random", "distribution", "center")
SHOWN = ("identity", "random/0", "center", f"{TRUE}center")
_SAMPLES = 2
"""Rays a pixel along each side, as the data set draws its pictures."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What to measure. `draws` poses where there are many, `population` of them at a time."""

    conditions: Sequence[str]
    draws: int
    bounds: Bounds
    selection: Selection
    parents: int
    population: int
    rates_naturalness: bool
    reproduces: bool
    keeps_all: bool

    def __post_init__(self) -> None:
        for condition in self.conditions:
            name, _, ratio = condition.partition("*")
            is_scaled = name == "distribution" and _is_ratio(ratio)
            if condition not in CONDITIONS and not is_scaled:
                raise UserError(
                    f"condition {condition!r} is unknown: use {', '.join(CONDITIONS)},"
                    ' or "distribution*4" for p* with its covariance times four, any number from 0'
                )


@dataclass(slots=True)
class Findings:
    """What is known when all is measured."""

    found: dict[str, JSON] = field(default_factory=dict)
    pictures: dict[str, Pixels] = field(default_factory=dict)
    answers: dict[str, JSON] = field(default_factory=dict)


def evaluate(
    plan: Evaluation,
    manipulator: Manipulator,
    distribution: Gaussian,
    best: Sequence[Pose],
    queries: int,
    clean: Pixels,
    options: Sequence[str],
    labels: Sequence[str],
    scene: object,
    rng: np.random.Generator,
) -> Asking[Submission]:
    """Measure one sample under all conditions.

    `best` are the best of the search's `queries`. `labels` belong to `options`, the true one first.
    `scene` is the truth behind the picture, or None.
    """
    poses = {
        condition: _poses(condition, plan, distribution, rng)
        for condition in plan.conditions
        if condition not in (BEST_OF_RANDOM, BEST_OF_SEARCH)
    }
    if BEST_OF_SEARCH in plan.conditions and best:
        poses[BEST_OF_SEARCH] = list(best)
    if BEST_OF_RANDOM in plan.conditions and queries:
        baseline = [plan.bounds.uniform(rng) for _ in range(queries)]
        poses[BEST_OF_RANDOM] = yield from _selected(plan, manipulator, baseline, clean, options)
    pictures = {name: manipulator.pictures(group) for name, group in poses.items()}
    feedback = yield from _scored(pictures, poses)
    result = Findings()
    result.found["poses"] = {
        name: [pose.theta.tolist() for pose in group] for name, group in poses.items()
    }
    if plan.rates_naturalness:
        result.found["naturalness"] = yield from _rated(pictures)
    _keep(result, pictures, feedback, labels, _KEPT if plan.keeps_all else ())
    if plan.reproduces and can_reproduce(scene):
        left, top, width, height = manipulator.box
        pivot = ((left + width / 2) / clean.shape[1], (top + height / 2) / clean.shape[0])
        real = {
            TRUE + name: [
                render(reproduced(scene, pose, pivot), len(clean), _SAMPLES)  # type: ignore[arg-type]
                for pose in group
            ]
            for name, group in poses.items()
        }
        feedback |= yield from _scored(real, {TRUE + name: group for name, group in poses.items()})
        result.found["reproduced"] = {
            name: pairs(feedback[name], feedback[TRUE + name]) for name in poses
        }
        _keep(result, real, feedback, labels, ())
    result.found["answers"] = result.answers
    return Submission(found=result.found, pictures=result.pictures)


def _poses(
    condition: str, plan: Evaluation, distribution: Gaussian, rng: np.random.Generator
) -> list[Pose]:
    name, _, ratio = condition.partition("*")
    match name:
        case "identity":
            return [IDENTITY]
        case "center":
            return [plan.bounds.pose(distribution.mean)]
        case "random":
            return [plan.bounds.uniform(rng) for _ in range(plan.draws)]
        case "corner":
            return [plan.bounds.corner(rng) for _ in range(plan.draws)]
        case _:
            drawn = distribution.draw(rng, plan.draws, float(ratio or 1))
            return [plan.bounds.pose(z) for z in drawn]


def _selected(
    plan: Evaluation,
    manipulator: Manipulator,
    poses: Sequence[Pose],
    clean: Pixels,
    options: Sequence[str],
) -> Asking[list[Pose]]:
    """The best of random poses, by the rule of the search."""
    losses: list[float] = []
    for start in range(0, len(poses), plan.population):
        some = poses[start : start + plan.population]
        pictures = manipulator.pictures(some)
        candidates = [
            Candidate(image=picture, perturbation={"baseline": BEST_OF_RANDOM, **pose.to_json()})
            for picture, pose in zip(pictures, some, strict=True)
        ]
        feedback = cast("list[Feedback]", (yield Score(tuple(candidates), "report")))
        losses += yield from plan.selection.losses(feedback, pictures, clean, options)
    # Drawing the few of the shortlist again costs less than keeping all pictures.
    order, _ = yield from plan.selection.order(
        losses, lambda some: manipulator.pictures([poses[index] for index in some])
    )
    return [poses[index] for index in order[: plan.parents]]


def _scored(
    pictures: Mapping[str, Sequence[Pixels]], poses: Mapping[str, Sequence[Pose]]
) -> Asking[dict[str, list[Feedback]]]:
    """Have all pictures of all conditions judged at once."""
    candidates = [
        Candidate(image=picture, perturbation={"condition": name, **pose.to_json()})
        for name, group in pictures.items()
        for picture, pose in zip(group, poses[name], strict=True)
    ]
    feedback = iter(cast("list[Feedback]", (yield Score(tuple(candidates), "report"))))
    return {name: [next(feedback) for _ in group] for name, group in pictures.items()}


def _rated(pictures: Mapping[str, Sequence[Pixels]]) -> Asking[JSON]:
    """Mean naturalness of each condition's pictures."""
    scores = iter((yield from rate([one for group in pictures.values() for one in group])))
    return {
        name: _mean_naturalness([next(scores) for _ in group]) for name, group in pictures.items()
    }


def _mean_naturalness(scores: Sequence[Naturalness]) -> JSON:
    return {
        "fidelity": round(fmean(score.fidelity for score in scores), 4),
        "plausibility": round(fmean(score.plausibility for score in scores), 4),
    }


def answer_of(said: Feedback, labels: Sequence[str]) -> dict[str, JSON]:
    """Whether a picture fooled, and what the target took it for where it scores the `labels`."""
    answer = labels[int(np.argmax(said.option_scores))] if said.option_scores else None
    return {"fooled": said.success, "answer": answer}


def pairs(pictured: Sequence[Feedback], real: Sequence[Feedback]) -> JSON:
    """Of n poses: how many fooled in the picture, with the real object, and both ways."""
    fooled = [(a.success, b.success) for a, b in zip(pictured, real, strict=True)]
    return {
        "n": len(fooled),
        "picture": sum(a for a, _ in fooled),
        "true": sum(b for _, b in fooled),
        "both": sum(a and b for a, b in fooled),
    }


def _keep(
    result: Findings,
    pictures: Mapping[str, Sequence[Pixels]],
    feedback: Mapping[str, Sequence[Feedback]],
    labels: Sequence[str],
    kept: Sequence[str],
) -> None:
    """Keep the pictures of the contact sheet and of the `kept` conditions, with what was seen."""
    for name, group in pictures.items():
        for index, (picture, said) in enumerate(zip(group, feedback[name], strict=True)):
            key = name if name.endswith(("identity", "center")) else f"{name}/{index}"
            if name in kept or key in SHOWN:
                result.pictures[key] = picture
                result.answers[key] = answer_of(said, labels)


def _is_ratio(text: str) -> bool:
    try:
        return 0 <= float(text) < math.inf
    except ValueError:
        return False
