"""CAPTURE against the published package's own matching, strings and text steps (see README.md)."""

from collections.abc import Iterator
from typing import Any

import pytest

from metrics.capture.factual_strings import SentenceGraph, facts, sentence_graph
from metrics.capture.filtering import keep_said, noun_lemmas
from metrics.capture.graph import Graph
from metrics.capture.matching import Synonyms
from metrics.capture.merging import merge
from metrics.capture.resources import NltkResources
from metrics.capture.scoring import Rules, Scores, average, score_graphs
from metrics.capture.stop_words import stop_words
from tests.unit.metrics.capture.capture_fakes import GOLDEN, WORDNET, minilm, nltk_data

MODES: dict[str, Any] = {
    "exact": ("exact",),
    "syn": ("exact", "synonym"),
    "soft": ("exact", "soft"),
    "syn_soft": ("exact", "synonym", "soft"),
}
TOLERANCE = {"exact": 1e-6, "syn": 1e-6, "soft": 1e-4, "syn_soft": 1e-4}

each_pair = pytest.mark.parametrize("pair", GOLDEN["pairs"], ids=lambda pair: pair["name"])
each_text = pytest.mark.parametrize("case", GOLDEN["text_pipeline"], ids=lambda c: c["text"][:20])
each_string = pytest.mark.parametrize("case", GOLDEN["graph_strings"])


@pytest.fixture(scope="module")
def wordnet() -> Iterator[NltkResources]:
    with nltk_data(WORDNET):
        resources = NltkResources()
        assert resources.version.endswith("WordNet 3.0")
        yield resources


def scored(pairs: list[tuple[Any, Any]], mode: str, wordnet: NltkResources) -> list[Scores]:
    graphs = [(Graph.from_json(ref), Graph.from_json(cand)) for ref, cand in pairs]
    rules = Rules(matching=MODES[mode], order="given")
    return score_graphs(graphs, rules, same=Synonyms(wordnet.lemma_names), similarity=minilm())


@each_pair
@pytest.mark.parametrize("mode", MODES)
def test_scores(pair: dict[str, Any], mode: str, wordnet: NltkResources) -> None:
    (scores,) = scored([(pair["ref"], pair["cand"])], mode, wordnet)
    expected = pair["out"][mode]
    ours = scores.as_json()
    assert len(expected) == 10
    for key, value in expected.items():
        kind, _, number = key.partition("_")
        our_key = f"{number}_{kind}" if number else key
        assert ours[our_key] == pytest.approx(value, abs=TOLERANCE[mode]), key


def test_several_references_are_averaged(wordnet: NltkResources) -> None:
    golden = GOLDEN["multi_reference"]
    captures: list[float] = []
    for case, expected, types in zip(
        golden["sets"], golden["per_sample"], golden["per_type_percent"], strict=True
    ):
        pairs = [(ref, case["cand"]) for ref in case["refs"]]
        mean = average(scored(pairs, "syn_soft", wordnet))
        assert mean.capture == pytest.approx(expected, abs=1e-4)
        for kind in ("object", "attribute", "relation"):
            for number, value in getattr(mean, kind)._asdict().items():
                # The package rounds these to two digits of a per cent.
                assert 100 * value == pytest.approx(types[f"{kind}_{number}"], abs=0.0151)
        assert mean.capture is not None
        captures.append(mean.capture)
    assert sum(captures) / len(captures) == pytest.approx(golden["corpus_score"], abs=1e-4)


@pytest.mark.parametrize("case", GOLDEN["synonym_scores"], ids=lambda c: f"{c['a']}-{c['b']}")
def test_synonyms(case: dict[str, Any], wordnet: NltkResources) -> None:
    synonyms = Synonyms(wordnet.lemma_names)
    assert synonyms.score(case["a"], case["b"]) == pytest.approx(case["score"], abs=1e-6)
    assert synonyms(case["a"], case["b"]) is (case["score"] > 0)
    assert len(synonyms.names(case["a"])) == case["lemmas_a"]
    assert len(synonyms.names(case["b"])) == case["lemmas_b"]


