from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from attacks.mm3dtbench import MM3DTBench
from benchmark.errors import UserError
from benchmark.protocols import Dataset
from benchmark.questions import Question
from benchmark.types import Candidate, Sample, Score, Trial
from tests import fakes, quiz

ASKED = Question(
    "What is {choices}?", ("duck", "owl"), "owl", "turned left", "digital", (1.0, 2, 3, 0, 0, 1)
)
SAMPLE = Sample("q", "owl", fakes.Picture(0), scene=ASKED)


@dataclass
class Context:
    settings: Mapping[str, Any] = field(default_factory=dict)
    dataset: Dataset = field(default_factory=quiz.questions)
    seed: int = 0

    def model(self, kind: str, spec: str) -> Any:
        raise AssertionError(f"{kind} {spec} is not needed")


def attack(**settings: Any) -> MM3DTBench:
    return MM3DTBench(Context(settings))


def test_choices_are_asked_by_letter() -> None:
    assert attack().question(SAMPLE) == (
        "What is {choices}?\nA. duck\nB. owl\nAnswer with the letter of the right choice only."
    )


def test_free_answers_see_no_choices() -> None:
    assert attack(task="free").question(SAMPLE) == "What is {choices}?\nAnswer in a few words."


def test_options_begin_with_the_right_one() -> None:
    assert attack().options(SAMPLE) == ["a photo of a owl", "a photo of a duck"]
    assert attack(prompt="{article} {choice}").options(SAMPLE) == ["an owl", "a duck"]


def test_each_picture_is_shown_once_as_it_is() -> None:
    search = attack().search(SAMPLE, np.random.default_rng(0))
    request = next(search)
    assert isinstance(request, Score)
    (candidate,) = request.candidates
    np.testing.assert_array_equal(candidate.image, fakes.picture(0))
    assert candidate.perturbation == {
        "task": "choice",
        "label": "owl",
        "question": "What is {choices}?",
        "choices": ["duck", "owl"],
        "answer": "owl",
        "orientation": "turned left",
        "source": "digital",
        "theta": [1, 2, 3, 0, 0, 1],
    }
    with pytest.raises(StopIteration):
        search.send([])


def test_fitness_is_the_margin_of_the_best_wrong_choice() -> None:
    trial = Trial(SAMPLE, Candidate(image=fakes.picture(0)), None, None)
    assert attack().fitness(trial) is None
    scored = replace(trial, option_scores=(0.5, 0.2, 0.6))
    assert attack().fitness(scored) == pytest.approx(0.1)


def test_targets_answer_greedily() -> None:
    answering = attack(max_new_tokens=7).answering
    assert (answering.temperature, answering.max_new_tokens) == (0, 7)


def test_a_sample_without_a_question_is_an_error() -> None:
    with pytest.raises(ValueError, match="sample q has no question: its data set must give it one"):
        attack().options(replace(SAMPLE, scene=None))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"task": "both"}, "task 'both' is unknown: use choice or free"),
        ({"prompt": "a {label}"}, r"prompt 'a \{label\}' cannot be filled .*: use \{choice\}"),
        ({"prompt": "a photo"}, r"prompt 'a photo' does not say the choice: put \{choice\} into"),
    ],
)
def test_mistakes_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        attack(**settings)


def test_other_data_is_refused_at_once() -> None:
    with pytest.raises(
        UserError, match="data set fake-data asks no questions: give --dataset FILE"
    ):
        MM3DTBench(Context(dataset=fakes.FakeDataset(fakes.samples(2))))
