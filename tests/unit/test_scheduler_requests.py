from typing import Any

import numpy as np
import pytest

from benchmark.errors import NoAnswerError, UserError
from benchmark.events import Noted
from benchmark.flight import Outcome
from benchmark.scheduler import Scheduler
from benchmark.serving import Target
from benchmark.tool import Tool
from benchmark.types import Access, Candidate, Complete, Note, Paint, Sample, Score, ThreatModel
from tests.fakes import FakeCriterion, FakeTarget, FakeTool, ScriptedAttack, picture, samples, unit
from tests.report_fakes import FakeAnswerer, FakePainter

ONE = Score((Candidate(text="a"),))


class Asking(ScriptedAttack):
    def question(self, sample: Sample) -> str | None:
        return "What is it?"


class Tolerant(Asking):
    tolerant = True


class Needy(Asking):
    needs_answers = True


def scripted(*requests: Any, kind: type[ScriptedAttack] = ScriptedAttack) -> ScriptedAttack:
    attack = kind()
    attack.enqueue(*requests)
    return attack


def scheduler(
    attack: Any,
    target: Any = None,
    tools: dict[str, Any] | None = None,
    access: Access = "output",
    **others: Any,
) -> Scheduler:
    return Scheduler(
        attack,
        Target(target or FakeTarget()),
        {name: Tool(tool) for name, tool in (tools or {}).items()},
        [FakeCriterion("fooled", "criterion", lambda trial: True)],
        ThreatModel(access, None),
        7,
        **others,
    )


def attack_one(*arguments: Any, **named: Any) -> Outcome:
    (outcome,) = scheduler(*arguments, **named).run(samples(1))
    return outcome


def test_pictures_of_many_samples_are_painted_in_one_call_each_once() -> None:
    attack = scripted(Paint("painter", ("a duck", "a dog"), (1, 2)), ONE)
    tools = {"painter": (painter := FakePainter(declined={"a dog"}))}
    list(scheduler(attack, FakeTarget(), tools).run(samples(3)))
    assert painter.history == [[("a duck", 1), ("a dog", 2)]]
    for replies in attack.history.values():
        drawn, declined = replies[0]
        assert isinstance(drawn, np.ndarray)
        assert drawn.shape == (8, 8, 3)
        assert declined is None


def test_notes_reach_whoever_watches_and_cost_nothing() -> None:
    told: list[Noted] = []
    attack = scripted(Note("one"), Note("two"), ONE, Note("three"))
    outcomes = list(scheduler(attack, FakeTarget(), on_note=told.append).run(samples(1)))
    assert [(note.id, note.text) for note in told] == [
        ("s000", "one"), ("s000", "two"), ("s000", "three"),
    ]  # fmt: skip
    assert outcomes[0].record.queries == 1
    assert attack.history["s000"][0] == []


def test_a_candidate_may_bring_its_own_question() -> None:
    target = FakeAnswerer()
    attack = scripted(
        Score(
            (
                Candidate(image=picture(1)),
                Candidate(image=picture(1), question="What colour is it?"),
            )
        ),
        kind=Asking,
    )
    outcome = attack_one(attack, target)
    assert [entry.output for entry in outcome.trace] == [
        f"{unit(picture(1).tobytes(), question):.9f}"
        for question in ("What is it?", "What colour is it?")
    ]


def refusing() -> FakeAnswerer:
    target = FakeAnswerer()
    target.enqueue("Why?", NoAnswerError("no comment", "refused"))
    target.enqueue("When?", ConnectionError("gone"))
    return target


def whys() -> Score:
    return Score(
        tuple(Candidate(image=picture(1), question=one) for one in ("Why?", "How?", "When?"))
    )


def test_a_refusal_costs_a_tolerant_attack_that_answer_only() -> None:
    attack = scripted(whys(), kind=Tolerant)
    outcome = attack_one(attack, refusing())
    assert outcome.record.error is None
    feedback: list[Any] = list(attack.history["s000"][0])
    assert [one.refusal for one in feedback] == ["refused: no comment", "", "error: gone"]
    assert [one.output is None for one in feedback] == [True, False, True]
    assert [one.refusal for one in outcome.trace] == ["refused: no comment", "", "error: gone"]


def test_a_refusal_costs_any_other_attack_the_sample() -> None:
    record = attack_one(scripted(whys(), kind=Asking), refusing()).record
    assert record.error == "NoAnswerError: no comment"


def test_a_server_that_is_gone_is_an_error_for_everybody() -> None:
    attack = scripted(
        Score(tuple(Candidate(image=picture(n), question="When?") for n in range(4))),
        kind=Tolerant,
    )
    assert attack_one(attack, refusing()).record.error == "ConnectionError: gone"


def test_a_refused_prompt_is_an_empty_reply_to_a_tolerant_attack() -> None:
    tool = FakeTool()
    tool.enqueue("p", NoAnswerError("no comment", "refused"))
    attack = scripted(Complete("writer", ("p", "q"), (0, 0)), ONE, kind=Tolerant)
    attack_one(attack, FakeTarget(), {"writer": tool})
    assert attack.history["s000"][0] == ["", "q (0)"]


def test_an_attack_that_needs_answers_is_not_given_a_target_without() -> None:
    attack = scripted(ONE, kind=Needy)
    with pytest.raises(UserError, match=r"fake-target answers no questions.*--target lvlm"):
        scheduler(attack, FakeTarget())
