import numpy as np
import pytest

from benchmark.errors import UserError
from metrics.entailment import ToyboxJudge


@pytest.mark.parametrize(
    ("premise", "hypothesis", "column"),
    [
        ("a red duck and a blue mug", "a blue mug and a red duck", 0),
        ("a red duck", "a duck", 0),
        ("a duck", "a red duck", 1),
        ("a red duck", "a green duck", 2),
        ("a duck left of a mug", "a duck right of a mug", 2),
        ("two ducks", "three ducks", 2),
    ],
)
def test_judge(premise: str, hypothesis: str, column: int) -> None:
    result = ToyboxJudge().judge([(premise, hypothesis)])
    assert result.tolist() == [[[float(i == column) for i in range(3)]]]


def test_what_cannot_be_read_is_nan() -> None:
    result = ToyboxJudge().judge(
        [("a duck", "duck a"), ("a photo", "a duck"), ("a duck", "a duck")]
    )
    assert result.shape == (3, 1, 3)
    assert np.isnan(result[:2]).all()
    assert result[2].tolist() == [[1.0, 0.0, 0.0]]


def test_no_pairs() -> None:
    assert ToyboxJudge("", {}).judge([]).shape == (0, 1, 3)


def test_takes_no_argument() -> None:
    with pytest.raises(UserError, match="takes no argument, not 'large'"):
        ToyboxJudge("large", {})
