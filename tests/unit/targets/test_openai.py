import base64
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from io import BytesIO
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from benchmark import registry
from benchmark.errors import NoAnswerError, UserError
from benchmark.protocols import Answerer, DualEncoder, LanguageModel
from benchmark.types import Pixels, Sampling
from targets import chat_http
from targets.openai import OPENAI, OpenAI
from tests.loopback import Answer, Server, said, serving

SAMPLING = Sampling(temperature=0.5, top_p=0.9, max_new_tokens=17)
SECRET = "sk-very-secret"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setattr(chat_http, "FIRST_WAIT", 0.001)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as one:
        yield one


def model(server: Server, **settings: Any) -> OpenAI:
    return OpenAI(f"m@{server.url}", {"retries": 3, "timeout_s": 5, **settings})


def picture(seed: int = 0) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (5, 7, 3), dtype=np.uint8)


def ask(target: OpenAI, prompt: str = "What is it?") -> str:
    (answer,) = target.answer([picture()], [prompt], SAMPLING)
    return answer


def test_it_answers_and_completes_but_scores_nothing(server: Server) -> None:
    target = model(server)
    assert isinstance(target, Answerer)
    assert isinstance(target, LanguageModel)
    assert not isinstance(target, DualEncoder)


def test_a_picture_arrives_as_it_is(server: Server) -> None:
    server.enqueue(said("  A dog.\n"))
    assert ask(model(server)) == "A dog."
    (request,) = server.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["model"] == "m"
    assert (request["temperature"], request["top_p"], request["max_tokens"]) == (0.5, 0.9, 17)
    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"
    (message,) = request["messages"]
    image, text = message["content"]
    assert text == {"type": "text", "text": "What is it?"}
    head, _, data = image["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64"
    np.testing.assert_array_equal(
        np.asarray(Image.open(BytesIO(base64.b64decode(data)))), picture()
    )


def test_a_prompt_goes_with_its_seed(server: Server) -> None:
    server.default = lambda body: said(f"{body['messages'][0]['content']}/{body['seed']}")
    replies = model(server).complete(["a", "b", "a"], [1, 2, 3], SAMPLING)
    assert replies == ["a/1", "b/2", "a/3"]


def test_a_model_that_refuses_sampling_is_sent_none(server: Server) -> None:
    server.enqueue(said("yes"))
    ask(model(server, sampling=False))
    assert not {"temperature", "top_p", "seed"} & server.requests[0].keys()


def test_the_same_question_is_sent_once(server: Server) -> None:
    server.default = said("a dog")
    target = model(server)
    images = [picture(), picture(), picture(1)]
    assert target.answer(images, ["What?"] * 3, SAMPLING) == ["a dog"] * 3
    assert target.answer(images, ["What?"] * 3, SAMPLING) == ["a dog"] * 3
    assert len(server.requests) == 2


def test_some_requests_are_under_way_at_a_time(server: Server) -> None:
    server.default = Answer(said("yes"), delay=0.05)
    model(server, parallel=3).complete([str(n) for n in range(9)], range(9), SAMPLING)
    assert 2 <= server.most_at_once <= 3


def test_nothing_asks_nothing(server: Server) -> None:
    assert model(server).answer([], [], SAMPLING) == []
    assert model(server).complete([], [], SAMPLING) == []
    assert server.requests == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_again(server: Server, status: int) -> None:
    server.enqueue({"error": {"message": "busy"}}, "<html>", status=status)
    server.enqueue(said("a dog"))
    assert ask(model(server)) == "a dog"
    assert len(server.requests) == 3


def test_the_server_says_how_long_to_wait(server: Server) -> None:
    server.enqueue(
        Answer({}, 429, {"retry-after-ms": "150"}), Answer({}, 429, {"retry-after": "0.2"})
    )
    server.enqueue(said("a dog"))
    assert ask(model(server)) == "a dog"
    first, second, third = server.times
    assert second - first >= 0.15
    assert third - second >= 0.2


def test_the_server_says_until_when_to_wait() -> None:
    def seconds(until: datetime) -> float | None:
        response = httpx.Response(429, headers={"retry-after": format_datetime(until)})
        return chat_http._retry_after(response)

    now = datetime.now(UTC)
    assert seconds(now + timedelta(seconds=30)) == pytest.approx(29.5, abs=2)
    assert seconds(now - timedelta(seconds=30)) == 0
    assert chat_http._retry_after(httpx.Response(429)) is None
    assert chat_http._retry_after(httpx.Response(429, headers={"retry-after": "soon"})) is None


def test_a_server_that_wants_an_hour_is_left_alone(server: Server) -> None:
    server.enqueue({}, status=429, headers={"retry-after": "3600"})
    with pytest.raises(
        ConnectionError, match="it asks to wait for 3600 s: go on later with --resume"
    ):
        ask(model(server))
    assert len(server.requests) == 1


def test_retries_end(server: Server) -> None:
    server.default = Answer({"error": {"message": "overloaded"}}, 503)
    with pytest.raises(ConnectionError, match=r"status 503 \(overloaded\), 4 times: look whether"):
        ask(model(server))
    assert len(server.requests) == 4


def test_an_answer_that_takes_too_long_is_asked_for_again(server: Server) -> None:
    server.enqueue(Answer(said("late"), delay=0.5), said("in time"))
    assert ask(model(server, timeout_s=0.1)) == "in time"


def test_patience_ends(server: Server) -> None:
    server.default = Answer(said("late"), delay=0.4)
    with pytest.raises(ConnectionError, match=r"no answer within 0\.1 s, 2 times"):
        ask(model(server, timeout_s=0.1, retries=1))


def test_no_server_is_named_as_that(server: Server) -> None:
    target = OpenAI("m@http://127.0.0.1:9/v1", {"retries": 1})
    with pytest.raises(ConnectionError, match=r"127.0.0.1:9: no connection \(.*\), 2 times"):
        ask(target)


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_ends_all_requests_at_once(server: Server, status: int) -> None:
    server.default = Answer({"error": {"message": "bad key"}}, status)
    target = model(server)
    for _ in range(3):
        with pytest.raises(
            UserError, match=r"\(bad key\): put a valid key into \$OPENAI_API_KEY"
        ) as e:
            ask(target)
        assert SECRET not in str(e.value)
    assert len(server.requests) == 1


def test_no_such_model(server: Server) -> None:
    server.enqueue({"error": "model 'm' not found"}, status=404)
    with pytest.raises(UserError, match=r"model 'm' not found.*check the model's name and http://"):
        ask(model(server))


def test_no_money_is_not_waited_for(server: Server) -> None:
    server.enqueue({"error": {"code": "insufficient_quota", "message": "empty"}}, status=429)
    with pytest.raises(UserError, match=r"has nothing left \(empty\): add credit"):
        ask(model(server))
    assert len(server.requests) == 1


def test_a_request_that_is_wrong_concerns_itself_only(server: Server) -> None:
    server.enqueue({"error": {"message": "too long"}}, status=400)
    server.enqueue(said("a dog"))
    target = model(server)
    with pytest.raises(ValueError, match="finds the request wrong, status 400: too long"):
        ask(target, "x" * 9)
    assert ask(target) == "a dog"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(said(None, refusal="I will not.")), "m refused to answer: I will not."),
        (Answer(said("", "content_filter")), "m refused to answer: filtered"),
        (
            Answer({"error": {"code": "content_filter", "message": "policy"}}, 400),
            "refused the request: policy",
        ),
    ],
)
def test_refusals_are_told_from_empty_answers(server: Server, answer: Answer, message: str) -> None:
    server.enqueue(answer)
    target = model(server)
    for _ in range(2):  # and not paid for twice
        with pytest.raises(NoAnswerError, match=message) as error:
            ask(target)
        assert error.value.reason == "refused"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("finish", "message"),
    [
        ("stop", r"gave an empty answer \(it ended by stop\)$"),
        ("length", r"\(it ended by length\): raise the limit of new tokens"),
    ],
)
def test_empty_answers_are_told_from_refusals(server: Server, finish: str, message: str) -> None:
    server.enqueue(said("  ", finish))
    with pytest.raises(NoAnswerError, match=message) as error:
        ask(model(server))
    assert error.value.reason == "empty"


