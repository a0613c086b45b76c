"""Verdicts: several questions, unknown outcomes, groups."""

import pytest

from benchmark.gate.exact import Pairs
from benchmark.gate.verdict import Outcome, Question, Verdict, count, decide, holm, overall


def question(
    kept: int = 0,
    lost: int = 0,
    broken: int = 0,
    mended: int = 0,
    *,
    errors: int = 0,
    lost_before: int = 0,
    group: int = 1,
    attack: str = "mac",
) -> Question:
    """So many outcomes of each kind, `group` neighbours belonging together."""
    sides: list[tuple[bool | None, bool | None]] = [
        *[(True, True)] * kept,
        *[(False, False)] * lost,
        *[(True, False)] * broken,
        *[(False, True)] * mended,
        *[(True, None)] * errors,
        *[(None, True)] * lost_before,
    ]
    outcomes = [Outcome(str(n), str(n // group), *side) for n, side in enumerate(sides)]
    return Question(attack, "adaptive", tuple(outcomes))


def verdict_of(*questions: Question, margin: float = 0.02) -> list[Verdict]:
    return [answer.verdict for answer in decide(questions, margin, 0.05)]


def test_counts() -> None:
    assert count(question(4, 3, 2, 1).outcomes) == Pairs(4, 3, 2, 1)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (question(216, 24), "PASS"),
        (question(18, 2), "INCONCLUSIVE"),
        (question(150, 20, 60, 10), "REGRESSION"),
        (question(200, 20, 10, 10), "INCONCLUSIVE"),
        (question(100, 20, 10, 60), "PASS"),
        (question(), "INCONCLUSIVE"),
    ],
)
def test_three_verdicts(asked: Question, expected: Verdict) -> None:
    assert verdict_of(asked) == [expected]


def test_an_inconclusive_one_says_how_many_samples_would_decide() -> None:
    (answer,) = decide([question(18, 2)], 0.02, 0.05)
    assert answer.reason == (
        "20 samples are too few: 149 would decide (PASS), if they go on like these"
    )
    (answer,) = decide([question()], 0.02, 0.05)
    assert answer.reason == "no sample has an outcome on both sides"
    (answer,) = decide([question(98, broken=2)], 0.02, 0.05)
    assert answer.reason == ("100 samples are too few, and so are 100,000 if they go on like this")


def test_holm_by_hand() -> None:
    # Sorted .01 .02 .04, times 3, 2, 1, never falling.
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_several_questions_make_a_regression_harder_to_call() -> None:
    alone = question(90, broken=9, mended=1)  # p = 0.012
    assert verdict_of(alone) == ["REGRESSION"]
    among = [alone, *[question(97, mended=3, attack=str(n)) for n in range(5)]]
    assert verdict_of(*among)[0] == "INCONCLUSIVE"


def test_the_overall_verdict() -> None:
    assert overall(["PASS", "PASS"]) == "PASS"
    assert overall(["PASS", "INCONCLUSIVE"]) == "INCONCLUSIVE"
    assert overall(["INCONCLUSIVE", "REGRESSION", "PASS"]) == "REGRESSION"
    assert overall([]) == "INCONCLUSIVE"


def test_errors_that_cannot_change_the_verdict_do_not() -> None:
    (answer,) = decide([question(237, errors=1)], 0.02, 0.05)
    assert (answer.verdict, answer.unknown, answer.n) == ("PASS", 1, 237)
    assert verdict_of(question(100, broken=60, errors=2)) == ["REGRESSION"]


def test_errors_that_can_change_it_make_it_inconclusive() -> None:
    (answer,) = decide([question(230, errors=5)], 0.02, 0.05)
    assert answer.verdict == "INCONCLUSIVE"
    assert answer.reason == (
        "5 of 235 outcomes are unknown (errors): INCONCLUSIVE if they speak against the new model,"
        " PASS if for it"
    )
    (answer,) = decide([question(100, broken=7, lost_before=9)], 0.02, 0.05)
    assert answer.verdict == "INCONCLUSIVE"
    assert "REGRESSION if they speak against the new model, INCONCLUSIVE if for it" in answer.reason


def test_pairs_of_one_group_count_for_less() -> None:
    # Five captions an image, all of an image alike: 30 images are 30 samples, not 150.
    (single,) = decide([question(150)], 0.02, 0.05)
    (grouped,) = decide([question(150, group=5)], 0.02, 0.05)
    assert (single.verdict, grouped.verdict) == ("PASS", "INCONCLUSIVE")
    assert (single.inflation, grouped.inflation) == (1.0, 5.0)
    assert grouped.detectable is not None
    assert single.detectable is not None
    assert grouped.detectable > single.detectable
    assert grouped.interval is not None
    assert single.interval is not None
    assert grouped.interval[1] == pytest.approx(5**0.5 * single.interval[1])
    assert "about 745 would decide (PASS)" in grouped.reason


def test_groups_that_turn_out_independent_cost_nothing() -> None:
    # Every group of ten has one broken pair: less alike than chance would have it.
    outcomes = tuple(Outcome(str(n), str(n // 10), True, n % 10 > 0) for n in range(200))
    (answer,) = decide([Question("mac", "adaptive", outcomes)], 0.02, 0.05)
    assert (answer.inflation, answer.verdict) == (1.0, "REGRESSION")


def test_groups_that_break_as_one_are_as_few_as_they_are() -> None:
    # Two images of 40 with ten captions broke altogether: 20 of 400 pairs.
    outcomes = tuple(Outcome(str(n), str(n // 10), True, n >= 20) for n in range(400))
    (answer,) = decide([Question("mac", "adaptive", outcomes)], 0.02, 0.05)
    assert answer.inflation == pytest.approx(10 * 40 / 39)
    assert answer.verdict == "INCONCLUSIVE"
    assert verdict_of(question(380, broken=20)) == ["REGRESSION"]  # had they been independent


def test_one_group_alone_decides_nothing() -> None:
    outcomes = tuple(Outcome(str(n), "same", True, n >= 150) for n in range(300))
    (answer,) = decide([Question("mac", "adaptive", outcomes)], 0.02, 0.05)
    assert (answer.p_worse, answer.p_no_worse, answer.verdict) == (1.0, 1.0, "INCONCLUSIVE")


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_an_alpha_that_is_none_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match=r"give a probability from 0 to below 0\.5"):
        decide([], 0.02, alpha)


def shares(*changes: float, before: float = 0.5, group: int = 1) -> Question:
    """Samples that held in a share of tries, and in so much less of them now."""
    outcomes = [
        Outcome(str(n), str(n // group), before, before - change)
        for n, change in enumerate(changes)
    ]
    return Question("advdreamer", "distribution", tuple(outcomes))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (shares(*[0.0] * 160), "PASS"),
        (shares(*[0.1, -0.1] * 200), "PASS"),
        (shares(*[0.3, -0.1] * 30), "REGRESSION"),
        (shares(*[0.3, -0.25] * 30), "INCONCLUSIVE"),
        # That nothing changed in a few samples, or groups, says little.
        (shares(*[0.0] * 100), "INCONCLUSIVE"),
        (shares(*[0.0] * 160, group=5), "INCONCLUSIVE"),
        (shares(*[0.4] * 19), "INCONCLUSIVE"),
    ],
)
def test_shares_are_bootstrapped(asked: Question, expected: Verdict) -> None:
    assert verdict_of(asked) == [expected]


def test_what_is_said_of_shares() -> None:
    (answer,) = decide([shares(*[0.3, -0.25, 0.0] * 20)], 0.02, 0.05)
    assert (answer.n, answer.broken, answer.mended) == (60, 20, 20)
    assert answer.before == 0.5
    assert answer.drop == pytest.approx(0.05 / 3)
    # The changes sum up to 1, and vary by .226, so their mean by .0292. One more sample of 1 or -1:
    # means of 2 / 61 and 0, standard deviations of sqrt(.0292^2 + (1 / 61)^2) = .0334.
    low, high = answer.interval or (0, 0)
    assert (low, high) == pytest.approx((-1.645 * 0.0334, 2 / 61 + 1.645 * 0.0334), abs=0.006)
    found = (0.02 + (1.645 + 0.842) * 0.0334) * 61 / 60 + 1 / 60
    assert answer.detectable == pytest.approx(found, abs=0.002)
    assert answer.reason.startswith("60 samples are too few")


def test_shares_that_cannot_be_told_say_how_many_would_do() -> None:
    (answer,) = decide([shares(*[0.0] * 100)], 0.02, 0.05)
    assert answer.reason == (
        "100 samples are too few: about 150 would decide (PASS), if they go on like these"
    )
    assert verdict_of(shares(*[0.0] * 149)) == ["INCONCLUSIVE"]
    assert verdict_of(shares(*[0.0] * 150)) == ["PASS"]


def test_unknown_shares_are_filled_in_both_ways() -> None:
    known = shares(*[0.0] * 160)
    unknown = [Outcome(f"error {n}", f"error {n}", 0.5, None) for n in range(20)]
    asked = Question("advdreamer", "distribution", (*known.outcomes, *unknown))
    (answer,) = decide([asked], 0.02, 0.05)
    assert (answer.verdict, answer.unknown) == ("INCONCLUSIVE", 20)
    assert "REGRESSION if they speak against the new model, PASS if for it" in answer.reason
