import math
from typing import Any

import pytest

from benchmark.errors import UserError
from benchmark.toybox.scene import Camera, Scene, SceneObject
from benchmark.types import SCORE_EPSILON, Candidate, Sample, Trial
from metrics.caption_criteria import (
    Auxiliary,
    Crossmodal,
    Distance,
    FalseOfImage,
    Tie,
    Unimodal,
)
from tests.fakes import FakeDataset, picture
from tests.unit.metrics.metric_fakes import FakeJudge, FakeRun, trial

SCENE = Scene(
    objects=(SceneObject("duck", "red", "small", "matte", x=0.0, y=0.0, scale=0.6, yaw=0.0),),
    place="grass",
    light="day",
    camera=Camera(elevation=0.4, distance=4.0),
    seed=0,
)


def test_names_and_roles() -> None:
    run = FakeRun({"judge": "fake"}, models={"judges": FakeJudge({})})
    made = [kind(run) for kind in (Crossmodal, Unimodal, Distance, Auxiliary, FalseOfImage, Tie)]
    assert [(one.name, one.role) for one in made] == [
        ("crossmodal", "criterion"),
        ("unimodal", "constraint"),
        ("distance", "constraint"),
        ("auxiliary", "constraint"),
        ("false_of_image", "observation"),
        ("tie", "observation"),
    ]
    assert [one.verdicts([]) for one in made] == [[]] * 6


@pytest.mark.parametrize(
    ("clean", "score", "paper", "released", "tie"),
    [
        (0.25, 0.5, True, True, False),
        (0.5, 0.25, False, False, False),
        (0.5, 0.5, False, True, True),
        (0.0, SCORE_EPSILON, False, True, True),
        (0.0, -SCORE_EPSILON, False, True, True),
        (0.0, 1.1 * SCORE_EPSILON, True, True, False),
        (0.0, -1.1 * SCORE_EPSILON, False, False, False),
        (None, 0.5, None, None, None),
        (0.5, None, None, None, None),
        (0.5, math.nan, None, None, None),
    ],
)
def test_scores(
    clean: float | None,
    score: float | None,
    paper: bool | None,
    released: bool | None,
    tie: bool | None,
) -> None:
    trials = [trial("a dog", "a cat", clean, score)]
    assert Crossmodal(FakeRun()).verdicts(trials) == [paper]
    assert Crossmodal(FakeRun({"ties": "released"})).verdicts(trials) == [released]
    assert Tie(FakeRun()).verdicts(trials) == [tie]


@pytest.mark.parametrize(
    ("models", "released", "paper"),
    [
        ([[0.0, 0.0, 1.0]], True, True),
        ([[0.2, 0.5, 0.3]], True, True),  # .2 + .25 = .45
        ([[0.3, 0.5, 0.2]], False, True),  # .3 + .25 = .55
        ([[0.0, 1.0, 0.0]], False, True),  # exactly one half
        ([[0.5, 0.0, 0.5]], False, False),
        ([[0.2, 0.5, 0.3], [0.3, 0.5, 0.2]], False, True),  # all models must agree
        ([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]], False, False),
    ],
)
def test_unimodal(models: list[list[float]], released: bool, paper: bool) -> None:
    judge = FakeJudge({("a dog", "a cat"): models}, len(models))
    trials = [trial("a dog", "a cat")]
    for variant, expected in (("released", released), ("paper", paper)):
        settings = {"judge": "fake", "unimodal": variant}
        criterion = Unimodal(FakeRun(settings, models={"judges": judge}))
        assert criterion.verdicts(trials) == [expected]
    # The premise is the caption: one direction only.
    assert judge.asked == [("a dog", "a cat")] * 2


def test_unreadable_rewrite_is_no_contradiction() -> None:
    answers = {("a dog", "a dog"): [[1.0, 0.0, 0.0]], ("a dog", "a cat"): [[0.0, 0.0, 1.0]]}
    criterion = Unimodal(FakeRun({"judge": "fake"}, models={"judges": FakeJudge(answers)}))
    trials = [trial("a dog", "a cat"), trial("a dog", "dog a"), trial("photo", "a cat")]
    assert criterion.verdicts(trials) == [True, False, None]


def test_distance_uses_the_limit_of_the_data_set() -> None:
    trials = [
        trial("a b c d e f", changed)
        for changed in ("a b c d e f", "x b c d e f", "x x x x e f", "x x x x x f")
    ]
    strict = FakeRun(dataset=FakeDataset([], mean_words=9.405))
    assert Distance(strict).limit == 4
    assert Distance(strict).verdicts(trials) == [False, True, True, False]
    assert Distance(FakeRun()).verdicts(trials) == [False, True, True, True]
    assert Distance(FakeRun({"max_distance": 1})).verdicts(trials) == [False, True, False, False]


@pytest.mark.parametrize("limit", [0, -1, True, "5", 2.5])
def test_wrong_limit(limit: Any) -> None:
    with pytest.raises(UserError, match='expected an integer of at least 1 or "auto"'):
        Distance(FakeRun({"max_distance": limit}))


def test_auxiliary_reads_what_was_asked_for() -> None:
    trials = [
        trial("a baby on a bed", "a child on a bed"),
        trial("a baby on a bed", "a child on a bed", operation="object-swap"),
        trial("a baby on a bed", "a bed on a baby", operation="object-swap"),
        trial("a baby on a bed", "a child on a bed", operation="object-replace"),
        trial("a baby on a bed", "no baby on a bed", operation="object-replace"),
        trial("a baby on a bed", "a child on a bed", operation=None),
    ]
    assert Auxiliary(FakeRun()).verdicts(trials) == [True, False, True, True, False, True]
    comma = [trial("a dog, a cat", "a cat, a dog", operation="object-swap")]
    assert Auxiliary(FakeRun()).verdicts(comma) == [False]
    assert Auxiliary(FakeRun({"auxiliary": "paper"})).verdicts(comma) == [True]


def test_false_of_image() -> None:
    trials = [
        trial("a duck", "a red duck", scene=SCENE),
        trial("a duck", "a blue duck", scene=SCENE),
        trial("a duck", "duck a", scene=SCENE),
        trial("a duck", "a blue duck"),
    ]
    assert FalseOfImage(FakeRun()).verdicts(trials) == [False, True, None, None]


def test_an_unchanged_text_stands_for_itself() -> None:
    unchanged = Trial(Sample("s", "a duck", scene=SCENE), Candidate(image=picture(0)), 0.5, 0.4)
    assert Distance(FakeRun()).verdicts([unchanged]) == [False]
    assert FalseOfImage(FakeRun()).verdicts([unchanged]) == [False]


@pytest.mark.parametrize(
    ("kind", "key"), [(Crossmodal, "ties"), (Unimodal, "unimodal"), (Auxiliary, "auxiliary")]
)
def test_unknown_variant(kind: Any, key: str) -> None:
    run = FakeRun({key: "strict", "judge": "fake"}, models={"judges": FakeJudge({})})
    with pytest.raises(UserError, match=f'{key} = \'strict\': expected "released" or "paper"'):
        kind(run)
