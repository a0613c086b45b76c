from collections.abc import Mapping
from typing import Any

import pytest

from benchmark.types import Candidate, Sample, Trial
from metrics.evolution_criteria import Undescribed
from tests.codec_world import context

DUCK = "a small red duck on the grass at night"
OTHER = "a large blue dog in the snow in daylight"
NEAR = "a small red mug on the grass at night"  # attributes alone are right: .5 / 1.2 = .42


def trial(output: str | None, refusal: str = "", **perturbation: Any) -> Trial:
    candidate = Candidate(DUCK, perturbation=perturbation)
    return Trial(Sample("s", "evolution"), candidate, None, None, output=output, refusal=refusal)


def verdicts(*trials: Trial, **settings: Any) -> list[bool | None]:
    return Undescribed(context(["evolution"], **settings)).verdicts(trials)


@pytest.mark.parametrize(
    ("shown", "verdict"),
    [
        (trial(DUCK), False),
        (trial(OTHER), True),
        (trial(NEAR), False),
        (trial(None), None),
        (trial(None, "refused: filter"), None),
        (trial(None, "error: no connection"), None),
        (trial("I'm sorry, I can't describe that."), None),
        (trial("a duck"), None),
        (trial("dog dog dog dog dog dog dog"), None),
        (trial("this is no caption of the world"), None),
        (trial(OTHER, reference=None), None),
        (trial(OTHER, reference=OTHER), False),
    ],
)
def test_only_a_fair_answer_can_be_a_blind_spot(shown: Trial, verdict: bool | None) -> None:
    assert verdicts(shown) == [verdict]


def test_the_threshold_is_a_setting() -> None:
    shown: Mapping[float, bool] = {0.41: False, 0.42: True}
    for below, verdict in shown.items():
        assert verdicts(trial(NEAR), blind_below=below) == [verdict]


def test_verdicts_are_in_order() -> None:
    assert verdicts(trial(OTHER), trial(None), trial(DUCK)) == [True, None, False]
    assert verdicts() == []


def test_answers_to_questions_may_be_short() -> None:
    short = trial("a blue dog", reference="a red duck")
    assert verdicts(short) == [None]
    assert verdicts(short, task="vqa") == [True]
