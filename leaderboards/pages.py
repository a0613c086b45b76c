"""The pages of the site. Each stands alone: style and script inside, allowed by their hashes only."""

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from importlib.resources import files

from leaderboards.boards import DEFAULTS, Board, Column, Number, Section, Standing
from leaderboards.html import Html, join, tag
from leaderboards.submission import Submission

_SHOWN_FILES = ("card.json", "run.json", "records.jsonl", "table.csv")


def _asset(name: str) -> str:
    return (files("leaderboards") / "assets" / name).read_text(encoding="utf-8")


STYLE, SCRIPT = _asset("site.css"), _asset("site.js")


def _hash(code: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() + "'"


POLICY = (
    f"default-src 'none'; style-src {_hash(STYLE)}; script-src {_hash(SCRIPT)};"
    " base-uri 'none'; form-action 'none'"
)


def index(boards: Sequence[Board], entries: int) -> str:
    """The front page: one box a board."""
    boxes = []
    for board in boards:
        models = {one.model for section in board.sections.values() for one in section.standings}
        presets = sorted({section.preset for section in board.sections.values()})
        boxes.append(
            tag(
                "li",
                tag("a", _title(board), href=f"{board.name}.html"),
                tag("p", f"The attacker {board.threat_model}.", class_="muted small"),
                tag(
                    "p",
                    f"{_count(len(models), 'model')}; preset {', '.join(presets)}",
                    class_="small",
                ),
            )
        )
    body = [
        tag("h1", "How easily is a vision-language model fooled?"),
        tag(
            "p",
            "Each page ranks models under one attack and one threat model, the most robust first."
            " Aggregates are recomputed from the entries' records before they are shown.",
        ),
        tag("ul", boxes, class_="boards"),
        tag(
            "p",
            "All numbers: ",
            tag("a", "CSV", href="data/leaderboard.csv"),
            ", ",
            tag("a", "JSON", href="data/leaderboard.json"),
            f". {_count(entries, 'entry', 'entries')}.",
        ),
    ]
    return _page("Trident leaderboards", body, "")


def board_page(board: Board) -> str:
    """One attack and threat model."""
    body = [
        tag("h1", _title(board)),
        tag("p", f"The attacker {board.threat_model}. Version {board.version} of the attack."),
        *(_section(board, section) for section in board.sections.values()),
        tag(
            "p",
            "This page's numbers: ",
            tag("a", "CSV", href=f"data/{board.name}.csv"),
            ", ",
            tag("a", "JSON", href=f"data/{board.name}.json"),
            ". Brackets are 95 % intervals; rows whose intervals overlap need not differ."
            " Reproduced: the keepers showed stored examples to the named model again.",
            class_="small muted",
        ),
        tag(
            "dl",
            [
                part
                for column in board.columns
                if column.explained
                for part in (tag("dt", column.title), tag("dd", column.explained))
            ],
            class_="small",
        ),
    ]
    return _page(_title(board), body, "")


def _section(board: Board, section: Section) -> Html:
    heading = f"Preset {section.preset}: {section.dataset}, {section.samples} samples"
    if section.rules != DEFAULTS:
        heading += f", {section.rules}"
    about = f"Data {section.data_hash or 'without a hash'}; settings: {section.rules}."
    if section.preset == "mini":
        about += " Miniature models of the embedded world: nothing here is about a published model."
    first = board.columns[0]
    order = "ascending" if first.low_is_robust else "descending"
    heads = [
        _head("model", numeric=False),
        _head(f"{first.title}, reported", numeric=True, column=first, order=order),
        _head("reproduced", numeric=True),
        *(_head(column.title, numeric=True, column=column) for column in board.columns[1:]),
    ]
    rows = [_row(standing) for standing in section.standings]
    caption = f"{_title(board)}, {heading}"
    return join(
        [
            tag("h2", heading),
            tag("p", about, class_="muted small"),
            tag(
                "div",
                tag("table", tag("thead", tag("tr", heads)), tag("tbody", rows), class_="sortable",
                    aria_label=caption),
                class_="scroll", tabindex="0", role="region", aria_label=caption,
            ),
        ]
    )  # fmt: skip


def _head(
    title: str,
    *,
    numeric: bool,
    column: Column | None = None,
    order: str | None = None,
    sorts: bool = True,
) -> Html:
    best_first = "descending" if column is not None and not column.low_is_robust else "ascending"
    return tag(
        "th",
        tag("button", title, type="button") if sorts else title,
        class_="number" if numeric else None,
        scope="col",
        data_first=best_first if sorts else None,
        aria_sort=order,
        title=column.explained if column is not None and column.explained else None,
    )


def _row(standing: Standing) -> Html:
    here = f"entries/{standing.path}/index.html"
    flags = [tag("span", flag, class_="flag") for flag in standing.flags]
    if standing.withdrawn:
        flags.insert(0, tag("span", f"withdrawn: {standing.withdrawn}", class_="flag"))
    cells = [
        tag(
            "td",
            tag("a", standing.model_name, href=here),
            tag("span", f"{standing.model} {standing.version}"),
            tag("span", standing.submitted),
            tag("div", flags) if flags else "",
            class_="model",
            data_value=standing.model_name,
        ),
        _number(standing.numbers[0], first=True),
        _reproduced(standing),
        *(_number(number, first=False) for number in standing.numbers[1:]),
    ]
    return tag("tr", cells, class_="withdrawn" if standing.withdrawn else None)


def _number(number: Number, *, first: bool) -> Html:
    classes = "number first" if first else "number"
    if number.value is None:
        return tag("td", "-", class_=classes, data_value="")
    parts: list[str | Html] = [f"{number.value:.3f}"]
    if number.low is not None and number.high is not None:
        parts.append(tag("span", f"[{number.low:.3f}, {number.high:.3f}]", class_="interval"))
    return tag("td", parts, class_=classes, data_value=f"{number.value:.6f}")


def _reproduced(standing: Standing) -> Html:
    again = standing.reproduced
    if again is None:
        return tag("td", "-", class_="number", data_value="", title="nobody has replayed it yet")
    share = again["agreed"] / again["replayed"]
    return tag(
        "td",
        tag(
            "span",
            f"{again['agreed']}/{again['replayed']}",
            class_="good" if share >= 0.95 else None,
        ),
        tag("span", f"{again['success']:.3f} (was {again['reported']:.3f})", class_="interval"),
        class_="number",
        data_value=f"{share:.6f}",
        title=f"replayed {again['date']} by {again['by']}",
    )


def entry_page(board: Board, standing: Standing, entry: Submission) -> str:
    """All of one entry: who, what, every number, where the files are."""
    header, card = entry.header, entry.card
    assert header is not None
    assert card is not None
    up = "../" * (1 + len(standing.path.parts))
    facts: list[tuple[str, str | Html]] = [
        ("model", f"{standing.model}, {standing.version}"),
        ("submitted", f"{standing.submitted}, with {standing.harness}"),
        ("attack", f"{board.attack} {board.version}; the attacker {board.threat_model}"),
        ("data", f"{header['config']['dataset_name']}, {standing.samples} samples"),
        ("preset", header["config"]["preset"]),
        ("errors, skipped", str(standing.errors)),
        ("config digest", header["digest"]),
        ("commit", header["git_commit"] or "unknown"),
        ("entry digest", entry.digest),
    ]
    if standing.paper:
        facts.append(("paper", tag("a", standing.paper, href=standing.paper, rel="noreferrer")))
    if standing.note:
        facts.append(("note", standing.note))
    facts += [("read with care", flag) for flag in standing.flags]
    if standing.withdrawn:
        facts.append(("withdrawn", standing.withdrawn))
    facts += [
        (f"changed {line['date'][:10]}", f"{line['reason']} (was {line['was'][:12]})")
        for line in card["history"]
    ]
    models = [
        tag("tr", tag("td", role), tag("td", info["id"]), tag("td", info["revision"]),
            tag("td", tag("code", info["weights"][:12])))
        for role, info in header["models"].items()
    ]  # fmt: skip
    body = [
        tag("h1", standing.model_name),
        tag("dl", [part for key, value in facts for part in (tag("dt", key), tag("dd", value))]),
        tag("p", "Files: ", join([tag("a", name, href=name) for name in _SHOWN_FILES], ", ")),
        tag("h2", "Models"),
        _table(("role", "id", "revision", "weights"), models, "Models"),
        tag("h2", "All numbers"),
        _numbers(standing),
        tag("h2", "Settings"),
        tag("pre", json.dumps(header["config"], indent=2), tabindex="0"),
    ]
    crumb = tag("a", _title(board), href=f"{up}{board.name}.html")
    return _page(f"{standing.model_name}: {_title(board)}", body, up, crumb)


def _numbers(standing: Standing) -> Html:
    rows = [
        tag(
            "tr",
            tag("td", row.slice or "all samples", data_value=row.slice),
            tag("td", row.metric, data_value=row.metric),
            _number(Number(row.value, row.ci_low, row.ci_high), first=False),
            tag("td", str(row.n), class_="number", data_value=row.n),
            tag("td", row.unit, data_value=row.unit),
            tag("td", row.flags, data_value=row.flags),
        )
        for row in standing.table
    ]
    return _table(
        ("part", "metric", "value", "n", "unit", "flags"), rows, "All numbers", sorts=True
    )


def _table(titles: Iterable[str], rows: Sequence[Html], label: str, *, sorts: bool = False) -> Html:
    heads = [_head(title, numeric=title in ("value", "n"), sorts=sorts) for title in titles]
    table = tag(
        "table", tag("thead", tag("tr", heads)), tag("tbody", rows),
        class_="sortable" if sorts else None, aria_label=label,
    )  # fmt: skip
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=label)


def _title(board: Board) -> str:
    names = {"mac": "MAC", "advdreamer": "AdvDreamer", "mm3dtbench": "MM3DTBench"}
    name = names.get(board.attack, board.attack.capitalize())
    return f"{name}{' transfer' if board.transfer else ''}, {board.access} access, {board.budget}"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _page(title: str, body: Sequence[Html], up: str, crumb: Html | None = None) -> str:
    path = [tag("a", "Leaderboards", href=f"{up}index.html"), *([] if crumb is None else [crumb])]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", Html(STYLE)),
    )
    main = tag(
        "body",
        tag("nav", join(path, " / "), aria_label="Where this is"),
        tag("main", *body),
        tag("footer", "Made by Trident from files that anybody can check."),
        tag("script", Html(SCRIPT)),
    )
    return str(Html(f"<!doctype html>\n{tag('html', head, main, lang='en')}\n"))
