"""The graphs of a caption's sentences as one, its words brought to their base forms."""

from collections.abc import Callable, Iterable

from metrics.capture.factual_strings import SentenceGraph
from metrics.capture.graph import Graph, Relation

Lemma = Callable[[str], str]


def merge(sentences: Iterable[SentenceGraph], noun: Lemma, adjective: Lemma) -> Graph:
    """Unite objects, attributes and relations, each once, in the order of first mention.

    Objects and the ends of relations become noun lemmas and attributes adjective lemmas; predicates
    stay. An attribute with a preposition in it ("full of tea") is left out, and so are quantities.
    """
    objects: dict[str, None] = {}
    attributes: dict[str, dict[str, None]] = {}
    relations: dict[Relation, None] = {}
    for sentence in sentences:
        for entity, owned in sentence.attributes.items():
            name = noun(entity)
            objects[name] = None
            for attribute in map(adjective, sorted(owned)):
                if " of" not in attribute:
                    attributes.setdefault(name, {})[attribute] = None
        for subject, predicate, what in sentence.relations:
            relations[noun(subject), predicate, noun(what)] = None
    return Graph(
        tuple(objects), {name: tuple(owned) for name, owned in attributes.items()}, tuple(relations)
    )
