import pytest

from benchmark.types import Candidate, Sample, Trial
from metrics.pose_criteria import Misclassified, Recognised, Unnamed
from tests.unit.metrics.metric_fakes import FakeRun

SAMPLE = Sample("s", "sea lion")


def trial(
    scores: tuple[float, ...] = (), clean: tuple[float, ...] = (), output: str | None = None
) -> Trial:
    return Trial(
        SAMPLE,
        Candidate(text="sea lion"),
        None,
        None,
        clean_option_scores=clean,
        option_scores=scores,
        output=output,
    )


@pytest.mark.parametrize(
    ("scores", "fooled"),
    [
        ((0.3, 0.2, 0.1), False),
        ((0.2, 0.1, 0.3), True),
        ((0.2, 0.2), False),  # a tie fools nobody
        ((0.2, 0.200001), False),
        ((0.2, 0.200002), True),
        ((0.2,), None),
        ((), None),
    ],
)
def test_misclassified(scores: tuple[float, ...], fooled: bool | None) -> None:
    assert Misclassified(FakeRun()).verdicts([trial(scores)]) == [fooled]


def test_recognised_is_about_the_clean_picture() -> None:
    trials = [trial((0.1, 0.9), (0.9, 0.1)), trial((0.9, 0.1), (0.1, 0.9)), trial()]
    assert Recognised(FakeRun()).verdicts(trials) == [True, False, None]
    assert Recognised(FakeRun()).role == "observation"


@pytest.mark.parametrize(
    ("answer", "fooled"),
    [
        ("A sea lion on a rock.", False),
        ("Two Sea Lions.", False),
        ("A lion by the sea.", True),
        ("a sea lionfish", True),
        ("", True),
        (None, None),
    ],
)
def test_unnamed(answer: str | None, fooled: bool | None) -> None:
    assert Unnamed(FakeRun()).verdicts([trial(output=answer)]) == [fooled]
