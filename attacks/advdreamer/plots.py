"""Two pictures of a run: ASR by generation, and by how far p* is widened (the paper's Fig. 6 A, B).

Both count a picture as the table does: fooled or not, whatever the target made of the clean picture. A
sample has one number for each point, the share of its pictures that fooled; the line is the mean over
samples, the band its 95 % interval by a bootstrap over images.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree as ET

from benchmark.stats import Interval, mean_interval
from benchmark.types import Record, Sample

_WIDTH, _HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 616, 88, 336
"""Of the frame, in user units of the picture."""

_CLEARANCE = 34
"""Between two numbers of the horizontal axis, at least."""

_LONGEST = 96
"""Characters of a line of the heading that fit."""

_SEED = 0

_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1c2330 }
.heading { font-size: 17px; font-weight: 600 }
.small { fill: #5b6474 }
.paper { fill: #ffffff }
.grid { stroke: #dfe3e9 }
.axis { stroke: #5b6474 }
.band { fill: #2563c9; fill-opacity: 0.2 }
.bar { stroke: #2563c9; stroke-opacity: 0.45; stroke-width: 5 }
.line { fill: none; stroke: #2563c9; stroke-width: 2 }
.dot { fill: #2563c9 }
@media (prefers-color-scheme: dark) {
text { fill: #e8ebf0 }
.small { fill: #a3adbd }
.paper { fill: #151a22 }
.grid { stroke: #2e3644 }
.axis { stroke: #a3adbd }
.band { fill: #7fb0ff; fill-opacity: 0.25 }
.bar { stroke: #7fb0ff }
.line { stroke: #7fb0ff }
.dot { fill: #7fb0ff }
}
"""

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Point:
    """Rates from 0 to 1 at `x`. `interval` is None if there are fewer than two images."""

    x: float
    mean: float
    interval: Interval | None
    images: int


@dataclass(frozen=True, slots=True)
class _Plot:
    """What a picture says beside its points; `by` is the short name of `axis`."""

    heading: str
    by: str
    axis: str
    ticks: Sequence[float]
    place: Callable[[float], float]


def generation_points(records: Iterable[Record]) -> list[Point]:
    """The share of each generation's poses that fooled; the first generation is 1.

    A search that its query budget ended early counts in the generations that it finished.
    """
    rates: dict[float, dict[str, list[float]]] = {}
    for record in _decided(records):
        history = cast("Sequence[Mapping[str, Any]]", record.found.get("generations") or ())
        for number, generation in enumerate(history, start=1):
            _add(rates, number, record, generation["fooled"])
    return _points(rates)


def scaling_points(records: Iterable[Record]) -> list[Point]:
    """The share of the draws that fooled, by the factor of p*'s covariance; p* itself is at 1.

    Nothing unless some sample was measured under a condition "distribution*R".
    """
    rates: dict[float, dict[str, list[float]]] = {}
    scaled = False
    for record in _decided(records):
        # "distribution" and "distribution*1" are the same distribution: their draws are pooled.
        counts: dict[float, tuple[int, int]] = {}
        for name, condition in record.conditions.items():
            base, star, ratio = name.partition("*")
            n = cast("int", condition["n"])
            if base != "distribution" or not n:
                continue
            factor = float(ratio or 1)
            if not math.isfinite(factor):
                continue
            scaled = scaled or bool(star)
            fooled, of = counts.get(factor, (0, 0))
            counts[factor] = fooled + cast("int", condition["fooled"]), of + n
        for factor, (fooled, of) in counts.items():
            _add(rates, factor, record, fooled / of)
    return _points(rates) if scaled else []


def write_generations(
    path: Path, title: str, records: Iterable[Record], samples: Iterable[Sample]
) -> bool:
    """Draw ASR by generation (Fig. 6A) to an SVG file; False, and no file, if there is none."""
    del samples
    points = generation_points(records)
    if not points:
        return False
    last = int(points[-1].x)
    heading, ticks = "Attack success rate by generation", range(1, last + 1)
    return _write(
        path, title, points, _Plot(heading, "generation", "generation", ticks, _linear(1, last))
    )


def write_scaling(
    path: Path, title: str, records: Iterable[Record], samples: Iterable[Sample]
) -> bool:
    """Draw ASR by the scaling of p*'s covariance (Fig. 6B); False, and no file, if none was measured.

    The axis is logarithmic, unless a factor is 0.
    """
    del samples
    points = scaling_points(records)
    if not points:
        return False
    factors = [point.x for point in points]
    axis, place = "covariance of p*, times", _linear(factors[0], factors[-1])
    if factors[0] > 0:
        axis, place = f"{axis} (log scale)", _logarithmic(factors[0], factors[-1])
    heading = "Attack success rate by scaling of the covariance"
    return _write(path, title, points, _Plot(heading, "covariance times", axis, factors, place))


def _decided(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if record.status in ("success", "failure")]


def _add(rates: dict[float, dict[str, list[float]]], x: float, record: Record, rate: float) -> None:
    rates.setdefault(x, {}).setdefault(record.group or record.id, []).append(rate)


def _points(rates: Mapping[float, Mapping[str, Sequence[float]]]) -> list[Point]:
    points = []
    for x, groups in sorted(rates.items()):
        pooled = [rate for group in groups.values() for rate in group]
        mean = sum(pooled) / len(pooled)
        points.append(Point(x, mean, mean_interval(groups, _SEED), len(groups)))
    return points


def _linear(low: float, high: float) -> Callable[[float], float]:
    """From low..high to the width of the frame; a lone value is put in the middle."""
    # Dots on the frame's edge would be cut in two by its line.
    left, right = _LEFT + 20, _RIGHT - 20
    if low == high:
        return lambda x: (left + right) / 2
    return lambda x: left + (right - left) * (x - low) / (high - low)


