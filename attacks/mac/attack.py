"""The attack: write N captions, let the target score them, submit one."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from attacks.mac.parsing import parse_released, parse_reply
from attacks.mac.prompts import GENERAL, OPERATIONS, load_prompts
from benchmark.errors import UserError
from benchmark.protocols import RunContext, Search, Tagger
from benchmark.toybox import grammar, operations
from benchmark.types import (
    JSON,
    Candidate,
    Complete,
    Feedback,
    Sample,
    Sampling,
    Score,
    Trial,
)

_PARSERS: dict[str, Callable[[str], str]] = {"lenient": parse_reply, "released": parse_released}

_WRITER = "writer"
"""The tool's name, under which the settings say which model it is."""

_NEEDS: dict[str, tuple[str, int]] = {
    "object-replace": ("NOUN", 1),
    "object-swap": ("NOUN", 2),
    "attribute-replace": ("ADJ", 1),
    "attribute-swap": ("ADJ", 2),
    "relation-replace": ("VERB", 1),
    "count-replace": ("NUM", 1),
}
"""Which words a caption must have for an operation; the two additions need none."""


class MAC:
    """Best-of-N attack on a dual encoder by rewritten captions.

    Settings:
        candidates: N, captions written for each sample.
        mode: "general", or "specific" for one of the eight operations, drawn for each sample.
        generation: "parallel", or "sequential" for N turns that are shown all earlier captions.
        writer: The language model, a tool; see `python -m benchmark list tools`.
        prompts: "trident", "mini", or a folder of templates.
        parser: "lenient" or "released".
        temperature, top_p, max_new_tokens: How the writer draws.
        modality: What the captions describe: "image", "video" or "audio".
        max_distance: The word limit told to the writer; "auto" follows from the data set.
        tagger: In specific mode, who tells which operations a caption offers. With "toybox" the
            embedded world's grammar does, else a tagger (`python -m benchmark list taggers`).

    Raises:
        UserError: A setting has a value that cannot be used.
    """

    name = "mac"
    version = "1"

    def __init__(self, run: RunContext) -> None:
        settings = run.settings
        self._n = _at_least(settings, "candidates", 4, 1)
        self._specific = _choice(settings, "mode", ("general", "specific")) == "specific"
        generation = _choice(settings, "generation", ("parallel", "sequential"))
        self._sequential = generation == "sequential"
        self._parse = _PARSERS[_choice(settings, "parser", tuple(_PARSERS))]
        self._sampling = Sampling(
            temperature=float(settings.get("temperature", 0.7)),
            top_p=float(settings.get("top_p", 0.9)),
            max_new_tokens=_at_least(settings, "max_new_tokens", 40, 1),
        )
        self._modality = str(settings.get("modality", "image"))
        self._prompts = load_prompts(str(settings.get("prompts", "trident")))
        if self._sequential and self._n > 1:
            self._prompts.fill(GENERAL, "", modality="", max_distance=0, previous=("",))
        self._max_distance = _max_distance(run)
        self._in_toybox = run.dataset.info.id == "toybox"
        self._tagger: Tagger | None = None
        tagger = str(settings.get("tagger", "toybox"))
        if self._specific and tagger != "toybox":
            self._tagger = run.model("taggers", tagger)

    def search(self, sample: Sample, rng: np.random.Generator) -> Search:
        """Write and score N captions.

        The first n of N candidates are those of a run with n. The operation is drawn first, then the
        writer's seeds, the pick last.
        """
        operation = self._operation(sample.text, rng) if self._specific else None
        seeds = tuple(rng.integers(0, 2**63, size=self._n).tolist())
        feedback: list[Feedback] = []
        if self._sequential:
            captions: tuple[str, ...] = ()
            for j, seed in enumerate(seeds):
                prompt = self._prompt(sample, operation, captions)
                replies = yield Complete(_WRITER, (prompt,), (seed,), self._sampling)
                captions += (self._parse(cast("list[str]", replies)[0]),)
                scored = yield Score((self._candidate(sample, operation, captions[-1], j),))
                if not scored:
                    break
                feedback += cast("list[Feedback]", scored)
        else:
            prompts = (self._prompt(sample, operation),) * self._n
            replies = yield Complete(_WRITER, prompts, seeds, self._sampling)
            captions = tuple(map(self._parse, cast("list[str]", replies)))
            scored = yield Score(
                tuple(
                    self._candidate(sample, operation, text, j) for j, text in enumerate(captions)
                )
            )
            feedback += cast("list[Feedback]", scored)
        return _pick(feedback, rng)

    def fitness(self, trial: Trial) -> float | None:
        """How much better than the true caption the candidate matches (the cross-modal gap)."""
        if trial.score is None or trial.clean_score is None:
            return None
        return trial.score - trial.clean_score

    def describe(self) -> dict[str, JSON]:
        """What the run's record says beyond the settings: prompts by hash, the word limit."""
        return {"prompts": self._prompts.describe(), "max_distance": self._max_distance}

    def _operation(self, caption: str, rng: np.random.Generator) -> str:
        if self._tagger is None:
            offered = grammar_offers(caption)
        else:
            (tagged,) = self._tagger.tag([caption])
            offered = tagger_offers(Counter(tag for _, tag in tagged))
        return offered[int(rng.integers(len(offered)))]

    def _prompt(self, sample: Sample, operation: str | None, previous: tuple[str, ...] = ()) -> str:
        return self._prompts.fill(
            operation or GENERAL,
            sample.text,
            modality=self._modality,
            max_distance=self._max_distance,
            previous=previous,
        )

    def _candidate(self, sample: Sample, operation: str | None, text: str, index: int) -> Candidate:
        """A caption with what changed, which outside the embedded world can seldom be told."""
        perturbation: dict[str, JSON] = {"candidate": index}
        if operation is not None:
            perturbation["operation"] = operation
        before, after = grammar.parse(sample.text), grammar.parse(text)
        if before is not None and (after is not None or self._in_toybox):
            perturbation["operation_found"] = operations.operation_of(before, after)
        return Candidate(text=text, perturbation=perturbation)


