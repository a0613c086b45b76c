"""No cheap negation, and a swap is a swap: MAC's auxiliary criterion (arXiv 2505.22943, 3.2).

Deviations. `released` does what the authors' code does: words are split at white space of the
lower-case text without final periods, and unlike in `distance.normalise` surrounding white space is
not removed first, so a period before a trailing space stays on its word; a swap may use each word
as often as it likes. Replacements and additions are not checked; the reference stops with an error
on "count-replace", here it is not checked either. `paper` takes the text at its word: punctuation
does not hide a negation, and a swap exchanges two phrases and changes nothing else ("a" and "an"
count as one word, for the article follows its noun).
"""

import string
from typing import Literal

Variant = Literal["released", "paper"]

SWAPS = ("object-swap", "attribute-swap")
OPERATIONS = (
    "general",
    *("object-add", "attribute-add", "object-replace", "object-swap"),
    *("attribute-replace", "attribute-swap", "relation-replace", "count-replace"),
)
"""What can be asked of a rewrite, in MAC's words. "general" asks for nothing in particular."""

NEGATIONS = frozenset({"no", "not", "empty", "without"})


def auxiliary_ok(
    text: str, adversarial: str, operation: str | None = None, variant: Variant = "released"
) -> bool:
    """Whether the rewrite keeps to the rules.

    Args:
        text: The caption that was rewritten.
        adversarial: The rewrite.
        operation: What was asked for, one of `OPERATIONS`; None is "general". Only swaps have a
            rule of their own.
        variant: Which reading of the rules, see the module's docstring.

    >>> auxiliary_ok("Two people with surfboards", "Two people without surfboards")
    False
    """
    split = _released_words if variant == "released" else _paper_words
    old, new = split(text), split(adversarial)
    if NEGATIONS.intersection(new) - NEGATIONS.intersection(old):
        return False
    if operation not in SWAPS:
        return True
    if variant == "released":
        return set(old) == set(new) and old != new
    return _exchanges_two_phrases(old, new)


def _released_words(text: str) -> list[str]:
    return text.lower().rstrip(".").split()


def _paper_words(text: str) -> list[str]:
    stripped = (word.strip(string.punctuation) for word in text.lower().split())
    return ["a" if word == "an" else word for word in stripped if word]


def _exchanges_two_phrases(old: list[str], new: list[str]) -> bool:
    """Whether old = P X M Y S and new = P Y M X S, with phrases X and Y of at least one word."""
    if len(old) != len(new) or old == new:
        return False
    start, end = 0, len(old)
    while old[start] == new[start]:
        start += 1
    while old[end - 1] == new[end - 1]:
        end -= 1
    before, after = old[start:end], new[start:end]
    n = len(before)
    return any(
        before[:x] == after[n - x :]
        and before[n - y :] == after[:y]
        and before[x : n - y] == after[y : n - x]
        for x in range(1, n)
        for y in range(1, n - x + 1)
    )
