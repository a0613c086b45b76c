"""What an attack may offer beyond the shape of an `Attack`, looked up and checked."""

from collections.abc import Callable
from typing import Any

from benchmark.protocols import Attack
from benchmark.types import Sample


def options_of(attack: Attack, sample: Sample) -> tuple[str, ...]:
    """The texts that the attack wants pictures of a sample to be compared with."""
    offer: Callable[[Sample], Any] | None = getattr(attack, "options", None)
    options = () if offer is None else offer(sample)
    if isinstance(options, str) or not all(isinstance(option, str) for option in options):
        raise TypeError(
            f"attack {attack.name}: options returned {options!r:.80}, expected a sequence of texts"
        )
    return tuple(options)


def question_of(attack: Attack, sample: Sample) -> str | None:
    """What the attack wants to be asked about pictures of a sample."""
    ask: Callable[[Sample], Any] | None = getattr(attack, "question", None)
    question = None if ask is None else ask(sample)
    if not isinstance(question, str | None):
        raise TypeError(
            f"attack {attack.name}: question returned {question!r:.80}, expected a text or None"
        )
    return question
