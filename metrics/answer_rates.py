"""How often a target answers right, over all and by what the picture shows."""

from collections.abc import Sequence

from benchmark.protocols import RunContext
from benchmark.stats import mean_interval, wilson
from benchmark.types import Measure, Record

PARTS = ("source", "orientation", "label")
"""By which the questions are told apart."""

MOST_PARTS = 30
"""Where there are more (an orientation of its own for each picture), a table of them tells nothing."""

VERDICT = "misanswered"


class AnswerAccuracy:
    """Measures of runs that ask questions.

    Intervals are Wilson's; where several questions are about one picture, or about pictures that were
    made from one, a bootstrap over these groups.

    - `accuracy`: the share of right answers among those that could be marked. The flag "unread"
      counts the others, which are neither right nor wrong.
    - `chance`: what guessing among the choices gives, where choices are shown.
    - `errors`: samples without an answer, such as refusals.

    Slices "source=NAME", "orientation=NAME", "label=NAME" repeat the accuracy.
    """

    def __init__(self, run: RunContext) -> None:
        self._seed = run.seed

    def measures(self, records: Sequence[Record]) -> list[Measure]:
        """All measures, then the slices."""
        asked = [record for record in records if record.perturbation]
        chances = [
            1 / len(choices)
            for record in asked
            if isinstance(choices := record.perturbation.get("choices"), list)
            and record.perturbation.get("task") == "choice"
        ]
        errors = sum(record.status == "error" for record in records)
        overall = [
            _accuracy(asked, "", self._seed),
            Measure(
                "chance",
                sum(chances) / len(chances) if chances else None,
                n=len(chances),
                unit="rate",
            ),
            Measure("errors", float(errors) if records else None, n=len(records), unit="samples"),
        ]
        return overall + [measure for part in PARTS for measure in _slices(asked, part, self._seed)]


def _slices(asked: Sequence[Record], part: str, seed: int) -> list[Measure]:
    groups: dict[str, list[Record]] = {}
    for record in asked:
        if name := record.perturbation.get(part):
            groups.setdefault(str(name), []).append(record)
    if not 1 < len(groups) <= MOST_PARTS:
        return []
    return [_accuracy(groups[name], f"{part}={name}", seed) for name in sorted(groups)]


def _accuracy(asked: Sequence[Record], part: str, seed: int) -> Measure:
    groups: dict[str, list[float]] = {}
    for record in asked:
        if (wrong := record.verdicts.get(VERDICT)) is not None:
            groups.setdefault(record.group or record.id, []).append(float(not wrong))
    n, right = sum(map(len, groups.values())), int(sum(map(sum, groups.values())))
    unread = len(asked) - n
    interval = wilson(right, n) if n == len(groups) else mean_interval(groups, seed)
    low, high = interval or (None, None)
    return Measure(
        "accuracy",
        right / n if n else None,
        low,
        high,
        n=n,
        unit="rate",
        slice=part,
        flags=f"unread={unread}" if unread else "",
    )
