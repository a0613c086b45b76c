"""The report in Chromium: it renders, filters, searches, and nothing hostile changes anything."""

from pathlib import Path

import pytest

from benchmark.report import write
from tests import report_runs
from tests.browser import Browser, Page

pytestmark = pytest.mark.browser

VISIBLE = (
    "[...document.querySelectorAll('.card')].filter(card => card.checkVisibility())"
    ".map(card => card.querySelector('.id').textContent)"
)
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One page of each kind of run."""
    folder = tmp_path_factory.mktemp("reports")
    found = {}
    for name in ("captions", "poses", "searches", "hostile"):
        run = getattr(report_runs, name)(folder / name / "run")
        found[name] = folder / f"{name}.html"
        write(run, found[name])
    first = report_runs.captions(folder / "first" / "run", "SFFSE")
    second = report_runs.captions(folder / "second" / "run", "FFSSE", target="fake:other")
    found["both"] = folder / "both.html"
    write(first, found["both"], second)
    return found


@pytest.mark.parametrize("name", ["captions", "poses", "searches", "hostile", "both"])
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (390, False)])
def test_it_renders_without_an_error_and_asks_for_nothing(
    browser: Browser, pages: dict[str, Path], name: str, width: int, dark: bool
) -> None:
    page = browser.page(width=width, dark=dark)
    page.open(pages[name])
    assert page.js("document.querySelector('h1').getBoundingClientRect().height") > 0
    assert page.js("getComputedStyle(document.body).fontVariantNumeric") == "tabular-nums"
    assert page.js(OVERFLOW) <= 0
    assert all(url.startswith(("file:", "data:")) for url in page.requests)
    page.close()
    assert page.errors == []


def test_pictures_are_drawn_pixel_for_pixel(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["captions"])
    page.js("Promise.all([...document.images].map(image => image.decode()))")
    sizes = page.js("[...document.images].map(i => [i.naturalWidth, i.naturalHeight])")
    assert sizes == [[16, 16]] * 6
    drawn = page.js(
        "(() => { const c = document.createElement('canvas'); c.width = c.height = 16;"
        " const x = c.getContext('2d');"
        " x.drawImage([...document.images].find(i => i.alt === 'original: s0'), 0, 0);"
        " return [...x.getImageData(0, 0, 16, 16).data]; })()"
    )
    rgb = [value for i, value in enumerate(drawn) if i % 4 != 3]
    assert rgb == report_runs.picture(0).ravel().tolist()


def test_filters_by_mouse(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["captions"])
    assert len(page.js(VISIBLE)) == 6
    page.click("label:has(#show-success)")
    # The stronger success comes first.
    assert page.js(VISIBLE) == ["s3", "s0"]
    assert page.js("document.getElementById('shown').textContent") == "2 of 6"
    page.click("label:has(#show-error)")
    assert page.js(VISIBLE) == ["s4"]
    page.click("label:has(#show-all)")
    assert len(page.js(VISIBLE)) == 6


def test_filters_and_search_by_keyboard(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["captions"])
    page.js("document.getElementById('show-all').focus()")
    page.press("ArrowRight")
    assert page.js("document.activeElement.id") == "show-success"
    assert page.js(VISIBLE) == ["s3", "s0"]
    page.press("/")
    assert page.js("document.activeElement.id") == "search"
    page.write("NUMBER s0")
    assert page.js(VISIBLE) == ["s0"]
    assert page.js("document.getElementById('shown').textContent") == "1 of 6"
    page.write(" nowhere")
    assert page.js(VISIBLE) == []
    assert page.js("document.getElementById('none').checkVisibility()")
    page.press("Escape")
    assert page.js(VISIBLE) == ["s3", "s0"]


def test_everything_that_can_be_used_is_reached_by_tab(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["poses"])
    reached = set()
    for _ in range(80):
        page.press("Tab")
        reached.add(page.js("document.activeElement.id || document.activeElement.tagName"))
    assert {"theme", "search", "A", "SUMMARY", "show-all"} <= reached


def test_folded_numbers_open(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["captions"])
    assert not page.js("document.querySelector('#success details table').checkVisibility()")
    page.js("document.querySelector('#success summary').focus()")
    page.press("Enter")
    assert page.js("document.querySelector('#success details table').checkVisibility()")


def test_colours_follow_the_system_and_the_button(browser: Browser, pages: dict[str, Path]) -> None:
    page = browser.page(dark=True)
    page.open(pages["captions"])
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.js(paper)
    assert page.js("document.getElementById('theme').textContent") == "Light"
    page.click("#theme")
    light = page.js(paper)
    assert (dark, light) == ("rgb(17, 19, 23)", "rgb(255, 255, 255)")
    assert page.js("document.getElementById('theme').textContent") == "Dark"
    page.prefer(dark=False)
    assert page.js(paper) == light
    page.click("#theme")
    assert page.js(paper) == dark
    page.close()
    assert page.errors == []


def test_flipped_samples_can_be_picked_out(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["both"])
    page.click("label:has(#show-flipped)")
    assert sorted(page.js(VISIBLE)) == ["s0", "s2"]


def test_nothing_hostile_runs_or_escapes(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["hostile"])
    page.js("new Promise(done => setTimeout(done, 100))")
    assert page.js("document.title").endswith("· Trident")
    assert page.js("document.scripts.length") == 1
    assert page.js("document.styleSheets.length") == 1
    assert page.js("document.querySelectorAll('.card').length") == len(report_runs.HOSTILE)
    assert page.js("document.images.length") == 0
    told = page.js("document.querySelector('.cards').textContent")
    assert "<script>document.title='owned'</script>" in told
    assert "</style><style>body{display:none}</style>" in told


def test_search_takes_hostile_words(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["hostile"])
    page.js("document.getElementById('search').focus()")
    page.write("</script><script>")
    assert 0 < len(page.js(VISIBLE)) < len(report_runs.HOSTILE)


def test_right_to_left_does_not_reach_beyond_its_text(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["hostile"])
    assert page.js("getComputedStyle(document.querySelector('.cards')).direction") == "ltr"
    lefts = page.js(
        "[...document.querySelectorAll('.card > header')]"
        ".map(h => h.querySelector('.badge').getBoundingClientRect().left"
        " - h.getBoundingClientRect().left)"
    )
    assert set(lefts) == {0}


def test_long_texts_stay_in_their_box(page: Page, pages: dict[str, Path]) -> None:
    page.open(pages["hostile"])
    boxes = page.js(
        "[...document.querySelectorAll('.words.long')]"
        ".map(e => [e.clientHeight, e.scrollHeight, e.tabIndex, e.scrollWidth - e.clientWidth])"
    )
    assert len(boxes) >= 4
    for height, content, focus, wide in boxes:
        assert height < 250
        assert content > height
        assert focus == 0
        assert wide <= 0


def test_without_javascript_all_of_it_is_there(browser: Browser, pages: dict[str, Path]) -> None:
    page = browser.page(javascript=False)
    page.open(pages["captions"])
    assert len(page.js(VISIBLE)) == 6
    assert page.js("document.querySelectorAll('.chart').length") == 2
    # What needs the script is not offered; the filters do not need it.
    assert not page.js("document.getElementById('search').checkVisibility()")
    assert not page.js("document.getElementById('theme').checkVisibility()")
    page.click("label:has(#show-failure)")
    assert sorted(page.js(VISIBLE)) == ["s1", "s2"]
    page.close()
    assert page.errors == []
