"""The site: what is ranked with what, and that nothing a stranger wrote becomes markup."""

import csv
import http.client
import json
import re
import shutil
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path, PurePosixPath

import pytest

from benchmark.errors import UserError
from leaderboards.boards import Number, boards
from leaderboards.html import Html, join, tag
from leaderboards.pages import POLICY, board_page, entry_page, index
from leaderboards.serve import server
from leaderboards.site import build
from leaderboards.submission import Submission, read
from tests.unit.leaderboards.conftest import New

EVIL = "<script>alert('1')</script>\"&\u202e\ud800"


@pytest.fixture
def entries(new: New) -> Path:
    root = new().root
    shutil.copytree(new("advdreamer", "others").root, root, dirs_exist_ok=True)
    return root


def loaded(root: Path) -> list[tuple[PurePosixPath, Submission]]:
    return [
        (PurePosixPath(path.parent.relative_to(root).as_posix()), read(path.parent))
        for path in sorted(root.rglob("run.json"))
    ]


def test_tags_escape_all_but_themselves() -> None:
    assert tag("p", "<b>", tag("b", "&")) == "<p>&lt;b&gt;<b>&amp;</b></p>"
    assert tag("a", class_='x"y', data_value=0, hidden=False, title=None) == (
        '<a class="x&quot;y" data-value="0"></a>'
    )
    assert join(["<", Html("<br>")], ", ") == "&lt;, <br>"
    assert tag("br") == "<br>"


def test_a_page_for_each_attack_and_threat_model(entries: Path, tmp_path: Path) -> None:
    pages = build(entries, tmp_path / "site")
    assert {page for page in pages if "/" not in page} == {
        "index.html",
        "mac-v1-score-4.html",
        "advdreamer-v1-score-8.html",
    }
    assert all((tmp_path / "site" / page).is_file() for page in pages)


