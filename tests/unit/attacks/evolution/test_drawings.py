"""The pictures of a run, from a folder as runs leave it."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from attacks.evolution.concept_map import vectors_of, write_map
from attacks.evolution.drawings import DRAWINGS
from attacks.evolution.plots import curves, table_of, title_of, write_concepts, write_curve
from attacks.evolution.sheet import COLUMNS, chosen, missed_words, write_sheet
from attacks.evolution.svg import Picture, nice_steps, shortened
from benchmark.tables import Row, write_csv
from benchmark.types import Pixels, Record

SVG = "{http://www.w3.org/2000/svg}"
FOGGY = [
    f"a {colour} duck in the fog" for colour in ("red", "blue", "green", "pink", "white", "black")
]
CLEAR = [
    f"a {colour} mug in daylight" for colour in ("red", "blue", "green", "pink", "white", "black")
]


def row(part: str, metric: str, value: float | None, low: float, high: float, n: int = 25) -> Row:
    return Row(
        "evolution", "t", "", "searches", "mini", "", part, metric, value, low, high, n, "", ""
    )


def keep(folder: Path, pixels: Pixels) -> str:
    digest = hashlib.sha256(pixels.tobytes()).hexdigest()
    folder.mkdir(exist_ok=True)
    Image.fromarray(pixels).save(folder / f"{digest}.png")
    return digest


def record(
    folder: Path, search: str, finals: Sequence[str], repeat: int = 0, **more: Any
) -> Record:
    colours = {text: (40 * n % 256, 90, 200) for n, text in enumerate(finals)}
    artifacts = {
        f"final-{n:02}": keep(folder, np.full((16, 16, 3), colours[text], np.uint8))
        for n, text in enumerate(finals)
    }
    found: Any = {
        "search": search,
        "repeat": repeat,
        "evaluations": 20,
        "counted": {"scored": 18, "refused": 2},
        "pool": {"n": 6, "mean": 0.61, "captions": [[text, 0.6] for text in CLEAR]},
        "generations": [
            {"generation": 0, "evaluations": 6, "best": 0.5, "mean": 0.6 + 0.1 * repeat},
            {"generation": 1, "evaluations": 20, "best": 0.1, "mean": 0.2 + 0.1 * repeat},
        ],
        "finals": [
            {
                "id": n, "text": text, "selected": 0.1, "capture_fresh": 0.05 * (n + 1),
                "fresh_status": ["scored"], "answer": "a red boat in daylight",
                "picture": f"final-{n:02}",
            }
            for n, text in enumerate(finals)
        ],
    } | more  # fmt: skip
    return Record(
        f"{search}-{repeat}",
        f"repeat-{repeat}",
        "success",
        search,
        artifacts=artifacts,
        found=found,
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run with a table."""
    write_csv(
        [
            row("search=evolution", "capture_fresh", 0.175, 0.1, 0.25),
            row("search=lance", "capture_fresh", 0.3, 0.2, 0.4),
            row("concept=fog", "document_frequency", 1.0, 0.8, 1.0),
            row("concept=fog", "pool_frequency", 0.2, 0.1, 0.3, n=200),
            row("concept=fog", "log_odds", 3.4, 1.5, 5.2),
            row("concept=duck", "document_frequency", 0.5, 0.3, 0.7),
            row("concept=duck", "pool_frequency", 0.25, 0.1, 0.3, n=200),
            row("concept=duck", "log_odds", -0.5, -1.4, 0.2),
        ],
        tmp_path / "table.csv",
    )
    header = {"format": 1, "status": "finished", "config": {"settings": {"encoder": "none"}}}
    (tmp_path / "run.json").write_text(json.dumps(header))
    return tmp_path


def pixels_of(path: Path) -> Pixels:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def texts(path: Path) -> list[str]:
    """All that is written in an SVG picture."""
    return [str(element.text) for element in ET.parse(path).iter(f"{SVG}text")]


def test_all_pictures_of_a_run(run: Path) -> None:
    artifacts = run / "artifacts"
    records = [record(artifacts, "evolution", FOGGY), record(artifacts, "lance", CLEAR)]
    for write, name in DRAWINGS:
        assert write(run / name, "a <title> & more", records, []), name
        path = run / name
        if path.suffix == ".svg":
            assert ET.parse(path).getroot().tag == f"{SVG}svg"
        else:
            assert pixels_of(path).shape[1] > 1000


