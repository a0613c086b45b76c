"""Changes of fitness."""

import numpy as np
import pytest

from benchmark.gate.scores import Scores, by_group, decide


def asked(*values: float, attack: str = "mac") -> Scores:
    return Scores(attack, "adaptive", {str(n): [value] for n, value in enumerate(values)})


def test_without_a_margin_there_is_no_verdict() -> None:
    (change,) = decide([asked(*[0.1, 0.2, 0.3] * 10)], None, 0.05)
    assert change.mean == pytest.approx(0.2)
    assert change.verdict is None
    low, high = change.interval or (0, 0)
    assert 0.1 <= low < 0.2 < high <= 0.3


@pytest.mark.parametrize(
    ("shift", "expected"), [(0.0, "PASS"), (0.05, "INCONCLUSIVE"), (0.1, "REGRESSION")]
)
def test_three_verdicts_around_a_margin(shift: float, expected: str) -> None:
    # Mean 0, standard error 0.02 / sqrt(50): the margin is far away, at hand, far exceeded.
    values = shift + 0.02 * np.tile([-1.0, 1.0], 25)
    (change,) = decide([asked(*values)], 0.05, 0.05)
    assert change.verdict == expected


def test_no_change_at_all_passes() -> None:
    (change,) = decide([asked(*[0.0] * 30)], 0.01, 0.05)
    assert (change.verdict, change.interval) == ("PASS", (0.0, 0.0))


def test_groups_are_resampled_whole() -> None:
    values = [-0.1, 0.1, 0.1, -0.1] * 20
    alone = {str(n): [value] for n, value in enumerate(values)}
    together = by_group([(str(sorted((n, n ^ 3))[0]), value) for n, value in enumerate(values)])
    assert len(together) == 40
    assert all(len(set(group)) == 1 for group in together.values())
    widths = []
    for changes in (alone, together):
        (change,) = decide([Scores("mac", "adaptive", changes)], None, 0.05)
        low, high = change.interval or (0, 0)
        widths.append(high - low)
    assert widths[1] == pytest.approx(2**0.5 * widths[0], rel=0.1)


def test_one_group_decides_nothing() -> None:
    (change,) = decide([Scores("mac", "adaptive", {"a": [0.0, 0.0]})], 0.01, 0.05)
    assert (change.verdict, change.interval, change.p_worse) == ("INCONCLUSIVE", None, 1.0)


def test_nothing_to_compare_gives_nothing() -> None:
    assert decide([Scores("mac", "adaptive", {})], 0.01, 0.05) == []


def test_several_questions_are_corrected() -> None:
    values = 0.009 + 0.02 * np.tile([-1.0, 1.0], 10)  # p about 0.02 alone
    (alone,) = decide([asked(*values)], 0.0, 0.05)
    first, _ = decide([asked(*values), asked(*values, attack="x")], 0.0, 0.05)
    assert 0.001 < alone.p_worse < 0.05
    assert first.p_worse == pytest.approx(2 * alone.p_worse)
