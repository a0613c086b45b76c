from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmark.errors import UserError
from benchmark.events import Underway
from benchmark.flight import PATIENCE, Outcome, generator_of
from benchmark.scheduler import Scheduler
from benchmark.serving import Target
from benchmark.tool import Tool
from benchmark.types import (
    Access,
    Candidate,
    Complete,
    Feedback,
    Pixels,
    Sample,
    Sampling,
    Score,
    ThreatModel,
    Trial,
)
from tests.fakes import (
    EditAttack,
    FakeCriterion,
    FakeTarget,
    FakeTool,
    MutatingAttack,
    NoiseAttack,
    OverspendingAttack,
    Picture,
    ScriptedAttack,
    picture,
    samples,
)


def texts(*words: str) -> Score:
    return Score(tuple(Candidate(text=word) for word in words))


def scripted(*requests: Any, choice: Any = None) -> ScriptedAttack:
    attack = ScriptedAttack(choice=choice)
    attack.enqueue(*requests)
    return attack


def target_of(**scores: float | Exception) -> FakeTarget:
    """A target that gives the clean captions 0.5 and the words of `scores` what they say."""
    target = FakeTarget()
    for index in range(100):
        target.enqueue(f"a photo of thing {index}", 0.5)
    for word, score in scores.items():
        target.enqueue(word, score)
    return target


def scheduler(
    attack: Any,
    target: Any = None,
    tools: dict[str, Any] | None = None,
    criteria: Sequence[Any] | None = None,
    access: Access = "score",
    budget: int | None = None,
    batch_size: int = 64,
    **others: Any,
) -> Scheduler:
    return Scheduler(
        attack,
        Target(target or target_of(), batch_size=batch_size),
        {
            name: Tool(tool, batch_size=batch_size)
            for name, tool in (tools or {"writer": FakeTool()}).items()
        },
        criteria or [FakeCriterion()],
        ThreatModel(access, budget),
        7,
        batch_size,
        **others,
    )


def attack_one(attack: Any, *arguments: Any, **named: Any) -> Outcome:
    (outcome,) = scheduler(attack, *arguments, **named).run(samples(1))
    return outcome


def by_id(outcomes: Any) -> dict[str, Outcome]:
    return {outcome.record.id: outcome for outcome in outcomes}


# Which candidate is recorded.


def test_the_fittest_success_is_picked() -> None:
    target = target_of(a=0.6, b=0.8, c=0.7, d=0.1)
    record = attack_one(scripted(texts("a", "b", "c", "d")), target).record
    assert record.status == "success"
    assert (record.picked, record.adversarial_text) == (1, "b")
    assert (record.clean_score, record.score, record.fitness) == (0.5, 0.8, 0.3)
    assert (record.queries, record.queries_to_success) == (4, 1)
    assert record.verdicts == {"fooled": True}


def test_a_success_is_picked_before_a_fitter_failure() -> None:
    long = FakeCriterion("short", "constraint", lambda trial: len(trial.text) == 1)
    record = attack_one(
        scripted(texts("long", "a")), target_of(long=0.9, a=0.6), criteria=[FakeCriterion(), long]
    ).record
    assert (record.status, record.picked) == ("success", 1)
    assert record.queries_to_success == 2


def test_without_a_success_the_fittest_failure_is_picked() -> None:
    record = attack_one(scripted(texts("a", "b", "c")), target_of(a=0.1, b=0.4, c=0.2)).record
    assert (record.status, record.picked) == ("failure", 1)
    assert record.queries_to_success is None


def test_scores_that_are_closer_than_the_epsilon_are_a_tie_and_the_first_wins() -> None:
    target = target_of(a=0.7, b=0.700001, c=0.700003)
    assert attack_one(scripted(texts("a", "b")), target).record.picked == 0
    assert attack_one(scripted(texts("a", "b", "c")), target).record.picked == 2


def test_unknown_fitness_ranks_last() -> None:
    class Blind(ScriptedAttack):
        def fitness(self, trial: Trial) -> float | None:
            return None if trial.text == "a" else -1.0

    attack = Blind()
    attack.enqueue(texts("a", "b"))
    assert attack_one(attack, target_of(a=0.9, b=0.9)).record.picked == 1
    attack = Blind()
    attack.enqueue(texts("a"))
    record = attack_one(attack, target_of(a=0.9)).record
    assert (record.picked, record.fitness) == (0, None)


