"""From a language model's reply to captions, however it wraps them.

In this order: the reply as JSON, a fenced block of JSON, the first JSON that is anywhere in it, numbered or
bulleted lines. What holds no caption gives an empty list.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from benchmark.answer_guards import words_of

_THOUGHTS = re.compile(r"<think>.*?(?:</think>|$)", re.DOTALL)
_FENCE = re.compile(r"```[\w-]*\s*\n?(.*?)```", re.DOTALL)
_ITEM = re.compile(r"^\s*(?:\d{1,3}\s*[.):]|[-*•])\s+(.+?)\s*$", re.MULTILINE)
_BOLD = re.compile(r"\*\*|__")
_QUOTES = "\"'“”‘’`"  # noqa: RUF001
_LEAST_WORDS = 3
_DECODER = json.JSONDecoder()


def captions_in(reply: str) -> list[str]:
    r"""The captions in a reply, in order.

    >>> captions_in('Sure:\n```json\n{"captions": ["A monk reads by candlelight."]}\n```')
    ['A monk reads by candlelight.']
    >>> captions_in("1. A wet robot waits.\n2. **A dog** swims at night.")
    ['A wet robot waits.', 'A dog swims at night.']
    """
    reply = _THOUGHTS.sub("", reply)
    for value in _values(reply):
        if found := [text for one in _strings(value) if (text := _clean(one))]:
            return found
    return [text for one in _ITEM.findall(reply) if (text := _clean(one))]


def questions_in(reply: str) -> list[tuple[str, str]]:
    """The (question, answer) pairs in a reply: objects that have both, wherever they are.

    >>> questions_in('{"questions": [{"question": "What flies?", "answer": "A kite flies."}]}')
    [('What flies?', 'A kite flies.')]
    """
    for value in _values(_THOUGHTS.sub("", reply)):
        if found := list(_pairs(value)):
            return found
    return []


def _values(reply: str) -> Iterator[Any]:
    """What of the reply is JSON: all of it, what is fenced, the first list or object in it."""
    for text in (reply, *_FENCE.findall(reply)):
        try:
            yield json.loads(text)
        except ValueError:
            continue
    for start, character in enumerate(reply):
        if character in "[{":
            try:
                value, _ = _DECODER.raw_decode(reply, start)
            except ValueError:
                continue
            if value:
                yield value
                return


def _strings(value: Any) -> Iterator[str]:
    """The captions of a JSON value: its texts, or those in its lists and under its keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
    elif isinstance(value, dict):
        named = [value[key] for key in ("captions", "caption", "description") if key in value]
        for one in named or value.values():
            yield from _strings(one)


def _pairs(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for one in value:
            yield from _pairs(one)
    elif isinstance(value, dict):
        question, answer = value.get("question"), value.get("answer")
        if isinstance(question, str) and isinstance(answer, str) and question and answer:
            yield question.strip(), answer.strip()
        else:
            for one in value.values():
                yield from _pairs(one)


def _clean(text: str) -> str:
    """A caption in one line, without quotes and stars around it; "" if it is too short to be one."""
    line = " ".join(_BOLD.sub("", text).split())
    if len(line) > 1 and line[0] in _QUOTES and line[-1] in _QUOTES:
        line = line[1:-1].strip()
    return line if len(words_of(line)) >= _LEAST_WORDS else ""
