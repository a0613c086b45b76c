"""Parts of speech in the embedded world, from its lexicon."""

from collections.abc import Mapping, Sequence

from benchmark import __version__
from benchmark.errors import UserError
from benchmark.toybox import words
from benchmark.toybox.grammar import tokens
from benchmark.types import JSON, ModelInfo
from metrics.distance import normalise

_ADPOSITIONS = ("in", "on", "at", "of", "behind")
_DETERMINERS = ("a", "an", "the")


def _lexicon() -> dict[str, tuple[str, str]]:
    """Word -> (lemma, UPOS).

    "left" and "right" are adverbs and "front" is a noun: were they function words, changing a
    relation would leave no trace in the diversity of edits, which counts open classes only.
    """
    settings = " ".join((*words.PLACES.values(), *words.LIGHTS.values())).split()
    return {
        **{word: (word, "NOUN") for word in (*settings, *words.CLASSES, "front")},
        **{plural: (singular, "NOUN") for plural, singular in words.SINGULARS.items()},
        **{word: (word, "ADJ") for word in (*words.COLOURS, *words.SIZES, *words.MATERIALS)},
        **{word: (word, "ADV") for word in ("left", "right")},
        **{word: (word, "NUM") for word in words.COUNTS},
        **{word: (word, "ADP") for word in _ADPOSITIONS},
        **{word: (word, "DET") for word in _DETERMINERS},
        "and": ("and", "CCONJ"),
        ",": (",", "PUNCT"),
    }


class ToyboxTagger:
    """Looks words up; one that the world does not know is its own lemma and of class "X"."""

    def __init__(self, argument: str = "", settings: Mapping[str, JSON] | None = None) -> None:
        del settings
        if argument:
            raise UserError(
                f"the toybox tagger takes no argument, not {argument!r}: write 'toybox'"
            )
        self.info = ModelInfo("toybox", revision=__version__, preprocessing="normalised, lexicon")
        self._lexicon = _lexicon()

    def tag(self, texts: Sequence[str]) -> list[list[tuple[str, str]]]:
        """(lemma, UPOS) of each word of each normalised text."""
        lexicon = self._lexicon
        return [
            [lexicon.get(word, (word, "X")) for word in tokens(normalise(text))] for text in texts
        ]
