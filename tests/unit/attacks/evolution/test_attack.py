from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pytest

from attacks.evolution.attack import Evolution
from benchmark.errors import UserError
from benchmark.types import (
    Candidate,
    Feedback,
    Pixels,
    Record,
    Sample,
    Score,
    Submission,
    Trial,
)
from tests.codec_world import CodecTarget, context, encoded, found, outcomes
from tests.unit.attacks.evolution.asking import result

DUCK = "a small red duck on the grass at night"
SMALL: dict[str, Any] = {"pool": 12, "population": "2", "survivors": "2", "islands": 2}


def trial(
    output: str | None,
    perturbation: Mapping[str, Any] | None = None,
    text: str = DUCK,
    refusal: str = "",
) -> Trial:
    candidate = Candidate(text, perturbation=dict(perturbation or {}))
    return Trial(Sample("s", "evolution"), candidate, None, None, output=output, refusal=refusal)


def attack(**changes: Any) -> Evolution:
    return Evolution(context(["evolution"], **changes))


@pytest.mark.parametrize(
    ("shown", "fitness"),
    [
        (trial(DUCK), -1.0),
        (trial("a large blue dog in the snow in daylight"), 0.0),
        (trial("a red duck", {"reference": "a blue duck"}), None),  # a description of three words
        (trial(None, refusal="refused: no"), None),
        (trial(None), None),
        (trial("I'm sorry, I can't describe this."), None),
        (trial("no caption of this world at all"), None),
        (trial(DUCK, {"reference": None}), None),
    ],
)
def test_fitness_is_minus_capture_where_there_is_one(shown: Trial, fitness: float | None) -> None:
    value = attack().fitness(shown)
    assert value == (None if fitness is None else pytest.approx(fitness, abs=1e-5))


def test_short_answers_to_questions_are_fair() -> None:
    # The object is right, the attribute wrong, relations there are none: .5 of .5 + .5.
    value = attack(task="vqa").fitness(trial("a red duck", {"reference": "a blue duck"}))
    assert value == pytest.approx(-0.5, abs=1e-5)


def test_what_is_submitted_is_a_blind_spot_or_left_to_the_harness() -> None:
    def submission(below: float) -> tuple[Any, ...]:
        run = context(["evolution"], **SMALL, blind_below=below)
        (outcome,) = outcomes(run, CodecTarget(errors=[0.3, 0.4, 0.5, 0.6, 0.9]))
        assert outcome.exception is None
        return outcome.record, outcome.trace

    record, trace = submission(0.9)
    finals = cast("list[dict[str, Any]]", record.found["finals"])
    assert record.status == "success"
    assert record.adversarial_text == finals[0]["text"]
    assert -record.fitness == pytest.approx(min(finals[0]["scores"]), abs=1e-5)
    record, trace = submission(0.0)
    assert record.status == "failure"
    fitnesses = [entry.verdicts for entry in trace]
    assert all(verdicts["undescribed"] in (False, None) for verdicts in fitnesses)


def test_questions_are_answered_from_the_caption_s_facts() -> None:
    target = CodecTarget()
    (one,) = found(context(["evolution"], **SMALL, task="vqa"), target=target)
    assert "What is the main subject of the image?" in target.questions
    assert "Describe the environment or setting." in target.questions
    assert any(question.startswith(("What", "How", "Where")) for question in target.questions)
    assert one["counted"]["scored"] == one["evaluations"]
    assert all("accuracy" in final for final in one["finals"])


def test_a_picture_with_five_questions_is_one_evaluation_and_five_queries() -> None:
    (outcome,) = outcomes(context(["evolution"], **SMALL, task="vqa", max_evaluations=10))
    evaluations = outcome.record.found["evaluations"]
    assert evaluations == 10
    assert 10 * 4 <= outcome.record.queries <= 10 * 5


