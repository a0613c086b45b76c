"""What FACTUAL's parser writes, "( car , is , red ) , ( car , run on , street )", as data."""

from dataclasses import dataclass, field

from metrics.capture.graph import Relation

_BETWEEN = ") ,"


@dataclass(frozen=True, slots=True)
class SentenceGraph:
    """One sentence's graph, nothing of it lemmatised.

    `attributes` has every entity, those without attributes too, in the order of first mention.
    `quantities` has the entities that were counted in digits; CAPTURE does not use them.
    """

    attributes: dict[str, set[str]] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    quantities: dict[str, str] = field(default_factory=dict)


def facts(written: str) -> list[str]:
    """The facts' bodies, sorted, each once: ["car , is , red", "car , run on , street"].

    Of a text that ends within a fact, that fact is dropped; if it is the only one, its first field stays.
    """
    spaced = " ".join(_spaced(written).split())
    parts = spaced.split(_BETWEEN)
    if not spaced.endswith(")"):
        parts = parts[:-1] if len(parts) > 1 else [parts[0].partition(",")[0]]
    bodies = {part.strip().strip("()").strip() for part in parts}
    return sorted(bodies - {""})


def sentence_graph(bodies: list[str]) -> SentenceGraph:
    """The graph that facts say.

    "s , is , o" gives the subject a quantity if o is in digits, else an attribute; any other predicate
    relates two entities. A fact without three fields is left out, unless it is the only one: then its
    first field is an entity. No fact at all gives one entity with an empty name, as the parser's own
    code has it.
    """
    graph = SentenceGraph()
    for body in bodies or [""]:
        fields = [part.strip() for part in body.split(",")]
        if len(fields) == 3:
            _add(graph, *fields)
        elif len(bodies) <= 1:
            graph.attributes.setdefault(fields[0], set())
    return graph


def _add(graph: SentenceGraph, subject: str, predicate: str, what: str) -> None:
    owned = graph.attributes.setdefault(subject, set())
    if predicate != "is":
        graph.attributes.setdefault(what, set())
        graph.relations.append((subject, predicate, what))
    elif what.isdigit():
        graph.quantities[subject] = what
    else:
        owned.add(what)


def _spaced(written: str) -> str:
    return written.replace("(", " ( ").replace(")", " ) ").replace(",", " , ")
