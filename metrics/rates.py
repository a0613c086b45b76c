"""Attack success rates: of each criterion, of all together (MAC eq. 4), and by operation."""

from collections.abc import Callable, Sequence
from statistics import fmean, median

from benchmark.protocols import RunContext
from benchmark.stats import mean_interval, wilson
from benchmark.types import Measure, Record

VERDICTS = {
    "cross": "crossmodal",
    "uni": "unimodal",
    "dist": "distance",
    "aux": "auxiliary",
}
"""Short name of a rate -> the verdict that it counts."""


class SuccessRates:
    """Rates over the picked candidates, one a sample.

    A sample is *decided* if it ended in success or failure. Measures:

    - `cross`, `uni`, `dist`, `aux`: share of decided samples whose pick satisfies this verdict,
      among those where it could be given (the flag "undecided=K" counts the others).
    - `total`: successes among decided samples, the attack success rate; `total_all`: among all.
    - `false_of_image`: share of successes whose caption is really false of the picture.
    - `cross_but_true`: share of crossmodal successes, whatever else they fail, whose
      caption is true of the picture, so that the target was right to like it.
    - `cross_gap`: mean of score - clean score over the successes.
    - `queries_to_success`: median over the successes.
    - `ties`, `errors`, `skipped`: numbers of samples.

    Rates have Wilson intervals, the gap a bootstrap over groups. Slices "operation=NAME" repeat the
    rates for the operation that was found in the caption, or else was asked for.
    """

    def __init__(self, run: RunContext) -> None:
        self._seed = run.seed

    def measures(self, records: Sequence[Record]) -> list[Measure]:
        """All measures, then the slices by name of the operation."""
        decided = [record for record in records if record.status in ("success", "failure")]
        successes = [record for record in decided if record.status == "success"]
        waits = [r.queries_to_success for r in successes if r.queries_to_success is not None]
        overall = [
            *_rates(decided),
            _rate("total_all", [record.status == "success" for record in records]),
            self._cross_gap(successes),
            Measure(
                "queries_to_success",
                float(median(waits)) if waits else None,
                n=len(waits),
                unit="queries",
            ),
            _ties(decided),
            _count("errors", records, lambda record: record.status == "error"),
            _count("skipped", records, lambda record: record.status == "skipped"),
        ]
        by_operation: dict[str, list[Record]] = {}
        for record in decided:
            if operation := _operation(record):
                by_operation.setdefault(operation, []).append(record)
        slices = [
            measure
            for operation in sorted(by_operation)
            for measure in _rates(by_operation[operation], f"operation={operation}")
        ]
        return overall + slices

    def _cross_gap(self, successes: Sequence[Record]) -> Measure:
        gaps: dict[str, list[float]] = {}
        for record in successes:
            if record.score is not None and record.clean_score is not None:
                gap = record.score - record.clean_score
                gaps.setdefault(record.group or record.id, []).append(gap)
        pooled = [gap for group in gaps.values() for gap in group]
        if not pooled:
            return Measure("cross_gap", None, unit="score")
        low, high = mean_interval(gaps, self._seed) or (None, None)
        return Measure("cross_gap", fmean(pooled), low, high, n=len(pooled), unit="score")


def _rates(decided: Sequence[Record], part: str = "") -> list[Measure]:
    """The rates of one slice."""
    successes = [record for record in decided if record.status == "success"]
    fooled = [record for record in decided if record.verdicts.get("crossmodal")]
    true_of_image = [
        None if false is None else not false for false in _verdicts(fooled, "false_of_image")
    ]
    return [
        *(_rate(name, _verdicts(decided, verdict), part) for name, verdict in VERDICTS.items()),
        _rate("total", [record.status == "success" for record in decided], part),
        _rate("false_of_image", _verdicts(successes, "false_of_image"), part),
        _rate("cross_but_true", true_of_image, part),
    ]


def _verdicts(records: Sequence[Record], name: str) -> list[bool | None]:
    return [record.verdicts.get(name) for record in records]


def _rate(name: str, outcomes: Sequence[bool | None], part: str = "") -> Measure:
    """Share of True among what is known, with a Wilson interval."""
    known = [outcome for outcome in outcomes if outcome is not None]
    n, true, missing = len(known), sum(known), len(outcomes) - len(known)
    low, high = wilson(true, n) or (None, None)
    flags = f"undecided={missing}" if missing else ""
    value = true / n if n else None
    return Measure(name, value, low, high, n=n, unit="rate", slice=part, flags=flags)


def _ties(decided: Sequence[Record]) -> Measure:
    known = [tie for tie in _verdicts(decided, "tie") if tie is not None]
    return Measure("ties", float(sum(known)) if known else None, n=len(known), unit="samples")


def _count(name: str, records: Sequence[Record], counts: Callable[[Record], bool]) -> Measure:
    value = float(sum(map(counts, records))) if records else None
    return Measure(name, value, n=len(records), unit="samples")


def _operation(record: Record) -> str | None:
    found = record.perturbation.get("operation_found") or record.perturbation.get("operation")
    return found if isinstance(found, str) else None
