"""Accuracy under each condition, pictured and real, and what separates the conditions.

One number a sample and condition, the share of its pictures that were recognised; means over samples with
bootstrap intervals that resample whole images.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from benchmark.protocols import RunContext
from benchmark.stats import clustered_bootstrap, mean_interval, wilson
from benchmark.types import Measure, Record

ORDER = (
    "clean", "identity", "random", "corner", "best_of_random", "best_of_search", "distribution",
    "center",
)  # fmt: skip
"""Conditions in the order in which they are read; others follow by name."""

TRUE = "true/"

DIFFERENCES = (
    ("clean", "identity"),
    ("identity", "random"),
    ("random", "distribution"),
    ("corner", "distribution"),
    ("best_of_random", "distribution"),
    ("best_of_random", "best_of_search"),
    ("corner", "center"),
    ("best_of_random", "center"),
    ("distribution", "center"),
)
"""Pairs whose first should be the easier one."""


class PoseAccuracy:
    """Measures of runs that turn objects. Samples that ended in an error are left out.

    By condition (slice "condition=NAME"):

    - `accuracy`: mean share of pictures that the target takes for what they show.
    - `accuracy_reproduced`: the same of the true object in the same poses, where it is known.
    - `reproduction_rate`: of the poses whose picture fools, the share that fools with the true object
      too. Read it beside "corner": extreme poses fool anyhow.
    - `naturalness`, `fidelity`, `plausibility`: means of the reward model's scores, 1 to 5.

    By pair (slice "pair=A - B"), paired by sample: `accuracy_difference` and
    `accuracy_reproduced_difference`, how much more accurate the target is under A. The flag "tie" says
    that the interval holds 0.

    Over all: `success`, the share of samples for which some query fooled the target;
    `success_of_recognised`, the same among those whose clean picture is recognised; `queries`, a
    mean; `errors`, a number.
    """

    def __init__(self, run: RunContext) -> None:
        self._seed = run.seed

    def measures(self, records: Sequence[Record]) -> list[Measure]:
        """All measures: over all, by condition, by pair."""
        decided = [record for record in records if record.status in ("success", "failure")]
        wins = [record.status == "success" for record in decided]
        known = [
            record.status == "success" for record in decided if _accuracy(record, "clean") == 1
        ]
        overall = [
            _rate("success", wins),
            _rate("success_of_recognised", known),
            replace(
                self._mean("queries", decided, lambda record: float(record.queries), ""),
                unit="queries",
            ),
            Measure(
                "errors",
                float(len(records) - len(decided)) if records else None,
                n=len(records),
                unit="samples",
            ),
        ]
        conditions = _in_order(name for record in decided for name in record.conditions)
        by_condition = [
            measure for name in conditions for measure in self._condition(decided, name)
        ]
        by_pair = [
            measure
            for easier, harder in DIFFERENCES
            if easier in conditions and harder in conditions
            for measure in self._pair(decided, easier, harder)
        ]
        return overall + by_condition + by_pair

    def _condition(self, records: Sequence[Record], name: str) -> list[Measure]:
        part = f"condition={name}"
        measures = [
            self._mean("accuracy", records, lambda record: _accuracy(record, name), part),
            self._mean(
                "accuracy_reproduced", records, lambda record: _accuracy(record, TRUE + name), part
            ),
            self._reproduction(records, name, part),
        ]
        for score in ("naturalness", "fidelity", "plausibility"):
            measures.append(
                self._mean(score, records, partial(_natural, condition=name, score=score), part)
            )
        return [measure for measure in measures if measure.n]

    def _pair(self, records: Sequence[Record], easier: str, harder: str) -> list[Measure]:
        measures = []
        for metric, prefix in (("accuracy", ""), ("accuracy_reproduced", TRUE)):
            measure = self._mean(
                f"{metric}_difference",
                records,
                partial(_difference, easier=prefix + easier, harder=prefix + harder),
                f"pair={easier} - {harder}",
            )
            if measure.n:
                low, high = measure.ci_low, measure.ci_high
                tied = low is not None and high is not None and low <= 0 <= high
                measures.append(replace(measure, flags="tie" if tied else ""))
        return measures

    def _mean(
        self,
        metric: str,
        records: Sequence[Record],
        value: Callable[[Record], float | None],
        part: str,
    ) -> Measure:
        groups: dict[str, list[float]] = {}
        for record in records:
            if (number := value(record)) is not None:
                groups.setdefault(record.group or record.id, []).append(number)
        pooled = [number for group in groups.values() for number in group]
        if not pooled:
            return Measure(metric, None, unit="rate", slice=part)
        low, high = mean_interval(groups, self._seed) or (None, None)
        mean = sum(pooled) / len(pooled)
        unit = "score" if metric in ("naturalness", "fidelity", "plausibility") else "rate"
        return Measure(metric, mean, low, high, n=len(pooled), unit=unit, slice=part)

    def _reproduction(self, records: Sequence[Record], name: str, part: str) -> Measure:
        """P(the true object fools | its picture fools), pooled over the poses that the flag counts."""
        groups: dict[str, list[tuple[int, int]]] = {}
        for record in records:
            counts = _mapping(record.found, "reproduced", name)
            if counts and counts["picture"]:
                pair = (int(counts["both"]), int(counts["picture"]))
                groups.setdefault(record.group or record.id, []).append(pair)
        pooled = [pair for group in groups.values() for pair in group]
        low, high = clustered_bootstrap(groups, _ratio, self._seed) or (None, None)
        return Measure(
            "reproduction_rate",
            _ratio(pooled),
            low,
            high,
            n=len(pooled),
            unit="rate",
            slice=part,
            flags=f"poses={sum(fooled for _, fooled in pooled)}",
        )


def _accuracy(record: Record, condition: str) -> float | None:
    counts = record.conditions.get(condition)
    if not counts or not counts["n"]:
        return None
    return 1 - cast("int", counts["fooled"]) / cast("int", counts["n"])


def _difference(record: Record, easier: str, harder: str) -> float | None:
    first, second = _accuracy(record, easier), _accuracy(record, harder)
    return None if first is None or second is None else first - second


def _natural(record: Record, condition: str, score: str) -> float | None:
    scores = _mapping(record.found, "naturalness", condition)
    if not scores:
        return None
    if score == "naturalness":
        return float(scores["fidelity"] + scores["plausibility"]) / 2
    return float(scores[score])


def _mapping(found: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    for key in keys:
        found = found.get(key) or {}
    return found


def _ratio(pairs: Sequence[tuple[int, int]]) -> float | None:
    fooled = sum(picture for _, picture in pairs)
    return sum(both for both, _ in pairs) / fooled if fooled else None


def _rate(metric: str, outcomes: Sequence[bool]) -> Measure:
    n, true = len(outcomes), sum(outcomes)
    low, high = wilson(true, n) or (None, None)
    return Measure(metric, true / n if n else None, low, high, n=n, unit="rate")


def _in_order(names: Iterable[str]) -> list[str]:
    known = {name for name in names if not name.startswith(TRUE)}
    return sorted(
        known, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name)
    )