@pytest.mark.parametrize("case", GOLDEN["lemmas"], ids=lambda c: c["w"])
def test_lemmas(case: dict[str, str], wordnet: NltkResources) -> None:
    assert wordnet.noun(case["w"]) == case["noun"]
    assert wordnet.adjective(case["w"]) == case["adj"]


@each_string
def test_graph_strings(case: dict[str, Any]) -> None:
    bodies = facts(case["graph_string"])
    assert " , ".join(f"( {body} )" for body in bodies) == case["cleaned"]
    expected = case["object"]
    graph = sentence_graph(bodies)
    heads = [entity["head"] for entity in expected["entities"]]
    assert {head: sorted(owned) for head, owned in graph.attributes.items()} == {
        entity["head"]: sorted(entity["attributes"]) for entity in expected["entities"]
    }
    assert graph.quantities == {
        e["head"]: e["quantity"] for e in expected["entities"] if e["quantity"]
    }
    assert graph.relations == [
        (heads[r["subject"]], r["relation"], heads[r["object"]]) for r in expected["relations"]
    ]


@each_text
def test_text_steps(case: dict[str, Any], wordnet: NltkResources) -> None:
    """From the sentences' graphs and the tagged text, both as stored, to the filtered graph."""
    tagged = [(token, tag) for token, tag in case["tagged"]]
    nouns = noun_lemmas(tagged, wordnet.noun)
    assert sorted(nouns) == case["noun_lemmas"]
    sentences: list[SentenceGraph] = [
        sentence_graph(facts(case["stub_graphs"][sentence])) for sentence in case["sentences"]
    ]
    merged = merge(sentences, wordnet.noun, wordnet.adjective)
    # Of the published stop list, these are the words that occur here.
    graph = keep_said(merged, nouns, {"moment", "scene", "they"})
    assert sorted(graph.objects) == case["objects"]
    assert {owner: sorted(owned) for owner, owned in graph.attributes.items()} == case["attributes"]
    assert sorted(map(list, graph.relations)) == case["relations"]


def test_the_order_of_elements_decides_some_matches(wordnet: NltkResources) -> None:
    """Why ours are sorted: the package's score of the same graphs depends on the order."""
    pairs = {pair["name"]: pair for pair in GOLDEN["pairs"]}
    pair = pairs["greedy_order_sensitive_2matches"]
    low, high, _ = pair["order_range_syn_soft"]
    assert low < high
    graphs = (Graph.from_json(pair["ref"]), Graph.from_json(pair["cand"]))
    turned = tuple(
        Graph(graph.objects[::-1], graph.attributes, graph.relations) for graph in graphs
    )
    same = Synonyms(wordnet.lemma_names)
    sorted_scores = [
        score_graphs([(g[0], g[1])], Rules(), same=same, similarity=minilm())[0].capture
        for g in (graphs, turned)
    ]
    assert sorted_scores[0] == sorted_scores[1]
    assert sorted_scores[0] == pytest.approx(high, abs=1e-4)


@pytest.mark.network
@each_text
def test_sentences_and_tags_of_the_published_resources(case: dict[str, Any]) -> None:
    """Needs nltk's punkt_tab and averaged_perceptron_tagger_eng where nltk finds data."""
    resources = NltkResources()
    assert resources.sentences(case["text"]) == case["sentences"]
    assert list(map(list, resources.tagged(case["text"]))) == case["tagged"]


@pytest.mark.network
@each_text
def test_text_steps_with_the_published_stop_list(
    case: dict[str, Any], wordnet: NltkResources
) -> None:
    """Needs `pip install --no-deps capture-metric==0.1.13`."""
    nouns = noun_lemmas([(token, tag) for token, tag in case["tagged"]], wordnet.noun)
    sentences = [sentence_graph(facts(case["stub_graphs"][s])) for s in case["sentences"]]
    merged = merge(sentences, wordnet.noun, wordnet.adjective)
    graph = keep_said(merged, nouns, stop_words("released").words)
    assert sorted(graph.objects) == case["objects"]
