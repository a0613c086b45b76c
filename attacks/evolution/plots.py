"""Two pictures of a run: what evolution's final captions name, and how far each search came.

Numbers are those of the run's table, which is read from beside the pictures' folder.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, cast

from attacks.evolution.svg import Picture, nice_steps, shortened
from benchmark.tables import Row, read_csv
from benchmark.types import Record, Sample

Parts = Mapping[str, Mapping[str, Row]]
"""Part of the table -> metric -> row."""

_CURVE = (760, 440)
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 560, 76, 380
"""Of the curve's frame; names stand to its right."""

_ROW = 38
_SHARES = (128, 420)
_ODDS = (476, 716)
"""Left and right edge of the two panels of the concept plot."""

_TITLES = {
    "evolution": "evolution",
    "random_search": "random search",
    "lance": "LANCE",
    "nl_adv": "NL-adv",
}


@dataclass(frozen=True, slots=True)
class Curve:
    """How a search went: (evaluations, mean, best) by round, over its repeats."""

    name: str
    rows: Sequence[tuple[float, float, float]]


def title_of(search: str) -> str:
    """How people call a search."""
    return _TITLES.get(search, search.replace("_", " "))


def found_by_search(records: Iterable[Record]) -> dict[str, list[Mapping[str, Any]]]:
    """What the repeats of each search found, in the order in which people read of them."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        one = cast("Mapping[str, Any]", record.found)
        if record.status in ("success", "failure") and one.get("finals"):
            found.setdefault(str(one["search"]), []).append(one)
    return {name: found[name] for name in in_order(found)}


def in_order(searches: Iterable[str]) -> list[str]:
    """Evolution first, then its baselines, then others as they come."""
    order = list(_TITLES)
    return sorted(searches, key=lambda name: order.index(name) if name in order else len(order))


def table_of(path: Path, kind: str) -> dict[str, dict[str, Row]]:
    """The parts of a kind ("concept") in the table of the run that a picture belongs to."""
    table = path.parent.parent / "table.csv"
    parts: dict[str, dict[str, Row]] = {}
    for row in read_csv(table) if table.is_file() else ():
        of, _, name = row.slice.partition("=")
        if of == kind:
            parts.setdefault(name, {})[row.metric] = row
    return parts


def curves(records: Iterable[Record]) -> list[Curve]:
    """The mean course of each search; repeats that ended early count as long as they went on."""
    found = []
    for name, repeats in found_by_search(records).items():
        by_round: dict[int, list[Mapping[str, Any]]] = {}
        for one in repeats:
            for number, row in enumerate(one.get("generations", ())):
                if row["mean"] is not None:
                    by_round.setdefault(number, []).append(row)
        rows = [
            (
                fmean(row["evaluations"] for row in rows),
                fmean(row["mean"] for row in rows),
                fmean(row["best"] for row in rows),
            )
            for _, rows in sorted(by_round.items())
        ]
        if rows:
            found.append(Curve(name, rows))
    return found


def write_concepts(
    path: Path, title: str, records: Iterable[Record], samples: Iterable[Sample]
) -> bool:
    """Draw how often the final captions name each concept, beside the initial ones; False if none."""
    del samples
    parts = table_of(path, "concept")
    if not parts:
        return False
    names = list(found_by_search(records))
    search = title_of("evolution" if "evolution" in names or not names else names[0])
    said = "; ".join(
        f"{name}: {_percent(rows, 'document_frequency')} of the final captions,"
        f" {_percent(rows, 'pool_frequency')} of the initial ones"
        for name, rows in parts.items()
    )
    bottom = 112 + _ROW * len(parts)
    heading = f"What the final captions of {search} name"
    picture = Picture((740, bottom + 48), heading, title, f"{said}.")
    _concept_axes(picture, parts, bottom)
    for number, (name, rows) in enumerate(parts.items()):
        _concept(picture, 112 + _ROW * number, name, rows, _odds_range(parts))
    picture.write(path)
    return True


def write_curve(
    path: Path, title: str, records: Iterable[Record], samples: Iterable[Sample]
) -> bool:
    """Draw CAPTURE by evaluations of each search, and its fresh CAPTURE in the end; False if none."""
    del samples
    drawn = curves(records)
    if not drawn:
        return False
    table = table_of(path, "search")
    highest = max(mean for curve in drawn for _, mean, _ in curve.rows)
    ends = [one for rows in table.values() for one in _fresh(rows) if one is not None]
    ticks = nice_steps(max([highest, *ends]))
    longest = max(curve.rows[-1][0] for curve in drawn)
    across = nice_steps(longest)
    said = "; ".join(
        f"{title_of(curve.name)}: mean of those kept {curve.rows[-1][1]:.3f} after"
        f" {curve.rows[-1][0]:.0f} evaluations"
        + (
            ""
            if (fresh := _fresh(table.get(curve.name, {}))[0]) is None
            else f", fresh {fresh:.3f}"
        )
        for curve in drawn
    )
    picture = Picture(
        _CURVE, "CAPTURE by evaluations", title, f"{said}.", [curve.name for curve in drawn]
    )

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            _LEFT + (_RIGHT - 40 - _LEFT) * x / across[-1],
            _BOTTOM - (_BOTTOM - _TOP) * y / ticks[-1],
        )

    for tick in ticks:
        _, y = place(0, tick)
        picture.line(_LEFT, y, _RIGHT, y, "grid")
        picture.add("text", f"{tick:.2g}", anchor="end", x=_LEFT - 8, y=y + 4)
    picture.line(_LEFT, _TOP, _LEFT, _BOTTOM, "axis")
    picture.line(_LEFT, _BOTTOM, _RIGHT, _BOTTOM, "axis")
    for tick in across:
        x, _ = place(tick, 0)
        picture.line(x, _BOTTOM, x, _BOTTOM + 5, "axis")
        picture.add("text", f"{tick:g}", anchor="middle", x=x, y=_BOTTOM + 20)
    picture.add("text", "evaluations", anchor="middle", x=(_LEFT + _RIGHT) / 2, y=_BOTTOM + 44)
    picture.turned("CAPTURE of the captions kept", 22, (_TOP + _BOTTOM) / 2)
    for number, curve in enumerate(drawn):
        _course(picture, number, [place(x, mean) for x, mean, _ in curve.rows])
    for number, curve in enumerate(drawn):
        _ending(picture, number, len(drawn), table.get(curve.name, {}), place)
    _names(picture, drawn, table)
    picture.write(path)
    return True


def _concept_axes(picture: Picture, parts: Parts, bottom: float) -> None:
    left, right = _SHARES
    for percent in (0, 25, 50, 75, 100):
        x = left + (right - left) * percent / 100
        picture.line(x, 104, x, bottom, "grid")
        picture.add("text", f"{percent}", anchor="middle", x=x, y=bottom + 18)
    picture.add(
        "text", "captions that name it (%)", anchor="middle", x=(left + right) / 2, y=bottom + 38
    )
    picture.add("rect", class_="fill-0", x=left, y=76, width=22, height=9)
    picture.add("text", f"final ({_n(parts, 'document_frequency')})", x=left + 28, y=85)
    picture.add("rect", class_="usual", x=left + 120, y=76, width=22, height=9)
    picture.add("text", f"initial ({_n(parts, 'pool_frequency')})", x=left + 148, y=85)
    low, high = _odds_range(parts)
    left, right = _ODDS
    for tick in range(int(low), int(high) + 1):
        x = left + (right - left) * (tick - low) / (high - low)
        picture.line(x, 104, x, bottom, "axis" if tick == 0 else "grid")
        picture.add("text", f"{tick:+d}" if tick else "0", anchor="middle", x=x, y=bottom + 18)
    picture.add(
        "text", "log-odds against the initial", anchor="middle", x=(left + right) / 2, y=bottom + 38
    )


def _concept(
    picture: Picture, y: float, name: str, rows: Mapping[str, Row], odds: tuple[float, float]
) -> None:
    left, right = _SHARES
    picture.add("text", shortened(name, 16), anchor="end", x=left - 10, y=y + 19)
    for metric, class_, top in (
        ("document_frequency", "fill-0", 4),
        ("pool_frequency", "usual", 18),
    ):
        row = rows.get(metric)
        if row is None or row.value is None:
            continue
        width = (right - left) * row.value
        bar = picture.add("rect", class_=class_, x=left, y=y + top, width=width, height=11)
        picture.hint(bar, f"{name}: {row.value:.1%} of {row.n}")
        if row.ci_low is not None and row.ci_high is not None and metric == "document_frequency":
            ends = (left + (right - left) * row.ci_low, left + (right - left) * row.ci_high)
            picture.line(ends[0], y + top + 5.5, ends[1], y + top + 5.5, "whisker")
    row = rows.get("log_odds")
    if row is None or row.value is None:
        return
    low, high = odds
    left, right = _ODDS

    def across(value: float) -> float:
        return left + (right - left) * (min(max(value, low), high) - low) / (high - low)

    if row.ci_low is not None and row.ci_high is not None:
        picture.line(across(row.ci_low), y + 16, across(row.ci_high), y + 16, "whisker")
    dot = picture.add("circle", class_="fill-0", cx=across(row.value), cy=y + 16, r=5)
    picture.hint(dot, f"{name}: {row.value:+.2f}")


def _odds_range(parts: Parts) -> tuple[float, float]:
    """Whole numbers that all log-odds and their intervals lie between."""
    values = [
        value
        for rows in parts.values()
        if (row := rows.get("log_odds")) is not None
        for value in (row.value, row.ci_low, row.ci_high)
        if value is not None
    ]
    return float(min(-1, *(int(value - 1) for value in values))), float(
        max(1, *(int(value + 1) for value in values))
    )


def _course(picture: Picture, number: int, places: Sequence[tuple[float, float]]) -> None:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    picture.add("polyline", class_=f"line stroke-{number}", points=points)
    if len(places) <= 12:
        for x, y in places:
            picture.add("circle", class_=f"fill-{number}", cx=x, cy=y, r=3)


def _ending(picture: Picture, number: int, of: int, rows: Mapping[str, Row], place: Any) -> None:
    """The fresh CAPTURE as a diamond with its interval, beside the curves' ends."""
    fresh, low, high = _fresh(rows)
    if fresh is None:
        return
    x = _RIGHT - 38 + (number + 0.5) * 36 / of
    _, y = place(0, fresh)
    if low is not None and high is not None:
        picture.line(x, place(0, low)[1], x, place(0, high)[1], f"line stroke-{number}")
    points = f"{x:.1f},{y - 6:.1f} {x + 5:.1f},{y:.1f} {x:.1f},{y + 6:.1f} {x - 5:.1f},{y:.1f}"
    diamond = picture.add("polygon", class_=f"fill-{number}", points=points)
    picture.hint(diamond, f"fresh CAPTURE {fresh:.3f}")


