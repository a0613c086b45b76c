"""Which facts of a parsed caption count: what it really says, and what can be seen."""

from collections.abc import Iterable, Set

from metrics.capture.graph import Graph
from metrics.capture.merging import Lemma


def noun_lemmas(tagged: Iterable[tuple[str, str]], noun: Lemma) -> set[str]:
    """Base forms of a text's nouns, from (token, Penn Treebank tag) pairs. Case is kept."""
    return {noun(token) for token, tag in tagged if tag.startswith("NN")}


def keep_said(graph: Graph, nouns: Set[str], stop_words: Set[str]) -> Graph:
    """The part of the graph whose objects the text says.

    A parser makes objects up, so an object counts only if the text has it as a noun, or all its words.
    The stop list takes abstract objects out of the objects; their attributes and relations stay,
    as in the released code.
    """

    def is_said(name: str) -> bool:
        return name in nouns or all(piece in nouns for piece in name.split(" "))

    return Graph(
        tuple(name for name in graph.objects if name not in stop_words and is_said(name)),
        {owner: owned for owner, owned in graph.attributes.items() if is_said(owner)},
        tuple(triple for triple in graph.relations if is_said(triple[0]) and is_said(triple[2])),
    )
