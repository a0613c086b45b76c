"""The attack: take the picture apart, search the distribution of poses, measure what was found."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, cast

import numpy as np

from attacks.advdreamer.cmaes import Gaussian, PoseSearch
from attacks.advdreamer.conditions import CONDITIONS, Evaluation, evaluate
from attacks.advdreamer.kept import show_again
from attacks.advdreamer.labels import label_set
from attacks.advdreamer.losses import LOSSES, isp, mf_it
from attacks.advdreamer.pipeline import Case, Pipeline
from attacks.advdreamer.plots import write_generations, write_scaling
from attacks.advdreamer.pose import POSE_DIGITS, Pose, bounds_named
from attacks.advdreamer.selection import ENCODER, NATURALNESS, Asking, Selection
from attacks.advdreamer.sheet import write_sheet
from benchmark.errors import UserError
from benchmark.protocols import RunContext, Search
from benchmark.types import (
    JSON,
    Candidate,
    Feedback,
    Pixels,
    Record,
    Sample,
    Score,
    Submission,
    Trial,
)

NONE = "none"

DEFAULTS: Mapping[str, JSON] = {
    "generations": 15,
    "population": 20,
    "shortlist": 10,
    "parents": 5,
    "sigma": 0.5,
    "sigma_cap": NONE,
    "selection": "two-stage",
    "bounds": "frontal",
    "loss": "isp",
    "temperature": 1.0,
    "labels": "dataset",
    "prompt": "a photo of a {label}",
    "question": "",
    "naturalness": NONE,
    "encoder": NONE,
    "conditions": list(CONDITIONS),
    "draws": 10,
    "reproduce": True,
    "pictures": "all",
    "max_side": 512,
}
"""What a preset leaves out. The stages have no default: which there are depends on what is installed."""


class AdvDreamer:
    """Adversarial 3D pose from a single image: the worst distribution of poses, found by CMA-ES.

    Settings:
        generations, population: 15 and 20; each candidate is one query.
        shortlist, parents: The two stages: so many best by loss, of these so many most natural.
        sigma, sigma_cap: The step size to begin with, and its limit or "none".
        selection: "two-stage", or "loss" for the attack without the naturalness model.
        bounds: A preset of the box of poses; see `pose.PRESETS`.
        loss: "isp", "mf_it", "mf_ii" or "mf_ii+mf_tt"; the last two need an `encoder`.
        temperature: Of the softmax in the loss; the paper has none, which is 1.
        labels: The label set; see `labels.label_set`.
        prompt: P(y) of eq. 5, with {label} and, if you like, {article} (a or an).
        question: What a target that answers is asked about each picture; "" asks nothing.
        naturalness, encoder: Tools, or "none".
        foreground, background, reconstruction, composer: The stages.
        conditions, draws: What is measured after the search; see `conditions`.
        reproduce: Also show the true object in the same poses, where it is known.
        pictures: Which are kept: "all" that are compared in the papers' tables, or the "sheet"'s.
        max_side: Larger pictures are scaled down to this many pixels.

    Raises:
        UserError: A setting has a value that cannot be used.
    """

    name = "advdreamer"
    version = "1"
    drawings = (
        (write_sheet, "artifacts/sheet.png"),
        (write_generations, "artifacts/asr_generations.svg"),
        (write_scaling, "artifacts/asr_scaling.svg"),
    )

    def __init__(self, run: RunContext) -> None:
        settings = {**DEFAULTS, **run.settings}
        self._generations = _at_least(settings, "generations", 1)
        self._population = _at_least(settings, "population", 2)
        self._parents = _at_least(settings, "parents", 1)
        self._sigma = float(settings["sigma"])
        self._cap = None if settings["sigma_cap"] == NONE else float(settings["sigma_cap"])
        self._bounds = bounds_named(str(settings["bounds"]))
        self.tools = tuple(tool for tool in (NATURALNESS, ENCODER) if settings[tool] != NONE)
        self._selection = self._rule(settings)
        self._labels = label_set(str(settings["labels"]), run.dataset)
        self._prompt = _prompt(settings)
        self._question = str(settings["question"])
        self._plan = Evaluation(
            conditions=tuple(settings["conditions"]),
            draws=_at_least(settings, "draws", 1),
            bounds=self._bounds,
            selection=self._selection,
            parents=self._parents,
            population=self._population,
            rates_naturalness=NATURALNESS in self.tools,
            reproduces=bool(settings["reproduce"]),
            keeps_all=settings["pictures"] == "all",
        )
        self._pipeline = Pipeline(run, settings)
        self.stages = self._pipeline.stages
        self._cases: dict[str, Case] = {}

    def options(self, sample: Sample) -> list[str]:
        """The prompts of all labels, the true one first.

        Raises:
            ValueError: The sample's label is not in the label set.
        """
        return [self._text(label) for label in self._ordered(sample)]

    def question(self, sample: Sample) -> str | None:
        """What a target that answers is asked; the same for every sample."""
        del sample
        return self._question or None

    def fitness(self, trial: Trial) -> float | None:
        """The loss, as far as scores alone give it: ISP, or MF_it."""
        if not trial.option_scores:
            return None
        if self._selection.loss == "mf_it":
            return mf_it(trial.option_scores[0])
        return isp(trial.option_scores, self._selection.temperature)

    def describe(self) -> dict[str, JSON]:
        """What the run's record says beyond the settings: the labels and the box of poses."""
        return {
            "labels": list(self._labels),
            "bounds": {"low": list(self._bounds.low), "high": list(self._bounds.high)},
        }

    def search(self, sample: Sample, rng: np.random.Generator) -> Search:
        """Find p*: sample poses, show their pictures, move the distribution to the best (sec. 3.3).

        Ends early when the query budget is spent; a generation that was cut moves nothing.
        """
        case = self._pipeline.take_apart(sample)
        options = self.options(sample)
        search = PoseSearch(rng, self._population, self._parents, self._sigma, self._cap)
        history: list[dict[str, JSON]] = []
        tried: list[Pose] = []
        all_losses: list[float] = []
        for generation in range(self._generations):
            poses = [self._bounds.pose(z) for z in search.ask()]
            pictures = case.manipulator.pictures(poses)
            feedback = cast(
                "list[Feedback]",
                (yield Score(_candidates(pictures, poses, generation))),
            )
            scored = pictures[: len(feedback)]
            losses = yield from self._selection.losses(feedback, scored, case.clean, options)
            tried += poses[: len(feedback)]
            all_losses += losses
            if len(feedback) < len(pictures):
                break
            order, natural = yield from self._selection.order(losses, _those_of(pictures))
            search.tell(order)
            history.append(
                {
                    "loss": round(fmean(losses), POSE_DIGITS),
                    "best_loss": round(max(losses), POSE_DIGITS),
                    "fooled": round(fmean(one.success for one in feedback), POSE_DIGITS),
                    "naturalness": _rounded_mean([one.mean for one in natural.values()]),
                    "sigma": round(search.distribution.sigma, POSE_DIGITS),
                }
            )
        distribution = search.distribution
        best = yield from self._best(all_losses, tried, case)
        self._cases[sample.id] = case
        found: dict[str, JSON] = {
            "distribution": distribution.to_json(),
            "center": self._bounds.pose(distribution.mean).to_json(),
            "generations": cast("JSON", history),
            "best": [pose.theta.tolist() for pose in best],
            "queries": len(tried),
        }
        mask = np.repeat(case.manipulator.mask[..., None], 3, axis=2).astype(np.uint8) * 255
        return Submission(
            found=found,
            pictures={"mask": mask, "background": case.manipulator.background},
        )

    def report(self, sample: Sample, found: Mapping[str, JSON], rng: np.random.Generator) -> Search:
        """Measure what was found under all conditions (sec. 4.1), also on the true object."""
        case = self._cases.pop(sample.id, None) or self._pipeline.take_apart(sample)
        return (
            yield from evaluate(
                self._plan,
                case.manipulator,
                Gaussian.from_json(cast("Mapping[str, JSON]", found["distribution"])),
                [Pose.of(theta) for theta in cast("list[list[float]]", found["best"])],
                cast("int", found["queries"]),
                case.clean,
                self.options(sample),
                self._ordered(sample),
                sample.scene,
                rng,
            )
        )

    def replay(
        self,
        sample: Sample,
        record: Record,
        picked: Candidate,
        picture: Callable[[str], Pixels],
    ) -> Search:
        """Show all kept pictures again: the same conditions, to another target."""
        return (yield from show_again(record, picked, picture, self._ordered(sample)))

    def _best(
        self, losses: Sequence[float], poses: Sequence[Pose], case: Case
    ) -> Asking[list[Pose]]:
        """The best of all that was tried, by the rule that selects parents."""
        if not poses:
            return []
        order, _ = yield from self._selection.order(
            losses, lambda some: case.manipulator.pictures([poses[index] for index in some])
        )
        return [poses[index] for index in order[: self._parents]]

    def _rule(self, settings: Mapping[str, Any]) -> Selection:
        loss, selection = str(settings["loss"]), settings["selection"]
        if loss not in LOSSES:
            raise UserError(f"loss {loss!r} is unknown: use {', '.join(LOSSES)}")
        if loss in LOSSES[2:] and ENCODER not in self.tools:
            raise UserError(
                f"loss {loss} compares embeddings, which needs an encoder:"
                " give --set encoder=similarity:TARGET, or use the loss isp"
            )
        if selection not in ("two-stage", "loss"):
            raise UserError(f"selection {selection!r} is unknown: use two-stage or loss")
        if selection == "two-stage" and NATURALNESS not in self.tools:
            raise UserError(
                "selection two-stage needs a naturalness model: give --set naturalness=..., "
                "or --set selection=loss to do without"
            )
        shortlist = _at_least(settings, "shortlist", 1)
        if not self._parents <= shortlist <= self._population:
            raise UserError(
                f"shortlist = {shortlist}: give from {self._parents} (parents) to"
                f" {self._population} (population)"
            )
        temperature = float(settings["temperature"])
        if not temperature > 0:
            raise UserError(f"temperature = {temperature:g}: give a number above 0")
        return Selection(loss, temperature, shortlist, selection == "two-stage")

    def _ordered(self, sample: Sample) -> list[str]:
        """All labels, the sample's first."""
        label = sample.text.strip()
        if label not in self._labels:
            raise ValueError(
                f"label {label!r} is not among the {len(self._labels)} labels"
                f" ({', '.join(self._labels[:5])}, ...): correct it, or name another label set"
                " with --set labels=..."
            )
        return [label, *(other for other in self._labels if other != label)]

    def _text(self, label: str) -> str:
        article = "an" if label[:1].lower() in "aeiou" else "a"
        return self._prompt.format(label=label, article=article)


def _those_of(pictures: Sequence[Pixels]) -> Callable[[Sequence[int]], list[Pixels]]:
    return lambda some: [pictures[index] for index in some]


def _candidates(
    pictures: Sequence[Pixels], poses: Sequence[Pose], generation: int
) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(image=picture, perturbation={"generation": generation, **pose.to_json()})
        for picture, pose in zip(pictures, poses, strict=True)
    )


def _prompt(settings: Mapping[str, Any]) -> str:
    prompt = str(settings["prompt"])
    try:
        says_label = prompt.format(label="cat", article="a") != prompt.format(label="", article="a")
    except (KeyError, IndexError, ValueError) as error:
        raise UserError(f"prompt {prompt!r} cannot be filled ({error!r}): use {{label}}") from error
    if not says_label:
        raise UserError(f"prompt {prompt!r} does not say the label: put {{label}} into it")
    return prompt


def _at_least(settings: Mapping[str, Any], key: str, least: int) -> int:
    value = settings[key]
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UserError(f"{key} {value!r} cannot be used: give a whole number of {least} or more")
    return value


def _rounded_mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), POSE_DIGITS) if values else None
