"""Drives attacks: keeps samples in flight, groups their requests into model calls, counts queries.

Only the scheduler touches the target. It cuts what exceeds the query budget, hides what the threat
model forbids, judges every candidate by the criteria and picks the one that is recorded.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from math import isfinite
from time import perf_counter
from typing import Any, Concatenate, ParamSpec, TypeVar

from benchmark.errors import UserError
from benchmark.events import Noted, Underway
from benchmark.flight import Flight, Outcome
from benchmark.ledger import Judgement
from benchmark.protocols import Attack, Criterion
from benchmark.serving import ANSWERING, Target
from benchmark.sights import Sight
from benchmark.tool import Tool
from benchmark.types import (
    Ask,
    Candidate,
    Complete,
    Paint,
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
        on_round: Callable[[Underway], None] = lambda underway: None,
        on_note: Callable[[Noted], None] = lambda noted: None,
    ) -> None:
        """`batch_size` is also the number of samples in flight.

        `on_round` is told how they stand, `on_note` what their attacks have to say.

        Raises:
            UserError: No criterion says when the target is fooled, two have one name, the target
                only answers questions and the attack asks none, or the attack needs answers and the
                target gives none.
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
        if not target.gives_scores and not hasattr(attack, "question"):
            raise UserError(
                f"target {target.info.id} only answers questions and attack {attack.name} asks "
                "none: choose a target that scores pictures and texts"
            )
        if getattr(attack, "needs_answers", False) and not target.answers:
            raise UserError(
                f"attack {attack.name} asks what is to be seen and target {target.info.id} answers "
                "no questions: choose one that does, such as --target lvlm"
            )
        self._attack = attack
        self._target = target
        self._tools = tools
        self._criteria = criteria
        self._fooling = [one.name for one in criteria if one.role == "criterion"]
        self._validating = [one.name for one in criteria if one.role == "constraint"]
        self._answering: Sampling = getattr(attack, "answering", ANSWERING)
        self._tolerant: bool = getattr(attack, "tolerant", False)
        self._threat_model = threat_model
        self._seed = seed
        self._window = batch_size
        self._record_trace = record_trace
        self._load_many = load_many
        self._on_round = on_round
        self._on_note = on_note
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
                self._serve_tools(flights)
                self._serve_scores(flights)
                for flight in flights:
                    for note in flight.take_notes():
                        self._on_note(Noted(flight.sample.id, note))
                for flight in flights:
                    if flight.is_over:
                        yield flight.land(self._record_trace)
                flights = [flight for flight in flights if not flight.is_over]
                if flights:
                    self._on_round(_underway(flights))
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

    def _serve_tools(self, flights: Sequence[Flight]) -> None:
        """Answer requests to tools until every attack asks for scores or has ended."""
        while True:
            groups: dict[tuple[str, Sampling | type[Ask] | type[Paint]], list[Flight]] = {}
            for flight in flights:
                match flight.request:
                    case Complete() as request:
                        groups.setdefault((request.tool, request.sampling), []).append(flight)
                    case Ask() | Paint() as request:
                        groups.setdefault((request.tool, type(request)), []).append(flight)
            if not groups:
                return
            for (tool, kind), group in groups.items():
                for flight, replies in self._isolated(group, partial(self._ask_tool, tool, kind)):
                    self._alone(flight, Flight.advance, replies)

    def _ask_tool(
        self, name: str, kind: Sampling | type[Ask] | type[Paint], flights: Sequence[Flight]
    ) -> list[list[Any]]:
        """Replies to the pending requests of `flights`: to Complete if `kind` is a `Sampling`."""
        if name not in self._tools:
            raise ValueError(
                f"attack {self._attack.name} asks the tool {name!r}, this run has "
                f"{sorted(self._tools) or 'none'}: name it in the settings"
            )
        tool = self._tools[name]
        if kind is Ask:
            asks = [flight.request for flight in flights if isinstance(flight.request, Ask)]
            answers = tool.ask([item for request in asks for item in request.items])
            return _split(answers, [len(request.items) for request in asks])
        if kind is Paint:
            orders = [flight.request for flight in flights if isinstance(flight.request, Paint)]
            texts = [text for order in orders for text in order.texts]
            pictures = tool.paint(texts, [seed for order in orders for seed in order.seeds])
            return _split(pictures, [len(order.texts) for order in orders])
        assert isinstance(kind, Sampling)
        requests = [flight.request for flight in flights if isinstance(flight.request, Complete)]
        prompts = [prompt for request in requests for prompt in request.prompts]
        seeds = [seed for request in requests for seed in request.seeds]
        replies = tool.complete(prompts, seeds, kind, tolerant=self._tolerant)
        return _split(replies, [len(request.prompts) for request in requests])

    def _serve_scores(self, flights: Sequence[Flight]) -> None:
        """Show the target the pending candidates and new clean samples, all in one call."""
        asking = [one for one in flights if one.exception is None]
        cut = {flight: self._alone(flight, Flight.within_budget) for flight in asking}
        candidates = {flight: tried for flight, tried in cut.items() if tried is not None}
        seen = self._isolated(
            list(candidates), lambda group: self._look(group, [candidates[one] for one in group])
        )
        trials = {flight: flight.trials(candidates[flight], sights) for flight, sights in seen}
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
            if (tried or isinstance(flight.request, Score)) and not flight.exception:
                self._alone(flight, self._answer, tried, verdicts[flight])

    def _look(
        self, flights: Sequence[Flight], candidates: Sequence[Sequence[Candidate]]
    ) -> list[list[Sight]]:
        """What the target makes of each sample's candidates, after its clean picture if missing."""
        shown = [
            [flight.view(one) for one in ([None] if flight.needs_clean else []) + [*tried]]
            for flight, tried in zip(flights, candidates, strict=True)
        ]
        for flight, views in zip(flights, shown, strict=True):
            unasked = any(view.question is None for view in views)
            if unasked and not self._target.gives_scores:
                raise ValueError(
                    f"target {self._target.info.id} only answers questions and attack "
                    f"{self._attack.name} asks none about sample {flight.sample.id}"
                )
        sights = self._target.look(
            [view for views in shown for view in views], self._answering, tolerant=self._tolerant
        )
        return _split(sights, [len(views) for views in shown])

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
        """Tell the attack what became of its candidates, which runs it up to its next request."""
        feedback = []
        for trial, verdict in zip(trials, verdicts, strict=True):
            fitness = self._attack.fitness(trial)
            if fitness is not None and not isfinite(fitness):
                raise ValueError(
                    f"attack {self._attack.name}: fitness {fitness} of candidate "
                    f"{trial.candidate.text!r:.80} is not a number: return None if it is unknown"
                )
            fooled = all(verdict[name] is True for name in self._fooling)
            valid = all(verdict[name] is True for name in self._validating)
            judgement = Judgement(fitness, dict(verdict), fooled, fooled and valid)
            if trial.candidate is flight.clean_candidate:
                flight.remember_clean(trial, judgement)
            else:
                feedback.append(flight.remember(trial, judgement))
        if isinstance(flight.request, Score):
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


def _underway(flights: Sequence[Flight]) -> Underway:
    rounds = sum(flight.rounds for flight in flights) / len(flights)
    return Underway(len(flights), sum(flight.queries for flight in flights), round(rounds))


def _load_and_board(flight: Flight, attack: Attack) -> None:
    image = flight.sample.image
    flight.board(None if image is None else image.load(), attack)


def _split(values: Sequence[T], lengths: Sequence[int]) -> list[list[T]]:
    """Cut `values` into consecutive parts of these lengths."""
    rest = iter(values)
    return [list(islice(rest, length)) for length in lengths]
