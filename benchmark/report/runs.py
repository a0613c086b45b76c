"""A run folder as the report reads it."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmark import tables
from benchmark.config import RunConfig
from benchmark.errors import UserError
from benchmark.records import RECORDS, TRACE, read_header, read_records, read_trace
from benchmark.stats import Interval, mean_interval, wilson
from benchmark.tables import Row
from benchmark.types import Record, TraceEntry

TABLE, ANSWERS = "table.csv", "answers.csv"
_SEED = 0


@dataclass(frozen=True, slots=True)
class Rate:
    """Successes of n, with Wilson's interval; `value` is None of none."""

    value: float | None
    interval: Interval | None
    n: int

    @classmethod
    def of(cls, successes: int, n: int) -> "Rate":
        """Of a count."""
        return cls(successes / n if n else None, wilson(successes, n), n)


class RunView:
    """One run: records by id, table, trace."""

    def __init__(self, path: Path) -> None:
        """Read the folder `path`.

        Raises:
            UserError: It holds no run, none that this version understands, or no record yet.
        """
        self.path = path
        self.header = read_header(path)
        if not isinstance(self.header.get("config"), dict):
            raise UserError(f"{path} holds no config: it is not from a run")
        self.config = RunConfig.from_json(self.header["config"])
        self.records = {record.id: record for record in read_records(path)}
        if not self.records:
            raise UserError(
                f"{path} has no record yet: run it with `python -m benchmark run --resume {path}`"
            )
        self.rows: list[Row] = []
        for name in (TABLE, ANSWERS):
            if (path / name).is_file():
                self.rows += tables.read_csv(path / name)

    @property
    def title(self) -> str:
        """The attack and the target."""
        return f"{self.config.attack} against {self.config.target}"

    @property
    def is_finished(self) -> bool:
        """Whether all samples have a record and a table was written."""
        return self.header.get("status") == "finished"

    @property
    def is_miniature(self) -> bool:
        """Whether its numbers say nothing about a published model."""
        return self.config.preset == "mini" or self.config.target.startswith("miniature:")

    @property
    def surrogate(self) -> str:
        """The model that was attacked, if it was not the target."""
        named = self.header.get("surrogate", "")
        if isinstance(named, dict):
            named = named.get("target", named.get("id", ""))
        return str(named or next((row.surrogate for row in self.rows if row.surrogate), ""))

    @cached_property
    def counts(self) -> Counter[str]:
        """How many samples ended how."""
        return Counter(record.status for record in self.records.values())

    @cached_property
    def decided(self) -> list[Record]:
        """Samples that ended in success or failure."""
        return [r for r in self.records.values() if r.status in ("success", "failure")]

    @property
    def success_rate(self) -> Rate:
        """Successes of the decided samples."""
        return Rate.of(self.counts["success"], len(self.decided))

    @cached_property
    def trace(self) -> list[TraceEntry]:
        """Every candidate, none if the run kept no trace."""
        return read_trace(self.path) if (self.path / TRACE).is_file() else []

    @cached_property
    def records_sha256(self) -> str:
        """The digest of records.jsonl, to tell one copy from another."""
        return hashlib.sha256((self.path / RECORDS).read_bytes()).hexdigest()

    def find(self, metric: str, part: str = "") -> Row | None:
        """The number of a metric over a part, "" for all samples."""
        return next((r for r in self.rows if r.metric == metric and r.slice == part), None)

    def parts(self) -> dict[str, dict[str, dict[str, Row]]]:
        """Rows by kind of part ("operation"), its name, and the metric."""
        found: dict[str, dict[str, dict[str, Row]]] = {}
        for row in self.rows:
            if row.slice:
                kind, _, name = row.slice.partition("=")
                found.setdefault(kind, {}).setdefault(name or kind, {})[row.metric] = row
        return found


@dataclass(frozen=True, slots=True)
class Paired:
    """Samples that both runs decided: how much more often the second one fooled, and how they flipped."""

    n: int
    difference: float | None
    interval: Interval | None
    only_first: Sequence[str]
    only_second: Sequence[str]


def paired(first: RunView, second: RunView) -> Paired:
    """Compare success sample by sample; the interval is a bootstrap over groups."""
    changes: dict[str, list[float]] = {}
    only_first: list[str] = []
    only_second: list[str] = []
    theirs: Mapping[str, Record] = {record.id: record for record in second.decided}
    pairs = [(one, theirs[one.id]) for one in first.decided if one.id in theirs]
    for before, now in sorted(pairs, key=lambda pair: pair[0].id):
        change = (now.status == "success") - (before.status == "success")
        changes.setdefault(before.group or before.id, []).append(float(change))
        if change:
            (only_second if change > 0 else only_first).append(before.id)
    n = len(pairs)
    difference = (len(only_second) - len(only_first)) / n if n else None
    return Paired(n, difference, mean_interval(changes, _SEED), only_first, only_second)


def number(value: Any) -> float | None:
    """A number of somebody else's JSON, None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def numbers(value: Any, size: int) -> list[float] | None:
    """A list of so many numbers, None if it is none."""
    if not isinstance(value, list) or len(value) != size:
        return None
    found = [number(one) for one in value]
    return None if None in found else [one for one in found if one is not None]


def items(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list of JSON objects."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
