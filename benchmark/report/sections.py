"""The parts of the page that are numbers: the headline, tables by part, the whole table."""

from collections.abc import Mapping, Sequence

from benchmark.report import charts
from benchmark.report.blocks import (
    MISSING,
    bounds,
    interval_of,
    table,
    value_of,
)
from benchmark.report.figures import Breakdown, breakdowns
from benchmark.report.markup import Child, Markup, el, isolated
from benchmark.report.runs import Paired, Rate, RunView
from benchmark.tables import Row

MINUS = "\N{MINUS SIGN}"
_MOST_COLUMNS = 7


def headline(run: RunView, other: RunView | None, pair: Paired | None) -> Markup:
    """The attack success rate, large, and how the samples ended."""
    runs = [one for one in (run, other) if one is not None]
    names = ["A", "B"] if other else [""]
    blocks = []
    searched = None if other else run.find("capture_fresh", "search=evolution")
    if searched is not None and searched.value is not None:
        # Searches succeed or fail as a whole: what they found says more than how many did.
        return el("div", _searched(searched), _aside(run), class_="stats")
    for name, one in zip(names, runs, strict=True):
        rate = one.success_rate
        blocks.append(
            el(
                "div",
                el("p", f"{name} attack success rate".strip(), class_="what"),
                el("p", _large(rate), class_="big"),
                el("p", f"95 % interval {bounds(rate.interval)}", class_="under"),
                charts.intervals(
                    [(rate.value, *(rate.interval or (None, None)))],
                    0,
                    1,
                    "b" if name == "B" else "a",
                ),
                el("p", _ended(one), class_="under"),
                class_="stat",
            )
        )
    if pair is not None:
        changed = [f"{len(pair.only_first)} fooled only in A"]
        changed.append(f"{len(pair.only_second)} only in B")
        blocks.append(
            el(
                "div",
                el("p", "difference, B \N{MINUS SIGN} A", class_="what"),
                el("p", _points(pair.difference), class_="big"),
                el("p", f"95 % interval {bounds(pair.interval, sign=True)}", class_="under"),
                charts.intervals([(pair.difference, *(pair.interval or (None, None)))], -1, 1),
                el("p", f"{pair.n} samples in both: {', '.join(changed)}", class_="under"),
                class_="stat",
            )
        )
    else:
        blocks += _aside(run)
    return el("div", blocks, class_="stats")


def _searched(row: Row) -> Markup:
    known = "no interval"
    if row.ci_low is not None and row.ci_high is not None:
        known = f"95 % interval {row.ci_low:.3f} to {row.ci_high:.3f}"
    return el(
        "div",
        el("p", "CAPTURE where evolution ended", class_="what"),
        el("p", f"{row.value:.3f}", class_="big"),
        el("p", known, class_="under"),
        charts.intervals([_mark(row)], 0, 1),
        el("p", f"n = {row.n}; painted anew; the lower, the weaker the target", class_="under"),
        class_="stat",
    )


def _large(rate: Rate) -> Child:
    if rate.value is None:
        return MISSING
    return [f"{100 * rate.value:.1f}", el("span", " %", class_="unit")]


def _points(value: float | None) -> Child:
    if value is None:
        return MISSING
    shown = f"{100 * value:+.1f}".replace("-", MINUS)
    return [shown.lstrip("+") if value == 0 else shown, el("span", " points", class_="unit")]


def _ended(run: RunView) -> str:
    counts = run.counts
    text = f"{counts['success']} fooled, {counts['failure']} held"
    return text + "".join(f", {counts[s]} {s}" for s in ("skipped", "error") if counts[s])


