"""The page that browser tests see can really fail them."""

from pathlib import Path

import pytest

from tests.browser import Browser, BrowserError

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><meta charset="utf-8"><title>t</title>
<meta name="viewport" content="width=device-width">
<button onclick="document.title = 'clicked'">press</button><input>
"""


def written(folder: Path, more: str = "") -> Path:
    path = folder / "page.html"
    path.write_text(PAGE + more, encoding="utf-8")
    return path


def test_what_goes_wrong_in_a_page_is_noticed(browser: Browser, tmp_path: Path) -> None:
    page = browser.page()
    page.open(
        written(
            tmp_path,
            "<script>console.error('first'); setTimeout(() => { throw new Error('second') })</script>"
            "<img src='https://example.com/third.png'>",
        )
    )
    page.js("new Promise(done => setTimeout(done, 50))")
    page.close()
    assert any("first" in error for error in page.errors)
    assert any("second" in error for error in page.errors)
    assert any("NAME_NOT_RESOLVED" in error for error in page.errors)
    assert "https://example.com/third.png" in page.requests


def test_a_click_a_key_and_the_colours_arrive(browser: Browser, tmp_path: Path) -> None:
    page = browser.page(width=390, height=700, dark=True)
    page.open(written(tmp_path))
    page.click("button")
    page.press("Tab")
    page.write("words")
    assert page.js("document.title") == "clicked"
    assert page.js("document.querySelector('input').value") == "words"
    assert page.js("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]") == [
        390,
        True,
    ]
    page.close()
    assert page.errors == []


def test_without_javascript_nothing_runs(browser: Browser, tmp_path: Path) -> None:
    page = browser.page(javascript=False)
    page.open(written(tmp_path))
    page.click("button")
    assert page.js("document.title") == "t"
    page.close()


def test_what_cannot_be_done_is_an_error(browser: Browser, tmp_path: Path) -> None:
    page = browser.page()
    page.open(written(tmp_path))
    with pytest.raises(BrowserError, match="nothing on the page fits #gone"):
        page.click("#gone")
    with pytest.raises(BrowserError, match="boom"):
        page.js("(() => { throw new Error('boom') })()")
    with pytest.raises(BrowserError, match="absent"):
        page.open(tmp_path / "absent.html")
    page.close()
