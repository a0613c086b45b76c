"""Models behind an OpenAI-compatible server: as targets that answer, language models and painters.

OpenAI itself, and whatever speaks its chat completions: vLLM, llama.cpp, Ollama, LM Studio, OpenRouter.
Pictures travel as lossless PNG, so that a perturbation arrives as it is.

The same question is sent once a run. Servers promise no more than their best to repeat an answer, even with a
seed; so answers go into the cache on disk only for a model whose version is pinned: a dated name
(gpt-4o-2024-08-06), or the setting `revision`.
"""

import base64
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from io import BytesIO
from typing import Any, TypeVar
from urllib.parse import urlsplit

from PIL import Image

from benchmark.cache import pixels_digest
from benchmark.errors import NoAnswerError, UserError
from benchmark.types import JSON, ModelInfo, Pixels, Sampling
from targets.chat_http import ChatServer
from targets.openai_images import ImageModel, image_options

OPENAI = "https://api.openai.com/v1"
DETAILS = ("auto", "low", "high")

_DATED = re.compile(r"-(\d{4}-\d{2}-\d{2})$")

Payload = dict[str, Any]
Key = tuple[object, ...]
V = TypeVar("V")


class OpenAI:
    """`openai:MODEL`, or `openai:MODEL@http://localhost:8000/v1` for another server.

    A model that paints may be told the size of its pictures: `openai:MODEL,size=512x512`; also quality=.

    Settings:
        base_url: The server, if it is not in the argument; else $OPENAI_BASE_URL, else OpenAI.
        key_env: The variable of the environment that holds the key, OPENAI_API_KEY by default.
        revision: Which version it is, where the name does not say.
        timeout_s: How long to wait for an answer: 120.
        retries: How often to ask again after a failure that may pass: 6.
        parallel: Requests under way at a time: 8.
        detail: How closely OpenAI's models look: "auto", "low" or "high".
        sampling: Send temperature, top_p and seed. Set it to false for models that refuse them.

    Raises:
        UserError: There is no model, no key or no such address, or a setting cannot be used.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        named, _, address = argument.partition("@")
        model, *options = named.split(",")
        if not model:
            raise UserError("openai needs a model: openai:gpt-4o, or openai:MODEL@BASE_URL")
        base_url = _address(address or str(settings.get("base_url") or ""))
        key_env = str(settings.get("key_env") or "OPENAI_API_KEY")
        key = os.environ.get(key_env, "").strip()
        if not key and base_url == OPENAI:
            raise UserError(f"openai:{model} needs a key: put it into ${key_env}")
        self._model = model
        self._detail = str(settings.get("detail", "auto"))
        if self._detail not in DETAILS:
            raise UserError(f"detail {self._detail!r} is unknown: use {', '.join(DETAILS)}")
        self._samples = bool(settings.get("sampling", True))
        # OpenAI's newer models know only the long name, other servers often only the short one.
        self._limit = "max_completion_tokens" if base_url == OPENAI else "max_tokens"
        self._parallel = _whole(settings, "parallel", 8, least=1)
        self._server = ChatServer(
            base_url,
            key,
            key_env,
            timeout_s=_seconds(settings, "timeout_s", 120.0),
            retries=_whole(settings, "retries", 6, least=0),
            parallel=self._parallel,
        )
        self._known: dict[Key, str | NoAnswerError] = {}
        # A picture is large: it is kept only until all that were asked for with it are there.
        self._painted: dict[Key, Pixels | NoAnswerError | None] = {}
        painting = image_options(options, model)
        self._images = ImageModel(
            self._server, model, painting, seeded=self._samples and base_url != OPENAI
        )
        dated = _DATED.search(model)
        self.info = ModelInfo(
            id=f"openai:{model}",
            revision=str(settings.get("revision") or (dated[1] if dated else "")),
            dtype="",
            preprocessing=f"{base_url}, PNG, detail {self._detail}"
            + ("" if self._samples else ", its own sampling")
            + (f", pictures {painting}" if options else ""),
        )

    def answer(
        self, images: Sequence[Pixels], prompts: Sequence[str], sampling: Sampling
    ) -> list[str]:
        """One answer for each (picture, prompt).

        Raises:
            NoAnswerError: The model refused one of them, or said nothing.
            UserError: The server will not do: wrong key, no such model, no money left.
            ConnectionError: The server could not be had.
        """
        requests: dict[Key, Callable[[], str]] = {}
        keys = []
        for pixels, prompt in zip(images, prompts, strict=True):
            key = ("answer", pixels_digest(pixels), prompt, astuple(sampling))
            requests[key] = lambda pixels=pixels, prompt=prompt: self._said(  # type: ignore[misc]
                self._payload(self._seen(pixels, prompt), 0, sampling)
            )
            keys.append(key)
        return self._texts(keys, requests)

    def complete(
        self, prompts: Sequence[str], seeds: Sequence[int], sampling: Sampling
    ) -> list[str]:
        """One reply for each prompt.

        Raises:
            NoAnswerError: The model refused one of them, or said nothing.
            UserError: The server will not do: wrong key, no such model, no money left.
            ConnectionError: The server could not be had.
        """
        requests: dict[Key, Callable[[], str]] = {}
        keys = []
        for prompt, seed in zip(prompts, seeds, strict=True):
            key = ("reply", prompt, seed, astuple(sampling))
            requests[key] = lambda prompt=prompt, seed=seed: self._said(  # type: ignore[misc]
                self._payload(prompt, seed, sampling)
            )
            keys.append(key)
        return self._texts(keys, requests)

    def paint(self, texts: Sequence[str], seeds: Sequence[int]) -> list[Pixels | None]:
        """One picture of each text, None where the server's filter refuses it.

        OpenAI itself takes no seed: its pictures of a text differ by chance.

        Raises:
            UserError: The server will not do: wrong key, no such model, no money left.
            ConnectionError: The server could not be had.
        """
        keys: list[Key] = list(zip(texts, seeds, strict=True))
        requests: dict[Key, Callable[[], Pixels | None]] = {
            key: lambda text=key[0], seed=key[1]: self._images.picture(text, seed)  # type: ignore[misc]
            for key in keys
        }
        self._fetch(requests, self._painted)
        painted = [_given(self._painted[key]) for key in keys]
        self._painted.clear()
        return painted

    @property
    def base_url(self) -> str:
        """Where the server is."""
        return self._server.base_url

    def post(self, payload: Payload, path: str) -> Payload:
        """The server's answer to a request of another kind than these, about this model.

        Raises:
            UserError: The server will not do: wrong key, no such model, no money left.
            ValueError: It finds the request wrong.
            ConnectionError: It could not be had.
        """
        return self._server.post({"model": self._model, **payload}, path)

    def _texts(self, keys: Sequence[Key], requests: Mapping[Key, Callable[[], str]]) -> list[str]:
        self._fetch(requests, self._known)
        return [_given(self._known[key]) for key in keys]

    def _fetch(
        self,
        requests: Mapping[Key, Callable[[], V]],
        known: dict[Key, V | NoAnswerError],
    ) -> None:
        """Make known what is not. What came back stays known even if another request failed."""
        missing = [key for key in requests if key not in known]
        failures: list[Exception] = []
        with ThreadPoolExecutor(min(self._parallel, max(1, len(missing)))) as pool:
            try:
                pending = {key: pool.submit(requests[key]) for key in missing}
                for key, future in pending.items():
                    if (error := future.exception()) is None:
                        known[key] = future.result()
                    elif isinstance(error, NoAnswerError):
                        known[key] = error
                    elif isinstance(error, Exception):
                        failures.append(error)
                    else:
                        raise error
            except BaseException:
                self._server.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        if failures:
            raise failures[0]

    def _said(self, payload: Payload) -> str:
        return _text(self.info.id, self._server.post(payload))

    def _seen(self, pixels: Pixels, prompt: str) -> list[Payload]:
        encoded = BytesIO()
        Image.fromarray(pixels).save(encoded, format="PNG")
        url = f"data:image/png;base64,{base64.b64encode(encoded.getvalue()).decode('ascii')}"
        return [
            {"type": "image_url", "image_url": {"url": url, "detail": self._detail}},
            {"type": "text", "text": prompt},
        ]

    def _payload(self, content: str | list[Payload], seed: int, sampling: Sampling) -> Payload:
        payload: Payload = {
            "model": self._model,
            "messages": [{"role": "user", "content": content}],
            self._limit: sampling.max_new_tokens,
        }
        if self._samples:
            payload |= {"temperature": sampling.temperature, "top_p": sampling.top_p, "seed": seed}
        return payload


def _given(known: V | NoAnswerError) -> V:
    if isinstance(known, NoAnswerError):
        raise known
    return known


def _text(model: str, body: Mapping[str, Any]) -> str:
    """What the model said, white space around it taken off."""
    try:
        choice = body["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"{model} sent no chat completion ({error!r}): {body!r:.100}") from error
    if isinstance(content, list):  # some servers send parts, as OpenAI does in other interfaces
        content = "".join(
            str(part.get("text", "")) for part in content if isinstance(part, Mapping)
        )
    finish = choice.get("finish_reason")
    if refusal or finish == "content_filter":
        said = " ".join(str(refusal or "filtered").split())
        raise NoAnswerError(f"{model} refused to answer: {said:.200}", "refused")
    text = str(content or "").strip()
    if not text:
        remedy = ": raise the limit of new tokens" if finish == "length" else ""
        raise NoAnswerError(f"{model} gave an empty answer (it ended by {finish}){remedy}", "empty")
    return text


def _address(given: str) -> str:
    address = (given or os.environ.get("OPENAI_BASE_URL", "") or OPENAI).strip().rstrip("/")
    address = address.removesuffix("/chat/completions").removesuffix("/images/generations")
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
    except ValueError:
        usable = False
    if not usable:
        raise UserError(
            f"base_url {address.rpartition('@')[2]!r} cannot be used: write it like"
            " http://localhost:8000/v1; a key belongs into the environment"
        )
    return address


def _whole(settings: Mapping[str, JSON], key: str, default: int, least: int) -> int:
    value = settings.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UserError(f"{key} {value!r} cannot be used: give a whole number of {least} or more")
    return value


def _seconds(settings: Mapping[str, JSON], key: str, default: float) -> float:
    value = settings.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise UserError(f"{key} {value!r} cannot be used: give a number of seconds above 0")
    return float(value)