def _logarithmic(low: float, high: float) -> Callable[[float], float]:
    place = _linear(math.log(low), math.log(high))
    return lambda x: place(math.log(x))


def _height(rate: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * rate


def _write(path: Path, title: str, points: Sequence[Point], plot: _Plot) -> bool:
    text = ET.tostring(_svg(title, points, plot), encoding="unicode")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", "utf-8")
    return True


def _svg(title: str, points: Sequence[Point], plot: _Plot) -> ET.Element:
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {_WIDTH} {_HEIGHT}",
            "width": str(_WIDTH),
            "height": str(_HEIGHT),
            "role": "img",
            "aria-labelledby": "title desc",
        },
    )
    _element(svg, "title", f"{plot.heading}: {title}", id="title")
    said = "; ".join(_said(plot, point) for point in points)
    _element(
        svg, "desc", f"Means with 95 % intervals, by a bootstrap over images. {said}.", id="desc"
    )
    _element(svg, "style", _STYLE)
    _element(svg, "rect", class_="paper", width=_WIDTH, height=_HEIGHT)
    _element(svg, "text", plot.heading, class_="heading", x=24, y=32)
    _element(svg, "text", _shortened(title), class_="small", x=24, y=52)
    _legend(svg, points)
    _axes(svg, plot)
    _curve(svg, points, plot)
    return svg


def _legend(svg: ET.Element, points: Sequence[Point]) -> None:
    images = sorted({point.images for point in points})
    count = f"{images[0]} to {images[-1]}" if len(images) > 1 else f"{images[0]}"
    noun = "image" if images[-1] == 1 else "images"
    y = 72
    _element(svg, "line", class_="line", x1=_LEFT, y1=y - 4, x2=_LEFT + 24, y2=y - 4)
    _element(svg, "text", f"mean of {count} {noun}", x=_LEFT + 32, y=y)
    if any(point.interval for point in points):
        _element(svg, "rect", class_="band", x=_LEFT + 200, y=y - 10, width=24, height=12)
        _element(svg, "text", "95 % interval", x=_LEFT + 232, y=y)


def _axes(svg: ET.Element, plot: _Plot) -> None:
    for percent in range(0, 101, 20):
        y = _height(percent / 100)
        _element(svg, "line", class_="grid", x1=_LEFT, y1=y, x2=_RIGHT, y2=y)
        _element(svg, "text", f"{percent}", anchor="end", x=_LEFT - 8, y=y + 4)
    _element(svg, "line", class_="axis", x1=_LEFT, y1=_TOP, x2=_LEFT, y2=_BOTTOM)
    _element(svg, "line", class_="axis", x1=_LEFT, y1=_BOTTOM, x2=_RIGHT, y2=_BOTTOM)
    taken = -math.inf
    for tick in plot.ticks:
        x = plot.place(tick)
        if x - taken >= _CLEARANCE:
            taken = x
            _element(svg, "line", class_="axis", x1=x, y1=_BOTTOM, x2=x, y2=_BOTTOM + 5)
            _element(svg, "text", f"{tick:g}", anchor="middle", x=x, y=_BOTTOM + 20)
    middle = (_TOP + _BOTTOM) / 2
    _element(svg, "text", plot.axis, anchor="middle", x=(_LEFT + _RIGHT) / 2, y=_BOTTOM + 44)
    turned = _element(svg, "text", "attack success rate (%)", anchor="middle", x=26, y=middle)
    turned.set("transform", f"rotate(-90 26 {_number(middle)})")


def _curve(svg: ET.Element, points: Sequence[Point], plot: _Plot) -> None:
    for known, run in groupby(points, key=lambda point: point.interval is not None):
        if known:
            _band(svg, [(plot.place(point.x), cast("Interval", point.interval)) for point in run])
    places = [(plot.place(point.x), _height(point.mean)) for point in points]
    _element(svg, "polyline", class_="line", points=_coordinates(places))
    for (x, y), point in zip(places, points, strict=True):
        dot = _element(svg, "circle", class_="dot", cx=x, cy=y, r=3.5)
        _element(dot, "title", _said(plot, point))


def _band(svg: ET.Element, bounds: Sequence[tuple[float, Interval]]) -> None:
    if len(bounds) == 1:
        ((x, one),) = bounds
        _element(svg, "line", class_="bar", x1=x, y1=_height(one.high), x2=x, y2=_height(one.low))
        return
    upper = [(x, _height(interval.high)) for x, interval in bounds]
    lower = [(x, _height(interval.low)) for x, interval in reversed(bounds)]
    _element(svg, "polygon", class_="band", points=_coordinates(upper + lower))


def _said(plot: _Plot, point: Point) -> str:
    """One point in words."""
    images = "1 image" if point.images == 1 else f"{point.images} images"
    spread = "no interval"
    if point.interval is not None:
        spread = f"{100 * point.interval.low:.1f} to {100 * point.interval.high:.1f} %"
    return f"{plot.by} {point.x:g}: {100 * point.mean:.1f} % ({spread}, {images})"


def _element(
    parent: ET.Element,
    tag: str,
    text: str | None = None,
    *,
    class_: str | None = None,
    anchor: str | None = None,
    **attributes: float | str,
) -> ET.Element:
    given: dict[str, float | str | None] = {"class": class_, "text-anchor": anchor, **attributes}
    element = ET.SubElement(
        parent,
        tag,
        {
            key: value if isinstance(value, str) else _number(value)
            for key, value in given.items()
            if value is not None
        },
    )
    # The serialiser escapes markup, but lets through what no XML file may hold.
    element.text = None if text is None else _NOT_XML.sub("\ufffd", text)
    return element


def _coordinates(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in places)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
