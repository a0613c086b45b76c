"""One sample under attack: its generator, what it has tried, and what it may be told."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np

from benchmark.album import Album, Decoded, kept
from benchmark.cache import pixels_digest
from benchmark.ledger import Judgement, Ledger, plain
from benchmark.offers import options_of, question_of
from benchmark.protocols import Attack, Search
from benchmark.sights import Sight, View
from benchmark.types import (
    JSON,
    SCORE_DIGITS,
    Ask,
    Candidate,
    Complete,
    Feedback,
    Note,
    Paint,
    Pixels,
    Record,
    Reply,
    Request,
    Sample,
    Score,
    Submission,
    ThreatModel,
    TraceEntry,
    Trial,
)

PATIENCE = 100
"""Score requests in a row that may come to nothing before the sample is given up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a sample. `image` is the picked candidate's picture, None if unchanged.

    `pictures` are those that the attack wants to be kept, by name.
    """

    record: Record
    trace: tuple[TraceEntry, ...] = ()
    exception: Exception | None = None
    image: Pixels | None = None
    pictures: Mapping[str, Pixels] = field(default_factory=dict)


class Flight:
    """The state of one sample between its admission and its record. The scheduler drives it."""

    def __init__(self, sample: Sample, threat_model: ThreatModel, seed: int) -> None:
        self.sample = sample
        self.seconds = 0.0
        self.pixels: Pixels | None = None
        self.options: tuple[str, ...] = ()
        self.question: str | None = None
        self.clean: Sight | None = None
        self.clean_candidate: Candidate | None = None
        self.request: Request | None = None
        self.exception: Exception | None = None
        self._threat_model = threat_model
        self._rng_of_seed = seed
        self._running: Search | None = None
        self._report: Callable[[Sample, Mapping[str, JSON], np.random.Generator], Search] | None
        self._report = None
        self._name = ""
        self._under_way = True
        self._reporting = False
        self._free_only = False
        self._pixels_sha256 = ""
        self._chosen: int | None = None
        self._found: dict[str, JSON] = {}
        self._pictures: dict[str, Pixels] = {}
        self._ledger = Ledger()
        self._album = Album()
        self._fruitless = 0
        self.rounds = 0
        self._notes: list[str] = []

    def take_notes(self) -> list[str]:
        """What the attack has told whoever watches since it was asked last."""
        notes, self._notes = self._notes, []
        return notes

    @property
    def queries(self) -> int:
        """How many queries the sample has spent."""
        return self._ledger.queries

    @property
    def needs_clean(self) -> bool:
        """Whether the target is still to be shown the unperturbed sample."""
        return self.pixels is not None and self.clean is None

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to do but to write the record."""
        return self.exception is not None or not (self._under_way or self.needs_clean)

    def board(self, pixels: Pixels | None, attack: Attack) -> None:
        """Start the attack on the decoded picture, None if the sample has none."""
        if pixels is not None:
            pixels = np.array(pixels, order="C")
            pixels.setflags(write=False)
            self._pixels_sha256 = pixels_digest(pixels)
            self.pixels = pixels
            name = self.sample.image.name if self.sample.image is not None else ""
            self.sample = replace(self.sample, image=Decoded(name, pixels))
        # The scene is the truth that verdicts are checked against: only attacks that say so see it.
        sees_scene = getattr(attack, "sees_scene", False)
        shown = self.sample if sees_scene else replace(self.sample, scene=None)
        self._name = attack.name
        self.options, self.question = options_of(attack, shown), question_of(attack, shown)
        self._report = getattr(attack, "report", None)
        if pixels is not None and (self.options or self.question is not None):
            self.clean_candidate = Candidate(image=pixels)
        rng = generator_of(self._rng_of_seed, self.sample.id)
        self._start(attack.search(shown, rng), "search")

    def advance(self, reply: Reply | None) -> None:
        """Run the attack up to its next request, or to its end, which may be that of its report."""
        assert self._running is not None
        self.request = None
        try:
            # The first send of a generator must be None, which its type has no word for.
            request = self._running.send(reply)  # type: ignore[arg-type]
            while isinstance(request, Note):
                self._notes.append(request.text)
                request = self._running.send([])
        except StopIteration as end:
            self._settle(end.value)
            return
        except ValueError as error:
            if "read-only" in str(error):
                raise ValueError(
                    "the attack writes into the sample's picture, which is read-only: copy it first"
                ) from error
            raise
        if not isinstance(request, Complete | Score | Ask | Paint):
            raise TypeError(
                f"the attack yielded {request!r:.80}, expected a Complete or a Score request, "
                "an Ask, a Paint or a Note"
            )
        if isinstance(request, Score):
            self._check_purpose(request)
        self.request = request

    def fail(self, error: Exception) -> None:
        """Give the sample up."""
        self.exception = error
        self.request = None
        self.close()

    def close(self) -> None:
        """Let go of the generator and of the pictures that were tried."""
        self._album.close()
        if isinstance(self._running, Generator):
            # What an attack does on being closed can no longer change its sample's record.
            with suppress(Exception):
                self._running.close()

    def within_budget(self) -> list[Candidate]:
        """The candidates of the pending Score request that may still be scored."""
        if not isinstance(self.request, Score):
            return []
        candidates = list(self.request.candidates)
        budget, spent = self._threat_model.query_budget, self._ledger.queries
        if budget is not None and self.request.purpose == "search":
            candidates = candidates[: budget - spent]
        self.rounds += bool(candidates) and self.request.purpose == "search"
        self._fruitless = 0 if candidates else self._fruitless + 1
        if self._fruitless > PATIENCE:
            raise ValueError(
                f"the attack keeps asking for scores that it cannot have (query budget {budget}, "
                f"{spent} spent): end the search when fewer feedbacks come back"
            )
        for candidate in candidates:
            if not isinstance(candidate, Candidate):
                raise TypeError(f"the attack scored {candidate!r:.80}, expected a Candidate")
            if not isinstance(candidate.text, str | None):
                raise TypeError(f"a candidate's text must be a str, not {candidate.text!r:.80}")
            if self.options and candidate.text is not None:
                raise ValueError(
                    f"attack {self._name} offers options, yet a candidate has the text "
                    f"{candidate.text!r:.80}, which nothing is compared with: change the picture "
                    "only, or offer no options"
                )
        return candidates

    def view(self, candidate: Candidate | None) -> View:
        """What the target is shown of a candidate, or for None of the unperturbed sample."""
        text = candidate.text if candidate is not None else None
        pixels = candidate.image if candidate is not None else None
        if pixels is None:
            pixels = self.pixels
        if pixels is None:
            raise ValueError(
                f"neither the candidate nor sample {self.sample.id} has a picture: "
                "there is nothing for the target to look at"
            )
        own = candidate.question if candidate is not None else None
        question = self.question if own is None else own
        return View(pixels, self.options or (self.sample.text if text is None else text,), question)

    def trials(self, candidates: Sequence[Candidate], sights: Sequence[Sight]) -> list[Trial]:
        """What is to be judged, now that the target has seen it.

        `sights` begin with that of the unperturbed sample if it was still missing. Where the attack
        offers options or asks a question that one is judged as well, as the first trial.
        """
        candidates = list(candidates)
        if self.needs_clean:
            self.clean = sights[0]
            if self.clean_candidate is None:
                sights = sights[1:]
            else:
                candidates.insert(0, self.clean_candidate)
        clean = self.clean or Sight(())
        return [
            Trial(
                self.sample,
                candidate,
                clean_score=clean.score,
                score=sight.score,
                clean_option_scores=clean.scores if self.options else (),
                option_scores=sight.scores if self.options else (),
                clean_output=clean.output,
                output=sight.output,
                refusal=sight.refusal,
            )
            for candidate, sight in zip(candidates, sights, strict=True)
        ]

    def remember_clean(self, trial: Trial, judgement: Judgement) -> None:
        """Keep how the unperturbed sample was judged."""
        self._ledger.add_clean(trial, judgement)

    def remember(self, trial: Trial, judgement: Judgement) -> Feedback:
        """Keep a judged candidate; returns what the attack may know of it."""
        assert isinstance(self.request, Score)
        index = self._ledger.add(trial, judgement, self.request.purpose)
        if trial.candidate.image is not None and self.request.purpose == "search":
            self._album.put(index, trial.candidate.image)
        access = self._threat_model.access
        if access == "decision":
            return Feedback(index, judgement.success)
        return Feedback(
            index,
            judgement.success,
            trial.score,
            judgement.fitness,
            dict(judgement.verdicts),
            output=trial.output if access == "output" else None,
            option_scores=trial.option_scores,
            refusal=trial.refusal,
        )

    def land(self, record_trace: bool) -> Outcome:
        """The record, and with `record_trace` every candidate."""
        trace = self._ledger.trace(self.sample.id) if record_trace else ()
        clean = self.clean or Sight(())
        record = Record(
            id=self.sample.id,
            group=self.sample.group,
            status="failure",
            text=self.sample.text,
            image=self.sample.image.name if self.sample.image is not None else "",
            image_sha256=self._pixels_sha256,
            clean_score=clean.score,
            clean_output=clean.output,
            queries=self._ledger.queries,
            seconds=round(self.seconds, 3),
        )
        if self.exception is not None:
            message = " ".join(str(self.exception).split())
            error = f"{type(self.exception).__name__}: {message}"
            record = replace(record, status="error", error=error)
            return Outcome(record, trace, self.exception)
        record = replace(
            record,
            queries_to_success=self._ledger.queries_to_success,
            found=self._found,
            conditions=self._ledger.conditions(),
        )
        image = None
        picked = self._ledger.pick(self._chosen)
        if picked is not None:
            tried, image = self._ledger[picked], self._album.get(picked)
            fitness = tried.judgement.fitness
            record = replace(
                record,
                status="success" if tried.judgement.success else "failure",
                adversarial_text=tried.text,
                perturbation=tried.perturbation,
                verdicts=tried.judgement.verdicts,
                score=tried.score,
                output=tried.output,
                fitness=None if fitness is None else round(fitness, SCORE_DIGITS),
                picked=picked,
            )
        self.close()
        return Outcome(record, trace, None, image, self._pictures)

    def _start(self, generator: Search, method: str) -> None:
        self._running = generator
        if not isinstance(generator, Generator):
            raise TypeError(
                f"attack {self._name}: {method} returned {type(generator).__name__}, expected a "
                "generator: write `yield` for each request"
            )
        self.advance(None)

    def _check_purpose(self, request: Score) -> None:
        """What comes free must not steer what is counted: after it, nothing is counted any more."""
        if request.purpose == "report":
            self._free_only = True
        elif self._reporting:
            raise ValueError(
                f"attack {self._name}: report spends queries: write "
                "Score(candidates, purpose='report')"
            )
        elif self._free_only:
            raise ValueError(
                f"attack {self._name} goes on searching after it asked for a report, which costs "
                "no query: put the report after the search"
            )

    def _settle(self, end: Submission | int | None) -> None:
        """Take what the search, or the report, ended with; the report begins after the search."""
        submission = end if isinstance(end, Submission) else Submission(end)
        if self._reporting and submission.index is not None:
            raise ValueError(
                f"attack {self._name}: report submitted candidate {submission.index!r:.80}: "
                "only search picks one"
            )
        self._found |= plain(submission.found, "found")
        self._pictures |= {name: kept(name, one) for name, one in submission.pictures.items()}
        if not self._reporting:
            self._chosen = self._ledger.valid_choice(submission.index)
        if self._reporting or self._report is None:
            self._under_way = False
            return
        self._reporting = True
        self._fruitless = 0
        rng = generator_of(self._rng_of_seed, f"{self.sample.id}/report")
        self._start(self._report(self.sample, plain(self._found, "found"), rng), "report")


def generator_of(seed: int, sample_id: str) -> np.random.Generator:
    """A sample's source of randomness: a function of seed and id, of nothing else."""
    return np.random.default_rng(
        [seed, int.from_bytes(sha256(sample_id.encode()).digest()[:8], "big")]
    )