def test_without_searches_nothing_is_drawn(tmp_path: Path) -> None:
    failed = Record("evolution-0", "repeat-0", "error", "evolution", error="down")
    for write, name in DRAWINGS:
        assert not write(tmp_path / name, "title", [failed], [])
        assert not (tmp_path / name).exists()


def test_the_sheet_shows_all_of_evolution_and_some_of_the_others(run: Path) -> None:
    artifacts = run / "artifacts"
    lance = record(artifacts, "lance", [*CLEAR, *FOGGY])
    searches = chosen(
        [
            lance,
            record(artifacts, "evolution", FOGGY),
            record(artifacts, "evolution", CLEAR, repeat=1),
        ]
    )
    assert [(str(one.record.found["search"]), len(one.finals)) for one in searches] == [
        ("evolution", 6), ("lance", 5),
    ]  # fmt: skip
    assert [one.shown for one in chosen([lance])] == [25]


def test_finals_are_shown_from_the_one_described_worst(run: Path) -> None:
    one = record(run / "artifacts", "evolution", FOGGY)
    finals: Any = one.found["finals"]
    finals[0]["capture_fresh"] = None
    finals[5]["capture_fresh"] = 0.01
    (search,) = chosen([one])
    assert [final["id"] for final in search.finals] == [5, 1, 2, 3, 4, 0]


def test_the_sheet_holds_the_pictures(run: Path) -> None:
    one = record(run / "artifacts", "evolution", FOGGY)
    assert write_sheet(run / "artifacts/sheet.png", "title", [one], [])
    pixels = pixels_of(run / "artifacts/sheet.png")
    for n in range(len(FOGGY)):
        assert (pixels == (40 * n % 256, 90, 200)).all(axis=2).sum() > 40_000
    # Six finals are more than a row.
    assert pixels.shape[0] > pixels.shape[1] // COLUMNS * 2


def test_missing_pictures_and_answers_leave_a_gap(run: Path) -> None:
    one = record(run / "artifacts", "evolution", FOGGY[:2])
    finals: Any = one.found["finals"]
    finals[0] |= {"answer": None, "fresh_status": ["refused"], "capture_fresh": None}
    (run / "artifacts" / f"{one.artifacts['final-01']}.png").unlink()
    assert write_sheet(run / "artifacts/sheet.png", "title", [one], [])


def test_long_answers_are_cut(run: Path) -> None:
    one = record(run / "artifacts", "evolution", FOGGY[:1])
    finals: Any = one.found["finals"]
    write_sheet(run / "short.png", "title", [one], [])
    finals[0]["answer"] = "a very " + "long " * 400 + "X" * 300
    write_sheet(run / "long.png", "title", [one], [])
    short, long = (len(pixels_of(run / name)) for name in ("short.png", "long.png"))
    assert 0 < long - short < 170


def test_words_that_were_missed_are_marked() -> None:
    caption, answer = missed_words(
        "a small red duck left of a mug in the fog", "Two small ducks right of a mug, on the grass."
    )
    assert [word for word, marked in caption if marked] == ["red", "left", "fog"]
    assert [word for word, marked in answer if marked] == ["Two", "right", "grass."]
    assert not any(marked for _, marked in missed_words("two red ducks", "")[0])


def test_prose_is_not_marked_for_what_it_adds() -> None:
    caption, answer = missed_words(
        "A Zen master rakes a garden.", "An old man stands in a calm, green garden."
    )
    assert [word for word, marked in caption if marked] == ["Zen", "master", "rakes"]
    assert not any(marked for _, marked in answer)


def test_concepts_stand_beside_the_initial_captions(run: Path) -> None:
    path = run / "artifacts/concepts.svg"
    assert write_concepts(path, "title", [record(run / "artifacts", "evolution", FOGGY)], [])
    said = texts(path)
    assert "What the final captions of evolution name" in said
    assert {"fog", "duck", "final (25)", "initial (200)", "-2", "0", "+6"} <= set(said)
    root = ET.parse(path).getroot()
    description = root.find(f"{SVG}desc")
    assert description is not None
    assert "fog: 100% of the final captions, 20% of the initial ones" in str(description.text)
    bars = [
        float(e.attrib["width"]) for e in root.iter(f"{SVG}rect") if e.attrib.get("height") == "11"
    ]
    assert bars == [292, 58.4, 146, 73]


