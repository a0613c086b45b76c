"""HTML in which everything is escaped unless it was made here."""

from collections.abc import Iterable
from html import escape

_VOID = frozenset({"meta", "link", "br", "input", "hr"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Html:
    """Plain text, escaped; what cannot be shown, such as half of a surrogate pair, is replaced."""
    plain = str(value).encode("utf-8", "replace").decode()
    return Html(escape(plain, quote=True))


def tag(name: str, /, *content: "str | Html | Iterable[str | Html]", **attributes: object) -> Html:
    """One element. Plain strings are escaped; an attribute that is None or False is left out.

    A trailing underscore is dropped ("class_"), others become hyphens ("data_value").

    >>> tag("a", "R&D", href="x.html")
    '<a href="x.html">R&amp;D</a>'
    """
    written = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        written.append(f" {key}" if value is True else f' {key}="{text(value)}"')
    opening = f"<{name}{''.join(written)}>"
    if name in _VOID:
        return Html(opening)
    return Html(f"{opening}{''.join(map(_flat, content))}</{name}>")


def join(parts: Iterable["str | Html"], between: str = "") -> Html:
    """Parts in a row, plain ones escaped."""
    return Html(str(text(between)).join(_flat(part) for part in parts))


def _flat(part: "str | Html | Iterable[str | Html]") -> str:
    if isinstance(part, Html):
        return part
    if isinstance(part, str):
        return text(part)
    return "".join(_flat(one) for one in part)
