"""The parts of the page that are drawn: success against queries, generations, scores, poses."""

from collections.abc import Sequence
from itertools import pairwise

from benchmark.report import charts
from benchmark.report.blocks import MISSING, bounds, legend, numbers_of, percent
from benchmark.report.charts import Axis, Point, Series
from benchmark.report.figures import generations, pose_axes, shifts, success_curve
from benchmark.report.markup import Markup, el
from benchmark.report.runs import RunView


def curve(run: RunView, other: RunView | None) -> Markup | None:
    """ASR against queries."""
    known = [(one, success_curve(one)) for one in (run, other) if one is not None]
    if not any(points for _, points in known):
        return None
    names = ["A", "B"] if other else ["share fooled"]
    series = [
        Series(name, look, points, steps=True)
        for name, look, (_, points) in zip(names, "ab", known, strict=False)
        if points
    ]
    last = max(points[-1].x for _, points in known if points)
    peak = max((p.high or p.y) for one in series for p in one.points)
    top = next(step for step in (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0) if peak <= step)
    said = "; ".join(f"{one.name}: {_said(one.points, 'queries')}" for one in series)
    drawing = charts.lines(
        "asr-queries",
        "Attack success rate against queries",
        f"Share of decided samples fooled within so many queries, 95 % intervals. {said}.",
        series,
        Axis("queries per sample", 0, last, charts.ticks(0, last)),
        Axis("", 0, top, charts.ticks(0, top, 6), lambda v: f"{100 * v:.0f} %"),
    )
    said = "Share of decided samples fooled within so many queries; band: 95 % interval."
    return _rates("Against queries", drawing, series, said, "queries", "ASR against queries")


def _rates(
    heading: str, drawing: Markup, series: Sequence[Series], said: str, unit: str, caption: str
) -> Markup:
    """A drawing of rates with its legend, what is `said` of it, and its numbers as a table."""
    body = [
        [f"{p.x:.0f}", one.name, percent(p.y), bounds(_of(p))] for one in series for p in one.points
    ]
    return el(
        "figure",
        el("h3", heading),
        drawing,
        legend(series) if len(series) > 1 else None,
        el("figcaption", said),
        numbers_of([unit, "run", "fooled", "95 % interval"], body, caption, words=2),
        class_="plot",
    )


def _of(point: Point) -> tuple[float, float] | None:
    return None if point.low is None or point.high is None else (point.low, point.high)


def _said(points: Sequence[Point], what: str) -> str:
    """At most a dozen of the points, the last one among them."""
    step = max(1, len(points) // 11)
    chosen = [*points[::step], *([points[-1]] if (len(points) - 1) % step else [])]
    return ", ".join(f"{what} {p.x:.0f} {percent(p.y)}" for p in chosen)


def by_generation(run: RunView, other: RunView | None) -> Markup | None:
    """How an evolutionary attack gets better."""
    known = [generations(one) for one in (run, other) if one is not None]
    names = ["A", "B"] if other else ["fooled"]
    series = [
        Series(name, look, points)
        for name, look, points in zip(names, "ab", known, strict=False)
        if points
    ]
    if not series:
        return None
    last = max(p.x for one in series for p in one.points)
    said = "; ".join(f"{one.name}: {_said(one.points, 'generation')}" for one in series)
    drawing = charts.lines(
        "generations",
        "Share of candidates that fool, by generation",
        f"Mean over samples, 95 % intervals. {said}.",
        series,
        Axis("generation", 1, last, charts.ticks(1, last)),
        Axis("", 0, 1, charts.ticks(0, 1), lambda v: f"{100 * v:.0f} %"),
    )
    said = (
        "Share of each generation's candidates that fooled, mean over samples; band: 95 % interval."
    )
    return _rates("By generation", drawing, series, said, "generation", "Fooled by generation")


def moved(run: RunView) -> Markup | None:
    """How far the score of the adversarial input is from that of the original."""
    found = shifts(run)
    if found is None:
        return None
    edges, fooled, held = found
    spans = [f"{low:.3f} to {high:.3f}" for low, high in pairwise(edges)]
    said = "; ".join(
        f"{span}: {f} fooled, {h} held" for span, f, h in zip(spans, fooled, held, strict=True)
    )
    looks = [Series("fooled", "a square", ()), Series("held", "b square", ())]
    return el(
        "figure",
        el("h3", "How far scores moved"),
        charts.stacked(
            "moved",
            "By how much the score moved",
            f"Number of samples by adversarial less original score. {said}.",
            edges,
            [("fooled", "a", fooled), ("held", "b", held)],
            "adversarial less original score",
        ),
        legend(looks),
        el(
            "figcaption",
            "Number of samples; right of the line the adversarial input scores higher.",
        ),
        numbers_of(
            ["score moved by", "fooled", "held"],
            [list(line) for line in zip(spans, fooled, held, strict=True)],
            "By how much the score moved",
        ),
        class_="plot",
    )


def poses(run: RunView) -> list[Markup]:
    """Where p* went, and how often random poses fool, by axis."""
    axes, is_star = pose_axes(run)
    if not axes:
        return []
    where = "p*" if is_star else "the picked poses"
    drawn, body = [], []
    for axis in axes:
        shares = ", ".join(
            f"{low:.3g} to {high:.3g}: {100 * share:.0f} %"
            for (low, high), share in zip(pairwise(axis.edges), axis.found, strict=True)
        )
        drawn.append(
            charts.histogram(
                f"pose-{axis.name}",
                f"Where {where} went: {axis.title}",
                f"Share of poses in each bin. {shares}.",
                axis.edges,
                axis.found,
                axis.random,
                look="plain",
                caption=axis.title,
            )
        )
        for i, share in enumerate(axis.found):
            fooled = axis.fooled[i] if axis.fooled else None
            body.append(
                [
                    axis.title,
                    f"{axis.edges[i]:.3g} to {axis.edges[i + 1]:.3g}",
                    percent(share, 0),
                    MISSING if axis.random is None else percent(axis.random[i], 0),
                    MISSING if fooled is None else percent(fooled.value, 0),
                    MISSING if fooled is None else fooled.n,
                ]
            )
    outline = "; outline: random poses" if axes[0].random else ""
    found = [
        el("h3", "Where the search went"),
        el(
            "figure",
            el("div", drawn, class_="multiples"),
            el("figcaption", f"Bars: share of poses drawn from {where}{outline}.")
            if is_star
            else el("figcaption", f"Bars: share of {where}{outline}."),
            class_="plot wide",
        ),
    ]
    if any(axis.fooled for axis in axes):
        small = []
        for axis in axes:
            rates = [rate.value or 0.0 for rate in axis.fooled or ()]
            told = ", ".join(
                f"{axis.edges[i]:.3g} to {axis.edges[i + 1]:.3g}: {percent(rate.value, 0)} of {rate.n}"
                for i, rate in enumerate(axis.fooled or ())
            )
            small.append(
                charts.histogram(
                    f"fooled-{axis.name}",
                    f"Random poses that fool: {axis.title}",
                    f"Share fooled in each bin. {told}.",
                    axis.edges,
                    rates,
                    None,
                    look="a",
                    top=1.0,
                    caption=axis.title,
                )
            )
        found += [
            el("h3", "Which poses fool by themselves"),
            el(
                "figure",
                el("div", small, class_="multiples"),
                el("figcaption", "Share of random poses that fooled, by axis; full height: 100 %."),
                class_="plot wide",
            ),
        ]
    head = ["axis", "from, to", where, "random", "random that fooled", "of"]
    found.append(numbers_of(head, body, "Poses by axis", words=2))
    return found
