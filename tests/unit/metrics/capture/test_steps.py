"""What the parser writes, merging, filtering; tests/golden has the published package's cases."""

from metrics.capture.factual_strings import facts, sentence_graph
from metrics.capture.filtering import keep_said, noun_lemmas
from metrics.capture.graph import Graph
from metrics.capture.merging import merge


def test_facts_are_sorted_and_each_once() -> None:
    assert facts("(b , is , c) , (a,on,b) , ( b , is , c )") == ["a , on , b", "b , is , c"]


def test_a_fact_that_was_cut_off_is_dropped() -> None:
    assert facts("( car , is , red ) , ( car , run on") == ["car , is , red"]
    assert facts("( car , run on") == ["car"]


def test_digits_count_and_is_gives_an_attribute() -> None:
    graph = sentence_graph(["dog , is , 2", "dog , is , brown", "dog , is on , sofa"])
    assert graph.quantities == {"dog": "2"}
    assert graph.attributes == {"dog": {"brown"}, "sofa": set()}
    assert graph.relations == [("dog", "is on", "sofa")]


def test_merging_lemmatises_and_unites() -> None:
    nouns = {"dogs": "dog", "sofas": "sofa"}
    adjectives = {"browner": "brown", "full": "full of"}
    first = sentence_graph(["dogs , is , browner", "dogs , sits on , sofas"])
    second = sentence_graph(["dog , is , brown", "dog , is , full", "dog , sits on , sofa"])
    merged = merge([first, second], lambda w: nouns.get(w, w), lambda w: adjectives.get(w, w))
    assert merged == Graph(("dog", "sofa"), {"dog": ("brown",)}, (("dog", "sits on", "sofa"),))


def test_only_nouns_count_and_case_is_kept() -> None:
    tagged = [("Trees", "NNS"), ("Paris", "NNP"), ("run", "VB"), ("dogs", "NNS")]
    assert noun_lemmas(tagged, lambda w: w.removesuffix("s")) == {"Tree", "Pari", "dog"}


def test_the_filter() -> None:
    graph = Graph(
        ("dog", "clock tower", "moment", "cat"),
        {"moment": ("quiet",), "cat": ("red",), "clock tower": ("tall",)},
        (("dog", "enjoy", "moment"), ("dog", "see", "cat"), ("cat", "see", "dog")),
    )
    kept = keep_said(graph, {"dog", "clock", "tower", "moment"}, {"moment"})
    # The stop list takes objects only; "cat" is nowhere in the text.
    assert kept == Graph(
        ("dog", "clock tower"),
        {"moment": ("quiet",), "clock tower": ("tall",)},
        (("dog", "enjoy", "moment"),),
    )
