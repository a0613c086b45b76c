from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from benchmark.errors import UserError
from metrics.tagger_spacy import SpacyTagger, _prefer_first_rule


@pytest.fixture(scope="module")
def tagger() -> SpacyTagger:
    return SpacyTagger()


def test_works_on_the_normalised_text(tagger: SpacyTagger) -> None:
    first, second = tagger.tag(["Two Dogs sleep on a bed. ", "two dogs sleep on a bed"])
    assert first == second
    assert first[:3] == [("two", "NUM"), ("dog", "NOUN"), ("sleep", "VERB")]


def test_one_batch_is_like_one_at_a_time(tagger: SpacyTagger) -> None:
    texts = ["a man rides a wave", "", "a woman", "a man rides a wave", "  "]
    fresh = SpacyTagger()
    assert tagger.tag(texts) == [fresh.tag([text])[0] for text in texts]
    assert tagger.tag([]) == []


def test_a_text_is_tagged_once(tagger: SpacyTagger, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tagger.tag(["a giraffe"])
    before[0].clear()  # what is handed out is the caller's own

    def refuse(self: Language, texts: Any, **_: Any) -> Any:
        assert list(texts) == []
        return iter(())

    monkeypatch.setattr(Language, "pipe", refuse)
    assert tagger.tag(["A giraffe."]) == [[("a", "DET"), ("giraffe", "NOUN")]]


def test_info_names_model_and_version(tagger: SpacyTagger) -> None:
    assert tagger.info.id.startswith("en_core_web_sm")
    assert tagger.info.revision == "3.8.0"


def test_missing_model_is_answered_with_both_remedies() -> None:
    message = (
        r"no model 'en_none' or 'xx_none': run `python -m spacy download en_core_web_sm`"
        r" or pip install 'trident-vlm\[paper\]'"
    )
    with pytest.raises(UserError, match=message):
        SpacyTagger("en_none, xx_none", {})


def test_first_installed_model_is_taken(tagger: SpacyTagger) -> None:
    assert SpacyTagger(f"en_none,{tagger.info.id}").info == tagger.info


def test_lemmas_are_those_of_the_first_rule(tagger: SpacyTagger) -> None:
    """Later releases of spaCy say "rid", which the published numbers do not know."""
    [tags] = tagger.tag(["a man riding a horse"])
    assert ("ride", "VERB") in tags


@pytest.mark.parametrize("order", [["ride", "rid"], ["rid", "ride"]])
def test_rule_order_holds_whatever_spacy_prefers(order: list[str]) -> None:
    pipeline = spacy.blank("en")
    lemmatizer: Any = pipeline.add_pipe("lemmatizer", config={"mode": "rule"})
    lemmatizer.lookups.add_table("lemma_rules", {"verb": [["ing", "e"], ["ing", ""]]})
    lemmatizer.lemmatize = lambda token: ["irregular", *order]
    _prefer_first_rule(pipeline)
    doc = Doc(pipeline.vocab, words=["riding"], pos=["VERB"])
    assert lemmatizer.lemmatize(doc[0]) == ["irregular", "ride", "rid"]


def test_a_lookup_lemmatizer_is_left_alone() -> None:
    pipeline = spacy.blank("en")
    lemmatizer: Any = pipeline.add_pipe("lemmatizer", config={"mode": "lookup"})
    before = lemmatizer.lemmatize
    _prefer_first_rule(pipeline)
    assert lemmatizer.lemmatize == before