def _aside(run: RunView) -> list[Markup]:
    """Up to three numbers beside the headline."""
    chosen = (
        ("cross", "", "score the new caption higher"),
        ("false_of_image", "", "of the successes really false"),
        ("accuracy", "condition=clean", "accuracy on clean pictures"),
        ("accuracy", "condition=distribution", "accuracy under p*"),
        ("accuracy", "condition=center", "accuracy at the centre of p*"),
        ("capture_random", "search=evolution", "CAPTURE of random captions"),
        ("capture_fresh", "search=random_search", "CAPTURE where random search ended"),
        ("capture_selected", "search=evolution", "CAPTURE of evolution, as selected"),
        ("queries_to_success", "", "queries to a success, median"),
    )
    blocks: list[Markup] = []
    for metric, part, title in chosen:
        row = run.find(metric, part)
        if row is None or row.value is None or len(blocks) == 3:
            continue
        is_rate = row.unit == "rate"
        large = (
            [f"{100 * row.value:.1f}", el("span", " %", class_="unit")]
            if is_rate
            else [value_of(row)]
        )
        known = row.ci_low is not None and row.ci_high is not None
        under = f"n = {row.n}"
        if known:
            low, high = row.ci_low or 0.0, row.ci_high or 0.0
            shown = bounds((low, high)) if is_rate else f"{low:.3f} to {high:.3f}"
            under = f"95 % interval {shown}, n = {row.n}"
        blocks.append(
            el(
                "div",
                el("p", title, class_="what"),
                el("p", large, class_="big second"),
                el("p", under, class_="under"),
                class_="stat",
            )
        )
    return blocks


def parts(run: RunView, other: RunView | None) -> list[Markup]:
    """A table a kind of part, its main number drawn."""
    theirs = {one.kind: dict(one.lines) for one in breakdowns(other)} if other else {}
    found = []
    for one in breakdowns(run):
        found.append(_breakdown(one, theirs.get(one.kind, {}) if other else None))
    return found


def _breakdown(one: Breakdown, others: Mapping[str, Mapping[str, Row]] | None) -> Markup:
    main = [(name, rows.get(one.main)) for name, rows in one.lines]
    beside = [None if others is None else others.get(name, {}).get(one.main) for name, _ in main]
    low, high = _scale([row for _, row in main] + beside)
    # Words come second where two runs stand side by side: what is compared is next to each other.
    rest = [m for m in one.metrics if m != one.main][: 0 if others is not None else _MOST_COLUMNS]
    flagged = False
    head: list[Child] = [one.kind, "", one.main.replace("_", " ")]
    if others is not None:
        title = one.main.replace("_", " ")
        head = [one.kind, "", f"A {title}", "95 % interval", f"B {title}", "95 % interval"]
    else:
        flagged = any(row is not None and row.flags for _, row in main)
        head += [
            "95 % interval",
            "n",
            *(["flags"] if flagged else []),
            *(metric.replace("_", " ") for metric in rest),
        ]
    body: list[list[Child]] = []
    for (name, rows), (_, row), their in zip(one.lines, main, beside, strict=True):
        marks = [_mark(row)] if others is None else [_mark(row), _mark(their)]
        line: list[Child] = [
            isolated(name),
            charts.intervals(marks, low, high),
            value_of(row),
        ]
        if others is not None:
            line += [interval_of(row), value_of(their), interval_of(their)]
        else:
            line += [interval_of(row), "" if row is None else row.n]
            if flagged:
                line.append(isolated("" if row is None else row.flags))
            line += [value_of(rows.get(metric)) for metric in rest]
        body.append(line)
    return el(
        "div",
        el("h3", f"By {one.kind}"),
        table(head, body, f"{one.main} by {one.kind}".replace("_", " "), words=2),
        class_="breakdown",
    )


def _mark(row: Row | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if row is None else (row.value, row.ci_low, row.ci_high)


def _scale(rows: Sequence[Row | None]) -> tuple[float, float]:
    """From 0 to 1 for rates; else all there is, 0 among it."""
    known = [row for row in rows if row is not None and row.value is not None]
    bound = [v for row in known for v in _mark(row) if v is not None]
    if all(row.unit == "rate" for row in known) and all(v >= 0 for v in bound):
        return 0.0, 1.0
    return min([0.0, *bound]), max([0.0, *bound])


def whole(run: RunView, other: RunView | None) -> Markup:
    """All numbers about all samples."""
    rows = [row for row in run.rows if not row.slice]
    body: list[list[Child]] = []
    for row in rows:
        line: list[Child] = [
            isolated(row.metric),
            value_of(row, digits=4),
            interval_of(row, digits=4),
        ]
        if other is not None:
            their = other.find(row.metric)
            line += [value_of(their, digits=4), interval_of(their, digits=4)]
        line += [row.n, isolated(row.unit), isolated(row.flags)]
        body.append(line)
    head = ["metric", "value", "95 % interval", "n", "unit", "flags"]
    if other is not None:
        head = ["metric", "A", "95 % interval", "B", "95 % interval", "n of A", "unit", "flags"]
    return table(head, body, "All numbers")
