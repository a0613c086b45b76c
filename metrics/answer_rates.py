"""How often a target answers right, over all and by what the picture shows."""

from collections.abc import Sequence

from benchmark.protocols import RunContext
from benchmark.stats import wilson
from benchmark.types import Measure, Record

PARTS = ("source", "orientation", "label")
"""By which the questions are told apart."""

MOST_PARTS = 30
"""Where there are more (an orientation of its own for each picture), a table of them tells nothing."""

VERDICT = "misanswered"


class AnswerAccuracy:
    """Measures of runs that ask questions; intervals are Wilson's.

    - `accuracy`: the share of right answers among those that could be marked. The flag "unread"
      counts the others, which are neither right nor wrong.
    - `chance`: what guessing among the choices gives, where choices are shown.
    - `errors`: samples without an answer, such as refusals.

    Slices "source=NAME", "orientation=NAME", "label=NAME" repeat the accuracy.
    """

    def __init__(self, run: RunContext) -> None:
        del run

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
            _accuracy(asked),
            Measure(
                "chance",
                sum(chances) / len(chances) if chances else None,
                n=len(chances),
                unit="rate",
            ),
            Measure("errors", float(errors) if records else None, n=len(records), unit="samples"),
        ]
        return overall + [measure for part in PARTS for measure in _slices(asked, part)]


def _slices(asked: Sequence[Record], part: str) -> list[Measure]:
    groups: dict[str, list[Record]] = {}
    for record in asked:
        if name := record.perturbation.get(part):
            groups.setdefault(str(name), []).append(record)
    if not 1 < len(groups) <= MOST_PARTS:
        return []
    return [_accuracy(groups[name], f"{part}={name}") for name in sorted(groups)]


def _accuracy(asked: Sequence[Record], part: str = "") -> Measure:
    wrong = [record.verdicts.get(VERDICT) for record in asked]
    known = [verdict for verdict in wrong if verdict is not None]
    n, right, unread = len(known), len(known) - sum(known), len(wrong) - len(known)
    low, high = wilson(right, n) or (None, None)
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
