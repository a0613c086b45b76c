import time
from collections.abc import Sequence
from typing import Any

import pytest

from benchmark import registry
from benchmark.answers import Answered, Marked
from benchmark.errors import UserError
from benchmark.types import Measure, ModelInfo, Sampling
from metrics.captioning import bleu, cider, cider_d

CAPTIONS = ["a red car on a road", "two dogs run in the grass", "a cat"]
REFERENCES = [["a car on a road", "a red car"], ["dogs run in grass"], ["a cat sleeps on a bed"]]


class Judge:
    """Gives as many points as the prompt has the letter x; calls answers with an x correct."""

    info = ModelInfo("judge")

    def complete(
        self, prompts: Sequence[str], seeds: Sequence[int], sampling: Sampling
    ) -> list[str]:
        return [self._say(prompt) for prompt in prompts]

    def _say(self, prompt: str) -> str:
        said = prompt.rpartition("<answer>" if "<answer>" in prompt else "<description>")[2]
        if "?" in said.partition("</")[0]:
            return "I cannot say."
        points = said.partition("</")[0].count("x")
        return f"Verdict: {'correct' if points else 'incorrect'}\nScore: {points}"


def answered(captions: Sequence[str], references: Sequence[Sequence[str]]) -> list[Answered]:
    return [
        Answered(f"s{n}", f"g{n}", "clean", "What?", caption, tuple(known))
        for n, (caption, known) in enumerate(zip(captions, references, strict=True))
    ]


def mark(
    name: str, given: Sequence[Answered], **settings: Any
) -> tuple[dict[str, Measure], Marked]:
    metric = registry.create("answer_metrics", name, {"seed": 0, "judge": None} | settings)
    marked: Marked = metric.mark(given)
    return {measure.metric: measure for measure in marked.measures}, marked


def test_captions_are_measured_as_a_corpus() -> None:
    found, marked = mark("captions", answered(CAPTIONS, REFERENCES))
    values = bleu(CAPTIONS, REFERENCES)
    assert values is not None
    assert [found[f"bleu_{n}"].value for n in range(1, 5)] == pytest.approx(values)
    scores = cider_d(CAPTIONS, REFERENCES)
    assert found["cider_d"].value == pytest.approx(sum(scores) / 3)
    assert found["cider"].value == pytest.approx(sum(cider(CAPTIONS, REFERENCES)) / 3)
    assert [detail["cider_d"] for detail in marked.details] == pytest.approx(scores, abs=1e-6)
    for name in ("cider_d", "bleu_4"):
        one = found[name]
        assert one.value is not None
        assert one.ci_low is not None
        assert one.ci_high is not None
        assert one.ci_low <= one.value <= one.ci_high
        assert one.n == 3


def test_several_answers_a_picture_change_no_rarity() -> None:
    once, _ = mark("captions", answered(CAPTIONS, REFERENCES))
    twice, _ = mark("captions", answered(CAPTIONS, REFERENCES) * 2)
    assert twice["cider_d"].value == pytest.approx(once["cider_d"].value)
    assert twice["cider_d"].ci_low == pytest.approx(once["cider_d"].ci_low)
    assert twice["cider_d"].n == 6


def test_one_picture_has_no_cider() -> None:
    found, marked = mark("captions", answered(CAPTIONS[:1], REFERENCES[:1]) * 2)
    assert (found["cider_d"].value, found["cider_d"].n) == (None, 0)
    assert found["bleu_1"].value == pytest.approx(1)
    assert marked.details[0]["cider_d"] is None


def test_a_thousand_answers_take_no_time() -> None:
    begun = time.process_time()
    mark("captions", answered(CAPTIONS * 400, REFERENCES * 400))
    assert time.process_time() - begun < 20


def test_gpt_score_is_a_mean_of_what_could_be_read() -> None:
    given = answered(["xx", "xxxx", "?"], [["a"]] * 3)
    found, marked = mark("gpt_score", given, judge=Judge())
    score = found["gpt_score"]
    assert (score.value, score.n, score.flags) == (9, 2, "unread=1")  # 3 * 2 and 3 * 4
    assert found["tone_confidence"].value == 3
    assert [detail["gpt_score"] for detail in marked.details] == [6, 12, None]


def test_gpt_acc_is_a_rate_of_what_could_be_read() -> None:
    given = answered(["x", "o", "x", "?"], [["a"]] * 4)
    found, marked = mark("gpt_acc", given, judge=Judge())
    rate = found["gpt_acc"]
    assert rate.value == pytest.approx(2 / 3)
    assert (rate.n, rate.flags) == (3, "unread=1")
    assert rate.ci_low is not None
    assert [detail["gpt_acc"] for detail in marked.details] == [True, False, True, None]


@pytest.mark.parametrize("name", ["captions", "gpt_score", "gpt_acc"])
def test_nothing_is_missing_not_zero(name: str) -> None:
    found, marked = mark(name, [], judge=Judge())
    assert {(one.value, one.n) for one in found.values()} == {(None, 0)}
    assert marked.details == []


def test_spice_leaves_out_what_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "metrics.answer_metrics.spice", lambda said, known: [0.25, float("nan"), 0.75]
    )
    found, marked = mark("spice", answered(CAPTIONS, REFERENCES))
    assert (found["spice"].value, found["spice"].flags) == (0.5, "unread=1")
    assert [detail["spice"] for detail in marked.details] == [0.25, None, 0.75]


@pytest.mark.parametrize("name", ["gpt_score", "gpt_acc"])
def test_a_judge_is_needed(name: str) -> None:
    with pytest.raises(UserError, match=f"{name} needs a judge: give a language model, --judge"):
        mark(name, [])


def test_no_argument_is_taken() -> None:
    with pytest.raises(UserError, match="captions takes no argument, not '5': write 'captions'"):
        mark("captions:5", [])
