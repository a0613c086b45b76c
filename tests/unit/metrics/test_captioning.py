import math
import shutil
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import pytest

from benchmark.errors import UserError
from metrics.captioning import bleu, bleu_counts, bleu_of, cider, cider_d, spice

# Two pictures without a common word: each gram weighs ln 2, which cancels out of the cosines.
REFERENCES = [["a b"], ["c d"]]


def test_bleu_punishes_short_captions() -> None:
    # All words match; the caption has 2 and the reference 5: exp(1 - 5/2).
    found = bleu(["a cat"], [["a cat on the mat"]])
    assert found is not None
    assert found[0] == pytest.approx(math.exp(-1.5), abs=1e-6)
    assert found[1] == pytest.approx(math.exp(-1.5), abs=1e-6)


def test_bleu_clips_repeated_words() -> None:
    found = bleu(["the the the the"], [["the cat sat there"]])
    assert found is not None
    assert found[0] == pytest.approx(1 / 4, abs=1e-6)


def test_the_shorter_reference_of_a_tie_counts() -> None:
    (counts,) = bleu_counts(["a b c"], [["a b c d", "a b"]])
    assert counts.reference_length == 2


def test_bleu_of_parts_is_bleu_of_all() -> None:
    captions, references = ["a b c", "c x"], [["a b"], ["c d e"]]
    parts = [*bleu_counts(captions[:1], references[:1]), *bleu_counts(captions[1:], references[1:])]
    assert bleu_of(parts) == bleu(captions, references)


def test_cider_by_hand() -> None:
    # "a b": cosine 1 for words and pairs, none longer: 10 * 2/4.
    # "c x" and "c d": words 1 / (sqrt 2 sqrt 2), no pair in common: 10 * 0.5/4.
    assert cider(["a b", "c x"], REFERENCES) == pytest.approx([5, 1.25])
    assert cider_d(["a b", "c x"], REFERENCES) == pytest.approx([5, 1.25])


def test_cider_d_clips_and_punishes_length() -> None:
    # "a b b": words (1, 2) and (1, 1), pairs (ab, bb) and (ab).
    words, clipped, pairs = 3 / math.sqrt(10), 2 / math.sqrt(10), 1 / math.sqrt(2)
    assert cider(["a b b", "c d"], REFERENCES)[0] == pytest.approx(10 * (words + pairs) / 4)
    penalty = math.exp(-1 / 72)  # one pair more, sigma 6
    expected = 10 * (clipped + pairs) / 4 * penalty
    assert cider_d(["a b b", "c d"], REFERENCES)[0] == pytest.approx(expected)


def test_more_references_are_averaged() -> None:
    once = cider_d(["a b", "c d"], [["a b"], ["c d"]])[0]
    assert cider_d(["a b", "c d"], [["a b", "e f"], ["c d"]])[0] == pytest.approx(once / 2)


def test_a_picture_with_several_captions_is_one_picture() -> None:
    captions, references = ["a b", "c x", "c d"], [["a b"], ["c d"], ["c d"]]
    scores = cider_d(captions, references, ["one", "two", "two"])
    assert scores[:2] == pytest.approx(cider_d(captions[:2], references[:2]))
    assert scores[1] != pytest.approx(cider_d(captions, references)[1])


def test_what_every_picture_shares_weighs_nothing() -> None:
    assert cider_d(["a b", "a b"], [["a b"], ["a b"]]) == [0, 0]


def test_no_captions_no_numbers() -> None:
    assert bleu([], []) is None
    assert cider_d([], []) == cider([], []) == spice([], []) == []


@pytest.mark.parametrize("measure", [bleu, cider, cider_d, spice])
def test_each_caption_needs_references(measure: Any) -> None:
    with pytest.raises(ValueError, match="1 captions and 2 lists of references: give one for each"):
        measure(["a"], [["a"], ["b"]])
    with pytest.raises(ValueError, match=r"caption 0 \('a'\) has the references \[\]"):
        measure(["a"], [[]])
    with pytest.raises(ValueError, match="give a list of at least one text"):
        measure(["a"], ["a"])


class FakeSpice:
    error: Exception | None = None

    def compute_score(
        self, known: Mapping[int, Sequence[str]], said: Mapping[int, Sequence[str]]
    ) -> tuple[float, list[dict[str, dict[str, float]]]]:
        if self.error is not None:
            raise self.error
        assert known == {0: ["a dog"], 1: ["a cat"]}
        assert said == {0: ["dog"], 1: ["cow"]}
        return 0.25, [{"All": {"f": 0.5}}, {"All": {"f": 0.0}}]


@pytest.fixture
def java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    module = ModuleType("pycocoevalcap.spice.spice")
    module.Spice = FakeSpice  # type: ignore[attr-defined]
    for name in ("pycocoevalcap", "pycocoevalcap.spice"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "pycocoevalcap.spice.spice", module)


@pytest.mark.usefixtures("java")
def test_spice_is_pycocoevalcaps() -> None:
    assert spice(["dog", "cow"], [["a dog"], ["a cat"]]) == [0.5, 0.0]


@pytest.mark.usefixtures("java")
def test_spice_says_what_its_program_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeSpice, "error", RuntimeError("java\nreturned 1"))
    with pytest.raises(UserError, match=r"SPICE failed \(java returned 1\): it needs Java 8"):
        spice(["dog"], [["a dog"]])


def test_spice_without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UserError, match="Java, which is not on the PATH: install a JRE"):
        spice(["dog"], [["a dog"]])


def test_spice_without_pycocoevalcap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)
    with pytest.raises(UserError, match="SPICE needs pycocoevalcap: pip install pycocoevalcap"):
        spice(["dog"], [["a dog"]])
