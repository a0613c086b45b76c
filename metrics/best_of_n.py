"""Which of N candidates stands for the sample (MAC's filter h): a random success, or a random one.

Deviation: none in the rule. `pick` draws from a generator of the sample's own, so that order does
not matter; `released_picks` reproduces the one global sequence of the authors' code.
"""

import random
from collections.abc import Iterable, Sequence

import numpy as np


def pick(successes: Sequence[bool], rng: np.random.Generator) -> int:
    """Index drawn uniformly among the successes, or among all candidates when none succeeded.

    Raises:
        ValueError: There is no candidate.
    """
    chosen = [index for index, success in enumerate(successes) if success] or range(len(successes))
    if not chosen:
        raise ValueError("no candidates to pick from: a sample needs at least one")
    return int(chosen[int(rng.integers(len(chosen)))])


def released_picks(flags_in_file_order: Iterable[Sequence[bool]], seed: int = 1234) -> list[int]:
    """The picks of the released code: one draw of Python's generator for each caption, in order."""
    draw = random.Random(seed)
    picks = []
    for flags in flags_in_file_order:
        if not flags:
            raise ValueError("no candidates to pick from: a sample needs at least one")
        successes = [index for index, success in enumerate(flags) if success]
        picks.append(draw.choice(successes) if successes else draw.randint(0, len(flags) - 1))
    return picks