def test_one_refusal_costs_no_other_answer(server: Server) -> None:
    server.default = lambda body: (
        said(None, refusal="no") if body["messages"][0]["content"] == "b" else said("yes")
    )
    target = model(server)
    with pytest.raises(NoAnswerError):
        target.complete(["a", "b", "c"], [0, 0, 0], SAMPLING)
    assert target.complete(["a", "c"], [0, 0], SAMPLING) == ["yes", "yes"]
    assert len(server.requests) == 3


def test_parts_of_an_answer_are_put_together(server: Server) -> None:
    server.enqueue(said([{"type": "text", "text": "a "}, {"type": "text", "text": "dog"}]))
    assert ask(model(server)) == "a dog"


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": [{"message": None}]}])
def test_what_is_no_chat_completion_is_an_error(server: Server, body: Any) -> None:
    server.enqueue(body)
    with pytest.raises(ValueError, match="openai:m sent no chat completion"):
        ask(model(server))


def test_an_error_inside_a_success_is_an_error(server: Server) -> None:
    server.enqueue({"error": {"code": 429, "message": "slow down"}}, "no JSON at all", said("yes"))
    assert ask(model(server)) == "yes"
    assert len(server.requests) == 3


def test_it_says_which_model_it_is(server: Server) -> None:
    info = model(server).info
    assert (info.id, info.revision, info.dtype) == ("openai:m", "", "")
    assert info.preprocessing == f"{server.url}, PNG, detail auto"
    assert OpenAI("gpt-4o-2024-08-06", {}).info.revision == "2024-08-06"
    assert model(server, revision="q4").info.revision == "q4"
    assert SECRET not in repr(info)