def _names(picture: Picture, drawn: Sequence[Curve], table: Parts) -> None:
    x, y = _RIGHT + 26, _TOP + 8
    for number, curve in enumerate(drawn):
        rows = table.get(curve.name, {})
        picture.add("rect", class_=f"fill-{number}", x=x, y=y - 9, width=14, height=4)
        picture.add("text", title_of(curve.name), x=x + 20, y=y)
        fresh, low, high = _fresh(rows)
        if fresh is not None:
            spread = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
            picture.add("text", f"fresh {fresh:.3f}{spread}", class_="small", x=x + 20, y=y + 17)
        y += 46
    y += 6
    for text in (
        "lines: captions kept,",
        "by what they are ranked by",
        "◆ on fresh pictures,",
        "95 % interval",
    ):
        picture.add("text", text, class_="small", x=x, y=y)
        y += 16


def _fresh(rows: Mapping[str, Row]) -> tuple[float | None, float | None, float | None]:
    row = rows.get("capture_fresh")
    return (None, None, None) if row is None else (row.value, row.ci_low, row.ci_high)


def _percent(rows: Mapping[str, Row], metric: str) -> str:
    row = rows.get(metric)
    return "?" if row is None or row.value is None else f"{row.value:.0%}"


def _n(parts: Parts, metric: str) -> int:
    return max((rows[metric].n for rows in parts.values() if metric in rows), default=0)
