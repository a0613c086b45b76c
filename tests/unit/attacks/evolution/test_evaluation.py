from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from attacks.evolution.evaluation import Evaluator, Gate
from attacks.evolution.guards import Limits
from attacks.evolution.individuals import Asking, Evaluation, Individual, paint_seed
from attacks.evolution.tasks import Answering, Captioning, Question
from benchmark.types import Ask, Feedback, Paint, Pixels, Reply, Score
from metrics.capture.tool import CaptureTool
from tests.codec_world import decoded, encoded
from tests.unit.attacks.evolution.asking import result

DUCK = "a small red duck on the grass at night"
DOG = "a large blue dog in the snow in daylight"
BALL = "two small green balls on the beach at sunset"


def individuals(*texts: str) -> list[Individual]:
    return [Individual(n, text, "initial") for n, text in enumerate(texts)]


@dataclass
class World:
    """Paints, answers and scores; `answers` by a word of the caption, else the caption itself."""

    answers: dict[str, str | None] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    declined: Sequence[str] = ()
    blank: Sequence[str] = ()
    cosines: dict[str, float] = field(default_factory=dict)
    budget: int | None = None
    hides: tuple[float | None, bool] | None = None
    painted: list[tuple[str, int]] = field(default_factory=list)
    shown: list[tuple[str, str | None, str]] = field(default_factory=list)
    capture: CaptureTool = field(
        default_factory=lambda: CaptureTool("parser=toybox,matching=exact,empty=renormalise,encoder=none")
    )  # fmt: skip

    def __call__(self, request: Any) -> Reply:
        match request:
            case Paint():
                pairs = list(zip(request.texts, request.seeds, strict=True))
                self.painted += pairs
                return [self._painted(*pair) for pair in pairs]
            case Ask(tool="capture"):
                return self.capture.ask(request.items)
            case Ask(tool="gate"):
                return [self._cosine(text) for _, text in request.items]
            case Score():
                left = len(request.candidates)
                if self.budget is not None and request.purpose == "search":
                    left = min(left, self.budget)
                    self.budget -= left
                return [self._said(one, request.purpose) for one in request.candidates[:left]]
        raise AssertionError(request)

    def _painted(self, text: str, seed: int) -> Pixels | None:
        if any(word in text for word in self.declined):
            return None
        if any(word in text for word in self.blank):
            return np.zeros((16, 16, 3), np.uint8)
        return encoded(text, seed)

    def _cosine(self, text: str) -> float:
        return next((value for word, value in self.cosines.items() if word in text), 0.3)

    def _said(self, candidate: Any, purpose: str) -> Feedback:
        text, _ = decoded(candidate.image)
        self.shown.append((text, candidate.question, purpose))
        index = len(self.shown) - 1
        if self.hides is not None:
            fitness, success = self.hides
            return Feedback(index, success, fitness=fitness)
        refusal = next((said for word, said in self.refusals.items() if word in text), "")
        if refusal:
            return Feedback(index, False, refusal=refusal)
        keys = (candidate.question, *text.split())
        answer = next((self.answers[key] for key in keys if key in self.answers), text)
        return Feedback(index, False, output=answer)


def evaluator(**how: Any) -> Evaluator:
    return Evaluator(Captioning("Describe it.", 5), Limits(), seed=3, **how)


def evaluated(
    world: World, *texts: str, by: Evaluator | None = None, replicas: Sequence[int] = (0,)
) -> list[Evaluation]:
    return result((by or evaluator()).evaluate(individuals(*texts), replicas), world)


def test_a_caption_is_painted_shown_and_scored() -> None:
    world = World(answers={"dog": "a large blue duck in the snow in daylight"})
    good, bad = evaluated(world, DUCK, DOG)
    assert good.status == bad.status == "scored"
    assert good.capture == pytest.approx(1, abs=1e-5)
    # No object and no relation right (they hold the object); both attributes: .5 / 1.2.
    assert bad.capture == pytest.approx(0.5 / 1.2, abs=1e-5)
    assert bad.answer == "a large blue duck in the snow in daylight"
    assert bad.breakdown["f1_attribute"] == pytest.approx(1, abs=1e-5)
    assert "reference" not in bad.breakdown
    assert [one.index for one in (good, bad)] == [0, 1]
    assert world.shown[0] == (DUCK, "Describe it.", "search")


