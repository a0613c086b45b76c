"""How far a search came: CAPTURE of its final captions on fresh pictures, beside that of random captions.

The number of a search is the fresh one: what its final captions score on pictures that no selection saw.
`capture_selected` is the mean score of the pictures that selection saw, and `gap` how much of it was luck.
With `selection = "robust"` captions are ranked by shrunk means of these scores, which are no estimates.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import StatisticsError, correlation, fmean
from typing import Any, Literal, cast

import numpy as np

from benchmark.protocols import PhraseEncoder, RunContext
from benchmark.stats import Interval, clustered_bootstrap, wilson
from benchmark.types import Measure, Record

NONE = "none"

SUBJECT = "evolution"
BASELINE = "random_search"
"""What the others are compared with."""

Kind = Literal["pool", "selected", "fresh", "gap"]
Number = tuple[Kind, float]

_CAPTURES: dict[str, Kind] = {
    "capture_random": "pool",
    "capture_selected": "selected",
    "capture_fresh": "fresh",
    "gap": "gap",
}


@dataclass(frozen=True, slots=True)
class _Search:
    """All repeats of one search."""

    name: str
    found: Sequence[Mapping[str, Any]]

    def groups(self) -> dict[str, list[Number]]:
        """All numbers by what is drawn together in a bootstrap: a repeat, or a caption if there is one."""
        groups: dict[str, list[Number]] = {}
        for index, one in enumerate(self.found):
            for n, (_, capture) in enumerate(one["pool"]["captions"]):
                if capture is not None:
                    key = f"{index}" if len(self.found) > 1 else f"pool/{n}"
                    groups.setdefault(key, []).append(("pool", float(capture)))
            for n, final in enumerate(one["finals"]):
                key = f"{index}" if len(self.found) > 1 else f"final/{n}"
                groups.setdefault(key, []).extend(_numbers(final))
        return groups


class EvolutionRates:
    """What searches found, each over all its repeats, and how it compares with random search.

    Slices "search=NAME":

    - `capture_random`: mean over the initial pool (the paper's Random row).
    - `capture_selected`, `capture_fresh`: means over the final captions, on the pictures that they were
      selected by, and on fresh ones. `gap`: fresh - selected.
    - `reduction`: 1 - fresh / random, as the paper reports it.
    - `similarity`: mean cosine over all pairs of final captions, of bags of words or, with the setting
      `encoder`, of embeddings. `distinct`: different final captions a repeat.
    - `evaluations`, `llm_calls`: a repeat. `unscored`: the share of evaluations that gave no score;
      its flags say what they gave instead.

    Slices "pair=A - random_search" have the difference of fresh CAPTURE, marked "tie" where 0 is inside the
    interval. Slices "generation=N" are about evolution's survivors: `mean`, `best`, `similarity`. Over
    all: `success`, the share of searches whose best caption is a blind spot, `errors`, and
    `length_correlation` of a random caption's CAPTURE with its number of words.

    Intervals are bootstraps over repeats, over captions if there is one repeat.
    """

    def __init__(self, run: RunContext) -> None:
        self._run = run

    def measures(self, records: Sequence[Record]) -> list[Measure]:
        """Over all, by search, by pair, by generation."""
        found = [
            (record, cast("Mapping[str, Any]", record.found))
            for record in records
            if record.status in ("success", "failure") and record.found.get("pool")
        ]
        names = list(dict.fromkeys(str(one["search"]) for _, one in found))
        searches = [
            _Search(name, [one for _, one in found if one["search"] == name]) for name in names
        ]
        measures = [
            _success([record.status == "success" for record, _ in found]),
            Measure(
                "errors",
                float(sum(record.status == "error" for record in records)) if records else None,
                n=len(records),
                unit="searches",
            ),
            _length_correlation(searches),
        ]
        for search in searches:
            measures += self._of(search)
        baseline = next((one for one in searches if one.name == BASELINE), None)
        for search in searches:
            if baseline is not None and search is not baseline:
                measures.append(self._difference(search, baseline))
        for search in searches:
            if search.name == SUBJECT:
                measures += self._generations(search)
        return measures

    def _of(self, search: _Search) -> list[Measure]:
        part = f"search={search.name}"
        groups = search.groups()
        counted: dict[str, int] = {}
        for one in search.found:
            for status, n in one.get("counted", {}).items():
                counted[status] = counted.get(status, 0) + int(n)
        total = sum(counted.values())
        unscored = {status: n for status, n in counted.items() if status != "scored" and n}
        finals = [[str(final["text"]) for final in one["finals"]] for one in search.found]
        n = len(search.found)
        return [
            *(self._mean(name, kind, groups, part) for name, kind in _CAPTURES.items()),
            self._measure("reduction", groups, _reduction, part, "rate", "fresh"),
            Measure("similarity", self._similarity(finals), n=n, unit="cosine", slice=part),
            Measure(
                "distinct",
                _mean([len(set(texts)) for texts in finals]),
                n=n,
                unit="captions",
                slice=part,
            ),
            *(
                Measure(
                    key, _mean([one.get(key) for one in search.found]), n=n, unit=unit, slice=part
                )
                for key, unit in (("evaluations", "pictures"), ("llm_calls", "calls"))
            ),
            Measure(
                "unscored",
                sum(unscored.values()) / total if total else None,
                n=total,
                unit="rate",
                slice=part,
                flags=" ".join(f"{status}={k}" for status, k in sorted(unscored.items())),
            ),
        ]

    def _difference(self, search: _Search, baseline: _Search) -> Measure:
        part = f"pair={search.name} - {baseline.name}"
        ours, theirs = (
            {key: _of_kind(numbers, "fresh") for key, numbers in one.groups().items()}
            for one in (search, baseline)
        )
        if len(search.found) > 1 and ours.keys() == theirs.keys():
            paired = {key: [(ours[key], theirs[key])] for key in ours}
            interval = clustered_bootstrap(paired, _paired_difference, self._run.seed)
        else:
            interval = _unpaired(_pooled(ours), _pooled(theirs), self._run.seed)
        first, second = _mean(_pooled(ours)), _mean(_pooled(theirs))
        value = None if first is None or second is None else first - second
        low, high = interval or (None, None)
        tied = interval is not None and interval.low <= 0 <= interval.high
        return Measure(
            "capture_fresh_difference",
            value,
            low,
            high,
            n=len(_pooled(ours)),
            unit="score",
            slice=part,
            flags="tie" if tied else "",
        )

    def _generations(self, search: _Search) -> list[Measure]:
        rows: dict[int, list[Mapping[str, Any]]] = {}
        for one in search.found:
            for row in one.get("generations", ()):
                rows.setdefault(int(row["generation"]), []).append(row)
        measures = []
        for number, of in sorted(rows.items()):
            part = f"generation={number}"
            captions = [row["captions"] for row in of if row.get("captions")]
            alike = self._similarity(captions) if captions else None
            if alike is None:
                alike = _mean([row.get("similarity") for row in of])
            values = {
                "evaluations": _mean([row["evaluations"] for row in of]),
                "mean": _mean([row["mean"] for row in of]),
                "best": _mean([row["best"] for row in of]),
                "similarity": alike,
            }
            measures += [
                Measure(metric, value, n=len(of), slice=part) for metric, value in values.items()
            ]
        return measures

    def _similarity(self, groups: Sequence[Sequence[str]]) -> float | None:
        """Mean over the groups of the mean cosine of their captions."""
        return _mean([self._alike(texts) for texts in groups])

    def _alike(self, texts: Sequence[str]) -> float | None:
        if len(texts) < 2:
            return None
        name = str(self._run.settings.get("encoder", NONE))
        if name == NONE:
            bags = [set(text.casefold().replace(",", " ").rstrip(".").split()) for text in texts]
            return fmean(
                len(a & b) / (len(a) * len(b)) ** 0.5 if a and b else 0.0
                for a, b in combinations(bags, 2)
            )
        encoder: PhraseEncoder = self._run.model("encoders", name)
        vectors = np.asarray(encoder.encode(list(texts)), dtype=np.float64)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        n = len(texts)
        # The sum over all pairs of different rows, from that of all rows at once.
        return float((np.square(vectors.sum(axis=0)).sum() - n) / (n * (n - 1)))

    def _mean(
        self, metric: str, kind: Kind, groups: Mapping[str, Sequence[Number]], part: str
    ) -> Measure:
        return self._measure(
            metric, groups, lambda numbers: _mean(_of_kind(numbers, kind)), part, "score", kind
        )

    def _measure(
        self,
        metric: str,
        groups: Mapping[str, Sequence[Number]],
        statistic: Callable[[Sequence[Number]], float | None],
        part: str,
        unit: str,
        kind: Kind,
    ) -> Measure:
        """A statistic of the numbers, with its interval; n counts those of a kind."""
        pooled = _pooled(groups)
        used = groups
        if metric != "reduction":
            used = {key: kept for key, group in groups.items() if (kept := _only(group, kind))}
        low, high = clustered_bootstrap(used, statistic, self._run.seed) or (None, None)
        n = len(_of_kind(pooled, kind))
        return Measure(metric, statistic(pooled), low, high, n=n, unit=unit, slice=part)


def _numbers(final: Mapping[str, Any]) -> list[Number]:
    selected, fresh = (
        _mean(final.get("scores") or [final.get("selected")]),
        final.get("capture_fresh"),
    )
    numbers: list[Number] = []
    if selected is not None:
        numbers.append(("selected", selected))
    if fresh is not None:
        numbers.append(("fresh", float(fresh)))
    if selected is not None and fresh is not None:
        numbers.append(("gap", float(fresh) - selected))
    return numbers


def _only(numbers: Sequence[Number], kind: Kind) -> list[Number]:
    return [number for number in numbers if number[0] == kind]


def _of_kind(numbers: Sequence[Number], kind: Kind) -> list[float]:
    return [value for one, value in numbers if one == kind]


def _pooled(groups: Mapping[str, Sequence[Any]]) -> list[Any]:
    return [number for group in groups.values() for number in group]


def _reduction(numbers: Sequence[Number]) -> float | None:
    fresh, random = _mean(_of_kind(numbers, "fresh")), _mean(_of_kind(numbers, "pool"))
    return None if fresh is None or not random else 1 - fresh / random


def _paired_difference(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> float | None:
    first = _mean([value for ours, _ in pairs for value in ours])
    second = _mean([value for _, theirs in pairs for value in theirs])
    return None if first is None or second is None else first - second


def _unpaired(first: Sequence[float], second: Sequence[float], seed: int) -> Interval | None:
    """Interval of the difference of two means, each resampled by itself."""
    if len(first) < 2 or len(second) < 2:
        return None
    rng = np.random.default_rng(seed)
    means = [
        np.asarray(values)[rng.integers(len(values), size=(1000, len(values)))].mean(axis=1)
        for values in (first, second)
    ]
    low, high = np.percentile(means[0] - means[1], (2.5, 97.5))
    return Interval(float(low), float(high))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return fmean(known) if known else None


def _success(outcomes: Sequence[bool]) -> Measure:
    n, true = len(outcomes), sum(outcomes)
    low, high = wilson(true, n) or (None, None)
    return Measure("success", true / n if n else None, low, high, n=n, unit="rate")


def _length_correlation(searches: Sequence[_Search]) -> Measure:
    """Pearson's r over the pools, each of them once."""
    pools = {one["repeat"]: one["pool"]["captions"] for search in searches for one in search.found}
    pairs = [
        (float(len(str(text).split())), float(capture))
        for captions in pools.values()
        for text, capture in captions
        if capture is not None
    ]
    measure = Measure("length_correlation", None, n=len(pairs), unit="r")
    if len(pairs) < 3:
        return measure
    lengths, captures = [length for length, _ in pairs], [capture for _, capture in pairs]
    try:
        return replace(measure, value=correlation(lengths, captures))
    except StatisticsError:  # all captions are of one length, or score the same
        return measure
