"""Encoders behind a real server on this machine."""

from typing import Any

import numpy as np
import pytest

from benchmark import registry
from benchmark.errors import UserError
from targets.openai_embeddings import AT_ONCE
from tests.loopback import serving


def embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """(length of the phrase, 1), in another order than asked for."""
    data = [
        {"index": i, "embedding": [float(len(text)), 1.0]} for i, text in enumerate(body["input"])
    ]
    return {"data": data[::-1]}


def test_phrases_become_unit_vectors_in_their_order() -> None:
    with serving() as server:
        server.default = embeddings
        encoder = registry.create("encoders", f"openai:small@{server.url}")
        vectors = encoder.encode(["a", "abc"])
        np.testing.assert_allclose(vectors, [[0.5**0.5, 0.5**0.5], [0.9**0.5, 0.1**0.5]], rtol=1e-6)
        assert vectors.dtype == np.float32
        assert server.requests == [
            {"path": "/v1/embeddings", "model": "small", "input": ["a", "abc"]}
        ]
        assert encoder.info.id == "openai:small"
        assert encoder.info.preprocessing == f"{server.url}/embeddings"
        assert len(encoder.encode([])) == 0


def test_many_phrases_are_several_requests() -> None:
    with serving() as server:
        server.default = embeddings
        encoder = registry.create("encoders", f"openai:small@{server.url}")
        assert encoder.encode(["a"] * (AT_ONCE + 1)).shape == (AT_ONCE + 1, 2)
        assert [len(request["input"]) for request in server.requests] == [AT_ONCE, 1]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"data": "none"}, "openai:small sent no embeddings"),
        ({"data": [{"index": 0, "embedding": [1.0]}]}, "sent 1 embeddings of 2 phrases"),
        ({"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]}, "sent no"),
    ],
)
def test_what_is_no_answer(body: Any, message: str) -> None:
    with serving() as server:
        server.default = body
        encoder = registry.create("encoders", f"openai:small@{server.url}")
        with pytest.raises(ValueError, match=message):
            encoder.encode(["a", "b"])


def test_a_model_must_be_named() -> None:
    with pytest.raises(UserError, match="encoder 'openai' needs a model"):
        registry.create("encoders", "openai")