@pytest.mark.parametrize("choice", [0, np.int64(0)])
def test_the_attack_may_choose_but_not_say_that_it_won(choice: Any) -> None:
    record = attack_one(scripted(texts("a", "b"), choice=choice), target_of(a=0.1, b=0.9)).record
    assert (record.status, record.picked) == ("failure", 0)
    assert record.queries_to_success == 2


@pytest.mark.parametrize("choice", [2, -1, True, "b", 0.0])
def test_a_choice_that_does_not_exist_is_an_error(choice: Any) -> None:
    record = attack_one(scripted(texts("a", "b"), choice=choice)).record
    assert record.status == "error"
    assert record.error is not None
    assert f"submitted candidate {choice!r}, but it had 2 scored" in record.error


def test_a_sample_without_candidates_is_a_failure_with_its_clean_score() -> None:
    record = attack_one(scripted()).record
    assert (record.status, record.picked, record.queries) == ("failure", None, 0)
    assert record.clean_score == 0.5


# What makes a success.


@pytest.mark.parametrize(
    ("role", "verdict", "status"),
    [
        ("criterion", True, "success"),
        ("criterion", False, "failure"),
        ("criterion", None, "failure"),
        ("constraint", True, "success"),
        ("constraint", False, "failure"),
        ("constraint", None, "failure"),
        ("observation", False, "success"),
        ("observation", None, "success"),
    ],
)
def test_all_criteria_and_constraints_must_hold_and_observations_never_count(
    role: Any, verdict: bool | None, status: str
) -> None:
    second = FakeCriterion("second", role, lambda trial: verdict)
    outcome = attack_one(scripted(texts("a")), target_of(a=0.9), criteria=[FakeCriterion(), second])
    assert outcome.record.status == status
    assert outcome.record.verdicts == {"fooled": True, "second": verdict}
    assert outcome.trace[0].success == (status == "success")


def test_without_a_criterion_nothing_could_be_fooled() -> None:
    with pytest.raises(UserError, match="no criterion says when the target counts as fooled"):
        scheduler(scripted(), criteria=[FakeCriterion(role="constraint")])


def test_a_name_may_be_given_once() -> None:
    with pytest.raises(UserError, match="repeat a name"):
        scheduler(scripted(), criteria=[FakeCriterion(), FakeCriterion()])


# Budget.


@pytest.mark.parametrize(
    ("budget", "fed_back"), [(0, [0, 0]), (1, [1, 0]), (3, [2, 1]), (4, [2, 2]), (None, [2, 2])]
)
def test_a_score_is_cut_at_the_budget(budget: int | None, fed_back: list[int]) -> None:
    attack = scripted(texts("a", "b"), texts("c", "d"))
    outcome = attack_one(attack, budget=budget)
    assert [len(reply) for reply in attack.history["s000"]] == fed_back
    assert outcome.record.queries == len(outcome.trace) == sum(fed_back)


def test_what_is_over_the_budget_never_reaches_the_target() -> None:
    target = target_of()
    attack_one(scripted(texts("a", "b", "c")), target, budget=1, batch_size=1)
    assert target.history == [["a photo of thing 0"], ["a"]]


def test_the_clean_sample_is_no_query_and_scored_once_in_the_same_call() -> None:
    target = target_of()
    list(scheduler(scripted(texts("a"), texts("b")), target, batch_size=4).run(samples(2)))
    assert target.history[0] == ["a photo of thing 0", "a", "a photo of thing 1", "a"]
    assert len(target.history) == 2


def test_feedback_is_numbered_over_all_requests() -> None:
    attack = scripted(texts("a", "b"), texts("c"))
    attack_one(attack)
    replies = attack.history["s000"]
    assert [one.index for reply in replies for one in reply if isinstance(one, Feedback)] == [
        0,
        1,
        2,
    ]


def test_an_attack_that_ignores_its_spent_budget_is_stopped() -> None:
    record = attack_one(OverspendingAttack(), budget=3).record
    assert (record.status, record.queries) == ("error", 3)
    assert record.error is not None
    assert "query budget 3, 3 spent" in record.error
    assert "end the search when fewer feedbacks come back" in record.error


