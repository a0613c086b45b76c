"""Drives attacks: keeps samples in flight, groups their requests into model calls, counts queries.

Only the scheduler touches the target. It cuts what exceeds the query budget, hides what the threat
model forbids, judges every candidate by the criteria and picks the one that is recorded.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from math import isfinite
from time import perf_counter
from typing import Concatenate, ParamSpec, TypeVar

from benchmark.errors import UserError
from benchmark.flight import Flight, Outcome
from benchmark.protocols import Attack, Criterion
from benchmark.serving import Target, Tool
from benchmark.types import (
    Candidate,
    Complete,
    Pixels,
    Sample,
    Sampling,
    Score,
    ThreatModel,
    Trial,
)

T = TypeVar("T")
P = ParamSpec("P")

LoadMany = Callable[[Sequence[Sample]], Sequence[Pixels | None]]
"""Decodes or renders the pictures of several samples at once, None where a sample has none."""


class Scheduler:
    """Runs one attack against one target. Order, batch size and company change no sample's result."""

    def __init__(
        self,
        attack: Attack,
        target: Target,
        tools: Mapping[str, Tool],
        criteria: Sequence[Criterion],
        threat_model: ThreatModel,
        seed: int,
        batch_size: int = 64,
        record_trace: bool = True,
        *,
        load_many: LoadMany | None = None,
    ) -> None:
        """`batch_size` is also the number of samples in flight.

        Raises:
            UserError: No criterion says when the target is fooled, or two have one name.
        """
        if not any(criterion.role == "criterion" for criterion in criteria):
            raise UserError(
                "no criterion says when the target counts as fooled: "
                "name at least one of role 'criterion' in --set criteria=..."
            )
        names = [criterion.name for criterion in criteria]
        if len(set(names)) != len(names):
            raise UserError(f"criteria {names} repeat a name: name each once")
        if batch_size < 1:
            raise UserError(f"batch size {batch_size} is too small: give 1 or more")
        self._attack = attack
        self._target = target
        self._tools = tools
        self._criteria = criteria
        self._decisive = [one.name for one in criteria if one.role != "observation"]
        self._threat_model = threat_model
        self._seed = seed
        self._window = batch_size
        self._record_trace = record_trace
        self._load_many = load_many
        self._stopping = False

    def stop(self) -> None:
        """Admit no more samples; those in flight are finished. Safe in a signal handler."""
        self._stopping = True

    def run(self, samples: Iterable[Sample]) -> Iterator[Outcome]:
        """Attack all samples; outcomes come as samples finish."""
        waiting = iter(samples)
        flights: list[Flight] = []
        try:
            while True:
                if not self._stopping:
                    flights += self._admit(list(islice(waiting, self._window - len(flights))))
                if not flights:
                    return
                self._serve_completions(flights)
                self._serve_scores(flights)
                for flight in flights:
                    if flight.is_over:
                        yield flight.land(self._record_trace)
                flights = [flight for flight in flights if not flight.is_over]
        finally:
            for flight in flights:
                flight.close()

    def _admit(self, samples: Sequence[Sample]) -> list[Flight]:
        flights = [Flight(sample, self._threat_model, self._seed) for sample in samples]
        if self._load_many is None:
            for flight in flights:
                self._alone(flight, _load_and_board, self._attack)
            return flights
        load_many = self._load_many
        loaded = self._isolated(flights, lambda group: load_many([one.sample for one in group]))
        for flight, pixels in loaded:
            self._alone(flight, Flight.board, pixels, self._attack)
        return flights

    def _serve_completions(self, flights: Sequence[Flight]) -> None:
        """Answer Complete requests until every attack asks for scores or has ended."""
        while True:
            groups: dict[tuple[str, Sampling], list[Flight]] = {}
            for flight in flights:
                if isinstance(flight.request, Complete):
                    groups.setdefault((flight.request.tool, flight.request.sampling), []).append(
                        flight
                    )
            if not groups:
                return
            for group in groups.values():
                for flight, replies in self._isolated(group, self._complete):
                    self._alone(flight, Flight.advance, replies)

    def _complete(self, flights: Sequence[Flight]) -> list[list[str]]:
        requests = [flight.request for flight in flights if isinstance(flight.request, Complete)]
        name, sampling = requests[0].tool, requests[0].sampling
        if name not in self._tools:
            raise ValueError(
                f"attack {self._attack.name} asks the tool {name!r}, this run has "
                f"{sorted(self._tools) or 'none'}: name it in the settings"
            )
        prompts = [prompt for request in requests for prompt in request.prompts]
        seeds = [seed for request in requests for seed in request.seeds]
        replies = self._tools[name].complete(prompts, seeds, sampling)
        return _split(replies, [len(request.prompts) for request in requests])

    def _serve_scores(self, flights: Sequence[Flight]) -> None:
        """Score the pending candidates and the clean samples that are new, all in one call."""
        asking = [one for one in flights if one.exception is None]
        cut = {flight: self._alone(flight, Flight.within_budget) for flight in asking}
        candidates = {flight: tried for flight, tried in cut.items() if tried is not None}
        scored = self._isolated(
            list(candidates), lambda group: self._score(group, [candidates[one] for one in group])
        )
        trials: dict[Flight, list[Trial]] = {}
        for flight, scores in scored:
            if flight.needs_clean_score:
                flight.clean_score, *scores = scores
            trials[flight] = [
                Trial(flight.sample, candidate, flight.clean_score, score)
                for candidate, score in zip(candidates[flight], scores, strict=True)
            ]
        verdicts: dict[Flight, list[dict[str, bool | None]]] = {
            flight: [{} for _ in tried] for flight, tried in trials.items()
        }
        for criterion in self._criteria:
            judged = self._isolated(
                [flight for flight, tried in trials.items() if tried and not flight.exception],
                partial(self._judge, criterion, trials),
            )
            for flight, values in judged:
                for verdict, value in zip(verdicts[flight], values, strict=True):
                    verdict[criterion.name] = value
        for flight, tried in trials.items():
            if isinstance(flight.request, Score) and not flight.exception:
                self._alone(flight, self._answer, tried, verdicts[flight])

    def _score(
        self, flights: Sequence[Flight], candidates: Sequence[Sequence[Candidate]]
    ) -> list[list[float]]:
        """Scores of each sample's candidates, after that of the clean sample where it is missing."""
        asked = [
            [flight.pair(one) for one in ([None] if flight.needs_clean_score else []) + [*tried]]
            for flight, tried in zip(flights, candidates, strict=True)
        ]
        scores = self._target.score([pair for pairs in asked for pair in pairs])
        return _split(scores, [len(pairs) for pairs in asked])

    def _judge(
        self,
        criterion: Criterion,
        trials: Mapping[Flight, Sequence[Trial]],
        flights: Sequence[Flight],
    ) -> list[list[bool | None]]:
        asked = [trial for flight in flights for trial in trials[flight]]
        verdicts = criterion.verdicts(asked)
        if len(verdicts) != len(asked):
            raise ValueError(
                f"criterion {criterion.name} gave {len(verdicts)} verdicts for {len(asked)} trials"
            )
        plain = [None if verdict is None else bool(verdict) for verdict in verdicts]
        return _split(plain, [len(trials[flight]) for flight in flights])

    def _answer(
        self,
        flight: Flight,
        trials: Sequence[Trial],
        verdicts: Sequence[Mapping[str, bool | None]],
    ) -> None:
        feedback = []
        for trial, verdict in zip(trials, verdicts, strict=True):
            fitness = self._attack.fitness(trial)
            if fitness is not None and not isfinite(fitness):
                raise ValueError(
                    f"attack {self._attack.name}: fitness {fitness} of candidate "
                    f"{trial.candidate.text!r:.80} is not a number: return None if it is unknown"
                )
            fooled = all(verdict[name] is True for name in self._decisive)
            feedback.append(flight.remember(trial, fitness, verdict, fooled))
        flight.advance(feedback)

    def _isolated(
        self, flights: Sequence[Flight], call: Callable[[Sequence[Flight]], Sequence[T]]
    ) -> list[tuple[Flight, T]]:
        """`call` for all `flights` at once; if that fails, for each alone, which fails if guilty."""
        if len(flights) > 1:
            started = perf_counter()
            try:
                results = call(flights)
                if len(results) == len(flights):
                    return list(zip(flights, results, strict=True))
            except Exception:  # whose fault it is shows when each is tried alone
                pass
            finally:
                seconds = (perf_counter() - started) / len(flights)
                for flight in flights:
                    flight.seconds += seconds
        alone = [
            (flight, self._alone(flight, lambda flight: tuple(call([flight]))))
            for flight in flights
        ]
        return [(flight, result[0]) for flight, result in alone if result]

    def _alone(
        self,
        flight: Flight,
        step: Callable[Concatenate[Flight, P], T],
        *args: P.args,
        **named: P.kwargs,
    ) -> T | None:
        """`step` for one flight, which is given up if that fails.

        This catches whatever attacks, models, criteria and data raise, because none of it may end
        a run of thousands of samples: the error becomes the record of the one sample that caused
        it, and the runner reports and counts it.
        """
        started = perf_counter()
        try:
            return step(flight, *args, **named)
        except Exception as error:
            flight.fail(error)
            return None
        finally:
            flight.seconds += perf_counter() - started


def _load_and_board(flight: Flight, attack: Attack) -> None:
    image = flight.sample.image
    flight.board(None if image is None else image.load(), attack)


def _split(values: Sequence[T], lengths: Sequence[int]) -> list[list[T]]:
    """Cut `values` into consecutive parts of these lengths."""
    rest = iter(values)
    return [list(islice(rest, length)) for length in lengths]
