"""The page: parts in their order, style and script inlined, a policy that forbids the network."""

import base64
import hashlib
from importlib.resources import files
from pathlib import Path

from benchmark import __version__
from benchmark.errors import UserError
from benchmark.report import plots, sections
from benchmark.report.blocks import section
from benchmark.report.cards import gallery
from benchmark.report.concepts import concepts
from benchmark.report.examples import collect
from benchmark.report.markup import Child, Markup, el, isolated, verbatim
from benchmark.report.pictures import BUDGET, embed
from benchmark.report.provenance import provenance
from benchmark.report.runs import RunView, paired

EXAMPLES = 400
"""Cards of a gallery, unless asked for otherwise."""


def write(
    run: Path,
    out: Path,
    other: Path | None = None,
    *,
    examples: int = EXAMPLES,
    picture_bytes: int = BUDGET,
) -> int:
    """Write the page of `run`, beside `other` if given, and return its size in bytes.

    Args:
        run: A run folder; it may be unfinished, the page says so.
        out: The file to write.
        other: Another run folder, shown side by side with the first one.
        examples: How many examples the gallery has, at most.
        picture_bytes: How large all pictures may be together; those beyond it become previews.

    Raises:
        UserError: A folder holds no run that can be read, or `out` cannot be written.
    """
    text = build(RunView(run), None if other is None else RunView(other), examples, picture_bytes)
    data = text.encode("utf-8")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(data)
    except OSError as error:
        raise UserError(
            f"cannot write {out} ({error.strerror}): name another with --out"
        ) from error
    return len(data)


def build(
    run: RunView, other: RunView | None, examples: int = EXAMPLES, picture_bytes: int = BUDGET
) -> str:
    """The whole file."""
    style, script = _own("report.css"), _own("report.js")
    title = run.title if other is None else f"{run.title}, and {other.title}"
    parts = _parts(run, other, examples, picture_bytes)
    policy = (
        "default-src 'none'; img-src data:; "
        f"style-src '{_sha256(style)}'; script-src '{_sha256(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    page = el(
        "html",
        el(
            "head",
            el("meta", charset="utf-8"),
            el("meta", http_equiv="Content-Security-Policy", content=policy),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", name="color-scheme", content="light dark"),
            el("meta", name="referrer", content="no-referrer"),
            el("title", f"{title} · Trident"),
            verbatim("style", style),
        ),
        el(
            "body",
            el("a", "Skip to the gallery", href="#gallery", class_="skip"),
            _top(run, other, [(one, name) for one, name, _ in parts]),
            el("main", [content for _, _, content in parts]),
            el(
                "footer",
                el("p", f"Made by Trident {__version__} from ", isolated(run.path.name), "."),
            ),
            verbatim("script", script),
        ),
        lang="en",
    )
    return f"<!doctype html>\n{page}\n"


def _parts(
    run: RunView, other: RunView | None, examples: int, picture_bytes: int
) -> list[tuple[str, str, Markup]]:
    """(key, name in the menu, content) of each section."""
    pair = None if other is None else paired(run, other)
    found: list[tuple[str, str, Markup]] = []

    def add(key: str, name: str, title: str, *content: Child, lead: Child = None) -> None:
        found.append((key, name, section(key, title, *content, lead=lead)))

    headline: list[Child] = [sections.headline(run, other, pair)]
    if other is not None:
        headline.append(_gate(run, other))
    add("result", "Result", "Result", *headline)
    drawn = [plots.curve(run, other), plots.by_generation(run, other)]
    if drawn[1] is None and other is None:
        drawn.append(plots.moved(run))
    if any(one is not None for one in drawn):
        add("success", "Success", "Success", el("div", drawn, class_="plots"))
    if searched := concepts(run):
        add("concepts", "Concepts", "Search over concepts", *searched)
    if parts := sections.parts(run, other):
        add("parts", "Breakdown", "Breakdown", *parts)
    if poses := plots.poses(run):
        add("poses", "Poses", "Poses", *poses)
    found_examples = collect(run, other, examples)
    pictures = embed(found_examples.wanted, picture_bytes)
    score = "CAPTURE" if run.config.attack == "evolution" else "score"
    add("gallery", "Gallery", "Gallery", gallery(found_examples, pictures, score))
    if run.rows:
        add("numbers", "Numbers", "All numbers", sections.whole(run, other))
    if other is None:
        add("provenance", "What was run", "What was run on what", *provenance(run))
    else:
        for name, one in (("A", run), ("B", other)):
            title = f"What was run on what: {name}"
            add(f"provenance-{name.lower()}", f"Run {name}", title, *provenance(one))
    return found


