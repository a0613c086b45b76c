"""Words, BLEU and CIDEr-D against pycocoevalcap 1.2 and Stanford's tokeniser."""

import json
from pathlib import Path
from typing import Any

import pytest

from metrics.caption_tokens import tokens
from metrics.captioning import bleu, cider_d

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "captioning.json").read_text("utf-8"))
CAPTIONS = [row["caption"] for row in GOLDEN["captions"]]
REFERENCES = [row["references"] for row in GOLDEN["captions"]]

DIFFERING = {
    "A file named image_01.jpg",
    "5'10\" tall man",
    ":) happy ;-)",
    "o'clock O'Brien rock'n'roll",
    "(555) 123-4567",
    'A sign: "No Parking 8AM-6PM, Mon.-Fri."',
    "A dog wearing a Santa hat :-)",
    "A man in shorts,T-shirt,and cap.",
}
"""What the two tokenisers split differently; no other caption may be among them."""


@pytest.mark.parametrize("row", GOLDEN["tokens"], ids=lambda row: row["caption"])
def test_words_are_stanfords(row: dict[str, Any]) -> None:
    assert (tokens(row["caption"]) == row["tokens"]) == (row["caption"] not in DIFFERING)


def test_all_that_differ_are_there() -> None:
    assert {row["caption"] for row in GOLDEN["tokens"]} >= DIFFERING
    assert len(GOLDEN["tokens"]) == 182


def test_cider_d_is_what_pycocoevalcap_calls_cider() -> None:
    values = cider_d(CAPTIONS, REFERENCES)
    assert values == pytest.approx([row["cider_d"] for row in GOLDEN["captions"]], abs=1e-12)
    assert sum(values) / len(values) == pytest.approx(GOLDEN["corpus"]["cider_d"], abs=1e-12)


def test_bleu_of_the_corpus() -> None:
    assert bleu(CAPTIONS, REFERENCES) == pytest.approx(GOLDEN["corpus"]["bleu"], abs=1e-12)


@pytest.mark.parametrize("row", GOLDEN["captions"], ids=lambda row: row["caption"][:20])
def test_bleu_of_one_caption(row: dict[str, Any]) -> None:
    assert bleu([row["caption"]], [row["references"]]) == pytest.approx(row["bleu"], abs=1e-12)
