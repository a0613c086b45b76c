"""HTML that cannot hold what was not meant: every text is escaped, markup is made by `el` alone."""

import html
import re
from collections.abc import Iterable
from typing import TypeAlias

_NOT_TEXT = re.compile("[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Control characters and halves of surrogate pairs: no HTML file may hold them."""

_VOID = frozenset({"br", "img", "input", "link", "meta"})
_RAW = frozenset({"script", "style"})


class Markup(str):
    """HTML that is well-formed already."""

    __slots__ = ()


Child: TypeAlias = "Markup | str | int | Iterable[Child] | None"
Value: TypeAlias = str | int | float | bool | None


def el(name: str, /, *children: Child, **attributes: Value) -> Markup:
    """An element. Texts among the children are escaped, None is left out.

    An attribute's name has `_` for `-`, and one at its end where Python has the word (`class_`). True is
    an attribute without a value; False and None are none.
    """
    if name in _RAW:
        raise ValueError(f"<{name}> holds no escaped text: use `verbatim`")
    opened = f"<{name}{_attributes(attributes)}>"
    if name in _VOID:
        return Markup(opened)
    return Markup(f"{opened}{_inner(children)}</{name}>")


def verbatim(name: str, text: str, /, **attributes: Value) -> Markup:
    """A <style> or <script> of our own.

    Raises:
        ValueError: The text would end the element.
    """
    if name not in _RAW or re.search(rf"</{name}", text, re.IGNORECASE):
        raise ValueError(f"a text that ends <{name}> cannot stand in one")
    return Markup(f"<{name}{_attributes(attributes)}>{text}</{name}>")


def text(value: str) -> Markup:
    """A text, escaped."""
    return Markup(html.escape(_NOT_TEXT.sub("\ufffd", value)))


def isolated(value: str, **attributes: Value) -> Markup:
    """A text of somebody else's: its direction is its own and does not reach beyond it."""
    return el("bdi", value, **attributes)


def number(value: float, digits: int = 2) -> str:
    """A coordinate of a drawing."""
    shown = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if shown in ("-0", "") else shown


def _inner(children: Iterable[Child]) -> str:
    parts: list[str] = []
    for child in children:
        match child:
            case None:
                continue
            case Markup():
                parts.append(child)
            case str():
                parts.append(text(child))
            case int():
                parts.append(str(child))
            case _:
                parts.append(_inner(child))
    return "".join(parts)


def _attributes(attributes: dict[str, Value]) -> str:
    parts = []
    for key, value in attributes.items():
        name = key.rstrip("_").replace("_", "-")
        match value:
            case None | False:
                continue
            case True:
                parts.append(f" {name}")
            case float():
                parts.append(f' {name}="{number(value)}"')
            case _:
                parts.append(f' {name}="{text(str(value))}"')
    return "".join(parts)
