import base64
import hashlib
import json
import re
import shlex
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from benchmark.cli import build_parser
from benchmark.config import resolve
from benchmark.errors import UserError
from benchmark.report import write
from benchmark.report.page import build
from benchmark.report.provenance import command
from benchmark.report.runs import RunView
from tests import report_runs

VOID = {"br", "img", "input", "link", "meta"}


class Reader(HTMLParser):
    """Reads a page strictly: tags must nest. Collects what tests ask about."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.raw: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids.update(value or "" for name, value in attrs if name == "id")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("style", "script"):
            self.raw[self.open[-1]] = self.raw.get(self.open[-1], "") + data
        else:
            self.text.append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, key, value in self.attributes if key == name]


def page(path: Path, other: Path | None = None, **options: int) -> str:
    return build(RunView(path), None if other is None else RunView(other), **options)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module", params=["captions", "poses", "searches", "hostile"])
def shown(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    make = getattr(report_runs, request.param)
    return page(make(tmp_path_factory.mktemp(request.param) / "run"))


def test_the_page_is_well_formed(shown: str) -> None:
    reader = read(shown)
    assert [id for id, count in reader.ids.items() if count > 1] == []
    for name in ("aria-labelledby", "aria-describedby"):
        for value in reader.values(name):
            assert set(value.split()) <= set(reader.ids)
    for value in reader.values("href"):
        assert value.startswith("#")
        assert value[1:] in reader.ids


def test_nothing_is_loaded_and_no_script_is_anybody_elses(shown: str) -> None:
    reader = read(shown)
    assert all(value.startswith("data:image/") for value in reader.values("src"))
    assert reader.tags["script"] == reader.tags["style"] == 1
    assert not reader.tags["link"] + reader.tags["iframe"] + reader.tags["object"]
    names = {name for _, name, _ in reader.attributes}
    assert not [name for name in names if name.startswith("on")]
    assert "style" not in names
    assert "srcset" not in names


def test_the_policy_allows_this_style_and_this_script_only(shown: str) -> None:
    reader = read(shown)
    (policy,) = [value for value in reader.values("content") if "default-src" in value]
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["default-src"] == "'none'"
    assert parts["img-src"] == "data:"
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(reader.raw[tag].encode()).digest()).decode()
        assert parts[f"{tag}-src"] == f"'sha256-{digest}'"


def test_charts_say_their_numbers_and_have_a_table(shown: str) -> None:
    for chart in re.findall(r'<svg class="chart".*?</svg>', shown, re.DOTALL):
        assert re.search(r"<title [^>]*>[^<]+</title>", chart)
        assert re.search(r"<desc [^>]*>[^<]*\d[^<]*</desc>", chart)
    figures = re.findall(r'<figure class="plot[^"]*">.*?</figure>', shown, re.DOTALL)
    assert len(figures) == shown.count('<figure class="plot')


def test_every_text_is_there_and_nothing_else(tmp_path: Path) -> None:
    reader = read(page(report_runs.hostile(tmp_path / "run")))
    told = "".join(reader.text)
    for text in report_runs.HOSTILE:
        clean = re.sub("[\x00\x1b\ud800\ufffe]", "\ufffd", text)
        for word in clean.split():
            assert word in told
    assert reader.tags["article"] == len(report_runs.HOSTILE)


def test_the_file_is_utf_8_whatever_is_in_it(tmp_path: Path) -> None:
    size = write(report_runs.hostile(tmp_path / "run"), tmp_path / "out" / "report.html")
    data = (tmp_path / "out" / "report.html").read_bytes()
    assert len(data) == size
    assert "\x00" not in data.decode("utf-8")


def test_headline_and_how_samples_ended(tmp_path: Path) -> None:
    told = " ".join(" ".join(read(page(report_runs.captions(tmp_path / "run"))).text).split())
    assert "attack success rate 50.0 %" in told
    assert "95 % interval 15.0 to 85.0" in told
    assert "2 fooled, 2 held, 1 skipped, 1 error" in told


def test_changed_words_are_marked_and_scores_shown(tmp_path: Path) -> None:
    html = page(report_runs.captions(tmp_path / "run", "S"))
    assert "<del>red</del>" in html
    assert "<ins>blue</ins>" in html
    assert "0.6000" in html
    assert "0.6100" in html


def test_every_id_and_hash_is_there(tmp_path: Path) -> None:
    path = report_runs.captions(tmp_path / "run")
    told = "".join(read(page(path)).text)
    header = json.loads((path / "run.json").read_text())
    assert header["digest"] in told
    assert header["models"]["target"]["weights"] in told
    assert header["git_commit"] in told
    assert hashlib.sha256((path / "records.jsonl").read_bytes()).hexdigest() in told
    assert "No command of this version makes this run again" in told


def test_the_command_makes_the_same_run_again(tmp_path: Path) -> None:
    wanted = resolve("mac", "clip", samples=7, overrides=["candidates=16"])
    path = report_runs.captions(tmp_path / "run")
    header = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps({**header, "config": wanted.to_json()}))
    shown = command(RunView(path))
    assert shown is not None
    args = build_parser().parse_args(shlex.split(shown.replace("\\\n", " "))[3:])
    again = resolve(
        args.attack, args.target, args.preset or "mini", None, args.set, samples=args.samples
    )
    assert again.digest == wanted.digest
    assert "--set candidates=16" in shown


def test_filters_count(tmp_path: Path) -> None:
    html = page(report_runs.captions(tmp_path / "run"))
    for state, count in (("all", 6), ("success", 2), ("failure", 2), ("error", 1), ("skipped", 1)):
        assert re.search(rf'id="show-{state}"[^>]*><span>\w+ <span class="count">{count}<', html)


def test_a_gallery_that_is_cut_says_so_and_has_both_kinds(tmp_path: Path) -> None:
    html = page(report_runs.captions(tmp_path / "run", "FFFFSSS"), examples=4)
    assert html.count("<article") == 4
    assert html.count("is-success") >= 2
    assert html.count('class="card is-failure') == 2
    assert "4 of 7 samples are shown here." in html


def test_previews_are_said_to_be(tmp_path: Path) -> None:
    html = page(report_runs.captions(tmp_path / "run"), picture_bytes=10)
    assert "image/jpeg" in html
    assert "original (preview)" in html
    assert "reduced to keep the file small" in html


def test_poses_have_their_sections(tmp_path: Path) -> None:
    told = " ".join("".join(read(page(report_runs.poses(tmp_path / "run"))).text).split())
    for heading in ("Where the search went", "Which poses fool by themselves", "By generation"):
        assert heading in told
    assert "best wrong label0.7000" in told.replace("score ", "")


def test_searches_lead_with_what_they_found(tmp_path: Path) -> None:
    path = report_runs.searches(tmp_path / "run")
    told = " ".join(" ".join(read(page(path)).text).split())
    assert "CAPTURE where evolution ended 0.300" in told
    for heading in ("Concept map", "By evaluations", "By concept"):
        assert heading in told
    assert told.count("a red rocket in the fog") >= 2
    assert "nl_adv-0" in told
    assert "RuntimeError: no answer" in told
    assert "miniature model" in told


def test_two_runs_side_by_side(tmp_path: Path) -> None:
    first = report_runs.captions(tmp_path / "a" / "run", "SFFSE")
    second = report_runs.captions(tmp_path / "b" / "run", "FFSSE", target="fake:other")
    html = page(first, second)
    told = " ".join(" ".join(read(html).text).split())
    assert "A attack success rate 50.0 %" in told
    assert "B attack success rate 50.0 %" in told
    assert "4 samples in both: 1 fooled only in A, 1 only in B" in told
    assert re.search(r'id="show-flipped"[^>]*><span>Flipped <span class="count">2<', html)
    assert "with a margin of 2 points" in told
    assert "adversarial A" in told
    assert "What was run on what: B" in told


def test_an_unfinished_run_says_so(tmp_path: Path) -> None:
    path = report_runs.captions(tmp_path / "run")
    header = json.loads((path / "run.json").read_text()) | {"status": "interrupted"}
    (path / "run.json").write_text(json.dumps(header))
    (path / "table.csv").unlink()
    assert "this run is not finished: 6 samples so far" in page(path)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no run"):
        write(tmp_path, tmp_path / "report.html")
    path = report_runs.write(tmp_path / "empty", [])
    with pytest.raises(UserError, match="has no record yet"):
        write(path, tmp_path / "report.html")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="name another with --out"):
        write(report_runs.captions(tmp_path / "run"), tmp_path / "file" / "report.html")


@pytest.mark.parametrize("outcomes", ["S", "F", "E", "-", "SS", "EE-"])
def test_small_runs_have_pages_too(tmp_path: Path, outcomes: str) -> None:
    reader = read(page(report_runs.captions(tmp_path / "run", outcomes)))
    assert reader.tags["article"] == len(outcomes)
    told = " ".join("".join(reader.text).split())
    assert "nan" not in told.split()
    assert ("no interval" in told) == (set(outcomes) <= set("E-"))


@pytest.mark.parametrize("second", ["poses", "searches", "hostile"])
def test_runs_that_have_nothing_in_common_stand_side_by_side(tmp_path: Path, second: str) -> None:
    first = report_runs.captions(tmp_path / "a" / "run")
    other = getattr(report_runs, second)(tmp_path / "b" / "run")
    reader = read(page(first, other))
    told = " ".join("".join(reader.text).split())
    assert "NOT COMPARABLE" in told
    assert reader.tags["article"] == 6
