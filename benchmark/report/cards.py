"""The gallery as HTML: filters that need no script, a search that does, a card for each example."""

from collections.abc import Mapping, Sequence

from benchmark.gallery import changed_words
from benchmark.report.examples import Example, Gallery, Side
from benchmark.report.markup import Markup, el, isolated
from benchmark.report.pictures import Picture

COMPARED = 2000
"""Words up to which two texts are compared: it takes the product of their lengths."""

LONG = 400
"""Characters from which a text gets a box that scrolls."""

_WORDS = {"success": "fooled", "failure": "held", "error": "error", "skipped": "skipped"}
_FILTERS = (
    ("all", "All"),
    ("success", "Fooled"),
    ("failure", "Held"),
    ("error", "Error"),
    ("skipped", "Skipped"),
    ("flipped", "Flipped"),
)
_ALWAYS = ("all", "success", "failure", "error")

Words = list[tuple[str, bool]]
Pictures = Mapping[tuple[str, str], Picture]


def gallery(found: Gallery, pictures: Pictures, score_name: str = "score") -> Markup:
    """The section's content."""
    examples = found.examples
    counts = {
        state: sum(state in example.states for example in examples) for state, _ in _FILTERS
    } | {"all": len(examples)}
    shown = [(s, name) for s, name in _FILTERS if counts[s] or s in _ALWAYS]
    choices = [
        el(
            "label",
            el(
                "input",
                type="radio",
                name="show",
                value=state,
                id=f"show-{state}",
                checked=state == "all",
            ),
            el("span", name, " ", el("span", counts[state], class_="count")),
        )
        for state, name in shown
    ]
    notes = []
    if len(examples) < found.total:
        notes.append(f"{len(examples)} of {found.total} samples are shown here.")
    if found.missing:
        notes.append(f"Originals are missing: {found.missing}.")
    if any(not picture.is_exact for picture in pictures.values()):
        notes.append("Pictures marked “preview” are reduced to keep the file small.")
    return el(
        "div",
        el(
            "div",
            el("fieldset", el("legend", "Show"), choices, class_="filters"),
            el(
                "label",
                el("span", "Search", class_="search-name"),
                el(
                    "input",
                    type="search",
                    id="search",
                    placeholder="caption, id, operation …",
                    autocomplete="off",
                    spellcheck="false",
                ),
                class_="search needs-script",
            ),
            el("output", id="shown", class_="needs-script", aria_live="polite"),
            class_="controls",
        ),
        [el("p", note, class_="note") for note in notes],
        el("div", [card(one, pictures, score_name) for one in examples], class_="cards"),
        el("p", "Nothing fits.", class_="none", id="none", hidden=True),
        class_="gallery",
    )


def card(example: Example, pictures: Pictures, score_name: str) -> Markup:
    """One example."""
    drawn = [_figure(pictures, *one) for one in example.pictures]
    if len(example.sides) == 1:
        drawn += [_figure(pictures, *one) for one in example.sides[0].pictures]
    shown = [one for one in drawn if one is not None]
    classes = " ".join(["card", *(f"is-{state}" for state in sorted(example.states))])
    if len(shown) == 1:
        classes += " single"
    return el(
        "article",
        el(
            "header",
            [_badge(side) for side in example.sides],
            el("span", example.kind, class_="kind") if example.kind else None,
            isolated(example.id, class_="id"),
        ),
        el("div", shown, class_="pictures") if shown else None,
        _texts(example, score_name),
        [_more(side, pictures, len(example.sides) > 1) for side in example.sides],
        class_=classes,
    )


def _badge(side: Side) -> Markup:
    name = f"{side.name} " if side.name else ""
    return el("span", f"{name}{_WORDS[side.status]}", class_=f"badge {side.status}")


def _figure(pictures: Pictures, key: tuple[str, str], caption: str) -> Markup | None:
    picture = pictures.get(key)
    if picture is None:
        return None
    return el(
        "figure",
        el(
            "img",
            src=picture.uri,
            width=picture.width,
            height=picture.height,
            alt=f"{caption}: {key[0]}",
            decoding="async",
        ),
        el("figcaption", caption, None if picture.is_exact else " (preview)"),
    )


