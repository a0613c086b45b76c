from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from benchmark.protocols import Dataset
from benchmark.questions import Question
from benchmark.types import Candidate, ModelInfo, Sample, Sampling, Trial
from metrics.answers import Misanswered
from tests import quiz

ASKED = Question("What is it?", ("duck", "mug", "car"), "mug")


@dataclass
class Judge:
    """Says that answers with the word `good` are correct, and nothing that can be read to others."""

    info: ModelInfo = field(default_factory=lambda: ModelInfo("judge"))
    asked: list[str] = field(default_factory=list)

    def complete(
        self, prompts: Sequence[str], seeds: Sequence[int], sampling: Sampling
    ) -> list[str]:
        self.asked += prompts
        return [
            "Verdict: correct"
            if "good" in prompt
            else "Verdict: incorrect"
            if "bad" in prompt
            else "?"
            for prompt in prompts
        ]


@dataclass
class Context:
    settings: Mapping[str, Any]
    judge: Judge = field(default_factory=Judge)
    dataset: Dataset = field(default_factory=quiz.questions)
    seed: int = 0

    def model(self, kind: str, spec: str) -> Any:
        assert (kind, spec) == ("tools", "openai:j")
        return self.judge


def trial(
    output: str | None = None, scores: tuple[float, ...] = (), scene: object = ASKED
) -> Trial:
    sample = Sample("q", "mug", scene=scene)
    picture = Candidate(image=np.zeros((2, 2, 3), np.uint8))
    return Trial(sample, picture, None, None, option_scores=scores, output=output)


def verdicts(*trials: Trial, **settings: Any) -> list[bool | None]:
    return Misanswered(Context(settings)).verdicts(trials)


def test_a_choice_is_right_or_wrong_or_unread() -> None:
    answers = ("B", "A", "a mug", "duck", "hm", "B. duck")
    assert verdicts(*map(trial, answers)) == [False, True, False, True, None, None]


def test_scores_choose_the_best_text_and_ties_are_right() -> None:
    scored = [(0.5, 0.4, 0.3), (0.4, 0.5, 0.3), (0.5, 0.5, 0.3), (0.5, 0.500002), (0.5,), ()]
    found = verdicts(*(trial(scores=scores) for scores in scored))
    assert found == [False, True, False, True, None, None]


def test_an_answer_counts_before_a_score() -> None:
    assert verdicts(trial("B", (0.1, 0.9))) == [False]


def test_free_answers_without_a_judge_are_read_word_for_word() -> None:
    answers = ("A mug.", "two mugs", "a mug and a duck", "a cup", "")
    found = verdicts(*map(trial, answers), task="free")
    assert found == [False, False, True, True, True]


def test_free_answers_need_answers() -> None:
    with pytest.raises(ValueError, match=r"only scores texts, .*: use --set task=choice"):
        verdicts(trial(scores=(0.5, 0.4)), task="free")


def test_a_judge_marks_free_answers() -> None:
    answers = ("good cup", "bad mug", "odd")
    settings = {"task": "free", "answer_judge": "openai:j"}
    assert verdicts(*map(trial, answers), **settings) == [False, True, None]


def test_a_judge_sees_only_choices_that_cannot_be_read() -> None:
    context = Context({"answer_judge": "openai:j"})
    marked = Misanswered(context).verdicts([trial("A"), trial("good"), trial(scores=(0.5, 0.4))])
    assert marked == [True, False, False]
    (prompt,) = context.judge.asked
    assert "good\n(The choices were:\nA. duck\nB. mug\nC. car)" in prompt
    assert "What is it?" in prompt


def test_a_sample_without_a_question_is_an_error() -> None:
    with pytest.raises(ValueError, match="sample q has no question: misanswered is for"):
        verdicts(trial("A", scene=None))
