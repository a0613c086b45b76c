"""The baseline writer: valid edits by the embedded world's grammar, without any model."""

import hashlib
import re
from collections.abc import Mapping, Sequence

import numpy as np

from benchmark.errors import UserError
from benchmark.toybox.grammar import generate, parse
from benchmark.toybox.operations import edit, families
from benchmark.types import JSON, ModelInfo, Sampling

_ASKED = re.compile(r"<([\w-]+)> (.*)", re.DOTALL)

_EXAMPLES = (
    "a small red ball left of a large blue dog on the grass at night",
    "two large green cars in a room",
    "a white house, a black tree and a pink boat at sunset",
)


class GrammarWriter:
    """Answers the prompts of the "mini" set with one random edit, drawn from the prompt's seed.

    The operation is uniform among those that apply, or among those of the family that is asked for
    ("<object-swap> a red ball ..."). A caption that it cannot read, or that offers no such edit, comes
    back as it is. Temperature and top_p have no meaning for it.

    Raises:
        UserError: An argument is given; it takes none.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        del settings
        if argument:
            raise UserError(
                f"grammar takes no argument, not {argument!r}: use --set writer=grammar"
            )
        self.info = ModelInfo(id="grammar", weights=_fingerprint())

    def complete(
        self, prompts: Sequence[str], seeds: Sequence[int], sampling: Sampling
    ) -> list[str]:
        """One caption for each prompt."""
        del sampling
        return [_edited(prompt, seed) for prompt, seed in zip(prompts, seeds, strict=True)]


def _fingerprint() -> str:
    """sha256 of what it answers to some prompts: another one whenever the grammar's edits change."""
    prompts = [*_EXAMPLES, *(f"<{family}> {text}" for family in families() for text in _EXAMPLES)]
    replies = [_edited(prompt, seed) for prompt in prompts for seed in range(8)]
    return hashlib.sha256("\n".join(replies).encode()).hexdigest()


def _edited(prompt: str, seed: int) -> str:
    asked = _ASKED.fullmatch(prompt.strip())
    family, caption = (asked[1], asked[2]) if asked else (None, prompt.strip())
    facts = parse(caption)
    if facts is None or family not in (None, *families()):
        return caption
    edited = edit(facts, np.random.default_rng(seed), family)
    return caption if edited is None else generate(edited[1])
