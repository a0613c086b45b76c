"""What charts show, computed from records, traces and what attacks have found."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.report.charts import Dot, Point, Series, ticks
from benchmark.report.runs import Rate, RunView, items, number, numbers
from benchmark.stats import mean_interval, wilson
from benchmark.tables import Row

AXES = (
    ("yaw_deg", "yaw, degrees"),
    ("pitch_deg", "pitch, degrees"),
    ("roll_deg", "roll, degrees"),
    ("dx", "to the right"),
    ("dy", "up"),
    ("scale", "scale"),
)
"""The dimensions of a pose, in the order of what attacks record."""

BINS = 6
_SEED = 0
MAP_LABELS = 8

_MAIN = {
    "operation": "total",
    "condition": "accuracy",
    "pair": "accuracy_difference",
    "search": "capture_fresh",
    "concept": "log_odds",
    "category": "accuracy",
    "generation": "mean",
}
"""The metric of each kind of part that is drawn and sorted by; of other kinds, the first."""

_SORTED = ("operation", "concept")
_WORD = re.compile(r"[^\W\d_]{3,}")
_EMPTY_WORDS = frozenset(
    "and are for from has into its one other the that their this two with".split()
)


def success_curve(run: RunView) -> list[Point]:
    """The share of decided samples that were fooled within so many queries, from 0 queries on.

    With Wilson's interval at each step. Empty unless some sample says after how many it was.
    """
    n = len(run.decided)
    waits = Counter(
        record.queries_to_success
        for record in run.decided
        if record.status == "success" and record.queries_to_success is not None
    )
    last = max((record.queries for record in run.decided), default=0)
    if not waits or n < 2 or last < 2:
        return []
    points, fooled = [], 0
    for queries in sorted({0, *waits, last}):
        fooled += waits[queries]
        low, high = wilson(fooled, n) or (None, None)
        points.append(Point(queries, fooled / n, low, high))
    return points


def generations(run: RunView) -> list[Point]:
    """The share of each generation's candidates that fooled, mean over samples; from 1 on."""
    rates: dict[int, dict[str, list[float]]] = {}
    for record in run.decided:
        for i, generation in enumerate(items(record.found.get("generations")), start=1):
            if (rate := number(generation.get("fooled"))) is not None:
                rates.setdefault(i, {}).setdefault(record.group or record.id, []).append(rate)
    points = []
    for i, groups in sorted(rates.items()):
        pooled = [rate for group in groups.values() for rate in group]
        low, high = mean_interval(groups, _SEED) or (None, None)
        points.append(Point(i, sum(pooled) / len(pooled), low, high))
    return points if len(points) > 1 else []


def shifts(run: RunView) -> tuple[list[float], list[int], list[int]] | None:
    """(edges, fooled, held): samples by adversarial less original score, in bins of a round width.

    0 is an edge, so that no bin holds both samples that went up and ones that went down.
    """
    moved = [
        (record.score - record.clean_score, record.status == "success")
        for record in run.decided
        if record.score is not None and record.clean_score is not None
    ]
    values = np.array([move for move, _ in moved])
    if len(moved) < 2 or np.ptp(values) == 0:
        return None
    step = ticks(0.0, float(np.ptp(values)), 2 * BINS)[1]
    first, last = np.floor(values.min() / step), np.ceil(values.max() / step)
    edges = np.arange(first, max(last, first + 1) + 1) * step
    fooled, _ = np.histogram([move for move, ok in moved if ok], edges)
    held, _ = np.histogram([move for move, ok in moved if not ok], edges)
    return [float(e) for e in edges], [int(f) for f in fooled], [int(h) for h in held]


@dataclass(frozen=True, slots=True)
class PoseAxis:
    """One dimension of a pose, in equal bins.

    `found` is the share of the poses drawn from p* that lie in each bin (of the picked poses, if the
    run kept no distribution), `random` that of poses drawn at random, `fooled` how often these fooled.
    """

    name: str
    title: str
    edges: Sequence[float]
    found: Sequence[float]
    random: Sequence[float] | None
    fooled: Sequence[Rate] | None


