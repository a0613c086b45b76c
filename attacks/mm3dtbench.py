"""MM3DTBench: questions about objects in odd poses, put to a target as they are.

Source: "AdvDreamer Unveils: Are Vision-Language Models Truly Ready for Real-World 3D Variations?"
(ICCV 2025, arXiv 2412.03002), sec. 5. The pictures were made adversarial before: nothing is searched, each
costs one query. `python -m benchmark export mm3dtbench RUN` makes such a set from a run of advdreamer.

Deviations
----------
- The authors' 215 questions and their wording are not public. The format is our own; see
  `benchmark.datasets.mm3dtbench`.
- A choice is read off the answer, by letter or words; only one that cannot be read so goes to the judge. The
  authors show every answer to a text-only GPT-4. Free answers go to the judge, as theirs do.
- Choices are shown in an order drawn by the sample's id (`--set dataset.shuffle=false`: as written).
- Dual encoders, which the authors do not ask, choose the text that matches best; a tie counts as right.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmark.errors import UserError
from benchmark.protocols import RunContext, Search
from benchmark.questions import Question
from benchmark.types import JSON, Candidate, Sample, Sampling, Score, Trial

TASKS = ("choice", "free")


DEFAULTS: Mapping[str, JSON] = {
    "task": "choice",
    "prompt": "a photo of a {choice}",
    "max_new_tokens": 64,
}


class MM3DTBench:
    """Asks about each picture once.

    Settings:
        task: "choice" shows the choices, "free" does not.
        prompt: What a choice is made into for a target that scores texts; {choice}, {article} (a or an).
        max_new_tokens: The most that a target may answer.
        answer_judge: Who marks answers; see `metrics.answers`.

    Raises:
        UserError: The data set asks no questions, or a setting has a value that cannot be used.
    """

    name = "mm3dtbench"
    version = "1"
    sees_scene = True

    def __init__(self, run: RunContext) -> None:
        settings = {**DEFAULTS, **run.settings}
        self._task = str(settings["task"])
        if self._task not in TASKS:
            raise UserError(f"task {self._task!r} is unknown: use {' or '.join(TASKS)}")
        self._prompt = _prompt(str(settings["prompt"]))
        self.answering = Sampling(0.0, 1.0, int(settings["max_new_tokens"]))
        first = next(iter(run.dataset), None)
        if first is not None and not isinstance(first.scene, Question):
            raise UserError(
                f"data set {run.dataset.info.id} asks no questions: give --dataset FILE.jsonl, as"
                " `python -m benchmark export mm3dtbench RUN` writes it"
            )

    def options(self, sample: Sample) -> list[str]:
        """The choices as texts, the right one first."""
        asked = _asked(sample)
        others = (choice for choice in asked.choices if choice != asked.answer)
        return [self._text(choice) for choice in (asked.answer, *others)]

    def question(self, sample: Sample) -> str:
        """What a target that answers is asked."""
        asked = _asked(sample)
        if self._task == "choice":
            return f"{asked.text}\n{asked.listed}\nAnswer with the letter of the right choice only."
        return f"{asked.text}\nAnswer in a few words."

    def search(self, sample: Sample, rng: np.random.Generator) -> Search:
        """Show the picture as it is."""
        del rng
        assert sample.image is not None
        yield Score((Candidate(image=sample.image.load(), perturbation=self._details(sample)),))
        return None

    def fitness(self, trial: Trial) -> float | None:
        """How much better another choice matches than the right one; None for answers in words."""
        if len(trial.option_scores) < 2:
            return None
        return max(trial.option_scores[1:]) - trial.option_scores[0]

    def _details(self, sample: Sample) -> dict[str, JSON]:
        asked = _asked(sample)
        return {
            "task": self._task,
            "label": sample.text,
            "question": asked.text,
            "choices": list(asked.choices),
            "answer": asked.answer,
            "orientation": asked.orientation,
            "source": asked.source,
            "theta": None if asked.theta is None else list(asked.theta),
        }

    def _text(self, choice: str) -> str:
        article = "an" if choice[:1].lower() in "aeiou" else "a"
        return self._prompt.format(choice=choice, article=article)


def _asked(sample: Sample) -> Question:
    if not isinstance(sample.scene, Question):
        raise ValueError(f"sample {sample.id} has no question: its data set must give it one")
    return sample.scene


def _prompt(prompt: str) -> str:
    values: dict[str, Any] = {"choice": "\0", "article": "a"}
    try:
        filled = prompt.format(**values)
    except (KeyError, IndexError, ValueError) as error:
        raise UserError(
            f"prompt {prompt!r} cannot be filled ({error!r}): use {{choice}}"
        ) from error
    if "\0" not in filled:
        raise UserError(f"prompt {prompt!r} does not say the choice: put {{choice}} into it")
    return prompt
