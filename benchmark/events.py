"""What a run tells whoever watches it: that it started, each sample, how it ended."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from benchmark.config import RunConfig
from benchmark.tables import Row
from benchmark.types import Measure, Record, Status


@dataclass(frozen=True, slots=True)
class Totals:
    """Where a run stands. `resumed` of the `done` samples were there before this sitting."""

    done: int = 0
    total: int | None = None
    resumed: int = 0
    successes: int = 0
    failures: int = 0
    skipped: int = 0
    errors: int = 0
    queries: int = 0

    def plus(self, record: Record) -> "Totals":
        """These totals and one sample more."""
        return replace(
            self,
            done=self.done + 1,
            successes=self.successes + (record.status == "success"),
            failures=self.failures + (record.status == "failure"),
            skipped=self.skipped + (record.status == "skipped"),
            errors=self.errors + (record.status == "error"),
            queries=self.queries + record.queries,
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run ended. `measures` and `table` are empty if it was interrupted."""

    path: Path
    status: str
    totals: Totals
    counts: Mapping[Status, int]
    measures: Sequence[Measure]
    table: Sequence[Row]
    seconds: float
    too_many_errors: bool


@dataclass(frozen=True, slots=True)
class Started:
    """The models are loaded and the first batch is about to be made."""

    config: RunConfig
    path: Path
    totals: Totals


@dataclass(frozen=True, slots=True)
class Underway:
    """Samples in flight, after each round of model calls: none of these has a record yet.

    `queries` is what they have spent together, `rounds` how many times they have had candidates
    scored, on average: the generation that an evolutionary attack is in.
    """

    samples: int
    queries: int
    rounds: int


@dataclass(frozen=True, slots=True)
class Noted:
    """What the attack on the sample `id` has to say of how it stands."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class SampleDone:
    """A sample has its record, which is on disk."""

    record: Record
    totals: Totals


@dataclass(frozen=True, slots=True)
class Warned:
    """Something went wrong that does not change any result."""

    message: str


@dataclass(frozen=True, slots=True)
class Stopping:
    """Ctrl-C: samples in flight are being finished. Comes from a signal handler, so be brief."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The run is over, or was interrupted."""

    summary: Summary


Event: TypeAlias = Started | Underway | Noted | SampleDone | Warned | Stopping | Finished
OnEvent: TypeAlias = Callable[[Event], None]