def test_every_link_leads_somewhere(entries: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for page in build(entries, site):
        for href in re.findall(r'href="([^"]*)"', (site / page).read_text()):
            assert (site / page).parent.joinpath(href).resolve().is_file(), (page, href)


def test_nothing_is_loaded_from_anywhere(entries: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for page in build(entries, site):
        text = (site / page).read_text()
        assert "default-src &#x27;none&#x27;" in text
        assert not re.search(r"(src|href)=\"(https?:|//)", text)
        assert text.count("<script>") == 1


def test_presets_and_rules_are_never_mixed(new: New) -> None:
    """Two presets, two sets of rules, two sizes: four tables."""
    one = loaded(new().root)
    drafts = [new(name=f"other{number}") for number in range(3)]
    config = drafts[0].json("run.json")["config"]
    drafts[0].config(preset="paper")
    drafts[1].config(settings={**config["settings"], "ties": "released"})
    drafts[2].config(samples=11)
    (board,) = boards([*one, *(pair for draft in drafts for pair in loaded(draft.root))])
    keys = [(part.preset, part.rules, part.samples) for part in board.sections.values()]
    assert ("mini", "writer=grammar", "12") in keys
    assert ("mini", "ties=released, writer=grammar", "12") in keys
    assert ("mini", "writer=grammar", "11") in keys
    assert any(preset == "paper" for preset, _, _ in keys)
    assert all(len(part.standings) == 1 for part in board.sections.values())


def test_threat_models_have_pages_of_their_own(new: New) -> None:
    draft = new(name="other")
    draft.config(query_budget=100)
    found = boards([*loaded(new().root), *loaded(draft.root)])
    assert [board.name for board in found] == ["mac-v1-score-100", "mac-v1-score-4"]


def test_the_most_robust_model_comes_first(new: New) -> None:
    draft = new(name="other")
    rows = (draft.path / "table.csv").read_text().replace(",total,0.2500,", ",total,0.1000,", 1)
    assert ",total,0.1000," in rows
    draft.write("table.csv", rows.encode())
    draft.edit("card.json", lambda card: card.update(model_name="Robust"))
    (board,) = boards([*loaded(new().root), *loaded(draft.root)])
    (section,) = board.sections.values()
    assert [one.model_name for one in section.standings] == ["Robust", "CLIP mini"]
    assert section.standings[0].numbers[0].value == 0.1


def test_rows_that_need_care_say_so(new: New) -> None:
    draft = new()

    def fail(lines: list[dict[str, object]]) -> None:
        for line in lines[:4]:
            line.update(status="error", error="x")

    draft.edit_lines("records.jsonl", fail)
    draft.edit("run.json", lambda header: header.update(git_commit="abc+"))
    (board,) = boards(loaded(draft.root))
    ((standing,),) = (section.standings for section in board.sections.values())
    assert {"unreliable: many errors", "few samples: 8", "changed harness"} <= set(standing.flags)


def test_a_stale_or_failed_replay_is_flagged(new: New) -> None:
    draft = new()
    again = {
        "schema": 1, "date": "2026-11-30", "by": "us", "harness": "trident", "replayed": 10,
        "agreed": 10, "success": 0.2, "reported": 0.2, "entry": "0" * 64,
    }  # fmt: skip
    for change, flag in (
        ({}, "replayed before it was changed"),
        ({"entry": read(draft.path).digest, "agreed": 5}, "unreliable: replay disagrees"),
    ):
        draft.write("reproduced.json", json.dumps(again | change).encode())
        (board,) = boards(loaded(draft.root))
        ((standing,),) = (section.standings for section in board.sections.values())
        assert flag in standing.flags


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.append(name)
        self.attributes |= {key for key, _ in attributes}


def elements(page: str) -> _Elements:
    parser = _Elements()
    parser.feed(page)
    return parser


def test_hostile_texts_change_nothing(new: New) -> None:
    """Even had the validator let them through."""
    draft = new()
    ((path, entry),) = loaded(draft.root)
    (calm,) = boards([(path, entry)])
    assert entry.card is not None
    assert entry.header is not None
    entry.card |= {"model_name": EVIL, "note": EVIL, "withdrawn": EVIL, "harness": EVIL}
    entry.card["history"] = [{"date": "2026-01-01", "was": EVIL, "reason": EVIL}]
    entry.header["models"]["target"] |= {"id": EVIL, "revision": EVIL}
    entry.header["config"]["dataset_name"] = EVIL
    (board,) = boards([(path, entry)])
    for page in (
        index([board], 1),
        board_page(board),
        entry_page(board, next(iter(board.sections.values())).standings[0], entry),
    ):
        data = page.encode()  # the half of a pair went
        assert b"alert('1')" not in data
        parsed = elements(page)
        assert parsed.names.count("script") == 1
        assert not any(name.startswith("on") for name in parsed.attributes)
    assert elements(board_page(board)).names.count("td") == elements(board_page(calm)).names.count(
        "td"
    )


def test_numbers_can_be_downloaded(entries: Path, tmp_path: Path) -> None:
    build(entries, tmp_path / "site")
    data = tmp_path / "site" / "data"
    rows = json.loads((data / "leaderboard.json").read_text())
    sheet = list(csv.DictReader(StringIO((data / "leaderboard.csv").read_text())))
    assert [row["attack"] for row in rows] == [row["attack"] for row in sheet]
    mac = next(row for row in rows if row["attack"] == "mac")
    assert mac["total"] == 0.25
    assert mac["preset"] == "mini"
    only = json.loads((data / "mac-v1-score-4.json").read_text())
    assert only == [{key: mac[key] for key in only[0]}]


def test_a_name_is_no_formula(new: New, tmp_path: Path) -> None:
    draft = new()
    draft.edit("card.json", lambda card: card.update(model_name="=HYPERLINK(1)"))
    build(draft.root, tmp_path / "site")
    text = (tmp_path / "site" / "data" / "leaderboard.csv").read_text()
    assert "'=HYPERLINK(1)" in text


def test_nothing_is_built_from_an_entry_that_does_not_pass(new: New, tmp_path: Path) -> None:
    draft = new()
    draft.write("table.csv", b"")
    with pytest.raises(UserError, match="leaderboard validate"):
        build(draft.root, tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_only_a_site_is_written_over(new: New, tmp_path: Path) -> None:
    entries, site = new().root, tmp_path / "site"
    build(entries, site)
    (site / "old.html").write_text("old")
    build(entries, site)
    assert not (site / "old.html").exists()
    precious = tmp_path / "thesis"
    precious.mkdir()
    (precious / "a.txt").write_text("a")
    with pytest.raises(UserError, match="not empty and no site"):
        build(entries, precious)
    assert (precious / "a.txt").exists()


def test_a_missing_number_is_a_dash_that_sorts_last(new: New) -> None:
    from leaderboards.pages import _number

    assert 'data-value=""' in _number(Number(None), first=False)


@pytest.fixture
def served(new: New, tmp_path: Path) -> Iterator[int]:
    build(new().root, tmp_path / "site")
    (tmp_path / "secret.txt").write_text("secret")
    running = server(tmp_path / "site", 0)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running.server_address[1]
    running.shutdown()
    running.server_close()
    thread.join()


def get(port: int, path: str, host: str | None = None) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {} if host is None else {"Host": host}
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def test_the_site_is_served_on_this_machine_only(served: int) -> None:
    status, headers, body = get(served, "/")
    assert (status, "<h1>" in body) == (200, True)
    assert headers["Content-Security-Policy"] == POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert get(served, "/", "evil.example:80")[0] == 421
    assert get(served, "/data/")[0] == 404
    assert get(served, "/../secret.txt")[0] == 404
    assert get(served, "/%2e%2e/secret.txt")[0] == 404
