"""Questions about pictures: what is asked, what may be answered, and which choice an answer makes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

MOST_CHOICES = len(ascii_uppercase)

_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_ANSWER = re.compile(
    r"\b(?:[Aa]nswer|[Oo]ption|[Cc]hoice)\b(?:\s+is\b)?\W*"
    r"([A-Za-z])\b(?!')(?!\s+(?!because\b|since\b|as\b)[a-z])"  # "the answer is a dog" has no letter
)
_LEADING = re.compile(r"\W*([A-Za-z])\s*(?:[.):\]*]|\Z)")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one picture. `answer` is one of the `choices`, which are in the order shown.

    `orientation` says in words how the object is turned, `theta` exactly (the six numbers of its
    pose), `source` where the picture is from ("digital", "physical"); empty where nobody said.
    """

    text: str
    choices: tuple[str, ...]
    answer: str
    orientation: str = ""
    source: str = ""
    theta: tuple[float, ...] | None = None

    @property
    def listed(self) -> str:
        """The choices with their letters, one a line."""
        return "\n".join(
            f"{letter}. {choice}"
            for letter, choice in zip(ascii_uppercase, self.choices, strict=False)
        )


def read_choice(reply: str, choices: Sequence[str]) -> str | None:
    """The choice that an answer makes, by its letter or in words; None if it makes none, or two.

    >>> choices = ("duck", "mug", "mug tree")
    >>> [read_choice(text, choices) for text in ("B", "(C) mug tree", "A duck.", "A mug tree", "E")]
    ['mug', 'mug tree', 'duck', 'mug tree', None]
    """
    text = _THOUGHTS.sub("", reply).strip()
    letters = {found.upper() for found in _ANSWER.findall(text)}
    if match := _LEADING.match(text):
        letters.add(match[1].upper())
    by_letter = dict(zip(ascii_uppercase, choices, strict=False))
    made = {by_letter[letter] for letter in letters if letter in by_letter} | named(text, choices)
    if letters - by_letter.keys() or len(made) != 1:
        return None
    return made.pop()


def named(text: str, choices: Sequence[str]) -> set[str]:
    """The choices that a text names as whole words, a plural s aside.

    One that is part of another, such as mug of mug tree, is not named along with it.
    """
    rest, found = " ".join(text.split()), set()
    for choice in sorted(choices, key=len, reverse=True):
        words = re.escape(" ".join(choice.split()))
        rest, times = re.subn(rf"(?<!\w){words}s?(?!\w)", "|", rest, flags=re.IGNORECASE)
        if times:
            found.add(choice)
    return found
