"""The exact judge of the embedded world: whether a caption contradicts another is decided."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from benchmark import __version__
from benchmark.errors import UserError
from benchmark.toybox.facts import Facts
from benchmark.toybox.grammar import parse
from benchmark.toybox.truth import relation_between
from benchmark.types import JSON, ModelInfo

COLUMNS = ("entailment", "neutral", "contradiction")
"""The last axis of what every judge returns."""


class ToyboxJudge:
    """Compares the facts of two captions (an `EntailmentJudge` with one model and no doubts)."""

    def __init__(self, argument: str = "", settings: Mapping[str, JSON] | None = None) -> None:
        del settings
        if argument:
            raise UserError(f"the toybox judge takes no argument, not {argument!r}: write 'toybox'")
        self.info = ModelInfo("toybox", revision=__version__, preprocessing="facts of the grammar")

    def judge(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Probabilities 0 or 1, shape (n, 1, 3); NaN where one text is no caption of the world."""
        result = np.full((len(pairs), 1, 3), np.nan)
        for row, (premise, hypothesis) in enumerate(pairs):
            old, new = _facts(premise), _facts(hypothesis)
            if old is not None and new is not None:
                result[row, 0] = 0.0
                result[row, 0, COLUMNS.index(relation_between(old, new))] = 1.0
        return result


@lru_cache(maxsize=65536)
def _facts(text: str) -> Facts | None:
    return parse(text)
