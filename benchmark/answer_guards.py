"""What must not pass for a bad description: an answer that is none scores 0 as well.

Refusals, errors, very short answers, answers that repeat themselves and answers that name nothing have no
score. They are counted, each apart.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

AnswerStatus = Literal["scored", "refused", "short", "malformed", "repetitive", "error"]

_REPEATS = 4
"""So often in a row a phrase may not be said."""
_LONGEST_PHRASE = 8
_WORDY = 30
_LEAST_VARIETY = 0.25
"""Of an answer with at least `_WORDY` words so many must differ."""

_REFUSAL = re.compile(
    r"^\W*(?:i(?:['’]m| am) (?:sorry|afraid|unable|not able)|sorry\b|i (?:can(?:['’]t|not)|won['’]t)"  # noqa: RUF001
    r"|i apologi[sz]e|unfortunately, i|as an ai\b)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+(?:['’]\w+)*")  # noqa: RUF001


def answer_status(answer: str | None, refusal: str, least_words: int) -> AnswerStatus:
    """Whether an answer can be scored, as far as its words tell."""
    if refusal:
        return "error" if refusal.startswith("error") else "refused"
    if answer is None or not answer.strip() or _REFUSAL.match(answer):
        return "refused"
    if len(words_of(answer)) < least_words:
        return "short"
    return "repetitive" if repeats_itself(answer) else "scored"


def repeats_itself(text: str) -> bool:
    """Whether a phrase of up to eight words comes four times in a row, or hardly any word is new.

    >>> repeats_itself("a red duck and a red duck and a red duck and a red duck and")
    True
    """
    words = words_of(text)
    if len(words) >= _WORDY and len({*words}) < _LEAST_VARIETY * len(words):
        return True
    for length in range(1, _LONGEST_PHRASE + 1):
        run = 0
        for now, before in zip(words[length:], words, strict=False):
            run = run + 1 if now == before else 0
            if run >= length * (_REPEATS - 1):
                return True
    return False


def counts_of(graph: Any) -> dict[str, int]:
    """How many objects, attributes and relations a graph has, given as plain data; None has none.

    What a relation names is an object too: "a ball on the grass" names two.
    """
    if not isinstance(graph, Mapping):
        return {"objects": 0, "attributes": 0, "relations": 0}
    relations = graph.get("relations") or ()
    ends = {end for subject, _, what in relations for end in (subject, what)}
    return {
        "objects": len(ends.union(graph.get("objects") or ())),
        "attributes": sum(len(owned) for owned in (graph.get("attributes") or {}).values()),
        "relations": len(relations),
    }


def capture_of(said: Mapping[str, Any]) -> float | None:
    """The CAPTURE in what the tool `capture` says, None where the answer names nothing at all."""
    if said["capture"] is None or not counts_of(said.get("candidate"))["objects"]:
        return None
    return float(said["capture"])


def reference_of(text: str | None, perturbation: Mapping[str, Any]) -> str | None:
    """What an answer about a candidate is compared with: its caption, or its "reference" if it has one.

    A reference of None is that of an answer that cannot be judged alone.
    """
    reference = perturbation.get("reference", text)
    return None if reference is None else str(reference)


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return [word.casefold() for word in _WORD.findall(text)]
