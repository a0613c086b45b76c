"""What a target is shown at once, and what it makes of it."""

from dataclasses import dataclass

from benchmark.types import Pixels


@dataclass(frozen=True, slots=True)
class View:
    """What a target is shown at once: a picture, the texts to compare it with, and a question."""

    pixels: Pixels
    texts: tuple[str, ...]
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Sight:
    """What a target made of a `View`: one score a text (none if it gives no scores), its answer.

    `refusal` says why there is no answer where one was asked for.
    """

    scores: tuple[float, ...]
    output: str | None = None
    refusal: str = ""

    @property
    def score(self) -> float | None:
        """The score of the first text."""
        return self.scores[0] if self.scores else None
