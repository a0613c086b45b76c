import pytest

from benchmark.errors import UserError
from benchmark.toybox.grammar import VOCABULARY
from metrics.taggers import ToyboxTagger


def test_tags_of_a_caption() -> None:
    [tags] = ToyboxTagger().tag(["A small shiny red duck in front of two buses, at sunset."])
    assert tags == [
        ("a", "DET"),
        ("small", "ADJ"),
        ("shiny", "ADJ"),
        ("red", "ADJ"),
        ("duck", "NOUN"),
        ("in", "ADP"),
        ("front", "NOUN"),
        ("of", "ADP"),
        ("two", "NUM"),
        ("bus", "NOUN"),
        (",", "PUNCT"),
        ("at", "ADP"),
        ("sunset", "NOUN"),
    ]


def test_every_word_of_the_world_has_a_class() -> None:
    tags = ToyboxTagger().tag(list(VOCABULARY))
    assert [word for word, [(_, pos)] in zip(VOCABULARY, tags, strict=True) if pos == "X"] == []


@pytest.mark.parametrize(
    ("word", "tag"),
    [
        ("snowmen", ("snowman", "NOUN")),
        ("daylight", ("daylight", "NOUN")),
        ("the", ("the", "DET")),
        ("left", ("left", "ADV")),
        ("behind", ("behind", "ADP")),
        ("and", ("and", "CCONJ")),
        ("zebra", ("zebra", "X")),
        ("zebra!", ("zebra!", "X")),
    ],
)
def test_words(word: str, tag: tuple[str, str]) -> None:
    assert ToyboxTagger("", {}).tag([word]) == [[tag]]


def test_empty_texts() -> None:
    assert ToyboxTagger().tag(["", " . "]) == [[], []]
    assert ToyboxTagger().tag([]) == []


def test_takes_no_argument() -> None:
    with pytest.raises(UserError, match="takes no argument, not 'large'"):
        ToyboxTagger("large", {})
