"""The part of the page about searches over concepts: the curve, and the map of captions."""

from benchmark.report import charts
from benchmark.report.blocks import legend, numbers_of
from benchmark.report.charts import Axis, Series
from benchmark.report.figures import concept_map, searches
from benchmark.report.markup import Markup, el, isolated
from benchmark.report.runs import RunView, number


def concepts(run: RunView) -> list[Markup]:
    """The evolution curve and the concept map."""
    found = []
    runs = searches(run)
    if runs:
        best = [one for one, _ in runs if one.points]
        points = [p for pair in runs for one in pair for p in one.points]
        last, peak = max(p.x for p in points), max(p.y for p in points)
        top = max(0.1, -(-peak // 0.1) * 0.1)
        said = "; ".join(
            f"{one.name}: best {one.points[0].y:.3f} after {one.points[0].x:.0f} evaluations,"
            f" {one.points[-1].y:.3f} after {one.points[-1].x:.0f}"
            for one in best
        )
        means = [Series(f"{m.name}, mean", f"{m.look} faint", m.points) for _, m in runs]
        drawing = charts.lines(
            "evolution",
            "CAPTURE by evaluations",
            f"Best CAPTURE of each generation, lower is weaker. {said}.",
            [*(one for one in means if one.points), *best],
            Axis("evaluations", 0, last, charts.ticks(0, last)),
            Axis("", 0, top, charts.ticks(0, top), lambda v: f"{v:.2g}"),
        )
        body = [
            [isolated(one.name), f"{p.x:.0f}", f"{p.y:.4f}"]
            for pair in runs
            for one in (pair[0], Series(f"{pair[1].name}, mean", "", pair[1].points))
            for p in one.points
        ]
        found.append(
            el(
                "figure",
                el("h3", "By evaluations"),
                drawing,
                legend(best),
                el(
                    "figcaption",
                    "CAPTURE of each generation: the best (line) and the mean (faint). "
                    "The lower, the worse the target describes what it is shown.",
                ),
                numbers_of(["search", "evaluations", "CAPTURE"], body, "CAPTURE by evaluations"),
                class_="plot",
            )
        )
    found += _map(run)
    return [el("div", found, class_="plots")] if found else []


def _map(run: RunView) -> list[Markup]:
    blind_below = number(run.config.settings.get("blind_below")) or 0.3
    drawn = concept_map(run, blind_below)
    if drawn is None:
        return []
    words = ", ".join(word for _, _, word in drawn.labels)
    said = (
        f"{drawn.pool} captions that the search began with, {drawn.finals} that it ended with,"
        f" {drawn.weak} of these with CAPTURE below {blind_below:g}. Words that became frequent: {words}."
    )
    keys = [
        Series("began with", "muted square", ()),
        Series(f"ended with, CAPTURE below {blind_below:g}", "a square", ()),
        Series("ended with", "b square", ()),
    ]
    body = [[isolated(dot.said), f"{dot.x:.2f}", f"{dot.y:.2f}"] for dot in drawn.dots]
    return [
        el(
            "figure",
            el("h3", "Concept map"),
            charts.scatter("concept-map", "Concept map", said, drawn.dots, drawn.labels),
            legend(keys),
            el(
                "figcaption",
                "Captions as dots; those near each other share words. "
                "Labels: words that became frequent, among the captions that hold them.",
            ),
            numbers_of(["caption", "x", "y"], body, "Concept map"),
            class_="plot",
        )
    ]
