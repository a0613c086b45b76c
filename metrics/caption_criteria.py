"""When a rewritten caption counts: MAC's four verdicts (arXiv 2505.22943, eq. 1-4), and two notes.

Deviations. The paper and its released code differ, and settings choose:

- `ties`: eq. 1 is strict ("paper"); in the code an equal score succeeds ("released").
- `unimodal`: eq. 2 thresholds the entailment probability at 0.5 ("paper"); the code thresholds
  P(E) + P(N)/2, which is P(E) < P(C) ("released").
- `auxiliary`: see `metrics.auxiliary`.

Scores closer than `SCORE_EPSILON` are a tie. `FalseOfImage` is not in the paper: only a world whose
truth is known can have it.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from benchmark.errors import UserError
from benchmark.protocols import EntailmentJudge, RunContext
from benchmark.toybox.truth import false_of
from benchmark.types import SCORE_EPSILON, Role, Trial
from metrics.auxiliary import Variant, auxiliary_ok
from metrics.distance import within, word_distances, word_limit

ENTAILMENT_THRESHOLD = 0.5


def distance_limit(run: RunContext) -> int:
    """The most words that may change: `max_distance`, "auto" from the data set's mean length."""
    limit = run.settings.get("max_distance", "auto")
    if limit == "auto":
        return word_limit(run.dataset.mean_words)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise UserError(f'max_distance = {limit!r}: expected an integer of at least 1 or "auto"')
    return limit


class Crossmodal:
    """The target prefers the rewrite (eq. 1). None when a score is missing."""

    name = "crossmodal"
    role: Role = "criterion"

    def __init__(self, run: RunContext) -> None:
        self._ties_succeed = _variant(run, "ties", "paper") == "released"

    def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
        """Compares score and clean score."""
        return [None if gap is None else self._fooled(gap) for gap in map(_gap, trials)]

    def _fooled(self, gap: float) -> bool:
        return gap > SCORE_EPSILON or (self._ties_succeed and gap >= -SCORE_EPSILON)


class Unimodal:
    """The rewrite does not follow from the caption, for every model of the judge (eq. 2).

    A rewrite that the judge cannot read is no contradiction (False); when it cannot read the
    caption either, nothing can be decided (None).
    """

    name = "unimodal"
    role: Role = "constraint"

    def __init__(self, run: RunContext) -> None:
        self._judge: EntailmentJudge = run.model("judges", run.settings["judge"])
        self._released = _variant(run, "unimodal", "released") == "released"

    def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
        """Judges (caption, rewrite), in this direction only."""
        if not trials:
            return []
        probabilities = self._judge.judge([(trial.sample.text, trial.text) for trial in trials])
        verdicts: list[bool | None] = [bool(row.all()) for row in self._differs(probabilities)]
        unread = [row for row, missing in enumerate(_missing(probabilities)) if missing]
        if unread:
            captions = [trials[row].sample.text for row in unread]
            of_themselves = self._judge.judge([(caption, caption) for caption in captions])
            for row, missing in zip(unread, _missing(of_themselves), strict=True):
                verdicts[row] = None if missing else False
        return verdicts

    def _differs(self, probabilities: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Verdict of each model, shape (n, models). NaN compares as False."""
        entailment, neutral, _ = np.moveaxis(probabilities, 2, 0)
        follows = entailment + 0.5 * neutral if self._released else entailment
        differs: npt.NDArray[np.bool_] = follows < ENTAILMENT_THRESHOLD
        return differs


class Distance:
    """At least one word changed, and no more than the limit (eq. 3)."""

    name = "distance"
    role: Role = "constraint"

    def __init__(self, run: RunContext) -> None:
        self.limit = distance_limit(run)

    def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
        """Word distance between caption and rewrite against the limit."""
        distances = word_distances([(trial.sample.text, trial.text) for trial in trials])
        return [within(distance, self.limit) for distance in distances]


class Auxiliary:
    """No cheap negation, and a swap that was asked for is a swap.

    What was asked for is `perturbation["operation"]`; anything that is no operation of MAC asks for
    nothing in particular.
    """

    name = "auxiliary"
    role: Role = "constraint"

    def __init__(self, run: RunContext) -> None:
        self._variant = _variant(run, "auxiliary", "released")

    def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
        """Applies the rules to caption and rewrite."""
        return [
            auxiliary_ok(trial.sample.text, trial.text, _operation(trial), self._variant)
            for trial in trials
        ]


class FalseOfImage:
    """The rewrite is really false of the picture. None without a scene, or if it cannot be read."""

    name = "false_of_image"
    role: Role = "observation"

    def __init__(self, run: RunContext) -> None:
        del run

    def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
        """Decides against the scene behind the picture."""
        return [
            None if trial.sample.scene is None else false_of(trial.text, trial.sample.scene)
            for trial in trials
        ]


class Tie:
    """Both captions score the same, to `SCORE_EPSILON`. None when a score is missing."""

    name = "tie"
    role: Role = "observation"

    def __init__(self, run: RunContext) -> None:
        del run

    def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
        """Compares score and clean score."""
        gaps = map(_gap, trials)
        return [None if gap is None else abs(gap) <= SCORE_EPSILON for gap in gaps]


def _missing(probabilities: npt.NDArray[np.float64]) -> list[bool]:
    """Which pairs some model could not judge."""
    return [bool(row.any()) for row in np.isnan(probabilities)]


def _gap(trial: Trial) -> float | None:
    if trial.score is None or trial.clean_score is None:
        return None
    gap = trial.score - trial.clean_score
    return None if np.isnan(gap) else gap


def _operation(trial: Trial) -> str | None:
    operation = trial.candidate.perturbation.get("operation")
    return operation if isinstance(operation, str) else None


def _variant(run: RunContext, key: str, default: Variant) -> Variant:
    """Whether a setting follows the released code or the paper."""
    match run.settings.get(key, default):
        case "released":
            return "released"
        case "paper":
            return "paper"
        case value:
            raise UserError(f'{key} = {value!r}: expected "released" or "paper"')
