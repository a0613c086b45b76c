import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.errors import UserError
from metrics.capture.score_pairs import score_captions
from tests.unit.metrics.capture.capture_fakes import GOLDEN, FakeResources

TOYBOX = {"parser": "toybox", "matching": "exact", "empty": "renormalise"}
DOG = {"objects": ["dog"], "attributes": {"dog": ["red"]}, "relations": [["dog", "on", "grass"]]}


def written(tmp_path: Path, *lines: Any) -> Path:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


def pair(identifier: Any, reference: Any, candidate: Any) -> dict[str, Any]:
    return {"id": identifier, "reference": reference, "candidate": candidate}


def test_texts_lists_and_graphs(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        pair("text", "a red dog", "a blue dog"),
        pair("list", ["a red dog", "a red dog on the grass"], ["a red dog", "a cat"]),
        pair("graph", DOG, {"objects": ["dog"]}),
        pair("mixed", [DOG, "a dog"], "a dog"),
    )
    steps: list[tuple[int, int]] = []
    out = tmp_path / "out"
    summary = score_captions(path, TOYBOX, {}, out, lambda *step: steps.append(step))
    lines = [json.loads(line) for line in (out / "scores.jsonl").read_text("utf-8").splitlines()]
    assert [line["id"] for line in lines] == ["text", "list", "graph", "mixed"]
    # text: objects 1, attributes 0. list: "a cat" cannot be read; against "a red dog" 1, against the
    # second all but the relation, 1 / 1.2. graph: .5 / 1.2. mixed: .5 / 1.2 and 1.
    expected = [0.5, (1 + 1 / 1.2) / 2, 0.5 / 1.2, (0.5 / 1.2 + 1) / 2]
    assert [line["capture"] for line in lines] == pytest.approx(expected, abs=1e-5)
    assert [line["malformed_candidate"] for line in lines] == [False, True, False, False]
    assert lines[0]["f1_relation"] is None
    assert set(lines[0]) == {
        "id",
        "capture",
        *(
            f"{n}_{t}"
            for n in ("precision", "recall", "f1")
            for t in ("object", "attribute", "relation")
        ),
        "malformed_reference",
        "malformed_candidate",
    }
    assert summary == json.loads((out / "summary.json").read_text("utf-8"))
    assert (summary["n"], summary["scored"], summary["malformed_candidate"]) == (4, 4, 1)
    assert summary["capture"] == pytest.approx(sum(expected) / 4, abs=1e-5)
    assert summary["capture_low"] < summary["capture"] < summary["capture_high"]
    assert summary["f1_relation"] == pytest.approx(0)
    assert steps == [(4, 4)]


def test_what_has_no_score_is_counted_beside_the_mean(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        pair(1, "a dog", "a dog"),
        pair(2, "a dog", "I see a dog"),
        pair(3, "what?", "a dog"),
        pair(4, {}, DOG),
        pair(5, DOG, {}),
    )
    summary = score_captions(path, TOYBOX, {}, tmp_path / "out")
    assert (summary["n"], summary["scored"]) == (5, 2)
    assert summary["capture"] == pytest.approx(0.5, abs=1e-5)  # of lines 1 and 5
    assert (summary["malformed_reference"], summary["malformed_candidate"]) == (1, 1)
    assert (summary["empty_reference"], summary["empty_candidate"]) == (1, 1)
    lines = (tmp_path / "out" / "scores.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["capture"] is None for line in lines] == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_one_line_has_no_interval(tmp_path: Path) -> None:
    path = written(tmp_path, pair(1, "a dog", "a dog"))
    summary = score_captions(path, TOYBOX, {}, tmp_path / "out")
    assert (summary["capture_low"], summary["capture_high"]) == (None, None)
    path = written(tmp_path, pair(1, "?", "a dog"))
    summary = score_captions(path, TOYBOX, {}, tmp_path / "out")
    assert (summary["capture"], summary["f1_object"]) == (None, None)


def test_graphs_need_no_parser_and_settings_are_recorded(tmp_path: Path) -> None:
    path = written(tmp_path, pair(1, DOG, DOG))
    resources = FakeResources(version="nltk 9, WordNet 9")
    options = {"encoder": "none", "parser": "factual:no/such"}
    summary = score_captions(path, options, {}, tmp_path / "out", resources=resources)
    settings = summary["settings"]
    assert settings["matching"] == ["exact", "synonym"]
    assert settings["parser"] == {"spec": "factual:no/such", "used": False}
    assert settings["synonyms"] == "nltk 9, WordNet 9"
    other = score_captions(
        path, {**options, "variant": "paper"}, {}, tmp_path / "out", resources=resources
    )
    assert other["settings_sha256"] != summary["settings_sha256"]
    assert other["pairs_sha256"] == summary["pairs_sha256"]


def test_golden_graphs_through_the_file(tmp_path: Path) -> None:
    pairs = GOLDEN["pairs"]
    path = written(tmp_path, *(pair(p["name"], p["ref"], p["cand"]) for p in pairs))
    score_captions(path, {"matching": "exact", "order": "given"}, {}, tmp_path / "out")
    lines = (tmp_path / "out" / "scores.jsonl").read_text("utf-8").splitlines()
    captures = [json.loads(line)["capture"] for line in lines]
    expected = [p["out"]["exact"]["capture"] for p in pairs]
    assert captures == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"pairs\.jsonl:2: not JSON"),
        ("[1]", r"pairs\.jsonl:2: expected an object with id, reference and candidate"),
        ('{"id": 2}', ":2: reference and candidate missing: give id, reference, candidate"),
        ('{"id": null, "reference": "a", "candidate": "b"}', ":2: id is null: expected"),
        ('{"id": 2, "reference": "", "candidate": "b"}', ":2: reference is empty"),
        ('{"id": 2, "reference": [], "candidate": "b"}', ":2: reference is an empty list"),
        (
            '{"id": 2, "reference": ["a", 3], "candidate": "b"}',
            ":2: reference 2 is 3: expected a text",
        ),
        (
            '{"id": 2, "reference": "a", "candidate": {"objects": "dog"}}',
            ":2: candidate: objects is",
        ),
        ('{"id": 1, "reference": "a", "candidate": "b"}', r"id 1 is taken by .*:1"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = written(tmp_path, pair(1, "a dog", "a dog"))
    path.write_text(path.read_text("utf-8") + line + "\n", "utf-8")
    with pytest.raises(UserError, match=message):
        score_captions(path, TOYBOX, {}, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_empty_candidate_is_a_bad_one_and_no_mistake(tmp_path: Path) -> None:
    path = written(tmp_path, pair(1, "a dog", ""))
    assert score_captions(path, TOYBOX, {}, tmp_path / "out")["malformed_candidate"] == 1


def test_no_pairs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no pairs"):
        score_captions(written(tmp_path), TOYBOX, {}, tmp_path / "out")
