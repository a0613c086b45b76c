"""Charts as inline SVG: each says its numbers in <title> and <desc>, colours come from the style sheet.

User units are chosen so that a chart is readable at the width of a phone: 12 units of text in 440.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmark.report.markup import Child, Markup, el, number

WIDTH, HEIGHT = 440, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 428, 14, 214
SMALL_WIDTH, SMALL_HEIGHT = 180, 128


@dataclass(frozen=True, slots=True)
class Point:
    """`low` and `high` bound an interval, None where there is none."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points joined in their order. `look` is a class of the style sheet: "a", "b", "c", "d"."""

    name: str
    look: str
    points: Sequence[Point]
    steps: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """A linear axis; `form` writes a tick."""

    title: str
    low: float
    high: float
    ticks: Sequence[float]
    form: Callable[[float], str] = lambda value: f"{value:g}"


def svg(
    key: str, title: str, description: str, width: float, height: float, *children: Child
) -> Markup:
    """A drawing with its name and its numbers in words."""
    return el(
        "svg",
        el("title", title, id=f"{key}-title"),
        el("desc", description, id=f"{key}-desc"),
        *children,
        class_="chart",
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
    )


def lines(key: str, title: str, said: str, series: Sequence[Series], x: Axis, y: Axis) -> Markup:
    """Lines with bands. Two or more have a legend of their own beside the chart."""

    def across(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * (value - x.low) / ((x.high - x.low) or 1)

    def up(value: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * (value - y.low) / ((y.high - y.low) or 1)

    parts: list[Markup] = []
    for tick in y.ticks:
        place = up(tick)
        parts.append(el("line", class_="grid", x1=_LEFT, x2=_RIGHT, y1=place, y2=place))
        parts.append(el("text", y.form(tick), class_="tick end", x=_LEFT - 7, y=number(place + 4)))
    for tick in x.ticks:
        place = across(tick)
        parts.append(el("line", class_="axis", x1=place, x2=place, y1=_BOTTOM, y2=_BOTTOM + 4))
        parts.append(el("text", x.form(tick), class_="tick middle", x=place, y=_BOTTOM + 18))
    parts.append(el("line", class_="axis", x1=_LEFT, x2=_RIGHT, y1=_BOTTOM, y2=_BOTTOM))
    parts.append(el("text", x.title, class_="label end", x=_RIGHT, y=_BOTTOM + 38))
    for one in series:
        drawn = _stepped(one.points) if one.steps else list(one.points)
        bounded = [p for p in drawn if p.low is not None and p.high is not None]
        if len(bounded) > 1:
            edge = [(across(p.x), up(p.high or 0)) for p in bounded]
            edge += [(across(p.x), up(p.low or 0)) for p in reversed(bounded)]
            parts.append(el("polygon", class_=f"band {one.look}", points=_path(edge)))
    for one in series:
        drawn = _stepped(one.points) if one.steps else list(one.points)
        places = [(across(p.x), up(p.y)) for p in drawn]
        parts.append(el("polyline", class_=f"line {one.look}", points=_path(places)))
        if not one.steps:
            for p in one.points:
                dot = el("title", f"{one.name}: {x.form(p.x)}, {y.form(p.y)}")
                parts.append(
                    el("circle", dot, class_=f"dot {one.look}", cx=across(p.x), cy=up(p.y), r=2.6)
                )
    return svg(key, title, said, WIDTH, HEIGHT, *parts)


def histogram(
    key: str,
    title: str,
    said: str,
    edges: Sequence[float],
    filled: Sequence[float],
    outline: Sequence[float] | None,
    *,
    look: str = "a",
    top: float | None = None,
    caption: str = "",
) -> Markup:
    """A small chart of bars, heights as shares; `outline` is drawn as steps above them."""
    left, right, floor, roof = 8, SMALL_WIDTH - 8, SMALL_HEIGHT - 24, 22
    peak = top or max([*filled, *(outline or ()), 1e-9])
    width = (right - left) / len(filled)

    def up(value: float) -> float:
        return floor - (floor - roof) * value / peak

    parts = [el("text", caption or title, class_="small-title", x=left, y=13)]
    for i, value in enumerate(filled):
        name = el("title", f"{edges[i]:.3g} to {edges[i + 1]:.3g}: {100 * value:.0f} %")
        parts.append(
            el(
                "rect",
                name,
                class_=f"bar {look}",
                x=number(left + i * width + 1),
                y=number(up(value)),
                width=number(width - 2),
                height=number(floor - up(value)),
            )
        )
    if outline is not None:
        places = []
        for i, value in enumerate(outline):
            places += [(left + i * width, up(value)), (left + (i + 1) * width, up(value))]
        parts.append(el("polyline", class_="line outline", points=_path(places)))
    parts.append(el("line", class_="axis", x1=left, x2=right, y1=floor, y2=floor))
    parts += [
        el("text", f"{edges[0]:.3g}", class_="tick", x=left, y=floor + 15),
        el("text", f"{edges[-1]:.3g}", class_="tick end", x=right, y=floor + 15),
    ]
    return svg(key, title, said, SMALL_WIDTH, SMALL_HEIGHT, *parts)


def stacked(
    key: str,
    title: str,
    said: str,
    edges: Sequence[float],
    layers: Sequence[tuple[str, str, Sequence[int]]],
    across: str,
) -> Markup:
    """Counts of several kinds, (name, look, counts), on top of each other; a line at 0."""
    peak = max(map(sum, zip(*(counts for _, _, counts in layers), strict=True)))
    low, high = edges[0], edges[-1]

    def place(value: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * (value - low) / (high - low)

    def up(value: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * value / peak

    parts: list[Markup] = []
    for tick in ticks(0, peak, 5):
        if tick == int(tick):
            y = up(tick)
            parts.append(el("line", class_="grid", x1=_LEFT, x2=_RIGHT, y1=y, y2=y))
            parts.append(el("text", f"{tick:.0f}", class_="tick end", x=_LEFT - 7, y=number(y + 4)))
    heights = [0] * (len(edges) - 1)
    for name, look, counts in layers:
        for i, count in enumerate(counts):
            if count:
                x, right = place(edges[i]) + 1, place(edges[i + 1]) - 1
                top = up(heights[i] + count)
                heights[i] += count
                parts.append(
                    el(
                        "rect",
                        el("title", f"{edges[i]:.3f} to {edges[i + 1]:.3f}: {count} {name}"),
                        class_=f"bar {look}",
                        x=x,
                        y=top,
                        width=right - x,
                        height=up(heights[i] - count) - top,
                    )
                )
    if low < 0 < high:
        parts.append(el("line", class_="zero", x1=place(0), x2=place(0), y1=_TOP, y2=_BOTTOM))
    parts.append(el("line", class_="axis", x1=_LEFT, x2=_RIGHT, y1=_BOTTOM, y2=_BOTTOM))
    for tick in ticks(low, high):
        parts.append(el("text", f"{tick:g}", class_="tick middle", x=place(tick), y=_BOTTOM + 18))
    parts.append(el("text", across, class_="label end", x=_RIGHT, y=_BOTTOM + 38))
    return svg(key, title, said, WIDTH, HEIGHT, *parts)


@dataclass(frozen=True, slots=True)
class Dot:
    """One place of a map, from 0 to 1 both ways."""

    x: float
    y: float
    look: str
    said: str


def scatter(
    key: str,
    title: str,
    said: str,
    dots: Sequence[Dot],
    labels: Sequence[tuple[float, float, str]],
) -> Markup:
    """A map without axes: only nearness means something."""
    left, right, top, bottom = 16, WIDTH - 16, 16, HEIGHT + 84

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (right - left) * x, bottom - (bottom - top) * y

    parts: list[Markup] = []
    for dot in dots:
        cx, cy = place(dot.x, dot.y)
        radius = 4.2 if dot.look != "muted" else 2.6
        parts.append(
            el("circle", el("title", dot.said), class_=f"dot {dot.look}", cx=cx, cy=cy, r=radius)
        )
    taken: list[tuple[float, float, float]] = []
    for x, y, word in labels:
        cx, cy = place(x, y)
        half = 3.6 * len(word)
        cx = min(max(cx, left + half), right - half)
        while any(abs(cy - other) < 13 and abs(cx - at) < half + wide for at, other, wide in taken):
            cy += 13
        if cy <= bottom:
            taken.append((cx, cy, half))
            parts.append(el("text", word, class_="map-label middle", x=cx, y=cy))
    return svg(key, title, said, WIDTH, HEIGHT + 100, *parts)


def intervals(
    marks: Sequence[Sequence[float | None]], low: float, high: float, looks: str = "ab"
) -> Markup:
    """A row's numbers as dots on one scale, each with its interval: (value, low, high) a mark.

    For a table that prints the same numbers beside it, so that it says nothing to a screen reader.
    """
    span = (high - low) or 1

    def across(value: float) -> str:
        return number(4 + 112 * (min(max(value, low), high) - low) / span)

    middle = 8 if len(marks) == 1 else 5
    parts = [el("line", class_="rail", x1=4, x2=116, y1=8, y2=8)]
    if low < 0 < high:
        parts.append(el("line", class_="zero", x1=across(0), x2=across(0), y1=1, y2=15))
    for look, (value, below, above) in zip(looks, marks, strict=False):
        if value is None:
            continue
        if below is not None and above is not None:
            parts.append(
                el(
                    "line",
                    class_=f"whisker {look}",
                    x1=across(below),
                    x2=across(above),
                    y1=middle,
                    y2=middle,
                )
            )
        parts.append(el("circle", class_=f"dot {look}", cx=across(value), cy=middle, r=3.4))
        middle += 6
    return el(
        "svg",
        *parts,
        class_="interval",
        viewBox="0 0 120 16",
        preserveAspectRatio="xMinYMid meet",
        aria_hidden="true",
        focusable="false",
    )


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers from `low` to `high`."""
    span = (high - low) or 1.0
    for step in (s * 10.0**e for e in range(-6, 12) for s in (1, 2, 5)):
        if span / step < most:
            break
    first = -(-low // step) * step
    found = []
    while first <= high + step / 1e6:
        found.append(round(first, 9) + 0.0)
        first += step
    return found


def _stepped(points: Sequence[Point]) -> list[Point]:
    """The points of a line that keeps its height up to the next point."""
    drawn: list[Point] = []
    for point in points:
        if drawn:
            last = drawn[-1]
            drawn.append(Point(point.x, last.y, last.low, last.high))
        drawn.append(point)
    return drawn


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in places)
