"""Which candidates are best: by loss, then by naturalness (AdvDreamer sec. 3.3)."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np

from attacks.advdreamer.cmaes import ranked, two_stage
from attacks.advdreamer.losses import isp, mf_ii, mf_it, mf_tt
from benchmark.types import Ask, Feedback, Pixels, Reply, Request

NATURALNESS = "naturalness"
ENCODER = "encoder"
"""Tools, under which the settings say which models they are.

naturalness: pictures -> (visual fidelity, physical plausibility), each 1 to 5, higher is better.
encoder: pairs of pictures or of texts -> the cosine of their embeddings.
"""

T = TypeVar("T")
Asking = Generator[Request, Reply, T]


@dataclass(frozen=True, slots=True)
class Naturalness:
    """What the reward model gives a picture, each 1 to 5."""

    fidelity: float
    plausibility: float

    @property
    def mean(self) -> float:
        """(Score_R + Score_P) / 2 (eq. 4 without its minus: higher is more natural)."""
        return (self.fidelity + self.plausibility) / 2


@dataclass(frozen=True, slots=True)
class Selection:
    """The rule: the `shortlist` best by loss, of these the most natural first.

    `by_naturalness` is False for the attack without the reward model: then loss alone decides.
    """

    loss: str = "isp"
    temperature: float = 1.0
    shortlist: int = 10
    by_naturalness: bool = True

    def losses(
        self,
        feedback: Sequence[Feedback],
        pictures: Sequence[Pixels],
        clean: Pixels,
        options: Sequence[str],
    ) -> Asking[list[float]]:
        """The loss of each picture, higher = more adversarial.

        Where the threat model hides scores, it is 1 for what fooled the target and 0 for the rest.
        """
        if self.loss == "isp":
            return [
                isp(one.option_scores, self.temperature) if one.option_scores else _blind(one)
                for one in feedback
            ]
        if self.loss == "mf_it":
            return [_blind(one) if one.score is None else mf_it(one.score) for one in feedback]
        values = yield from _ask(ENCODER, [(picture, clean) for picture in pictures])
        losses = [mf_ii(float(value)) for value in values]
        if self.loss == "mf_ii+mf_tt":
            captions = [_caption(one, options) for one in feedback]
            values = yield from _ask(ENCODER, [(caption, options[0]) for caption in captions])
            losses = [a + mf_tt(float(b)) for a, b in zip(losses, values, strict=True)]
        return losses

    def order(
        self, losses: Sequence[float], pictures: Callable[[Sequence[int]], Sequence[Pixels]]
    ) -> Asking[tuple[list[int], dict[int, Naturalness]]]:
        """Indices, the best first, and how natural those are that were asked about.

        `pictures` gives those of some indices: only the shortlist's are needed.
        """
        order = ranked(losses)
        if not self.by_naturalness:
            return order, {}
        shortlist = order[: self.shortlist]
        scores = yield from rate(pictures(shortlist))
        asked = dict(zip(shortlist, scores, strict=True))
        return two_stage(order, {index: one.mean for index, one in asked.items()}), asked


def rate(pictures: Sequence[Pixels]) -> Asking[list[Naturalness]]:
    """How natural pictures are, in the reward model's eyes."""
    answers = yield from _ask(NATURALNESS, pictures)
    return [Naturalness(float(fidelity), float(plausible)) for fidelity, plausible in answers]


def _ask(tool: str, items: Sequence[Any]) -> Asking[list[Any]]:
    return cast("list[Any]", (yield Ask(tool, tuple(items))))


def _blind(feedback: Feedback) -> float:
    return float(feedback.success)


def _caption(feedback: Feedback, options: Sequence[str]) -> str:
    """What the target says of a picture: its answer, or the option that it likes best."""
    if feedback.output is not None:
        return feedback.output
    if not feedback.option_scores:
        return options[0]
    return options[int(np.argmax(feedback.option_scores))]
