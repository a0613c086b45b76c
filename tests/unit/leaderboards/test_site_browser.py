"""The site in a real browser: it sorts, fits a phone, and reports no error, policy included."""

from functools import partial
from pathlib import Path

import pytest

from leaderboards.boards import boards
from leaderboards.pages import board_page, entry_page
from leaderboards.site import build
from tests.browser import Page
from tests.unit.leaderboards.conftest import New
from tests.unit.leaderboards.test_site import EVIL, loaded

pytestmark = pytest.mark.browser

NAMES = "[...document.querySelectorAll('tbody tr .model a')].map((a) => a.textContent)"


@pytest.fixture
def board(new: New, tmp_path: Path) -> Path:
    """Three models: rates 0.25, 0.1 and one that is missing."""
    entries = loaded(new().root)
    for name, value in (("Better", "0.1000"), ("Unknown", "")):
        draft = new(name=name)
        table = (draft.path / "table.csv").read_text()
        row = next(line for line in table.splitlines() if ",,total,0.2500," in line)
        other = row.replace("0.2500", value, 1)
        draft.write("table.csv", table.replace(row, other).encode())
        draft.edit("card.json", partial(dict.update, model_name=name))
        entries += loaded(draft.root)
    (found,) = boards(entries)
    path = tmp_path / "board.html"
    path.write_text(board_page(found))
    return path


def test_columns_sort_by_mouse_and_keyboard(page: Page, board: Path) -> None:
    page.open(board)
    assert page.js(NAMES) == ["Better", "CLIP mini", "Unknown"]
    head = "th:nth-child(2)"
    assert page.js(f"document.querySelector('{head}').ariaSort") == "ascending"
    page.click(f"{head} button")
    assert page.js(f"document.querySelector('{head}').ariaSort") == "descending"
    assert page.js(NAMES) == ["CLIP mini", "Better", "Unknown"]  # what is missing stays last
    page.js("document.querySelector('th button').focus()")
    page.press("Enter")
    assert page.js(NAMES) == ["Better", "CLIP mini", "Unknown"]
    page.press("Enter")
    assert page.js(NAMES) == ["Unknown", "CLIP mini", "Better"]


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_scrolls_the_table_not_the_page(page: Page, board: Path, dark: bool) -> None:
    page.resize(390, 844)
    page.prefer(dark=dark)
    page.open(board)
    assert page.js("document.documentElement.scrollWidth <= window.innerWidth")
    light = page.js("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light is not dark


def test_all_pages_of_a_site_open_without_an_error(page: Page, new: New, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name in build(new("advdreamer").root, site):
        page.open(site / name)
        assert page.js("document.querySelector('h1').textContent.length > 0")
    assert all(one.startswith("file:") for one in page.requests)


def test_hostile_texts_run_nothing(page: Page, new: New, tmp_path: Path) -> None:
    ((path, entry),) = loaded(new().root)
    assert entry.card is not None
    entry.card |= {"model_name": f"{EVIL}<img src=x onerror=document.title='owned'>", "note": EVIL}
    (found,) = boards([(path, entry)])
    standing = next(iter(found.sections.values())).standings[0]
    (tmp_path / "x.html").write_text(entry_page(found, standing, entry))
    page.open(tmp_path / "x.html")
    assert page.js("document.title").startswith("<script>")
    assert page.js("document.images.length") == 0
