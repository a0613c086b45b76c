"""Runs an experiment from a config to its table, and goes on with one that was cut short.

Killed at any moment and resumed, a run gives the same samples, candidates, verdicts and picks.
"""

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import get_args

from benchmark import provenance, tables
from benchmark.album import PICKED
from benchmark.assembly import Parts, assemble
from benchmark.cache import Cache, is_identified
from benchmark.config import Execution, RunConfig
from benchmark.errors import UserError
from benchmark.events import (
    Finished,
    OnEvent,
    SampleDone,
    Started,
    Stopping,
    Summary,
    Totals,
    Warned,
)
from benchmark.flight import Outcome
from benchmark.protocols import Dataset, Metric
from benchmark.records import HEADER, RunFolder, read_records
from benchmark.scheduler import Scheduler
from benchmark.serving import Target
from benchmark.tool import Tool
from benchmark.types import JSON, Measure, Record, Sample, Status, ThreatModel

CACHE_FILE = "calls.sqlite"
JOURNAL = "journal.sqlite"
"""In the run's folder: what models said that do not say which weights they have. A resumed run goes
on from it, no other run may read it, and it is deleted when the run is finished."""


def run(
    config: RunConfig,
    execution: Execution,
    out: Path,
    build: Callable[[RunConfig, Execution], Parts] = assemble,
    *,
    resume: bool = False,
    on_event: OnEvent = lambda event: None,
) -> Summary:
    """Run `config` into the folder `out`, or go on with what is there if `resume`.

    The first Ctrl-C finishes the samples in flight, the second one ends at once; both leave a
    folder that can be resumed. Samples that ended in an error are tried again then.

    Raises:
        UserError: `out` holds another experiment, or a run and `resume` is not set.
        DiskFullError: Nothing more can be written; what is finished is kept.
    """
    began = perf_counter()
    with ExitStack() as stack:
        going_on = resume and (out / HEADER).exists()
        # Refusals come first: loading models takes long.
        if going_on:
            folder = stack.enter_context(RunFolder.open(out))
            folder.refuse_if_different(config)
        else:
            RunFolder.refuse_if_taken(out)
        parts = build(config, execution)
        sitting = stack.enter_context(closing(_Sitting(config, execution, parts, out, on_event)))
        describe = getattr(parts.attack, "describe", dict)
        identity: dict[str, JSON] = {
            "attack_version": parts.attack.version,
            "attack_details": describe(),
            "models": {role: asdict(info) for role, info in parts.infos.items()},
            "surrogate": None if parts.surrogate is None else dict(parts.surrogate),
        }
        if going_on:
            folder.refuse_if_different(config, **identity)
        else:
            header = provenance.header(config) | identity
            folder = stack.enter_context(RunFolder.create(out, header))
        status = sitting.attack(folder)
        records = sorted(read_records(out), key=lambda record: record.id)
        measures = _measures(parts.metrics, records) if status == "finished" else []
        surrogate = "" if parts.surrogate is None else str(parts.surrogate["target"])
        table = tables.rows(measures, config, surrogate)
        if status == "finished":
            folder.write_text("table.csv", tables.to_csv(table))
            folder.write_text("table.md", tables.to_markdown(table))
            sitting.forget()
        folder.update(status=status, end=provenance.now())
    counts = Counter(record.status for record in records)
    summary = Summary(
        path=out,
        status=status,
        totals=sitting.totals,
        counts={one: counts[one] for one in get_args(Status)},
        measures=measures,
        table=table,
        seconds=perf_counter() - began,
        too_many_errors=counts["error"] > execution.max_error_rate * len(records),
    )
    on_event(Finished(summary))
    return summary


