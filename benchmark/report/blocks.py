"""What the parts of the page are made of: sections, tables, numbers as people read them."""

from collections.abc import Sequence

from benchmark.report.charts import Series
from benchmark.report.markup import Child, Markup, el, isolated
from benchmark.stats import Interval
from benchmark.tables import Row

MISSING = "-"

_SCALES = ("rate", "score", "cosine", "nats", "r")
"""Units in which even a whole number is a measurement; in others it is a count."""


def section(key: str, title: str, *children: Child, lead: Child = None) -> Markup:
    """A part of the page with its heading."""
    intro = el("p", lead, class_="lead") if lead else None
    return el("section", el("h2", title), intro, *children, id=key)


def table(
    head: Sequence[Child], body: Sequence[Sequence[Child]], caption: str, *, words: int = 1
) -> Markup:
    """A table that scrolls by itself where the page is narrow; after `words` columns come numbers."""
    titles = [
        el("th", cell, scope="col", class_=None if i < words else "n")
        for i, cell in enumerate(head)
    ]
    rows = [
        el(
            "tr",
            el("th", line[0], scope="row"),
            [
                el("td", cell, class_=None if i < words else "n")
                for i, cell in enumerate(line[1:], start=1)
            ],
        )
        for line in body
    ]
    return el(
        "div",
        el(
            "table",
            el("caption", caption, class_="unseen"),
            el("thead", el("tr", titles)),
            el("tbody", rows),
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def numbers_of(
    head: Sequence[Child], body: Sequence[Sequence[Child]], caption: str, *, words: int = 1
) -> Markup:
    """The numbers of a chart, folded."""
    return el(
        "details", el("summary", "Numbers"), table(head, body, caption, words=words), class_="data"
    )


def percent(value: float | None, digits: int = 1) -> str:
    """A share as per cent."""
    return MISSING if value is None else f"{100 * value:.{digits}f} %"


def bounds(interval: Interval | tuple[float, float] | None, *, sign: bool = False) -> str:
    """An interval of shares, in per cent."""
    if interval is None:
        return "no interval"
    form = "+.1f" if sign else ".1f"
    return f"{100 * interval[0]:{form}} to {100 * interval[1]:{form}}"


def value_of(row: Row | None, *, digits: int = 3) -> str:
    """A number of the table as people read it."""
    if row is None or row.value is None:
        return MISSING
    if row.unit not in _SCALES and row.value == round(row.value):
        return f"{row.value:,.0f}".replace(",", " ")
    shown = f"{row.value:.{digits}f}"
    return shown.removeprefix("-") if float(shown) == 0 else shown


def interval_of(row: Row | None, *, digits: int = 3) -> str:
    """Its interval, empty if there is none."""
    if row is None or row.ci_low is None or row.ci_high is None:
        return ""
    return f"[{row.ci_low:.{digits}f}, {row.ci_high:.{digits}f}]"


def legend(series: Sequence[Series]) -> Markup:
    """Which line is whose."""
    keys = [el("li", el("span", class_=f"key {one.look}"), isolated(one.name)) for one in series]
    return el("ul", keys, class_="legend")