def test_where_the_server_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def url(argument: str = "m", **settings: Any) -> str:
        return OpenAI(argument, settings)._server.base_url

    assert url() == OPENAI
    monkeypatch.setenv("OPENAI_BASE_URL", "http://env/v1/")
    assert url() == "http://env/v1"
    assert url(base_url="http://set/v1/chat/completions") == "http://set/v1"
    assert url("m@http://arg/v1", base_url="http://set/v1") == "http://arg/v1"


def test_openai_itself_is_told_the_limit_by_its_long_name() -> None:
    assert OpenAI("m", {})._payload("hi", 0, SAMPLING)["max_completion_tokens"] == 17


def test_other_servers_need_no_key(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    server.enqueue(said("a dog"))
    assert ask(model(server)) == "a dog"
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize(
    ("argument", "settings", "message"),
    [
        ("", {}, "openai needs a model: openai:gpt-4o"),
        ("m", {"key_env": "NO_SUCH_KEY"}, r"openai:m needs a key: put it into \$NO_SUCH_KEY"),
        ("m@localhost:8000", {}, "base_url 'localhost:8000' cannot be used: write it like http"),
        ("m@http://me:pw@host/v1", {}, "'host/v1' cannot be used.*belongs into the environment"),
        ("m", {"detail": "fine"}, "detail 'fine' is unknown: use auto, low, high"),
        ("m", {"parallel": 0}, "parallel 0 cannot be used: give a whole number of 1 or more"),
        ("m", {"retries": -1}, "retries -1 cannot be used"),
        ("m", {"timeout_s": 0}, "timeout_s 0 cannot be used: give a number of seconds above 0"),
    ],
)
def test_mistakes_are_refused(argument: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        OpenAI(argument, settings)


def test_stopping_wakes_those_who_wait(server: Server) -> None:
    server.default = Answer({}, 429, {"retry-after": "60"})
    target = model(server)
    threading.Timer(0.2, target._server.stop).start()
    with pytest.raises(ConnectionError, match="stopped while waiting"):
        ask(target)


def test_it_is_registered() -> None:
    for kind in ("targets", "tools"):
        assert registry.load(kind, "openai") is OpenAI
