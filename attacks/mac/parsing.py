"""From a writer's reply to a caption.

Both parsers return "" when the reply holds no caption; an empty candidate is kept, as released.
"""

import re

_PREFIX = re.compile(r"generated caption\W*?:[\s*_]*", re.IGNORECASE)
_THOUGHTS = re.compile(r"<think>.*?(?:</think>|$)", re.DOTALL)
_INTRODUCTION = re.compile(
    r"(?:sure|certainly|of course|okay|ok|here|new caption|caption|answer)\b[^:\n]{0,100}:\s*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"(?:[-*•>]|\d{1,2}[.)])\s+")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`", "«": "»", "**": "**"}  # noqa: RUF001
_NOTE = re.compile(r"[.,;]?(?:\s*[(\[—–].*|\s+- .*)?", re.DOTALL)  # noqa: RUF001


def parse_released(decoded: str) -> str:
    r"""The released code's parser, to the letter; `decoded` may hold the prompt as well.

    >>> parse_released('Here it is:\n\nGenerated Caption: "A dog."\n\nI changed the noun.')
    '"A dog."'
    """
    reply = decoded.split("assistant\n")[-1]
    return reply.split("Generated Caption:")[-1].split("\n\n")[0].strip()


def parse_reply(text: str) -> str:
    r"""The caption in a reply, whatever is around it.

    Takes what follows the last "Generated Caption:" in any case, or else the first line that is not an
    introduction; then takes off bullets, quotes and a note behind a closing quote.

    >>> parse_reply('Sure! Here is the caption:\n- "A horse rides a man" (I swapped the nouns.)')
    'A horse rides a man'
    """
    text = _THOUGHTS.sub("", text)
    *_, last = _PREFIX.split(text)
    for line in last.splitlines():
        caption = _undress(line)
        if caption:
            return caption
    return ""


def _undress(line: str) -> str:
    """One line without what is not caption; "" when nothing is left. Repeats until nothing changes."""
    while True:
        before = line
        line = " ".join(line.split())
        if introduction := _INTRODUCTION.match(line):
            line = line[introduction.end() :]
        if bullet := _BULLET.match(line):
            line = line[bullet.end() :]
        line = _unquote(line)
        if line == before:
            return line if any(c.isalnum() for c in line) else ""


def _unquote(line: str) -> str:
    """Take off quotes around the whole line, or around all of it but a note, or left open."""
    for opening, closing in _QUOTES.items():
        if line.startswith(opening):
            inside, found, rest = line[len(opening) :].rpartition(closing)
            if found and _NOTE.fullmatch(rest) and not _is_quoting(inside, closing):
                return inside
    if line.count('"') == 1:
        return line.removeprefix('"').removesuffix('"')
    return line


def _is_quoting(text: str, quote: str) -> bool:
    """Whether a quote in it begins or ends a word; an apostrophe within one does not count."""
    mark = re.escape(quote)
    return re.search(rf"(?<!\w){mark}|{mark}(?!\w)", text) is not None