def test_an_attack_that_scores_nothing_for_ever_is_stopped() -> None:
    record = attack_one(scripted(*[Score(())] * (PATIENCE + 2))).record
    assert record.status == "error"


def test_a_few_empty_requests_are_fine() -> None:
    attack = scripted(*[Score(())] * PATIENCE, texts("a"))
    assert attack_one(attack).record.queries == 1


# Access.


def test_decision_access_tells_success_and_nothing_else() -> None:
    attack = scripted(texts("a"))
    outcome = attack_one(attack, target_of(a=0.9), access="decision")
    assert attack.history["s000"] == [[Feedback(0, True)]]
    assert outcome.record.score == 0.9


@pytest.mark.parametrize("access", ["score", "output"])
def test_score_access_tells_scores_and_verdicts(access: Access) -> None:
    attack = scripted(texts("a"))
    attack_one(attack, target_of(a=0.9), access=access)
    assert attack.history["s000"] == [[Feedback(0, True, 0.9, 0.9 - 0.5, {"fooled": True})]]


def test_an_attack_does_not_see_the_truth_of_a_scene_but_criteria_do() -> None:
    seen: list[Any] = []

    def look(trial: Trial) -> bool:
        seen.append(trial.sample.scene)
        return False

    criterion = FakeCriterion(rule=look)
    attack = scripted(texts("a"))
    attack_one(attack, criteria=[criterion])
    assert attack.seen[0].scene is None
    assert seen == [{"truth": 0}]


def test_an_attack_that_declares_it_sees_the_scene() -> None:
    class Open(ScriptedAttack):
        sees_scene = True

    attack = Open()
    attack_one(attack)
    assert attack.seen[0].scene == {"truth": 0}


# Tools.


def test_completions_of_many_samples_are_one_call() -> None:
    tool = FakeTool()
    list(scheduler(EditAttack(candidates=2), tools={"writer": tool}, batch_size=8).run(samples(4)))
    assert [len(call) for call in tool.history] == [8]


def test_tools_and_samplings_are_called_apart_and_replies_come_in_order() -> None:
    one, two = FakeTool(), FakeTool()
    cool = Sampling(temperature=0.1)
    attack = scripted(
        Complete("one", ("p", "q"), (1, 2)), Complete("two", ("r",), (3,)),
        Complete("one", ("p",), (1,), cool),
    )  # fmt: skip
    attack_one(attack, tools={"one": one, "two": two}, batch_size=2)
    assert attack.history["s000"] == [["p (1)", "q (2)"], ["r (3)"], ["p (1)"]]
    assert one.history == [[("p", 1), ("q", 2)], [("p", 1), ("p", 1)]]


def test_an_unknown_tool_is_named() -> None:
    record = attack_one(scripted(Complete("painter", ("p",), (1,)))).record
    assert record.error is not None
    assert "asks the tool 'painter', this run has ['writer']" in record.error


# Errors stay with their sample.


class Marked(ScriptedAttack):
    """Scores a text of its own for each sample."""

    def search(self, sample: Sample, rng: np.random.Generator) -> Any:
        replies = yield Complete("writer", (sample.id,), (0,))
        yield Score((Candidate(text=f"{replies[0]} {sample.id}"),))


def bad_target() -> FakeTarget:
    target = target_of()
    target.enqueue("s003 (0) s003", RuntimeError("out of\nmemory"))
    return target


def bad_tool() -> FakeTool:
    tool = FakeTool()
    tool.enqueue("s003", RuntimeError("out of\nmemory"))
    return tool


def raise_for_s003(trial: Trial) -> bool:
    if trial.sample.id == "s003":
        raise RuntimeError("out of\nmemory")
    return True


class BadFitness(Marked):
    def fitness(self, trial: Trial) -> float | None:
        return float(raise_for_s003(trial))


