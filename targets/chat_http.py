"""POST a request to a server of the OpenAI protocol until it answers: retries, waits, errors in one line."""

import random
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmark.errors import NoAnswerError, UserError

CHAT = "chat/completions"

FIRST_WAIT = 0.5
"""Seconds before the first retry where the server names none; doubled each time, less up to half of it
by chance, so that requests that failed together do not come again together."""

LONGEST_BACKOFF = 60.0
LONGEST_WAIT = 600.0
"""A server that wants to be left alone for longer than this has given up on us, and so do we."""

_PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
"""Statuses that may be others a moment later."""

_OUT_OF_MONEY = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
_FILTERED = {"content_filter", "content_policy_violation", "moderation_blocked"}


@dataclass(frozen=True, slots=True)
class _Problem:
    """Why there is no answer yet; `wait` is what the server asks for, None if it says nothing."""

    text: str
    wait: float | None = None


class ChatServer:
    """One server. Safe to use from several threads.

    Once it has said what no request can get around (a wrong key, no such model, no money left), every
    later request fails at once with the same words.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        key_env: str,
        *,
        timeout_s: float,
        retries: int,
        parallel: int,
    ) -> None:
        self.base_url = base_url
        self._host = urlsplit(base_url).netloc
        self._key_env = key_env
        self._timeout_s = timeout_s
        self._retries = retries
        self._fatal: UserError | None = None
        self._stopped = threading.Event()
        self._chance = random.Random()  # not the global one, whose state a run may depend on
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(timeout_s, connect=min(timeout_s, 20.0)),
            limits=httpx.Limits(max_connections=parallel, max_keepalive_connections=parallel),
        )
        weakref.finalize(self, self._http.close)

    def post(self, payload: Mapping[str, Any], path: str = CHAT) -> dict[str, Any]:
        """The server's answer to one request, sent to a path below the base URL.

        Raises:
            UserError: The key, the model or the account will not do.
            NoAnswerError: The server's filter refused the request.
            ValueError: The server finds the request wrong.
            ConnectionError: It could not be had, however often it was asked.
        """
        problem = _Problem("it was not asked")
        for attempt in range(self._retries + 1):
            if self._fatal is not None:
                raise self._fatal
            tried = self._try(f"{self.base_url}/{path}", payload)
            if not isinstance(tried, _Problem):
                return tried
            problem = tried
            wait = problem.wait
            if wait is None:
                longest = min(LONGEST_BACKOFF, FIRST_WAIT * 2**attempt)
                wait = longest * self._chance.uniform(0.5, 1.0)
            if wait > LONGEST_WAIT:
                raise ConnectionError(
                    f"{self._host}: {problem.text}; it asks to wait for {wait:.0f} s: go on later"
                    " with --resume"
                )
            if attempt < self._retries and self._stopped.wait(wait):
                raise ConnectionError(f"{self._host}: stopped while waiting ({problem.text})")
        raise ConnectionError(
            f"{self._host}: {problem.text}, {self._retries + 1} times: look whether it is up, or go"
            " on later with --resume"
        )

    def stop(self) -> None:
        """Wake those who wait for a retry: they fail."""
        self._stopped.set()

    def _try(self, url: str, payload: Mapping[str, Any]) -> dict[str, Any] | _Problem:
        try:
            response = self._http.post(url, json=payload)
        except httpx.TimeoutException:
            return _Problem(f"no answer within {self._timeout_s:g} s")
        except httpx.TransportError as error:
            return _Problem(
                f"no connection ({' '.join(str(error).split()) or type(error).__name__})"
            )
        try:
            body = response.json()
        except ValueError:
            body = None
        failure = body.get("error") if isinstance(body, Mapping) else None
        if response.is_success and isinstance(body, dict) and not failure:
            return body
        status = response.status_code
        code, said = "", ""
        if isinstance(failure, Mapping):
            code = str(failure.get("code") or failure.get("type") or "")
            said = str(failure.get("message") or "")
            if response.is_success and str(failure.get("code")).isdigit():
                status = int(failure["code"])  # some relays answer 200 and hide the status inside
        said = " ".join((said or response.text).split())
        said = f"{said:.200}" or "no reason given"
        if response.is_success and not isinstance(body, dict):
            return _Problem(f"an answer that is no JSON object ({said:.60})")
        return self._failed(url, status, code, said, response)

    def _failed(
        self, url: str, status: int, code: str, said: str, response: httpx.Response
    ) -> _Problem:
        """What to make of an error: a `_Problem` that may pass, or an exception."""
        if code in _OUT_OF_MONEY:
            self._give_up(f"the account has nothing left ({said}): add credit, then --resume")
        if code in _FILTERED:
            raise NoAnswerError(f"{self._host} refused the request: {said}", "refused")
        if status in _PASSING or response.is_success:
            return _Problem(f"status {status} ({said})", _retry_after(response))
        if status in (401, 403):
            self._give_up(f"status {status} ({said}): put a valid key into ${self._key_env}")
        if status == 404:
            self._give_up(f"status 404 ({said}): check the model's name and {url}")
        raise ValueError(f"{self._host} finds the request wrong, status {status}: {said}")

    def _give_up(self, text: str) -> None:
        self._fatal = UserError(f"{self._host}: {text}")
        raise self._fatal


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that the server wants us to wait: a number of (milli)seconds, or a date."""
    if milliseconds := _number(response.headers.get("retry-after-ms")):
        return milliseconds / 1000
    text = response.headers.get("retry-after")
    if text is None:
        return None
    seconds = _number(text)
    if seconds is None:
        try:
            until = parsedate_to_datetime(text)
        except ValueError:
            return None
        if until.tzinfo is None:
            until = until.replace(tzinfo=UTC)
        seconds = (until - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds)


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None