def pose_axes(run: RunView) -> tuple[list[PoseAxis], bool]:
    """Each axis, and whether the poses are draws from p* (else: the picked ones). [] without poses."""
    drawn, chance = _drawn(run, "distribution"), _drawn(run, "random")
    is_star = bool(drawn)
    if not drawn:
        picked = [
            numbers([record.perturbation.get(name) for name, _ in AXES], len(AXES))
            for record in run.decided
        ]
        drawn = [pose for pose in picked if pose is not None]
    if not drawn:
        return [], False
    tried = _random_tries(run)
    axes = []
    for i, (name, title) in enumerate(AXES):
        mine = np.array([pose[i] for pose in drawn])
        others = np.array([pose[i] for pose in chance])
        known = np.concatenate([mine, others])
        low, high = float(known.min()), float(known.max())
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges = np.linspace(low, high, BINS + 1)
        fooled = None
        if tried:
            of = [[ok for pose, ok in tried if _bin(pose[i], edges) == b] for b in range(BINS)]
            fooled = [Rate.of(sum(one), len(one)) for one in of]
        axes.append(
            PoseAxis(
                name,
                title,
                [float(edge) for edge in edges],
                _shares(mine, edges),
                _shares(others, edges) if len(others) else None,
                fooled,
            )
        )
    return axes, is_star


def searches(run: RunView) -> list[tuple[Series, Series]]:
    """(best, mean) CAPTURE of each generation by evaluations spent, of every search of the run."""
    found = []
    # What is compared with the others comes first, and is drawn in the first colour.
    records = sorted(_search_records(run), key=lambda one: one.get("search") != "evolution")
    for i, record in enumerate(records):
        best: list[Point] = []
        mean: list[Point] = []
        for generation in items(record.get("generations")):
            spent = number(generation.get("evaluations"))
            for points, key in ((best, "best"), (mean, "mean")):
                value = number(generation.get(key))
                if spent is not None and value is not None:
                    points.append(Point(spent, value))
        if best or mean:
            name = str(record.get("search", "search"))
            look = "abcd"[i % 4]
            found.append((Series(name, look, best), Series(name, look, mean)))
    return found


@dataclass(frozen=True, slots=True)
class ConceptMap:
    """Captions as dots, near each other if they share words; `labels` are words at their captions."""

    dots: Sequence[Dot]
    labels: Sequence[tuple[float, float, str]]
    pool: int
    finals: int
    weak: int


