"""Options, questions, advice, reports and submissions, as the scheduler brings them about."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from benchmark.errors import UserError
from benchmark.flight import PATIENCE, Outcome, generator_of
from benchmark.scheduler import Scheduler
from benchmark.serving import ANSWERING, Target
from benchmark.tool import Tool
from benchmark.types import (
    Access,
    Ask,
    Candidate,
    Complete,
    Feedback,
    Record,
    Sample,
    Sampling,
    Score,
    Submission,
    ThreatModel,
    Trial,
)
from tests.fakes import (
    FakeCriterion,
    FakeEncoder,
    FakeTarget,
    FakeTool,
    ScriptedAttack,
    picture,
    samples,
)
from tests.report_fakes import FakeAdviser, FakeAnswerer, FakeSeer, PoseAttack

NAMES = ("cat", "dog", "duck")


class Optional(ScriptedAttack):
    """Offers names and a question, and does what was enqueued; `after` is its report."""

    asks: str | None = None
    offers: Sequence[str] = NAMES

    def options(self, sample: Sample) -> Sequence[str]:
        return self.offers

    def question(self, sample: Sample) -> str | None:
        return self.asks


class Reporting(ScriptedAttack):
    """Reports what was put into `after`."""

    after: Sequence[Any] = ()
    ends_with: Any = None

    def report(self, sample: Sample, found: Mapping[str, Any], rng: np.random.Generator) -> Any:
        replies = self.history.setdefault(f"{sample.id} report", [])
        self.seen.append(sample)
        for request in self.after:
            replies.append((yield request))
        return self.ends_with


def pictures(*seeds: int, purpose: Any = "search", **perturbation: Any) -> Score:
    made = (Candidate(image=picture(seed), perturbation=perturbation) for seed in seeds)
    return Score(tuple(made), purpose)


def optional(*requests: Any, **attributes: Any) -> Optional:
    attack = Optional()
    attack.enqueue(*requests)
    for name, value in attributes.items():
        setattr(attack, name, value)
    return attack


def reporting(
    *requests: Any, after: Sequence[Any] = (), choice: Any = None, ends_with: Any = None
) -> Reporting:
    attack = Reporting(choice=choice)
    attack.enqueue(*requests)
    attack.after, attack.ends_with = after, ends_with
    return attack


def scheduler(
    attack: Any,
    target: Any = None,
    criteria: Sequence[Any] = (),
    access: Access = "score",
    budget: int | None = None,
    batch_size: int = 8,
    tools: Mapping[str, Any] | None = None,
) -> Scheduler:
    return Scheduler(
        attack,
        Target(target or FakeTarget(), batch_size=batch_size),
        {name: Tool(model, batch_size=batch_size) for name, model in (tools or {}).items()},
        criteria or [FakeCriterion()],
        ThreatModel(access, budget),
        7,
        batch_size,
    )


def attack_one(attack: Any, *arguments: Any, **named: Any) -> Outcome:
    (outcome,) = scheduler(attack, *arguments, **named).run(samples(1))
    return outcome


def error_of(attack: Any, *arguments: Any, **named: Any) -> str:
    record = attack_one(attack, *arguments, **named).record
    assert record.status == "error"
    assert record.error is not None
    return record.error


def seen_by(rule: Callable[[Trial], bool | None] = lambda trial: True) -> tuple[Any, list[Trial]]:
    """A criterion that keeps the trials it judged."""
    trials: list[Trial] = []

    def judge(trial: Trial) -> bool | None:
        trials.append(trial)
        return rule(trial)

    return FakeCriterion(rule=judge), trials


# Options.


def test_every_picture_is_compared_with_every_option() -> None:
    criterion, trials = seen_by()
    attack = optional(pictures(8, 9))
    outcome = attack_one(attack, criteria=[criterion])
    scores = [
        [one for one in Target(FakeTarget()).score([(picture(seed), name) for name in NAMES])]
        for seed in (0, 8, 9)  # the sample's own picture is number 0
    ]
    clean, first, second = trials
    assert first.clean_option_scores == clean.option_scores == tuple(scores[0])
    assert first.option_scores == tuple(scores[1])
    assert (first.clean_score, first.score) == (scores[0][0], scores[1][0])
    assert second.option_scores == tuple(scores[2])
    assert outcome.record.queries == 2
    assert outcome.record.clean_score == scores[0][0]
    assert [entry.option_scores for entry in outcome.trace] == scores[1:]
    (told,) = attack.history["s000"]
    assert [one.option_scores for one in told if isinstance(one, Feedback)] == [
        tuple(scores[1]),
        tuple(scores[2]),
    ]


def test_a_dual_encoder_sees_each_picture_and_each_text_once() -> None:
    model = FakeEncoder()
    list(scheduler(optional(pictures(8, 9)), model, batch_size=4).run(samples(4, pictures=2)))
    assert sum(model.images) == 4  # two clean ones and two candidates, alike in all four samples
    assert model.texts == [["cat", "dog", "duck", "duck"]]


def test_options_are_hidden_from_decision_access() -> None:
    attack = optional(pictures(8))
    attack_one(attack, access="decision")
    (told,) = attack.history["s000"][0]
    assert isinstance(told, Feedback)
    assert told == Feedback(0, told.success)


def test_without_options_nothing_is_different() -> None:
    criterion, trials = seen_by()
    record = attack_one(optional(pictures(8), offers=()), criteria=[criterion]).record
    assert [trial.option_scores for trial in trials] == [()]
    assert record.conditions == {}
    assert trials[0].score == Target(FakeTarget()).score([(picture(8), "a photo of thing 0")])[0]


def test_options_and_question_come_without_the_truth_of_the_scene() -> None:
    scenes: list[Any] = []

    class Looking(Optional):
        def options(self, sample: Sample) -> Sequence[str]:
            scenes.append(sample.scene)
            return NAMES

        def question(self, sample: Sample) -> str | None:
            scenes.append(sample.scene)
            return None

    attack_one(Looking())
    assert scenes == [None, None]


def test_a_text_beside_options_is_an_error() -> None:
    attack = optional(Score((Candidate(text="a fish", image=picture(8)),)))
    assert "a candidate has the text 'a fish', which nothing is compared with" in error_of(attack)


@pytest.mark.parametrize("offers", ["a cat", ["cat", 3]])
def test_options_that_are_no_texts(offers: Any) -> None:
    assert "expected a sequence of texts" in error_of(optional(offers=offers))


# Questions.


def test_a_target_is_asked_about_every_picture() -> None:
    criterion, trials = seen_by()
    model = FakeSeer()
    attack = optional(pictures(8), asks="What is it?")
    outcome = attack_one(attack, model, criteria=[criterion], access="output")
    said = FakeAnswerer().answer([picture(0), picture(8)], ["What is it?"] * 2, ANSWERING)
    assert [trial.output for trial in trials] == said
    assert [trial.clean_output for trial in trials] == [said[0]] * 2
    assert (outcome.record.clean_output, outcome.record.output) == tuple(said)
    assert outcome.trace[0].output == said[1]
    assert outcome.trace[0].option_scores
    (told,) = attack.history["s000"][0]
    assert isinstance(told, Feedback)
    assert told.output == said[1]
    assert model.answerer.samplings == [ANSWERING]


@pytest.mark.parametrize("access", ["decision", "score"])
def test_what_a_target_says_is_told_with_output_access_only(access: Access) -> None:
    attack = optional(pictures(8), asks="What is it?")
    record = attack_one(attack, FakeSeer(), access=access).record
    (told,) = attack.history["s000"][0]
    assert isinstance(told, Feedback)
    assert told.output is None
    assert record.output is not None


def test_a_target_may_only_answer() -> None:
    class Mute(Optional):
        answering = Sampling(temperature=0, max_new_tokens=5)

        def fitness(self, trial: Trial) -> float | None:
            return 1.0 if trial.output == "a dog" else 0.0

    model = FakeAnswerer()
    model.enqueue("What is it?", "a dog")
    attack = Mute()
    attack.asks = "What is it?"
    attack.enqueue(pictures(8))
    criterion, trials = seen_by(lambda trial: trial.output == "a dog")
    record = attack_one(attack, model, criteria=[criterion], access="output").record
    assert (record.status, record.score, record.clean_score) == ("success", None, None)
    assert (record.fitness, record.output) == (1.0, "a dog")
    assert trials[0].option_scores == ()
    assert model.samplings[0].max_new_tokens == 5
    assert record.conditions["clean"] == {
        "n": 1, "fooled": 1, "valid": 1, "score": None, "fitness": 1.0,
    }  # fmt: skip


def test_a_target_that_only_answers_needs_a_question() -> None:
    with pytest.raises(UserError, match="fake-answerer only answers questions and attack scripted"):
        scheduler(ScriptedAttack(), FakeAnswerer())
    message = error_of(optional(pictures(8)), FakeAnswerer())
    assert "attack scripted asks none about sample s000" in message


def test_a_question_that_is_no_text() -> None:
    assert "question returned 3, expected a text or None" in error_of(optional(asks=3))


def test_a_target_that_only_scores_is_not_asked() -> None:
    criterion, trials = seen_by()
    attack_one(optional(pictures(8), asks="What is it?"), criteria=[criterion])
    assert [trial.output for trial in trials] == [None, None]


# Conditions.


def test_candidates_are_summed_up_by_condition_and_the_clean_picture_comes_first() -> None:
    attack = optional(pictures(8, 9, condition="far"), pictures(10))
    near = FakeCriterion("near", "constraint", lambda trial: (trial.score or 0) > 0.5)
    record = attack_one(attack, criteria=[FakeCriterion(), near]).record
    scores = Target(FakeTarget()).score([(picture(seed), "cat") for seed in (0, 8, 9)])
    fooled = [score > scores[0] for score in scores]
    valid = [one and score > 0.5 for one, score in zip(fooled, scores, strict=True)]
    assert record.conditions == {
        "clean": {"n": 1, "fooled": 0, "valid": 0, "score": scores[0], "fitness": 0.0},
        "far": {
            "n": 2,
            "fooled": sum(fooled[1:]),
            "valid": sum(valid[1:]),
            "score": pytest.approx(sum(scores[1:]) / 2, abs=1e-6),
            "fitness": pytest.approx(sum(scores[1:]) / 2 - scores[0], abs=1e-6),
        },
    }
    assert record.queries == 3


def test_the_clean_condition_needs_no_candidate() -> None:
    record = attack_one(optional()).record
    assert (record.status, record.picked, record.queries) == ("failure", None, 0)
    assert record.conditions["clean"]["n"] == 1


def test_a_criterion_that_fails_on_the_clean_picture_costs_its_sample_only() -> None:
    def judge(trial: Trial) -> bool:
        if trial.sample.id == "s001" and trial.candidate.perturbation == {}:
            raise RuntimeError("no")
        return True

    running = scheduler(optional(pictures(8, step=1)), criteria=[FakeCriterion(rule=judge)])
    statuses = {one.record.id: one.record.status for one in running.run(samples(3))}
    assert statuses == {"s000": "success", "s001": "error", "s002": "success"}


# Advice.


def test_items_of_many_samples_are_asked_in_one_call() -> None:
    tool = FakeAdviser(rule=lambda item: (item, "seen"))
    attack = ScriptedAttack()
    attack.enqueue(Ask("nature", (1, 2)), Ask("nature", ()))
    list(scheduler(attack, tools={"nature": tool}).run(samples(3)))
    assert attack.history["s001"] == [[(1, "seen"), (2, "seen")], []]
    assert tool.history == [6]


def test_advice_and_completions_are_asked_apart() -> None:
    attack = ScriptedAttack()
    attack.enqueue(Ask("nature", (1,)), Complete("writer", ("p",), (1,)))
    tools = {"nature": FakeAdviser(rule=lambda item: -item), "writer": FakeTool()}
    attack_one(attack, tools=tools)
    assert attack.history["s000"] == [[-1], ["p (1)"]]


def test_asking_a_tool_for_what_it_cannot_do() -> None:
    tools = {"nature": FakeAdviser(), "writer": FakeTool()}
    attack = ScriptedAttack(requests=[Ask("writer", ("p",))])
    assert "fake-tool has no ask(items): yield Complete" in error_of(attack, tools=tools)
    attack = ScriptedAttack(requests=[Complete("nature", ("p",), (0,))])
    assert "fake-adviser completes no prompts: yield Ask" in error_of(attack, tools=tools)


def test_bad_advice_costs_the_guilty_sample_only() -> None:
    class Named(ScriptedAttack):
        def search(self, sample: Sample, rng: np.random.Generator) -> Any:
            yield Ask("nature", (sample.id,))

    tool = FakeAdviser(rule=lambda item: 1 / (item != "s001"))
    running = scheduler(Named(), tools={"nature": tool})
    statuses = {one.record.id: one.record.status for one in running.run(samples(3))}
    assert statuses == {"s000": "failure", "s001": "error", "s002": "failure"}


# Submissions.


def test_what_was_found_is_recorded_and_pictures_are_kept() -> None:
    mask = picture(77)
    attack = reporting(pictures(8, 9), choice=Submission(1, {"mean": (1, 2)}, {"mask": mask}))  # type: ignore[dict-item]
    outcome = attack_one(attack)
    mask[:] = 0
    assert outcome.record.picked == 1
    assert outcome.record.found == {"mean": [1, 2]}
    assert outcome.image is not None
    np.testing.assert_array_equal(outcome.image, picture(9))
    np.testing.assert_array_equal(outcome.pictures["mask"], picture(77))


@pytest.mark.parametrize(
    ("submission", "message"),
    [
        (Submission(2), "submitted candidate 2, but it had 1 scored"),
        (Submission(found={"a": float("inf")}), "found {'a': inf} cannot be written as JSON"),
        (Submission(pictures={"image": picture(1)}), "cannot be kept as 'image'"),
        (Submission(pictures={"mask": np.ones((2, 2), np.uint8)}), "must be uint8 of shape"),
    ],
)
def test_submissions_that_cannot_be_kept(submission: Submission, message: str) -> None:
    attack = ScriptedAttack(choice=submission)
    attack.enqueue(pictures(8))
    outcome = attack_one(attack)
    assert message in str(outcome.record.error)
    assert (outcome.record.found, outcome.pictures) == ({}, {})


# Reports.


def test_a_report_follows_the_search_and_is_not_counted() -> None:
    attack = reporting(
        pictures(8), after=[pictures(9, 10, purpose="report")], ends_with=Submission(found={"b": 2}),
        choice=Submission(found={"a": 1}),
    )  # fmt: skip
    outcome = attack_one(attack, criteria=[FakeCriterion(rule=lambda trial: True)], budget=1)
    (told,) = attack.history["s000 report"]
    assert [one.index for one in told if isinstance(one, Feedback)] == [1, 2]
    assert (outcome.record.queries, outcome.record.queries_to_success) == (1, 1)
    assert (outcome.record.picked, outcome.record.found) == (0, {"a": 1, "b": 2})
    assert [entry.purpose for entry in outcome.trace] == ["search", "report", "report"]


def test_a_report_sees_the_scene_and_what_was_found_and_the_search_does_not() -> None:
    attack = PoseAttack(candidates=1, reports=1)
    record = attack_one(attack, FakeSeer(), tools={"nature": FakeAdviser()}).record
    assert attack.scenes == [("search", None), ("report", {"truth": 0})]
    assert record.found["truth"] == {"truth": 0}
    assert isinstance(record.found["angles"], list)
    assert list(record.conditions) == ["clean", "found", "random"]


def test_a_report_draws_from_a_generator_of_its_own() -> None:
    drawn: list[float] = []

    class Drawing(Reporting):
        def report(self, sample: Sample, found: Any, rng: np.random.Generator) -> Any:
            drawn.append(rng.random())
            yield from ()

    attack_one(Drawing())
    assert drawn == [generator_of(7, "s000/report").random()]
    assert drawn != [generator_of(7, "s000").random()]


def test_a_report_cannot_change_what_the_search_found() -> None:
    class Meddling(Reporting):
        def report(self, sample: Sample, found: Any, rng: np.random.Generator) -> Any:
            found["mean"].append(3)
            yield from ()

    assert attack_one(Meddling(choice=Submission(found={"mean": [1]}))).record.found == {
        "mean": [1]
    }


def test_a_report_without_a_search_and_without_a_picture_of_the_sample() -> None:
    attack = reporting(after=[Score((Candidate(image=picture(1), text="a"),), "report")])
    (outcome,) = scheduler(attack).run([Sample("slot", "a concept")])
    record: Record = outcome.record
    assert (record.status, record.picked, record.queries) == ("failure", None, 0)
    assert len(outcome.trace) == 1


@pytest.mark.parametrize(
    ("attack", "message"),
    [
        (lambda: reporting(after=[pictures(8)]), "report spends queries: write Score(cand"),
        (lambda: reporting(ends_with=0), "report submitted candidate 0: only search picks one"),
        (lambda: reporting(ends_with="junk"), "report submitted candidate 'junk'"),
        (
            lambda: reporting(pictures(8, purpose="report"), pictures(9)),
            "goes on searching after it asked for a report",
        ),
        (
            lambda: reporting(pictures(8, purpose="report"), choice=0),
            "submitted candidate 0, which was scored for the report only",
        ),
        (lambda: reporting(after=["junk"]), "the attack yielded 'junk'"),
        (
            lambda: reporting(after=[Score((), "report")] * (PATIENCE + 2)),
            "keeps asking for scores that it cannot have",
        ),
    ],
)
def test_a_report_that_does_not_keep_the_rules(attack: Callable[[], Any], message: str) -> None:
    assert message in error_of(attack())


def test_a_report_that_is_no_generator() -> None:
    class Plain(Reporting):
        def report(self, sample: Sample, found: Any, rng: np.random.Generator) -> Any:
            return 3

    assert "report returned int, expected a generator" in error_of(Plain())


def test_a_search_may_end_with_a_report_of_its_own() -> None:
    attack = reporting(pictures(8), pictures(9, 10, purpose="report"))
    outcome = attack_one(attack, budget=1)
    assert (outcome.record.queries, len(outcome.trace)) == (1, 3)


def test_a_purpose_has_one_of_two_names() -> None:
    with pytest.raises(ValueError, match="purpose 'query' is unknown: give 'search' or 'report'"):
        Score((), "query")  # type: ignore[arg-type]