def _top(run: RunView, other: RunView | None, menu: list[tuple[str, str]]) -> Markup:
    runs = [one for one in (run, other) if one is not None]
    names = ["A", "B"] if other else [""]
    about = [
        el(
            "h1",
            el("span", name, class_="run-name") if name else None,
            isolated(one.config.attack),
            el("span", " against ", class_="quiet"),
            isolated(one.config.target),
        )
        if i == 0
        else el(
            "p",
            el("span", name, class_="run-name"),
            isolated(one.config.attack),
            el("span", " against ", class_="quiet"),
            isolated(one.config.target),
            class_="second-title",
        )
        for i, (name, one) in enumerate(zip(names, runs, strict=True))
    ]
    notes: list[Markup] = []
    for name, one in zip(names, runs, strict=True):
        begins = f"{name}: " if name else ""
        if not one.is_finished:
            done = len(one.records)
            notes.append(
                el(
                    "p",
                    f"{begins}this run is not finished: {done} samples so far.",
                    class_="warning",
                )
            )
        if one.surrogate:
            found_on = f"{begins}the adversarial examples were found on "
            notes.append(el("p", found_on, isolated(one.surrogate), ".", class_="note"))
    if any(one.is_miniature for one in runs):
        notes.append(
            el(
                "p",
                "These numbers are about a miniature model of the embedded world, "
                "not about any published model.",
                class_="note",
            )
        )
    return el(
        "header",
        el(
            "div",
            el("p", "Trident", class_="brand"),
            el("button", "Colours", type="button", id="theme", class_="needs-script"),
            class_="bar",
        ),
        about,
        el("p", _facts(run), class_="facts-line"),
        notes,
        el(
            "nav",
            el("ul", [el("li", el("a", name, href=f"#{key}")) for key, name in menu]),
            aria_label="Parts",
        ),
        class_="top",
    )


def _facts(run: RunView) -> list[Child]:
    config = run.config
    facts: list[Child] = [
        ["data ", isolated(config.dataset_name)],
        ["preset ", isolated(config.preset)],
        f"{len(run.records)} {'sample' if len(run.records) == 1 else 'samples'}",
        isolated(str(run.header.get("start", ""))[:10]),
    ]
    return [el("span", fact) for fact in facts]


def _gate(run: RunView, other: RunView) -> Markup:
    """What `compare` says of the two, A as the baseline."""
    # Only where there are two: it loads the gate and its statistics.
    from benchmark.compare import compare

    found = compare(run.path, other.path)
    lines: list[Child] = [
        el("span", found.verdict, class_=f"verdict {found.verdict.lower().replace(' ', '-')}"),
        " is what ",
        el("code", "compare A B"),
        f" says, with a margin of {100 * found.margin:g} points.",
    ]
    reasons = [el("li", isolated(f"{a.question.mode}: {a.reason}")) for a in found.answers]
    reasons += [el("li", isolated(str(difference))) for _, difference in found.refused]
    return el(
        "div",
        el("p", lines),
        el("ul", reasons) if reasons else None,
        class_="gate",
    )


def _own(name: str) -> str:
    return (files("benchmark.report") / name).read_text(encoding="utf-8")


def _sha256(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"sha256-{digest}"