@pytest.mark.parametrize("batch_size", [1, 3, 64])
@pytest.mark.parametrize(
    "parts",
    [
        {"target": bad_target},
        {"tools": lambda: {"writer": bad_tool()}},
        {"criteria": lambda: [FakeCriterion(rule=raise_for_s003)]},
        {"attack": BadFitness},
    ],
)
def test_a_failing_call_costs_the_guilty_sample_only(parts: Any, batch_size: int) -> None:
    made = {name: make() for name, make in parts.items()}
    attack = made.pop("attack", None) or Marked()
    outcomes = by_id(scheduler(attack, batch_size=batch_size, **made).run(samples(6)))
    assert len(outcomes) == 6
    for sample_id, outcome in outcomes.items():
        assert (outcome.record.status == "error") == (sample_id == "s003")
    bad = outcomes["s003"]
    assert bad.record.error == "RuntimeError: out of memory"
    assert isinstance(bad.exception, RuntimeError)
    assert bad.record.picked is None
    assert bad.record.verdicts == {}
    assert bad.record.score is None


def test_a_picture_that_cannot_be_read_costs_its_sample_only() -> None:
    all_samples = samples(3)
    broken = replace(all_samples[1], image=Picture(1, OSError("photo.jpg is truncated")))
    running = scheduler(scripted(texts("a")), target_of(a=0.1))
    outcomes = by_id(running.run([all_samples[0], broken, all_samples[2]]))
    assert outcomes["s001"].record.error == "OSError: photo.jpg is truncated"
    assert outcomes["s001"].record.image == "picture 1"
    assert outcomes["s000"].record.status == outcomes["s002"].record.status == "failure"


def test_pictures_are_loaded_together_where_the_data_set_can() -> None:
    calls: list[int] = []

    def load_many(group: Sequence[Sample]) -> list[Pixels | None]:
        calls.append(len(group))
        return [sample.image.load() if sample.image else None for sample in group]

    all_samples = samples(4)
    all_samples[2] = replace(all_samples[2], image=Picture(2, OSError("gone")))
    outcomes = by_id(scheduler(scripted(texts("a")), load_many=load_many).run(all_samples))
    assert calls == [4, 1, 1, 1, 1]
    assert [outcome.record.status for outcome in outcomes.values()].count("error") == 1
    assert outcomes["s003"].record.image_sha256


@pytest.mark.parametrize("junk", [None, "a text", Candidate(text="a"), [1]])
def test_what_is_no_request_is_an_error_with_a_clear_message(junk: Any) -> None:
    error = attack_one(scripted(junk)).record.error
    assert error is not None
    assert "expected a Complete or a Score request" in error


@pytest.mark.parametrize(
    ("junk", "message"),
    [
        ("a text", "scored 'a text', expected a Candidate"),
        (Candidate(image=np.zeros((4, 4, 3))), "must be uint8 of shape"),  # type: ignore[arg-type]
        (Candidate(text=5), "text must be a str, not 5"),  # type: ignore[arg-type]
        (Candidate(text="a", perturbation={"x": float("nan")}), "cannot be written as JSON"),
        (Candidate(text="a", perturbation={"x": {1}}), "cannot be written as JSON"),  # type: ignore[dict-item]
    ],
)
def test_candidates_that_cannot_be_scored_or_kept(junk: Any, message: str) -> None:
    error = attack_one(scripted(Score((junk,)))).record.error
    assert error is not None
    assert message in error


def test_a_search_that_is_no_generator() -> None:
    class Plain(ScriptedAttack):
        def search(self, sample: Sample, rng: np.random.Generator) -> Any:
            return 3

    error = attack_one(Plain()).record.error
    assert error is not None
    assert "search returned int, expected a generator" in error


def test_fitness_that_is_no_number() -> None:
    class Odd(ScriptedAttack):
        def fitness(self, trial: Trial) -> float | None:
            return float("inf")

    attack = Odd()
    attack.enqueue(texts("a"))
    error = attack_one(attack).record.error
    assert error is not None
    assert "fitness inf of candidate 'a' is not a number" in error


def test_a_candidate_needs_a_picture_from_somewhere() -> None:
    sample = Sample("slot", "a concept")
    (bad,) = scheduler(scripted(texts("a"))).run([sample])
    assert bad.record.error is not None
    assert "neither the candidate nor sample slot has a picture" in bad.record.error
    drawn = scripted(Score((Candidate(image=picture(1), text="a"),)))
    (good,) = scheduler(drawn, target_of(a=0.3)).run([sample])
    assert (good.record.score, good.record.clean_score) == (0.3, None)
    assert good.record.status == "success"