def tagger_offers(counts: Mapping[str, int]) -> list[str]:
    """The operations that a caption offers, from how often it has each part of speech."""
    return [
        operation
        for operation in OPERATIONS
        if operation not in _NEEDS or counts.get(_NEEDS[operation][0], 0) >= _NEEDS[operation][1]
    ]


def grammar_offers(caption: str) -> list[str]:
    """The operations that the embedded world's grammar can do on a caption.

    A caption that it cannot read, or that offers nothing, is left with the two additions.
    """
    facts = grammar.parse(caption)
    if facts is None:
        return tagger_offers({})
    any_seed = np.random.default_rng(0)  # whether an operation applies does not depend on draws
    offered = [o for o in OPERATIONS if operations.edit(facts, any_seed, o) is not None]
    return offered or tagger_offers({})


def released_types(pos_stats: Iterable[Mapping[str, int]], seed: int = 1234) -> list[str]:
    """The operations that the released code draws for captions in file order, from one seed."""
    draw = random.Random(seed)
    return [draw.choice(tagger_offers(counts)) for counts in pos_stats]


def _pick(feedback: Sequence[Feedback], rng: np.random.Generator) -> int | None:
    """Best of N as released: uniform among the successes, or else among all that were scored."""
    pool = [f.index for f in feedback if f.success] or [f.index for f in feedback]
    return pool[int(rng.integers(len(pool)))] if pool else None


def _max_distance(run: RunContext) -> int:
    """The largest whole number of words strictly below half the mean caption length (MAC eq. 3)."""
    if run.settings.get("max_distance", "auto") == "auto":
        return math.ceil(run.dataset.mean_words / 2) - 1
    return _at_least(run.settings, "max_distance", 1, 1)


def _choice(settings: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    value = settings.get(key, allowed[0])
    if value not in allowed:
        raise UserError(f"{key} {value!r} is unknown: use {' or '.join(allowed)}")
    return str(value)


def _at_least(settings: Mapping[str, Any], key: str, default: int, least: int) -> int:
    value = settings.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UserError(f"{key} {value!r} cannot be used: give a whole number of {least} or more")
    return value
