"""When a picture of a turned object counts: the target takes it for something else (AdvDreamer sec. 4.1).

The first option is the true one. Scores closer than `SCORE_EPSILON` are a tie, which fools nobody.
"""

import re
from collections.abc import Sequence

from benchmark.protocols import RunContext
from benchmark.types import SCORE_EPSILON, Role, Trial


class Misclassified:
    """Another option scores higher than the true one: top-1 is wrong. None without options."""

    name = "misclassified"
    role: Role = "criterion"

    def __init__(self, run: RunContext) -> None:
        del run

    def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
        """Compares the options' scores."""
        return [_is_wrong(trial.option_scores) for trial in trials]


class Recognised:
    """Observation: the true option is the best one for the unperturbed picture."""

    name = "recognised"
    role: Role = "observation"

    def __init__(self, run: RunContext) -> None:
        del run

    def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
        """Compares the options' scores of the clean picture."""
        wrong = [_is_wrong(trial.clean_option_scores) for trial in trials]
        return [None if verdict is None else not verdict for verdict in wrong]


class Unnamed:
    """What the target answers does not name the label. None where it was not asked.

    Word for word, a plural s aside, so it is strict: a synonym counts as an error. A judge is milder.
    """

    name = "unnamed"
    role: Role = "criterion"

    def __init__(self, run: RunContext) -> None:
        del run

    def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
        """Looks for the sample's label in the answer."""
        return [
            None if trial.output is None else not _names(trial.output, trial.sample.text)
            for trial in trials
        ]


def _is_wrong(scores: Sequence[float]) -> bool | None:
    if len(scores) < 2:
        return None
    return max(scores[1:]) > scores[0] + SCORE_EPSILON


def _names(answer: str, label: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(label)}s?(?!\w)", answer, re.IGNORECASE) is not None