def _texts(example: Example, score_name: str) -> Markup:
    changed = [side for side in example.sides if side.text is not None]
    lines = []
    before = [(word, False) for word in example.text.split()]
    if len(changed) == 1:
        before, _ = _compared(example.text, changed[0].text or "")
    is_final = any(side.title != "adversarial" for side in example.sides)
    title = "caption" if is_final else "original"
    lines.append(_line(title, before, "del", example.score, example.output, score_name))
    for side in example.sides:
        name = f"{side.title} {side.name}".strip()
        if side.text is not None:
            _, after = _compared(example.text, side.text)
            lines.append(
                _line(name, after, "ins", side.score, side.output, score_name, side.clean_score)
            )
        elif side.score is not None or side.output is not None:
            lines.append(
                _line(name, [], "ins", side.score, side.output, score_name, side.clean_score)
            )
        if side.rival is not None:
            lines.append(_line("best wrong label", [], "ins", side.rival, None, score_name))
    return el("div", lines, class_="texts")


def _compared(before: str, after: str) -> tuple[Words, Words]:
    """The words of both texts, each with whether it was changed; of very long ones, none was."""
    if max(before.count(" "), after.count(" ")) > COMPARED:
        return [(word, False) for word in before.split()], [(word, False) for word in after.split()]
    return changed_words(before, after)


def _line(
    title: str,
    words: Sequence[tuple[str, bool]],
    mark: str,
    score: float | None,
    output: str | None,
    score_name: str,
    before: float | None = None,
) -> Markup:
    said = None
    if score is not None:
        shown = f"{score:.4f}" if before is None else f"{before:.4f} → {score:.4f}"
        said = el("span", el("span", f"{score_name} ", class_="unseen"), shown, class_="score")
    return el(
        "div",
        el("div", el("span", title, class_="what"), said, class_="above"),
        _words(words, mark) if words else None,
        _answer(output) if output is not None else None,
        class_="line",
    )


def _words(words: Sequence[tuple[str, bool]], mark: str) -> Markup:
    """The words, runs of changed ones marked."""
    parts: list[Markup | str] = []
    marked: list[str] = []
    for word, is_changed in [*words, ("", False)]:
        if is_changed:
            marked.append(word)
            continue
        if marked:
            parts += [el(mark, " ".join(marked)), " "]
            marked = []
        parts += [word, " "] if word else []
    return _box(parts, sum(len(word) + 1 for word, _ in words))


def _answer(output: str) -> Markup:
    return el("div", el("span", "said", class_="what"), _box([output], len(output)), class_="said")


def _box(parts: Sequence[Markup | str], length: int) -> Markup:
    long = length > LONG
    return el(
        "p",
        parts,
        dir="auto",
        class_="words long" if long else "words",
        tabindex="0" if long else None,
    )


def _more(side: Side, pictures: Pictures, is_one_of_two: bool) -> Markup:
    """Verdicts and what was changed; of two runs, each with its own pictures."""
    verdicts = [
        el(
            "li",
            el("span", {True: "yes", False: "no", None: "unknown"}[verdict], class_="unseen"),
            " ",
            isolated(name.replace("_", " ")),
            class_={True: "yes", False: "no", None: "unknown"}[verdict],
        )
        for name, verdict in side.verdicts.items()
    ]
    facts = [
        el("div", el("dt", isolated(key)), el("dd", isolated(value))) for key, value in side.facts
    ]
    shown = [_figure(pictures, *one) for one in side.pictures] if is_one_of_two else []
    return el(
        "div",
        el("p", f"run {side.name}", class_="what") if is_one_of_two else None,
        el("div", shown, class_="pictures") if shown else None,
        el("p", isolated(side.error), class_="error") if side.error else None,
        el("ul", verdicts, class_="verdicts", aria_label="verdicts") if verdicts else None,
        el("dl", facts, class_="facts") if facts else None,
        class_="more",
    )
