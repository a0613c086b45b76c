"""Painting by a server of the OpenAI protocol, against a real server on this machine."""

import base64
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmark import registry
from benchmark.errors import UserError
from benchmark.protocols import Painter
from benchmark.tool import Tool
from benchmark.types import Pixels
from targets import chat_http
from targets.openai import OPENAI, OpenAI
from targets.openai_images import ImageModel
from tests.loopback import Answer, Server, serving


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setattr(chat_http, "FIRST_WAIT", 0.001)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as one:
        yield one


def model(server: Server, options: str = "", **settings: Any) -> OpenAI:
    return OpenAI(f"painter{options}@{server.url}", {"retries": 2, "timeout_s": 5, **settings})


def picture(seed: int = 0) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)


def painted(pixels: Pixels) -> dict[str, Any]:
    """A body with one picture."""
    file = BytesIO()
    Image.fromarray(pixels).save(file, format="PNG")
    return {"created": 1, "data": [{"b64_json": base64.b64encode(file.getvalue()).decode()}]}


def refusal(code: str = "content_policy_violation", status: int = 400) -> Answer:
    return Answer({"error": {"code": code, "message": "Not allowed."}}, status)


def by_seed(body: dict[str, Any]) -> dict[str, Any]:
    return painted(picture(body["seed"]))


def test_a_text_and_a_seed_give_a_picture(server: Server) -> None:
    server.default = by_seed
    tool = model(server)
    assert isinstance(tool, Painter)
    texts = ["a duck", "a duck", "a mug", "a duck"]
    for one, seed in zip(tool.paint(texts, [3, 4, 3, 3]), [3, 4, 3, 3], strict=True):
        assert one is not None
        np.testing.assert_array_equal(one, picture(seed))
    assert len(server.requests) == 3  # the same text with the same seed is asked for once
    assert {request["path"] for request in server.requests} == {"/v1/images/generations"}
    first = min(server.requests, key=lambda request: (request["prompt"], request["seed"]))
    assert first == {
        "path": "/v1/images/generations", "model": "painter", "prompt": "a duck", "n": 1,
        "response_format": "b64_json", "seed": 3, "size": "1024x1024",
    }  # fmt: skip
    assert server.headers[0]["authorization"] == "Bearer sk-very-secret"
    assert tool.paint([], []) == []


def test_sizes_and_qualities_are_part_of_the_painter(server: Server) -> None:
    server.default = by_seed
    tool = model(server, ",size=512x512,quality=low")
    tool.paint(["a duck"], [0])
    assert (server.requests[0]["size"], server.requests[0]["quality"]) == ("512x512", "low")
    assert "512x512" in tool.info.preprocessing
    assert tool.info.id == "openai:painter"


@pytest.mark.parametrize("code", ["content_policy_violation", "moderation_blocked"])
def test_what_the_filter_refuses_is_no_picture(server: Server, code: str) -> None:
    server.default = lambda body: refusal(code) if body["prompt"] == "bad" else by_seed(body)
    first, second, third = model(server).paint(["a duck", "bad", "a mug"], [1, 1, 2])
    assert second is None
    assert first is not None
    assert third is not None


def test_servers_that_refuse_options_are_asked_without(server: Server) -> None:
    def fussy(body: dict[str, Any]) -> Any:
        for key in ("response_format", "seed"):
            if key in body:
                return Answer({"error": {"message": f"Unknown parameter: '{key}'."}}, 400)
        return painted(picture())

    server.default = fussy
    tool = model(server, parallel=1)
    assert all(one is not None for one in tool.paint(["a duck", "a mug"], [0, 0]))
    # The second text profits from what the first one learnt.
    assert len(server.requests) == 4


def test_another_fault_of_the_request_is_an_error(server: Server) -> None:
    server.default = Answer({"error": {"message": "size must be smaller"}}, 400)
    with pytest.raises(ValueError, match="finds the request wrong, status 400: size must be sma"):
        model(server).paint(["a duck"], [0])


@pytest.mark.parametrize(
    "body",
    [
        {"data": []},
        {"data": [{"url": "http://somewhere/picture.png"}]},
        {"data": [{"b64_json": "no base64!"}]},
        {"data": [{"b64_json": base64.b64encode(b"no picture").decode()}]},
    ],
)
def test_what_is_no_picture_is_an_error(server: Server, body: dict[str, Any]) -> None:
    server.default = body
    with pytest.raises(ValueError, match="openai:painter sent no picture as b64_json"):
        model(server).paint(["a duck"], [0])


def test_what_was_painted_is_not_lost_with_what_failed(server: Server) -> None:
    down = True

    def sometimes(body: dict[str, Any]) -> Any:
        return Answer({}, 503) if body["prompt"] == "a mug" and down else by_seed(body)

    server.default = sometimes
    tool = model(server, retries=0)
    with pytest.raises(ConnectionError, match="status 503"):
        tool.paint(["a duck", "a mug"], [0, 0])
    down = False
    assert all(one is not None for one in tool.paint(["a duck", "a mug"], [0, 0]))
    prompts = [request["prompt"] for request in server.requests]
    assert sorted(prompts) == ["a duck", "a mug", "a mug"]


def test_pictures_are_remembered_by_the_tool(server: Server) -> None:
    server.default = by_seed
    tool = Tool(model(server))
    first = tool.paint(["a duck"], [7])
    again = tool.paint(["a duck"], [7])
    assert len(server.requests) == 1
    assert first[0] is not None
    assert again[0] is not None
    np.testing.assert_array_equal(first[0], again[0])


def test_grey_and_transparent_pictures_become_rgb(server: Server) -> None:
    file = BytesIO()
    Image.new("LA", (4, 3), (77, 255)).save(file, format="PNG")
    server.default = {"data": [{"b64_json": base64.b64encode(file.getvalue()).decode()}]}
    (one,) = model(server).paint(["a duck"], [0])
    assert one is not None
    assert (one.shape, one.min(), one.max()) == ((3, 4, 3), 77, 77)


def test_openai_itself_takes_no_seed() -> None:
    tool = OpenAI("gpt-image-1", {})
    assert isinstance(tool._images, ImageModel)
    assert "seed" in tool._images._refused
    assert tool._server.base_url == OPENAI
    assert registry.create("tools", "openai:gpt-image-1", {}).info.id == "openai:gpt-image-1"


def test_a_whole_path_is_an_address_too(server: Server) -> None:
    server.default = by_seed
    tool = OpenAI(f"painter@{server.url}/images/generations", {})
    assert tool.paint(["a duck"], [0])[0] is not None


@pytest.mark.parametrize("options", [",big", ",sise=1x1", ",size="])
def test_options_that_are_none(options: str) -> None:
    with pytest.raises(UserError, match=r"is no option of openai:painter: give size or quality"):
        OpenAI(f"painter{options}", {})
