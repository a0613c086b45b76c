from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from benchmark.errors import NoAnswerError
from benchmark.types import ModelInfo, Sampling
from metrics.judge import ASPECTS, GptScore, Judge, prompts_digest, read_score, read_verdict


@dataclass
class Model:
    """Says what was enqueued, in turn; refuses prompts that hold `refused`."""

    replies: list[str] = field(default_factory=list)
    refused: str = "\0"
    info: ModelInfo = field(default_factory=lambda: ModelInfo("fake-judge", weights="j0"))
    asked: list[list[str]] = field(default_factory=list)
    draws: list[tuple[int, float]] = field(default_factory=list)

    def enqueue(self, *replies: str) -> None:
        self.replies += replies

    def complete(
        self, prompts: Sequence[str], seeds: Sequence[int], sampling: Sampling
    ) -> list[str]:
        self.asked.append(list(prompts))
        self.draws += [(seed, sampling.temperature) for seed in seeds]
        if any(self.refused in prompt for prompt in prompts):
            raise NoAnswerError("fake-judge refused", "refused")
        return [self.replies.pop(0) for _ in prompts]


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("Score: 7", 7),
        ("It is fine.\n\nScore: 10", 10),
        ("**Score:** 7/10", 7),
        ("Score (1-10): 4", 4),
        ("On a scale from 1 to 10, my rating is 6.", 6),
        ("I would say 8 out of 10.", 8),
        ('{"score": 9}', 9),
        ("Score: 7.5", 7.5),
        ("The first half scores well. Score: 3 at first glance.\nScore: 5", 5),
        ("8", 8),
        ("**8**", 8),
        ("Two dogs are missing.\n3", 3),
        ("Eight.", 8),
        ("I'd give it a 6, as it misses the dog.", 6),
        ("<think>Score: 2? No.</think>Score: 9", 9),
        ("Score: 0", None),
        ("Score: 11", None),
        ("Score: -3", None),
        ("Score: 8/100", None),
        ("Score: 85%", None),
        ("There are 3 dogs.", None),
        ("2 dogs, 3 cats", None),
        ("Score: high", None),
        ("I cannot rate this.", None),
        ("<think>Score: 2", None),
        ("", None),
    ],
)
def test_points_are_read_leniently_but_never_guessed(reply: str, score: float | None) -> None:
    assert read_score(reply) == score


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("Verdict: correct", True),
        ("Verdict: incorrect", False),
        ("The dog is on the right.\n**Verdict:** Incorrect.", False),
        ("verdict is not correct", False),
        ('{"verdict": "correct"}', True),
        ("Verdict: correct? No: it is a cat.\nVerdict: incorrect", False),
        ("Yes", True),
        ("No, it is a mug.", False),
        ("Correct: a cup is a mug.", True),
        ("A cup is a mug.\nTrue.", True),
        ("It names a mug, which is the same thing.\nNot quite correct", False),
        ("Verdict: partially correct", None),
        ("Verdict: correct or incorrect", None),
        ("The dog is on the right side of the true north.", None),
        ("Verdict:", None),
        ("", None),
    ],
)
def test_verdicts_are_read_leniently_but_never_guessed(reply: str, verdict: bool | None) -> None:
    assert read_verdict(reply) is verdict


def test_a_score_is_the_sum_of_three() -> None:
    model = Model(["Score: 7", "Score: 8", "Score: 9"])
    (score,) = Judge(model).scores(["a {caption} {x}"], [["one", "two\nlines"]])
    assert score == GptScore(7, 8, 9)
    assert score.total == 24
    for (prompt,), aspect in zip(model.asked, ASPECTS, strict=True):
        assert aspect.split("_")[1] in prompt
        assert "<description>\na {caption} {x}\n</description>" in prompt
        assert "<people>\n- one\n- two lines\n</people>" in prompt
    assert model.draws == [(0, 0.0)] * 3


def test_what_cannot_be_read_is_asked_again_with_a_reminder() -> None:
    model = Model(["Hm.", "Verdict: correct", "Verdict: incorrect"])
    verdicts = Judge(model).correct(["What?"] * 2, [["mug"]] * 2, ["cup", "pot"])
    assert verdicts == [False, True]
    first, second = model.asked
    assert len(first) == 2
    assert second == [
        first[0] + '\n\nWrite nothing but the line "Verdict: correct" or the line'
        ' "Verdict: incorrect".'
    ]
    assert model.draws == [(0, 0.0), (0, 0.0), (1, 0.7)]


def test_what_stays_unread_is_missing() -> None:
    model = Model(["Hm."] * 3 + ["Score: 8"] * 2)
    (score,) = Judge(model).scores(["a dog"], [["a dog"]])
    assert score == GptScore(None, 8, 8)
    assert score.total is None
    assert len(model.asked) == 5


def test_a_refusal_loses_one_reply_only() -> None:
    model = Model(["Verdict: correct", "Verdict: incorrect"], refused="bomb")
    answers = ["a mug", "a bomb", "a pot"]
    assert Judge(model, attempts=1).correct(["What?"] * 3, [["mug"]] * 3, answers) == [
        True,
        None,
        False,
    ]


def test_the_same_is_asked_once() -> None:
    model = Model(["Verdict: correct"])
    judge = Judge(model)
    assert judge.correct(["What?"] * 2, [["mug"]] * 2, ["cup"] * 2) == [True, True]
    assert judge.correct(["What?"], [["mug"]], ["cup"]) == [True]
    assert len(model.asked) == 1


def test_nothing_asks_nothing() -> None:
    model = Model()
    assert Judge(model).scores([], []) == []
    assert Judge(model).correct([], [], []) == []
    assert model.asked == []


def test_captions_need_references() -> None:
    with pytest.raises(ValueError, match="shorter"):
        Judge(Model()).scores(["a", "b"], [["a"]])


def test_prompts_can_be_told_apart_by_hash() -> None:
    digests = prompts_digest()
    assert {*ASPECTS, "answer", "again_score", "again_answer"} == set(digests)
    assert all(len(str(digest)) == 64 for digest in digests.values())
