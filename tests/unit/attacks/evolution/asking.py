"""Drives a step of a search by hand: what it asks is answered by a function."""

from collections.abc import Callable
from typing import Any, TypeVar

from attacks.evolution.individuals import Asking
from benchmark.types import Reply, Request

T = TypeVar("T")


def result(step: Asking[T], reply: Callable[[Any], Reply] | None = None) -> T:
    """What the step returns; `reply` answers each of its requests."""
    answer: Any = None
    while True:
        try:
            request: Request = step.send(answer)
        except StopIteration as end:
            returned: T = end.value
            return returned
        assert reply is not None, f"nothing was to be asked, but {request!r:.80} was"
        answer = reply(request)
