"""What must not pass for a blind spot, in captions and pictures; `benchmark.answer_guards` has answers."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmark.answer_guards import words_of
from benchmark.types import Pixels

_FLAT = 2.0
"""A picture whose pixels deviate less than this from their mean, of 255, shows nothing."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a caption must name, and how long captions and answers may be, in words."""

    min_objects: int = 2
    min_details: int = 1
    max_caption_words: int = 60
    min_answer_words: int = 5

    def caption_fits(self, text: str, counts: Mapping[str, int]) -> bool:
        """Whether the caption is short enough and its graph keeps objects and details enough.

        Details are attributes and relations.
        """
        details = counts["attributes"] + counts["relations"]
        return (
            0 < len(words_of(text)) <= self.max_caption_words
            and counts["objects"] >= self.min_objects
            and details >= self.min_details
        )


def shows_nothing(picture: Pixels | None) -> bool:
    """Whether there is no picture, or one of a single colour."""
    return picture is None or float(np.std(picture, axis=(0, 1)).max()) < _FLAT