def concept_map(run: RunView, blind_below: float = 0.3) -> ConceptMap | None:
    """Where the search ended among the captions that it began with; None if nothing was kept.

    The plane is that of the two first singular vectors of the captions' centred words (each counted
    once, rare words weigh more).
    """
    record = next(
        (one for one in _search_records(run) if one.get("search") == "evolution"),
        next(iter(_search_records(run)), None),
    )
    if record is None:
        return None
    pool_of = record.get("pool")
    kept = pool_of.get("captions") if isinstance(pool_of, dict) else None
    pool = [str(one[0]) for one in kept if isinstance(one, list) and one] if kept else []
    finals = items(record.get("finals"))
    texts = [*pool, *(str(final.get("text", "")) for final in finals)]
    words = [set(_words(text)) for text in texts]
    frequency = Counter(word for one in words for word in one)
    kept_words = sorted(word for word, count in frequency.items() if 2 <= count < len(texts))
    if not finals or len(kept_words) < 2 or len(texts) < 3:
        return None
    places = _plane(words, kept_words, frequency)
    dots = [
        Dot(x, y, "muted", text) for (x, y), text in zip(places[: len(pool)], pool, strict=True)
    ]
    weak = 0
    for (x, y), final in zip(places[len(pool) :], finals, strict=True):
        score = number(final.get("capture_fresh"))
        is_weak = score is not None and score < blind_below
        weak += is_weak
        shown = "not scored" if score is None else f"CAPTURE {score:.3f}"
        dots.append(Dot(x, y, "a" if is_weak else "b", f"{final.get('text', '')} ({shown})"))
    labels = []
    lifts = []
    for word in kept_words:
        at = [i for i in range(len(pool), len(texts)) if word in words[i]]
        before = sum(word in one for one in words[: len(pool)]) / max(len(pool), 1)
        lifts.append((len(at) / len(finals) - before, word, at))
    for lift, word, at in sorted(lifts, key=lambda one: (-one[0], one[1]))[:MAP_LABELS]:
        if lift > 0:
            x, y = np.mean([places[i] for i in at], axis=0)
            labels.append((float(x), float(y), word))
    return ConceptMap(dots, labels, len(pool), len(finals), weak)


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Parts of one kind: a line a name, a column a metric; `main` is the one that is drawn."""

    kind: str
    main: str
    metrics: Sequence[str]
    lines: Sequence[tuple[str, Mapping[str, Row]]]


def breakdowns(run: RunView) -> list[Breakdown]:
    """Everything that the table has by part."""
    found = []
    for kind, parts in run.parts().items():
        metrics = list(dict.fromkeys(metric for rows in parts.values() for metric in rows))
        main = _MAIN.get(kind, metrics[0])
        if main not in metrics:
            main = metrics[0]
        lines = list(parts.items())
        if kind in _SORTED:
            lines.sort(key=lambda line: -_value(line[1].get(main)))
        metrics.remove(main)
        found.append(Breakdown(kind, main, [main, *metrics], lines))
    return found


def _value(row: Row | None) -> float:
    return -np.inf if row is None or row.value is None else row.value


def _search_records(run: RunView) -> list[Mapping[str, Any]]:
    return [r.found for r in run.records.values() if "search" in r.found or "finals" in r.found]


def _drawn(run: RunView, condition: str) -> list[list[float]]:
    found = []
    for record in run.records.values():
        poses = record.found.get("poses")
        drawn = poses.get(condition) if isinstance(poses, dict) else None
        for pose in drawn if isinstance(drawn, list) else ():
            if (values := numbers(pose, len(AXES))) is not None:
                found.append(values)
    return found


def _random_tries(run: RunView) -> list[tuple[list[float], bool]]:
    """Random poses whose pictures were scored, and whether each fooled."""
    found = []
    for entry in run.trace:
        if entry.perturbation.get("condition") == "random":
            pose = numbers([entry.perturbation.get(name) for name, _ in AXES], len(AXES))
            if pose is not None:
                found.append((pose, entry.success))
    return found


def _bin(value: float, edges: np.ndarray[Any, Any]) -> int:
    return int(np.clip(np.searchsorted(edges, value, side="right") - 1, 0, BINS - 1))


def _shares(values: np.ndarray[Any, Any], edges: np.ndarray[Any, Any]) -> list[float]:
    counts, _ = np.histogram(values, bins=edges)
    return [float(count) / max(len(values), 1) for count in counts]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _EMPTY_WORDS]


def _plane(
    documents: Sequence[set[str]], words: Sequence[str], frequency: Mapping[str, int]
) -> list[tuple[float, float]]:
    """Each document's place, from 0 to 1 both ways."""
    n = len(documents)
    matrix = np.array(
        [[np.log(n / frequency[w]) if w in one else 0.0 for w in words] for one in documents]
    )
    matrix -= matrix.mean(axis=0)
    left, sizes, _ = np.linalg.svd(matrix, full_matrices=False)
    plane = left[:, :2] * sizes[:2]
    # A singular vector's sign is anybody's guess: fix it, so that the same run gives the same map.
    plane *= np.where(plane[np.abs(plane).argmax(axis=0), range(plane.shape[1])] < 0, -1, 1)
    span = np.ptp(plane, axis=0)
    plane = (plane - plane.min(axis=0)) / np.where(span == 0, 1, span)
    return [(float(x), float(y)) for x, y in plane]