def test_without_concepts_there_is_no_plot(tmp_path: Path) -> None:
    assert not write_concepts(tmp_path / "artifacts/concepts.svg", "title", [], [])


def test_curves_are_means_over_repeats(run: Path) -> None:
    artifacts = run / "artifacts"
    records = [record(artifacts, "evolution", FOGGY, repeat=n) for n in range(2)]
    (curve,) = curves(records)
    assert curve.name == "evolution"
    assert [number for row in curve.rows for number in row] == pytest.approx(
        [6, 0.65, 0.5, 20, 0.25, 0.1]
    )


def test_a_run_shown_to_another_target_has_no_curve(run: Path) -> None:
    one = record(run / "artifacts", "evolution", FOGGY)
    found: Any = one.found
    del found["generations"], found["counted"], found["evaluations"]
    found["pool"]["mean"] = None
    for final in found["finals"]:
        del final["selected"]
    drawn = [write(run / name, "title", [one], []) for write, name in DRAWINGS]
    assert drawn == [True, True, False, True]


def test_the_curve_ends_with_fresh_pictures(run: Path) -> None:
    path = run / "artifacts/searches.svg"
    artifacts = run / "artifacts"
    records = [record(artifacts, "evolution", FOGGY), record(artifacts, "lance", CLEAR)]
    assert write_curve(path, "title", records, [])
    assert {"evolution", "LANCE", "fresh 0.175 [0.10, 0.25]"} <= set(texts(path))
    root = ET.parse(path).getroot()
    assert len(list(root.iter(f"{SVG}polyline"))) == 2
    assert len(list(root.iter(f"{SVG}polygon"))) == 2


def test_the_table_is_read_from_beside_the_folder(run: Path) -> None:
    parts = table_of(run / "artifacts/x.svg", "concept")
    assert list(parts) == ["fog", "duck"]
    assert parts["fog"]["log_odds"].value == 3.4
    assert table_of(run / "x.svg", "concept") == {}


def test_the_map_shows_every_caption(run: Path) -> None:
    artifacts = run / "artifacts"
    records = [record(artifacts, "evolution", FOGGY), record(artifacts, "lance", CLEAR)]
    path = artifacts / "map.svg"
    assert write_map(path, "title", records, [])
    hints = [str(e.text) for e in ET.parse(path).iter(f"{SVG}title")]
    assert sum(hint.startswith("evolution: ") for hint in hints) == 6
    assert sum(hint.startswith("LANCE: ") for hint in hints) == 6
    assert {"fog", "duck", "initial (6)", "evolution (6)", "t-SNE of bags of words"} <= set(
        texts(path)
    )
    first = path.read_bytes()
    write_map(path, "title", records, [])
    assert path.read_bytes() == first


def test_bags_of_words() -> None:
    vectors = vectors_of(["a red duck", "two red ducks", "of the"], "none")
    assert vectors.shape == (3, 3)
    np.testing.assert_array_equal(vectors[0], vectors[1])
    assert vectors[2].tolist() == [0, 0, 0.1]


@pytest.mark.parametrize(
    ("high", "steps"),
    [
        (0.62, [0, 0.2, 0.4, 0.6, 0.8]),
        (0.3, [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3]),
        (1175, [0, 200, 400, 600, 800, 1000, 1200]),
        (0, [0, 1]),
        (7, [0, 2, 4, 6, 8]),
    ],
)
def test_steps_are_round(high: float, steps: list[float]) -> None:
    assert nice_steps(high) == pytest.approx(steps)


def test_what_no_xml_may_hold(tmp_path: Path) -> None:
    Picture((100, 100), "a\x00b", "<c>", "d").write(tmp_path / "x.svg")
    assert texts(tmp_path / "x.svg") == ["a\ufffdb", "<c>"]


def test_names() -> None:
    assert [title_of(one) for one in ("nl_adv", "my_search")] == ["NL-adv", "my search"]
    assert (shortened("abcdef", 6), shortened("abcdefg", 6)) == ("abcdef", "abcde…")