def test_the_painter_s_seeds_are_of_run_caption_and_picture_number() -> None:
    world = World()
    done = evaluated(world, DUCK, replicas=(0, 7))
    assert world.painted == [(DUCK, paint_seed(3, DUCK, 0)), (DUCK, paint_seed(3, DUCK, 7))]
    assert [(one.replica, one.seed) for one in done] == [
        (n, paint_seed(3, DUCK, n)) for n in (0, 7)
    ]


@pytest.mark.parametrize(
    ("world", "status"),
    [
        (World(declined=["dog"]), "unpainted"),
        (World(blank=["dog"]), "unpainted"),
        (World(refusals={"dog": "refused: content filter"}), "refused"),
        (World(refusals={"dog": "error: no connection"}), "error"),
        (World(answers={"dog": "I'm sorry, I can't say what that is."}), "refused"),
        (World(answers={"dog": "a dog"}), "short"),
        (World(answers={"dog": "all of this is no caption"}), "malformed"),
        (World(answers={"dog": "dog dog dog dog dog dog dog"}), "repetitive"),
    ],
)
def test_what_is_no_description_has_no_score_and_is_counted(world: World, status: str) -> None:
    by = evaluator()
    one, other = evaluated(world, DOG, DUCK, by=by)
    assert (one.status, one.capture) == (status, None)
    assert other.status == "scored"
    assert by.counted == {status: 1, "scored": 1}
    assert by.used == 2


@pytest.mark.parametrize("text", ["a monk in a temple", "a ball", "word " * 61])
def test_a_caption_that_names_too_little_or_is_too_long_costs_nothing(text: str) -> None:
    world, by = World(), evaluator()
    bad, good = evaluated(world, text, DUCK, by=by)
    assert bad.status == "invalid"
    assert good.status == "scored"
    assert (by.used, by.counted["invalid"]) == (1, 1)
    assert [painted for painted, _ in world.painted] == [DUCK]


def test_a_picture_that_misses_its_caption_is_not_shown() -> None:
    world = World(cosines={"dog": 0.1})
    by = evaluator(gate=Gate(0.25))
    duck, dog = evaluated(world, DUCK, DOG, by=by)
    assert (duck.status, dog.status, dog.index) == ("scored", "mismatched", None)
    assert [text for text, _, _ in world.shown] == [DUCK]


def test_the_gate_takes_the_fifth_percentile_of_the_first_captions() -> None:
    gate = Gate(None)
    texts = [f"a small red {name} on the grass at night" for name in ("duck", "dog", "bus")]
    world = World(cosines={"duck": 0.1, "dog": 0.2, "bus": 0.3})
    statuses = [one.status for one in evaluated(world, *texts, by=evaluator(gate=gate))]
    assert gate.threshold == pytest.approx(0.11)  # a twentieth of the way through [.1, .2, .3]
    assert statuses == ["mismatched", "scored", "scored"]


def test_the_limit_cuts_at_the_end_and_costs_are_counted() -> None:
    by = evaluator(limit=3)
    assert by.left == 3
    done = evaluated(World(), DUCK, DOG, by=by, replicas=(0, 1))
    assert [(one.individual.text, one.replica) for one in done] == [(DUCK, 0), (DUCK, 1), (DOG, 0)]
    assert (by.used, by.left) == (3, 0)
    assert evaluated(World(), BALL, by=by) == []


def test_captions_that_cost_nothing_are_told_up_to_the_cut() -> None:
    by = evaluator(limit=1)
    done = evaluated(World(), "a ball", DUCK, "a mug", DOG, by=by)
    assert [one.status for one in done] == ["invalid", "scored", "invalid"]


def test_a_query_budget_cuts_as_well() -> None:
    by = evaluator(limit=10)
    done = evaluated(World(budget=2), DUCK, DOG, BALL, by=by)
    assert [one.individual.text for one in done] == [DUCK, DOG]
    assert (by.used, by.left) == (2, 0)


