import json
from typing import Any

import pytest

from metrics.capture.graph import Graph

PLAIN = {
    "objects": ["car", "street"],
    "attributes": {"car": ["red", "old"], "sky": ["red"]},
    "relations": [["car", "on", "street"]],
}


def test_plain_data_and_back() -> None:
    graph = Graph.from_json(PLAIN)
    assert graph.objects == ("car", "street")
    assert graph.relations == (("car", "on", "street"),)
    assert Graph.from_json(json.loads(json.dumps(graph.as_json()))) == graph
    assert graph.as_json() == PLAIN


def test_attributes_are_pooled_with_their_repetitions() -> None:
    assert Graph.from_json(PLAIN).all_attributes == ("red", "old", "red")


def test_every_part_may_be_missing() -> None:
    assert Graph.from_json({}) == Graph()
    assert Graph().is_empty
    assert Graph.from_json({"attributes": {"a": []}}).is_empty
    assert not Graph.from_json({"attributes": {"a": ["b"]}}).is_empty


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["car"], "a graph is an object with objects, attributes, relations, not"),
        ({"object": ["car"]}, "but no object"),
        ({"objects": "car"}, "objects is 'car': expected a list of texts"),
        ({"objects": ["car", 3]}, "expected a list of texts"),
        ({"attributes": ["red"]}, "attributes is .*: expected an object of lists"),
        ({"attributes": {"car": "red"}}, "attributes of 'car' is 'red': expected a list of texts"),
        ({"relations": {"a": "b"}}, "relations is .*: expected a list of"),
        ({"relations": [["car", "on"]]}, r"expected \[subject, predicate, object\]"),
        ({"relations": [["car", "on", None]]}, "a relation is .*: expected a list of texts"),
    ],
)
def test_what_is_no_graph_is_refused(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Graph.from_json(value)
