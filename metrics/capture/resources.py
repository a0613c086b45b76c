"""What the text steps need of a language: sentences, tags, base forms, synonyms."""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol, TypeVar

from benchmark.errors import UserError

REMEDY = (
    "`pip install 'trident-vlm[capture]'` and"
    " `python -m nltk.downloader wordnet punkt_tab averaged_perceptron_tagger_eng`"
    " (a folder of your own: set NLTK_DATA)"
)
"""The two commands that fix all that can be missing."""

_T = TypeVar("_T")


class TextResources(Protocol):
    """A language's sentences, tags, base forms and synonyms."""

    @property
    def version(self) -> str:
        """Which software and data they are."""
        ...

    def sentences(self, text: str) -> list[str]:
        """Split a text."""
        ...

    def tagged(self, text: str) -> list[tuple[str, str]]:
        """(token, Penn Treebank tag) pairs of a whole text."""
        ...

    def noun(self, word: str) -> str:
        """The base form of a noun; a word that is not known stays as it is."""
        ...

    def adjective(self, word: str) -> str:
        """The base form of an adjective; a word that is not known stays as it is."""
        ...

    def lemma_names(self, word: str) -> frozenset[str]:
        """The names of all lemmas of all synsets of a word, whatever its part of speech."""
        ...


class NltkResources:
    """nltk with WordNet, Punkt and the averaged perceptron tagger, as the released code has it.

    Nothing is loaded before it is used, and nothing is ever downloaded.

    Raises:
        UserError: On first use, if nltk or its data are not there.
    """

    @cached_property
    def version(self) -> str:
        """Versions of nltk and WordNet."""
        return self._have(
            lambda: f"nltk {self._nltk.__version__}, WordNet {self._wordnet_version()}"
        )

    def sentences(self, text: str) -> list[str]:
        """Sentences by Punkt's English model."""
        return self._have(lambda: list(self._nltk.sent_tokenize(text)))

    def tagged(self, text: str) -> list[tuple[str, str]]:
        """Treebank tokens with the averaged perceptron's tags."""
        return self._have(lambda: list(self._nltk.pos_tag(self._nltk.word_tokenize(text))))

    def noun(self, word: str) -> str:
        """WordNet's shortest base form."""
        return self._have(lambda: str(self._lemmatizer.lemmatize(word, "n")))

    def adjective(self, word: str) -> str:
        """WordNet's shortest base form."""
        return self._have(lambda: str(self._lemmatizer.lemmatize(word, "a")))

    def lemma_names(self, word: str) -> frozenset[str]:
        """From WordNet, all parts of speech."""

        def look_up() -> frozenset[str]:
            synsets = self._nltk.corpus.wordnet.synsets(word)
            return frozenset(name for synset in synsets for name in synset.lemma_names())

        return self._have(look_up)

    @cached_property
    def _nltk(self) -> Any:
        try:
            import nltk
        except ImportError as error:
            raise UserError(f"CAPTURE needs nltk, which is not installed: {REMEDY}") from error
        return nltk

    @cached_property
    def _lemmatizer(self) -> Any:
        return self._nltk.stem.WordNetLemmatizer()

    def _wordnet_version(self) -> str:
        return str(self._nltk.corpus.wordnet.get_version())

    def _have(self, use: Callable[[], _T]) -> _T:
        try:
            return use()
        except LookupError as error:
            missing = re.search(r"Resource \W*(?:\[\d+m)?(\w+)", str(error))
            if type(error) is not LookupError or missing is None:
                raise  # a KeyError or IndexError is an error of the data, not missing data
            raise UserError(
                f"CAPTURE needs nltk's data, {missing[1]} is missing: {REMEDY}"
            ) from error