def test_the_searches_of_a_repeat_begin_with_the_same_captions() -> None:
    run = context(["evolution", "random_search"], repeats=2, **SMALL)
    pools = {
        (one["search"], one["repeat"]): [text for text, _ in one["pool"]["captions"]]
        for one in found(run)
    }
    assert pools["evolution", 0] == pools["random_search", 0]
    assert pools["evolution", 1] == pools["random_search", 1] != pools["evolution", 0]


def test_it_can_be_recorded_what_was_asked_and_how_much() -> None:
    described = attack().describe()
    assert described["evaluations"] == 1175
    assert cast("dict[str, Any]", described["prompts"])["set"] == "trident"
    assert attack(max_evaluations=500).describe()["evaluations"] == 500


def test_tools_are_those_that_are_needed() -> None:
    assert attack().tools == ("painter", "capture")
    with_more = attack(operators="prompts", llm="openai:x", gate="similarity:y")
    assert with_more.tools == ("painter", "capture", "gate", "llm")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"operators": "prompts"}, "operators = prompts needs a language model: name one"),
        ({"population": "1,2"}, "population has 2 generations and survivors 6"),
        ({"prompts": "nowhere"}, "prompts 'nowhere' is no folder"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        attack(**changes)


def test_an_unknown_search_is_named() -> None:
    with pytest.raises(UserError, match=r"unknown search 'evolutoin': did you mean 'evolution'"):
        Evolution(context(["evolutoin"]))


def replayed(record: Record, answers: Mapping[str, str | None]) -> Submission:
    """What the attack makes of a target that says `answers` of captions, else the caption."""
    one = attack(**SMALL)
    picked = Candidate(record.adversarial_text, encoded("x", 0), record.perturbation)
    pictures: dict[str, Pixels] = {
        str(final["picture"]): encoded(str(final["text"]), 1)
        for final in cast("list[dict[str, Any]]", record.found["finals"])
    }
    search = one.replay(Sample("evolution-0", "evolution"), record, picked, pictures.__getitem__)
    submission = result(search, lambda request: _said(request, answers))
    assert isinstance(submission, Submission)
    return submission


def _said(request: Any, answers: Mapping[str, str | None]) -> list[Any]:
    assert isinstance(request, Score)
    texts = [str(candidate.text) for candidate in request.candidates]
    return [Feedback(n, False, output=answers.get(text, text)) for n, text in enumerate(texts)]


def test_what_was_found_can_be_shown_to_another_target() -> None:
    (outcome,) = outcomes(context(["evolution"], **SMALL))
    finals = cast("list[dict[str, Any]]", outcome.record.found["finals"])
    record = outcome.record
    kept = {name: "digest" for name in outcome.pictures} | {"image": "digest"}
    stored = Record(**{
        **{field: getattr(record, field) for field in Record.__slots__}, "artifacts": kept
    })  # fmt: skip
    worse = "a large blue rocket in the snow in daylight"
    submission = replayed(stored, {finals[0]["text"]: worse, finals[1]["text"]: None})
    assert submission.index == 0
    again = cast("list[dict[str, Any]]", submission.found["finals"])
    assert [final["text"] for final in again] == [final["text"] for final in finals]
    assert again[0]["answer"] == worse
    assert again[0]["capture_fresh"] < 0.6
    assert again[1]["fresh"] == [None]
    assert again[2]["capture_fresh"] == pytest.approx(1, abs=1e-5)
    assert "selected" not in again[0]
    pool = cast("dict[str, Any]", submission.found["pool"])
    assert pool["mean"] is None
    assert len(pool["captions"]) == 12
    assert {*submission.pictures} == {final["picture"] for final in finals}


def test_a_question_of_its_own_is_put_again() -> None:
    one = attack()
    record = Record("evolution-0", "repeat-0", "success", "evolution", found={"finals": []})
    picked = Candidate(DUCK, np.zeros((4, 4, 3), np.uint8), {"question": "What flies?"})
    request = next(one.replay(Sample("s", "evolution"), record, picked, lambda name: picked.image))  # type: ignore[arg-type,return-value]
    assert isinstance(request, Score)
    assert request.candidates[0].question == "What flies?"
