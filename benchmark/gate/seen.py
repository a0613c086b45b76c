"""What two runs, and a replay, say of each sample."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from benchmark.config import Execution
from benchmark.events import OnEvent
from benchmark.gate.comparable import RunData
from benchmark.gate.verdict import Outcome
from benchmark.types import Record

CLEAN = "clean"
FOUND = ("distribution",)
"""Conditions that are what an attack found: many pictures of a sample, drawn from it (AdvDreamer sec. 4.1).

Where an attack has hundreds of queries, some query fools nearly any model; the share of these pictures
tells models apart.
"""

RecordPairs: TypeAlias = Sequence[tuple[Record, Record]]


@dataclass(frozen=True, slots=True)
class Seen:
    """The outcomes of one mode. `records` are the new model's, of modes in which samples flip.

    `changes` of fitness are (group, change).
    """

    mode: str
    outcomes: list[Outcome]
    records: dict[str, Record] = field(default_factory=dict)
    changes: list[tuple[str, float]] = field(default_factory=list)


def attacked(before: RunData, now: RunData) -> tuple[list[Seen], int]:
    """Both runs as they are, and how many samples both of them skipped."""
    common = [(one, now.records[id]) for id, one in before.records.items() if id in now.records]
    kept = [pair for pair in common if {one.status for one in pair} != {"skipped"}]
    return [_whole("adaptive", kept), *_found("", kept)], len(common) - len(kept)


def replayed(before: RunData, now: RunData, execution: Execution, on_event: OnEvent) -> list[Seen]:
    """The baseline's adversarial examples, shown to the target of the new run."""
    # It drives models: not loaded where nothing is replayed.
    from benchmark.replay import replay

    shown = replay(
        before.path,
        target=now.config.target,
        target_settings=now.config.target_settings,
        execution=execution,
        on_event=on_event,
    )
    pairs = [(one.baseline, one.record) for one in shown]
    return [_whole("replay", pairs), *_found("replay ", pairs)]


def clean(before: RunData, now: RunData) -> list[Seen]:
    """Unperturbed inputs; nothing where the attack has no such verdict."""
    pairs = [(one, now.records[id]) for id, one in before.records.items() if id in now.records]
    return _condition(CLEAN, CLEAN, pairs)


def _whole(mode: str, pairs: RecordPairs) -> Seen:
    return Seen(
        mode=mode,
        outcomes=_outcomes(pairs, _held),
        records={now.id: now for _, now in pairs},
        changes=[
            (one.group or one.id, now.fitness - one.fitness)
            for one, now in pairs
            if one.fitness is not None and now.fitness is not None
        ],
    )


def _found(prefix: str, pairs: RecordPairs) -> list[Seen]:
    return [seen for name in FOUND for seen in _condition(prefix + name, name, pairs)]


def _condition(mode: str, name: str, pairs: RecordPairs) -> list[Seen]:
    """Shares of pictures under a condition; nothing where a side did not measure it."""
    if not all(any(name in pair[side].conditions for pair in pairs) for side in (0, 1)):
        return []

    def held(record: Record) -> float | None:
        summed = record.conditions.get(name)
        if summed is None or record.status == "error":
            return None
        n, fooled = summed.get("n"), summed.get("fooled")
        return 1 - fooled / n if isinstance(n, int) and isinstance(fooled, int) and n else None

    return [Seen(mode, _outcomes(pairs, held))]


def _outcomes(
    pairs: Iterable[tuple[Record, Record]], held: Callable[[Record], float | None]
) -> list[Outcome]:
    return [Outcome(one.id, one.group or one.id, held(one), held(now)) for one, now in pairs]


def _held(record: Record) -> float | None:
    return {"failure": 1.0, "success": 0.0}.get(record.status)