class _Sitting:
    """One process's part of a run: from its start, or a resume, to its end or interruption."""

    def __init__(
        self,
        config: RunConfig,
        execution: Execution,
        parts: Parts,
        out: Path,
        on_event: OnEvent,
    ) -> None:
        self._config = config
        self._execution = execution
        self._parts = parts
        self._on_event = on_event
        self._start = provenance.now()
        self._exhausted = False
        self._cache = None
        if execution.cache is not None:
            path = Path(execution.cache) / CACHE_FILE
            self._cache = Cache(path, lambda message: on_event(Warned(message)))
        infos = [getattr(model, "info", None) for model in (parts.target, *parts.tools.values())]
        self._journal = None
        if not all(info is None or is_identified(info) for info in infos):
            self._journal = Cache(out / JOURNAL, lambda message: on_event(Warned(message)))
        size, journal = execution.batch_size, self._journal
        self._target = Target(parts.target, self._cache, size, journal=journal)
        self._tools = {
            name: Tool(model, self._cache, size, journal=journal)
            for name, model in parts.tools.items()
        }
        self._scheduler = Scheduler(
            parts.attack,
            self._target,
            self._tools,
            parts.criteria,
            ThreatModel(config.access, config.query_budget),
            config.seed,
            size,
            execution.trace,
            load_many=getattr(parts.dataset, "load_many", None),
            on_round=on_event,
            on_note=on_event,
        )
        self.totals = Totals(total=_total(parts.dataset, config.samples))

    def attack(self, folder: RunFolder) -> str:
        """Attack all samples that have no record; returns "finished" or "interrupted"."""
        folder.repair()
        finished = set()
        for record in read_records(folder.path):
            finished.add(record.id)
            self.totals = self.totals.plus(record)
        self.totals = replace(self.totals, resumed=self.totals.done)
        earlier: list[JSON] = list(folder.header.get("sessions", []))
        folder.update(status="running", end=None, sessions=[*earlier, self._session()])
        self._on_event(Started(self._config, folder.path, self.totals))
        try:
            with _stopping_on_signals(self._stop):
                for outcome in self._scheduler.run(self._samples(finished)):
                    self._keep(outcome, folder)
        finally:
            totals: dict[str, JSON] = {**asdict(self.totals)}
            # On a full disk this fails as well, and must not hide the error that says so.
            with suppress(OSError):
                folder.update(
                    status="interrupted",
                    end=provenance.now(),
                    totals=totals,
                    sessions=[*earlier, self._session(end=provenance.now())],
                )
        return "finished" if self._exhausted else "interrupted"

    def forget(self) -> None:
        """Delete the journal: there is nothing left to go on with."""
        if self._journal is not None:
            self._journal.delete()

    def close(self) -> None:
        """Let go of the caches."""
        for cache in (self._cache, self._journal):
            if cache is not None:
                cache.close()

    def _keep(self, outcome: Outcome, folder: RunFolder) -> None:
        record = outcome.record
        pictures = {} if outcome.image is None else {PICKED: outcome.image}
        if pictures := {**pictures, **outcome.pictures}:
            # Before the record, so that a record's artefacts are there whenever a process dies.
            saved = {name: folder.save_image(pixels) for name, pixels in pictures.items()}
            record = replace(record, artifacts=saved)
        folder.append([(record, outcome.trace)])
        self.totals = self.totals.plus(record)
        self._on_event(SampleDone(record, self.totals))

    def _stop(self) -> None:
        self._scheduler.stop()
        self._on_event(Stopping())

    def _samples(self, finished: set[str]) -> Iterator[Sample]:
        seen = set()
        for sample in islice(self._parts.dataset, self._config.samples):
            if sample.id in seen:
                raise UserError(
                    f"data set {self._config.dataset}: two samples have the id {sample.id!r}: "
                    "give each its own"
                )
            seen.add(sample.id)
            if sample.id not in finished:
                yield sample
        self._exhausted = True

    def _session(self, end: str | None = None) -> JSON:
        calls = {"target": self._target.counts}
        calls |= {f"tool {name}": tool.counts for name, tool in self._tools.items()}
        return {
            "start": self._start,
            "end": end,
            "device": self._execution.device,
            "batch_size": self._execution.batch_size,
            "calls": {name: {**asdict(counts)} for name, counts in calls.items()},
        }


@contextmanager
def _stopping_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Within the block the first SIGINT or SIGTERM calls `stop`, the second one interrupts."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stopping = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal stopping
        if stopping:
            raise KeyboardInterrupt
        stopping = True
        stop()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _measures(metrics: Iterable[Metric], records: Sequence[Record]) -> list[Measure]:
    return [measure for metric in metrics for measure in metric.measures(records)]


def _total(dataset: Dataset, limit: int | None) -> int | None:
    """How many samples there will be, None if the data set does not know its length."""
    if not isinstance(dataset, Sized):
        return limit
    return len(dataset) if limit is None else min(limit, len(dataset))
