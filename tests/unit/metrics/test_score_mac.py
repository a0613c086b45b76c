import json
from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import Any

import pytest

from benchmark.errors import UserError
from benchmark.types import ModelInfo
from metrics import score_mac
from metrics.score_mac import Pair, read_pairs, score_pairs
from metrics.taggers import ToyboxTagger

LINES: list[dict[str, Any]] = [
    {"id": "one", "text": "A red duck.", "adversarial": "a blue duck"},
    {"id": 2, "text": "a duck left of a mug", "adversarial": "a mug left of a duck"},
    {"id": "3", "text": "a duck", "adversarial": "not a duck", "operation": None},
    {"id": "4", "text": "a duck", "adversarial": "a mug", "operation": "object-swap"},
    {"id": "5", "text": "a duck", "adversarial": "A duck. ", "operation": "count-replace"},
    {
        "id": "é",
        "text": "a red duck behind a blue mug",
        "adversarial": "a small bus, a lamp and a tree",
    },
]


def jsonl(path: Path, lines: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def score(
    path: Path, out: Path, dataset_name: str = "coco"
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    summary = score_pairs(path, dataset_name, ToyboxTagger(), out)
    assert json.loads((out / "summary.json").read_text()) == summary
    text = (out / "scores.jsonl").read_text(encoding="utf-8")
    return summary, [json.loads(line) for line in text.splitlines()]


def test_scores_and_summary(tmp_path: Path) -> None:
    summary, scores = score(jsonl(tmp_path / "pairs.jsonl", LINES), tmp_path / "out")
    assert scores[:5] == [
        {
            "id": "one",
            "distance": 1,
            "distance_ok": True,
            "auxiliary_ok": True,
            "edit_tokens": ["D_ADJ_red", "I_ADJ_blue"],
        },
        {
            "id": 2,
            "distance": 2,
            "distance_ok": True,
            "auxiliary_ok": True,
            "edit_tokens": ["D_NOUN_mug", "I_NOUN_duck", "D_NOUN_duck", "I_NOUN_mug"],
        },
        {
            "id": "3",
            "distance": 1,
            "distance_ok": True,
            "auxiliary_ok": False,
            "edit_tokens": [],
        },
        {
            "id": "4",
            "distance": 1,
            "distance_ok": True,
            "auxiliary_ok": False,
            "edit_tokens": ["D_NOUN_duck", "I_NOUN_mug"],
        },
        {
            "id": "5",
            "distance": 0,
            "distance_ok": False,
            "auxiliary_ok": True,
            "edit_tokens": [],
        },
    ]
    assert scores[5]["id"] == "é"
    # a, (red duck behind -> small bus,: 3), a, (blue mug -> lamp and a tree: 4)
    assert scores[5]["distance"] == 7
    assert scores[5]["edit_tokens"]  # told, but not counted
    # Counted: red, blue; mug and duck twice each; duck, mug: 8 tokens, D_mug, I_duck once,
    # D_duck, I_mug twice.
    h = log(8) - (2 * 2 * log(2)) / 8
    assert summary == {
        "n": 6,
        "distance_rate": pytest.approx(4 / 6),
        "auxiliary_rate": pytest.approx(4 / 6),
        "entropy": pytest.approx(h),
        "normalized_entropy": pytest.approx(h / log(6)),
        "distinct_1": pytest.approx(6 / 8),
        "tokens": 8,
        "unique_tokens": 6,
    }
    assert list(summary) == [
        "n",
        "distance_rate",
        "auxiliary_rate",
        "entropy",
        "normalized_entropy",
        "distinct_1",
        "tokens",
        "unique_tokens",
    ]


def test_no_counted_token_is_zero(tmp_path: Path) -> None:
    summary, _ = score(jsonl(tmp_path / "pairs.jsonl", LINES[2:3]), tmp_path / "out")
    assert (summary["entropy"], summary["normalized_entropy"], summary["distinct_1"]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("dataset_name", "changed", "ok"),
    [
        ("coco", 5, True),
        ("audiocaps", 5, True),
        ("msrvtt", 5, False),
        ("msrvtt", 4, True),
        ("auto", 3, True),  # eight words: less than 4
        ("auto", 4, False),
    ],
)
def test_limits(tmp_path: Path, dataset_name: str, changed: int, ok: bool) -> None:
    text = "a b c d e f g h"
    adversarial = " ".join(["x"] * changed + text.split()[changed:])
    path = jsonl(tmp_path / "pairs.jsonl", [{"id": "1", "text": text, "adversarial": adversarial}])
    _, [line] = score(path, tmp_path / "out", dataset_name)
    assert line["distance_ok"] is ok


def test_rococo(tmp_path: Path) -> None:
    path = tmp_path / "danger.json"
    entries = [
        {"image": "a.jpg", "caption": ["A red duck", "a duck", "a blue duck", "a mug"]},
        # One original too many: the first half is paired with what follows it.
        {"image": "b.jpg", "caption": ["a bus", "a lamp", "a mug"]},
    ]
    path.write_text(json.dumps(entries, indent=1))
    assert read_pairs(path) == [
        Pair("a.jpg#0", "A red duck", "a blue duck"),
        Pair("a.jpg#1", "a duck", "a mug"),
        Pair("b.jpg#0", "a bus", "a lamp"),
    ]
    summary, _ = score(path, tmp_path / "out")
    assert summary["n"] == 3


def test_layout_of_lines_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    lines = [json.dumps(line, ensure_ascii=False) for line in LINES]
    lines[0] = lines[0].replace("duck.", "duck\u2028")  # a separator that JSON allows in a text
    path.write_bytes(("\ufeff\r\n" + "\r\n\r\n".join(lines)).encode())
    pairs = read_pairs(path)
    assert len(pairs) == 6
    assert pairs[0].text == "A red duck\u2028"


GOOD = '{"id": "1", "text": "a duck", "adversarial": "a mug"}'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no pairs"),
        (" \n\n", "holds no pairs"),
        ("[]", "holds no pairs"),
        (GOOD + "\n{oops}\n", r"pairs:2: not JSON: .* at column 2"),
        (GOOD + '\n{"id": "2"', r"pairs:2: not JSON"),
        (GOOD + "\n7\n", r"pairs:2: expected an object with id, text and adversarial"),
        (GOOD + '\n["a", "b"]\n', r"pairs:2: expected an object"),
        ('{"id": "1", "text": "a"}', r"pairs:1: adversarial missing: give id, text, adversarial"),
        ("\n\n{}", r"pairs:3: id and text and adversarial missing"),
        (GOOD + "\n" + GOOD, r"pairs:2: id '1' is taken by .*pairs:1: ids must be unique"),
        (GOOD + "\n" + GOOD.replace('"1"', "1"), r"pairs:2: id 1 is taken by .*pairs:1"),
        (GOOD.replace('"1"', "NaN"), r"pairs:1: id is NaN: expected a text or an integer"),
        (GOOD.replace('"1"', "true"), r"pairs:1: id is true: expected a text or an integer"),
        (GOOD.replace('"1"', "null"), r"pairs:1: id is null: expected a text or an integer"),
        (GOOD.replace('"1"', '" "'), r"pairs:1: id is empty"),
        (GOOD.replace('"a duck"', "NaN"), r"pairs:1: text is NaN: expected a text"),
        (GOOD.replace('"a mug"', "null"), r"pairs:1: adversarial is null: expected a text"),
        (GOOD.replace('"a mug"', '["a"]'), r'pairs:1: adversarial is \["a"\]: expected a text'),
        (GOOD.replace("a duck", "  "), r"pairs:1: text is empty"),
        (GOOD.replace("a duck", "\\ud800"), r"pairs:1: text holds half a character"),
        (GOOD.replace("a duck", "a " * 10001), r"pairs:1: text has 20002 characters: 20000 at mo"),
        (
            GOOD.replace("}", ', "operation": "swap"}'),
            r'pairs:1: operation is "swap": expected one of general, object-add',
        ),
        (GOOD.replace("}", ', "operation": ["x"]}'), r"pairs:1: operation is"),
        ('[{"image": "a"}]', r'pairs, entry 1: expected "image" and "caption"'),
        ('[{"image": "a", "caption": ["x"]}]', r"pairs, entry 1: expected"),
        ('[{"image": "a", "caption": "xy"}]', r"pairs, entry 1: expected"),
        ("[3]", r"pairs, entry 1: expected"),
        ('[{"caption": ["x", "y"]}]', r"pairs, entry 1: image is null: expected a text"),
        (
            '[{"image": "a", "caption": ["x", 3]}]',
            r"pairs, entry 1, caption 1: adversarial is 3: expected a text",
        ),
        (
            '[{"image": "a", "caption": ["x", "y"]}, {"image": "a", "caption": ["x", "y"]}]',
            r"entry 2, caption 1: id 'a#0' is taken by .*entry 1, caption 1",
        ),
        ('[{"image": "a", "caption": ["x", "y"]}', r"pairs: not JSON"),
        ("[" * 100_000, r"pairs: not a pair: too deeply nested"),
    ],
)
def test_bad_files(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "pairs"
    path.write_text(content, encoding="utf-8")
    out = tmp_path / "out"
    with pytest.raises(UserError, match=message) as caught:
        score_pairs(path, "coco", ToyboxTagger(), out)
    assert "\n" not in str(caught.value)
    assert not out.exists()


def test_an_empty_rewrite_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "pairs"
    path.write_text(GOOD.replace("a mug", ""))
    summary, [line] = score(path, tmp_path / "out")
    assert (line["distance"], line["distance_ok"], line["edit_tokens"]) == (2, True, [])
    assert summary["tokens"] == 0


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "pairs"
    path.write_bytes(GOOD.encode() + b"\n" + GOOD.replace("duck", "caf\xe9").encode("latin-1"))
    with pytest.raises(UserError, match="pairs:2: not UTF-8"):
        read_pairs(path)


def test_unknown_data_set(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="unknown data set 'flickr': expected coco, msrvtt"):
        score_pairs(tmp_path / "none", "flickr", ToyboxTagger(), tmp_path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="none"):
        score_pairs(tmp_path / "none", "auto", ToyboxTagger(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_mac, "CHUNK", 4)
    calls: list[tuple[int, int]] = []
    path = jsonl(tmp_path / "pairs.jsonl", LINES)
    plain, _ = score(path, tmp_path / "plain")
    summary = score_pairs(
        path, "coco", ToyboxTagger(), tmp_path / "out", lambda *done: calls.append(done)
    )
    assert calls == [(4, 6), (6, 6)]
    assert summary == plain


def test_a_failure_leaves_the_old_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    path = jsonl(tmp_path / "pairs.jsonl", LINES)
    score(path, out)
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    jsonl(path, LINES[:2])
    write_text = Path.write_text

    def full(self: Path, *args: Any, **kwargs: Any) -> int:
        if "summary" in self.name:
            raise OSError(28, "No space left on device")
        return write_text(self, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        score_pairs(path, "coco", ToyboxTagger(), out)
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before


class BrokenTagger:
    info = ModelInfo("broken")

    def tag(self, texts: Sequence[str]) -> list[list[tuple[str, str]]]:
        raise RuntimeError("the tagger broke")


def test_a_failing_tagger_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="the tagger broke"):
        score_pairs(jsonl(tmp_path / "p.jsonl", LINES), "coco", BrokenTagger(), tmp_path / "out")
    assert not (tmp_path / "out").exists()
