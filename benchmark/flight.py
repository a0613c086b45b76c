"""One sample under attack: its generator, what it has tried, and what it may be told."""

import json
import math
import operator
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import IO, Any

import numpy as np

from benchmark.cache import pixels_digest
from benchmark.protocols import Attack, Search
from benchmark.types import (
    JSON,
    SCORE_DIGITS,
    SCORE_EPSILON,
    Candidate,
    Complete,
    Feedback,
    Pixels,
    Record,
    Reply,
    Request,
    Sample,
    Score,
    ThreatModel,
    TraceEntry,
    Trial,
)

PATIENCE = 100
"""Score requests in a row that may come to nothing before the sample is given up."""

_IN_MEMORY = 8 * 2**20


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a sample. `image` is the picked candidate's picture, None if unchanged."""

    record: Record
    trace: tuple[TraceEntry, ...] = ()
    exception: Exception | None = None
    image: Pixels | None = None


@dataclass(frozen=True, slots=True)
class _Decoded:
    """A picture that was decoded already. Read-only: an attack cannot change its input."""

    name: str
    pixels: Pixels

    def load(self) -> Pixels:
        return self.pixels


class _Album:
    """Copies of the pictures that were tried, in memory up to a limit and then in a file.

    A copy, because an attack may go on drawing into the array that it had scored.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._places: dict[int, tuple[int, tuple[int, ...]]] = {}

    def put(self, index: int, pixels: Pixels) -> None:
        if self._file is None:
            self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)
        self._places[index] = (self._file.seek(0, 2), pixels.shape)
        self._file.write(np.ascontiguousarray(pixels).tobytes())

    def get(self, index: int) -> Pixels | None:
        if self._file is None or index not in self._places:
            return None
        offset, shape = self._places[index]
        self._file.seek(offset)
        return np.frombuffer(self._file.read(math.prod(shape)), dtype=np.uint8).reshape(shape)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


@dataclass(frozen=True, slots=True)
class _Tried:
    text: str | None
    perturbation: Mapping[str, JSON]
    score: float
    fitness: float | None
    verdicts: Mapping[str, bool | None]
    success: bool


class Flight:
    """The state of one sample between its admission and its record. The scheduler drives it."""

    def __init__(self, sample: Sample, threat_model: ThreatModel, seed: int) -> None:
        self.sample = sample
        self.seconds = 0.0
        self.pixels: Pixels | None = None
        self.clean_score: float | None = None
        self.request: Request | None = None
        self.exception: Exception | None = None
        self._threat_model = threat_model
        self._rng_of_seed = seed
        self._search: Search | None = None
        self._searching = True
        self._pixels_sha256 = ""
        self._chosen: int | None = None
        self._tried: list[_Tried] = []
        self._album = _Album()
        self._fruitless = 0

    @property
    def needs_clean_score(self) -> bool:
        """Whether the unperturbed sample is still to be scored."""
        return self.pixels is not None and self.clean_score is None

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to do but to write the record."""
        return self.exception is not None or not (self._searching or self.needs_clean_score)

    def board(self, pixels: Pixels | None, attack: Attack) -> None:
        """Start the attack on the decoded picture, None if the sample has none."""
        if pixels is not None:
            pixels = np.array(pixels, order="C")
            pixels.setflags(write=False)
            self._pixels_sha256 = pixels_digest(pixels)
            self.pixels = pixels
            name = self.sample.image.name if self.sample.image is not None else ""
            self.sample = replace(self.sample, image=_Decoded(name, pixels))
        # The scene is the truth that verdicts are checked against: only attacks that say so see it.
        sees_scene = getattr(attack, "sees_scene", False)
        shown = self.sample if sees_scene else replace(self.sample, scene=None)
        self._search = attack.search(shown, generator_of(self._rng_of_seed, self.sample.id))
        if not isinstance(self._search, Generator):
            raise TypeError(
                f"attack {attack.name}: search returned {type(self._search).__name__}, expected a "
                "generator: write `yield` for each request"
            )
        self.advance(None)

    def advance(self, reply: Reply | None) -> None:
        """Run the attack up to its next request, or to its end."""
        assert self._search is not None
        self.request = None
        try:
            # The first send of a generator must be None, which its type has no word for.
            request = self._search.send(reply)  # type: ignore[arg-type]
        except StopIteration as end:
            self._searching = False
            self._chosen = self._valid_choice(end.value)
            return
        except ValueError as error:
            if "read-only" in str(error):
                raise ValueError(
                    "the attack writes into the sample's picture, which is read-only: copy it first"
                ) from error
            raise
        if not isinstance(request, Complete | Score):
            raise TypeError(
                f"the attack yielded {request!r:.80}, expected a Complete or a Score request"
            )
        self.request = request

    def fail(self, error: Exception) -> None:
        """Give the sample up."""
        self.exception = error
        self.request = None
        self.close()

    def close(self) -> None:
        """Let go of the generator and of the pictures that were tried."""
        self._album.close()
        if isinstance(self._search, Generator):
            # What an attack does on being closed can no longer change its sample's record.
            with suppress(Exception):
                self._search.close()

    def within_budget(self) -> list[Candidate]:
        """The candidates of the pending Score request that may still be scored."""
        if not isinstance(self.request, Score):
            return []
        candidates = list(self.request.candidates)
        budget = self._threat_model.query_budget
        if budget is not None:
            candidates = candidates[: budget - len(self._tried)]
        self._fruitless = 0 if candidates else self._fruitless + 1
        if self._fruitless > PATIENCE:
            raise ValueError(
                f"the attack keeps asking for scores that it cannot have (query budget {budget}, "
                f"{len(self._tried)} spent): end the search when fewer feedbacks come back"
            )
        for candidate in candidates:
            if not isinstance(candidate, Candidate):
                raise TypeError(f"the attack scored {candidate!r:.80}, expected a Candidate")
            if not isinstance(candidate.text, str | None):
                raise TypeError(f"a candidate's text must be a str, not {candidate.text!r:.80}")
        return candidates

    def pair(self, candidate: Candidate | None) -> tuple[Pixels, str]:
        """Picture and text to be scored: the candidate's where changed, None for the clean sample."""
        text = candidate.text if candidate is not None else None
        pixels = candidate.image if candidate is not None else None
        if pixels is None:
            pixels = self.pixels
        if pixels is None:
            raise ValueError(
                f"neither the candidate nor sample {self.sample.id} has a picture: "
                "there is nothing for the target to look at"
            )
        return pixels, self.sample.text if text is None else text

    def remember(
        self, trial: Trial, fitness: float | None, verdicts: Mapping[str, bool | None], fooled: bool
    ) -> Feedback:
        """Keep a scored candidate; returns what the attack may know of it."""
        candidate, index = trial.candidate, len(self._tried)
        assert trial.score is not None
        if candidate.image is not None:
            self._album.put(index, candidate.image)
        perturbation = _plain(candidate.perturbation)
        self._tried.append(
            _Tried(candidate.text, perturbation, trial.score, fitness, dict(verdicts), fooled)
        )
        if self._threat_model.access == "decision":
            return Feedback(index, fooled)
        return Feedback(index, fooled, trial.score, fitness, dict(verdicts))

    def land(self, record_trace: bool) -> Outcome:
        """The record, and with `record_trace` every candidate."""
        trace = tuple(
            TraceEntry(
                id=self.sample.id,
                index=index,
                text=tried.text,
                perturbation=tried.perturbation,
                verdicts=tried.verdicts,
                score=tried.score,
                success=tried.success,
            )
            for index, tried in enumerate(self._tried if record_trace else ())
        )
        record = Record(
            id=self.sample.id,
            group=self.sample.group,
            status="failure",
            text=self.sample.text,
            image=self.sample.image.name if self.sample.image is not None else "",
            image_sha256=self._pixels_sha256,
            clean_score=self.clean_score,
            queries=len(self._tried),
            queries_to_success=next(
                (index + 1 for index, tried in enumerate(self._tried) if tried.success), None
            ),
            seconds=round(self.seconds, 3),
        )
        image = None
        if self.exception is not None:
            message = " ".join(str(self.exception).split())
            error = f"{type(self.exception).__name__}: {message}"
            record = replace(record, status="error", queries_to_success=None, error=error)
        elif self._tried:
            picked = _pick(self._tried) if self._chosen is None else self._chosen
            tried, image = self._tried[picked], self._album.get(picked)
            record = replace(
                record,
                status="success" if tried.success else "failure",
                adversarial_text=tried.text,
                perturbation=tried.perturbation,
                verdicts=tried.verdicts,
                score=tried.score,
                fitness=None if tried.fitness is None else round(tried.fitness, SCORE_DIGITS),
                picked=picked,
            )
        self.close()
        return Outcome(record, trace, self.exception, image)

    def _valid_choice(self, choice: Any) -> int | None:
        if choice is None:
            return None
        try:
            index = operator.index(choice)
        except TypeError:
            index = -1
        if isinstance(choice, bool) or not 0 <= index < len(self._tried):
            raise ValueError(
                f"the attack submitted candidate {choice!r:.80}, but it had {len(self._tried)} "
                "scored: return an index that counts them from 0, or None"
            )
        return index


def generator_of(seed: int, sample_id: str) -> np.random.Generator:
    """A sample's source of randomness: a function of seed and id, of nothing else."""
    return np.random.default_rng(
        [seed, int.from_bytes(sha256(sample_id.encode()).digest()[:8], "big")]
    )


def _plain(perturbation: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """A copy as JSON gives it back, so that what is recorded cannot change any more."""
    try:
        plain: dict[str, JSON] = json.loads(json.dumps(dict(perturbation), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"perturbation {perturbation!r:.80} cannot be written as JSON ({error}): "
            "use numbers, texts, lists and dicts"
        ) from error
    return plain


def _pick(tried: Sequence[_Tried]) -> int:
    """The fittest success, or else the fittest candidate; the first one of a tie."""
    pool = [index for index, one in enumerate(tried) if one.success] or list(range(len(tried)))
    known = [fitness for index in pool if (fitness := tried[index].fitness) is not None]
    if not known:
        return pool[0]
    # Recorded scores are multiples of the epsilon: half of one more is what "closer" means for them.
    bar = max(known) - 1.5 * SCORE_EPSILON
    return next(
        index for index in pool if (fitness := tried[index].fitness) is not None and fitness >= bar
    )