def test_a_report_is_neither_counted_nor_cut() -> None:
    by, world = evaluator(limit=0), World(budget=0)
    done = result(by.evaluate(individuals(DUCK), (5,), "report"), world)
    assert [one.status for one in done] == ["scored"]
    assert (by.used, by.counted.total()) == (0, 0)
    assert world.shown[0][2] == "report"


def test_shown_pictures_are_kept_if_asked_for() -> None:
    by = evaluator(pictures={})
    evaluated(World(declined=["dog"]), DUCK, DOG, by=by, replicas=(4,))
    assert by.pictures is not None
    assert [*by.pictures] == [(0, 4)]
    assert decoded(by.pictures[0, 4])[0] == DUCK


@pytest.mark.parametrize(
    ("hides", "capture"), [((-0.25, False), 0.25), ((None, True), 0.0), ((None, False), 1.0)]
)
def test_what_the_threat_model_hides_is_made_up_for(
    hides: tuple[float | None, bool], capture: float
) -> None:
    (one,) = evaluated(World(hides=hides), DUCK)
    assert (one.status, one.capture, one.answer) == ("scored", capture, None)


def test_many_pictures_are_shown_a_part_at_a_time_and_come_back_in_order() -> None:
    world = World()
    done = evaluated(world, DUCK, DOG, replicas=range(100))
    assert [(one.individual.id, one.replica) for one in done] == [
        (n, replica) for n in (0, 1) for replica in range(100)
    ]
    assert [one.index for one in done] == list(range(200))


class Maker:
    """Makes one question of each caption."""

    asked = 0

    def questions(self, texts: Sequence[str], seeds: Sequence[int]) -> Asking[list[list[Question]]]:
        self.asked += len(texts)
        return [[Question("What colour is it?", "a red duck")] for _ in texts]
        yield


def vqa(answers: dict[str, str | None], maker: Maker | None = None) -> tuple[World, Evaluator]:
    by = Evaluator(Answering(maker or Maker(), 3), Limits(), seed=3)
    return World(answers=answers), by


SUBJECT, SETTING = "What is the main subject of the image?", "Describe the environment or setting."


def test_questions_are_scored_together_and_apart() -> None:
    world, by = vqa(
        {SUBJECT: "a small red duck", SETTING: "On the grass at night.", "What colour is it?": "a blue duck"}
    )  # fmt: skip
    (one,) = evaluated(world, DUCK, by=by)
    # Subject and setting joined are the caption: 1. The made one: object right, attribute wrong,
    # no relations: .5 / 1. The mean is .75.
    assert one.capture == pytest.approx(0.75, abs=1e-5)
    assert one.breakdown["accuracy"] == 0.0
    assert one.answer is not None
    assert one.answer.count("\n") == 2
    assert [question for _, question, _ in world.shown] == [SUBJECT, SETTING, "What colour is it?"]


def test_a_right_answer_counts_as_accurate() -> None:
    world, by = vqa({SUBJECT: "a small red duck", SETTING: "on the grass at night",
                     "What colour is it?": "It is a red duck."})  # fmt: skip
    (one,) = evaluated(world, DUCK, by=by)
    assert one.breakdown["accuracy"] == 1.0


def test_one_refused_question_leaves_the_picture_without_a_score() -> None:
    world, by = vqa({SUBJECT: "a small red duck", SETTING: "I'm sorry, I can't."})
    (one,) = evaluated(world, DUCK, by=by)
    assert (one.status, one.capture) == ("refused", None)


def test_questions_are_made_once_a_caption() -> None:
    maker = Maker()
    world, by = vqa({SUBJECT: "a small red duck", SETTING: "on the grass at night"}, maker)
    evaluated(world, DUCK, by=by, replicas=(0, 1))
    evaluated(world, DUCK, by=by, replicas=(2,))
    assert maker.asked == 1


def test_a_picture_that_is_cut_between_its_questions_is_no_evaluation() -> None:
    world, by = vqa({SUBJECT: "a small red duck", SETTING: "on the grass at night"})
    world.budget = 5  # of three questions each
    done = evaluated(world, DUCK, DOG, by=by)
    assert [one.individual.text for one in done] == [DUCK]
    assert by.left == 0