def test_an_attack_that_misbehaves_on_being_given_up_ends_nothing_else() -> None:
    class Stubborn(ScriptedAttack):
        def search(self, sample: Sample, rng: np.random.Generator) -> Any:
            try:
                yield "junk"
            finally:
                raise RuntimeError("never!")

    error = attack_one(Stubborn()).record.error
    assert error is not None
    assert "yielded 'junk'" in error


def test_a_wrong_number_of_verdicts_is_an_error() -> None:
    class Short(FakeCriterion):
        def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
            return []

    error = attack_one(scripted(texts("a")), criteria=[Short()]).record.error
    assert error is not None
    assert "criterion fooled gave 0 verdicts for 1 trials" in error


def test_ctrl_c_is_not_an_error_of_a_sample() -> None:
    def interrupt(trial: Trial) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attack_one(scripted(texts("a")), criteria=[FakeCriterion(rule=interrupt)])


# Pictures.


def test_an_attack_cannot_change_its_input() -> None:
    outcome = attack_one(MutatingAttack())
    assert outcome.record.error is not None
    assert "writes into the sample's picture, which is read-only" in outcome.record.error


def test_the_picked_picture_is_the_one_that_was_scored() -> None:
    target = FakeTarget()
    outcome = attack_one(NoiseAttack(), target)
    assert outcome.image is not None
    assert outcome.image.any()  # the attack wipes its canvas after the last request
    rescored = Target(target).score([(outcome.image, "a photo of thing 0")])
    assert rescored == [outcome.record.score]


def test_many_big_pictures_go_through_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmark.album._IN_MEMORY", 500)
    images = [picture(seed, 8 + seed) for seed in range(10)]
    attack = scripted(Score(tuple(Candidate(image=image) for image in images)), choice=6)
    outcome = attack_one(attack, FakeTarget())
    assert outcome.image is not None
    assert np.array_equal(outcome.image, images[6])


def test_a_text_candidate_has_no_picture_of_its_own() -> None:
    assert attack_one(scripted(texts("a"))).image is None


# Trace, randomness, stopping.


def test_the_trace_has_every_candidate_in_order_or_nothing() -> None:
    requests = [
        Score((Candidate(text="a", perturbation={"step": (1, 2)}),)), texts("b")]  # type: ignore[dict-item]  # fmt: skip
    trace = attack_one(scripted(*requests), target_of(a=0.1, b=0.9)).trace
    assert [(one.index, one.text, one.score, one.success) for one in trace] == [
        (0, "a", 0.1, False),
        (1, "b", 0.9, True),
    ]
    assert trace[0].perturbation == {"step": [1, 2]}
    assert attack_one(scripted(*requests), record_trace=False).trace == ()


def test_randomness_is_a_function_of_seed_and_id() -> None:
    # First 8 bytes of sha256("a") are ca978112ca1bbdca.
    expected = np.random.default_rng([7, 0xCA978112CA1BBDCA]).random()
    assert generator_of(7, "a").random() == expected
    assert generator_of(8, "a").random() != expected
    assert generator_of(7, "b").random() != expected


def test_stop_finishes_what_is_in_flight() -> None:
    running = scheduler(scripted(texts("a"), texts("b")), batch_size=4)
    outcomes = []
    for outcome in running.run(samples(20)):
        running.stop()
        outcomes.append(outcome)
    assert len(outcomes) == 4
    assert all(outcome.record.queries == 2 for outcome in outcomes)


def test_no_samples_no_outcomes() -> None:
    assert list(scheduler(scripted()).run([])) == []


def test_seconds_are_shared_out() -> None:
    target = target_of()
    target.delay = 0.05
    outcomes = list(scheduler(scripted(texts("a")), target, batch_size=8).run(samples(4)))
    assert 0.05 <= sum(outcome.record.seconds for outcome in outcomes) < 0.2


def test_whoever_watches_is_told_how_samples_in_flight_stand() -> None:
    told: list[Underway] = []
    attack = NoiseAttack(candidates=3)
    list(scheduler(attack, target_of(), on_round=told.append).run(samples(4)))
    # After each of the first two rounds all four are in flight; after the third they have ended.
    assert told == [Underway(4, 4, 1), Underway(4, 8, 2)]
