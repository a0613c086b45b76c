"""Vector pictures, small and readable in light and dark: elements, an axis, a file."""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

COLOURS = {
    "evolution": ("#2563c9", "#7fb0ff"),
    "random_search": ("#c2570c", "#fdab62"),
    "lance": ("#0b7a4b", "#58c795"),
    "nl_adv": ("#8b3fb8", "#cf9bee"),
}
"""Search -> its colour on white, and on black. Searches of other names take what is left, in turn."""

_STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1c2330 }
.heading { font-size: 17px; font-weight: 600 }
.small { fill: #5b6474 }
.word { font-size: 13px; font-weight: 600; paint-order: stroke; stroke: #ffffff; stroke-width: 4px }
.paper { fill: #ffffff }
.grid { stroke: #dfe3e9 }
.axis { stroke: #5b6474 }
.usual { fill: #b9c1cd; stroke: #8b95a5 }
.dashed { stroke: #5b6474; stroke-dasharray: 6 4; fill: none }
.line { fill: none; stroke-width: 2 }
.faint { fill: none; stroke-width: 1.2; stroke-opacity: 0.45; stroke-dasharray: 2 3 }
.whisker { stroke: #1c2330; stroke-width: 1.3 }
"""
_DARK = """
text { fill: #e8ebf0 }
.small { fill: #a3adbd }
.word { stroke: #151a22 }
.paper { fill: #151a22 }
.grid { stroke: #2e3644 }
.axis { stroke: #a3adbd }
.usual { fill: #4a5465; stroke: #6b7686 }
.dashed { stroke: #a3adbd }
.whisker { stroke: #e8ebf0 }
"""
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Picture:
    """An SVG file in the making.

    Args:
        size: Width and height, in user units.
        title: The heading.
        subtitle: A line below it.
        said: What it shows, for those who cannot see it.
        searches: The searches that colours are needed for: class "fill-N" and "stroke-N" of the N-th.
    """

    def __init__(
        self,
        size: tuple[int, int],
        title: str,
        subtitle: str,
        said: str,
        searches: Sequence[str] = ("evolution",),
    ) -> None:
        width, height = size
        self.root = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {width} {height}",
                "width": str(width),
                "height": str(height),
                "role": "img",
                "aria-labelledby": "title desc",
            },
        )
        self.add("title", f"{title}: {subtitle}", id="title")
        self.add("desc", said, id="desc")
        light, dark = _coloured(searches)
        style = f"{_STYLE}{light}@media (prefers-color-scheme: dark) {{{_DARK}{dark}}}\n"
        self.add("style", style)
        self.add("rect", class_="paper", width=width, height=height)
        self.add("text", title, class_="heading", x=24, y=32)
        self.add("text", shortened(subtitle, (width - 48) // 6), class_="small", x=24, y=52)

    def add(
        self,
        tag: str,
        text: str | None = None,
        *,
        class_: str | None = None,
        anchor: str | None = None,
        inside: ET.Element | None = None,
        **attributes: float | str,
    ) -> ET.Element:
        """Add an element, to the picture or inside another one."""
        given = {"class": class_, "text-anchor": anchor, **attributes}
        element = ET.SubElement(
            self.root if inside is None else inside,
            tag,
            {
                key: value if isinstance(value, str) else number(value)
                for key, value in given.items()
                if value is not None
            },
        )
        # The serialiser escapes markup, but lets through what no XML file may hold.
        element.text = None if text is None else _NOT_XML.sub("\ufffd", text)
        return element

    def hint(self, element: ET.Element, text: str) -> None:
        """What is shown where the pointer rests on an element."""
        self.add("title", text, inside=element)

    def line(self, x1: float, y1: float, x2: float, y2: float, class_: str) -> ET.Element:
        """A straight line."""
        return self.add("line", class_=class_, x1=x1, y1=y1, x2=x2, y2=y2)

    def turned(self, text: str, x: float, y: float) -> None:
        """A text that reads upwards, around its middle."""
        element = self.add("text", text, anchor="middle", x=x, y=y)
        element.set("transform", f"rotate(-90 {number(x)} {number(y)})")

    def write(self, path: Path) -> None:
        """Write the file, and the folder that it is in."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ET.tostring(self.root, encoding="unicode") + "\n", "utf-8")


def number(value: float) -> str:
    """A number in as few digits as a picture needs."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def shortened(text: str, longest: int) -> str:
    """A text, cut where it would not fit."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def nice_steps(high: float, most: int = 6) -> list[float]:
    """Round numbers from 0 up to `high` or the next one above, at most `most` steps.

    >>> nice_steps(0.62)
    [0.0, 0.2, 0.4, 0.6, 0.8]
    """
    if high <= 0:
        return [0.0, 1.0]
    scale = 10.0
    while scale > high:
        scale /= 10
    while scale * 10 <= high:
        scale *= 10
    step = next(
        s * scale for s in (0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5) if high / (s * scale) <= most
    )
    steps = [0.0]
    while steps[-1] < high - 1e-9:
        steps.append(round(len(steps) * step, 10))
    return steps


def _coloured(searches: Sequence[str]) -> tuple[str, str]:
    spare = [pair for name, pair in COLOURS.items() if name not in searches] or list(
        COLOURS.values()
    )
    light, dark = "", ""
    for n, name in enumerate(searches):
        on_white, on_black = COLOURS.get(name, spare[n % len(spare)])
        light += f".fill-{n} {{ fill: {on_white} }}\n.stroke-{n} {{ stroke: {on_white} }}\n"
        dark += f".fill-{n} {{ fill: {on_black} }}\n.stroke-{n} {{ stroke: {on_black} }}\n"
    return light, dark
