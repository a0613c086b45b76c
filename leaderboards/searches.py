"""What searches for captions found (`Record.found`), against the answers in the trace.

CAPTURE of the embedded world needs no model: each answer's is computed anew from what was said and the
caption that the picture was painted from.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmark.answer_guards import answer_status, capture_of, reference_of
from benchmark.protocols import Adviser
from benchmark.types import Record, TraceEntry
from leaderboards.checks import shown

NEAR = 2e-6
"""Recorded to six digits, and a mean of such."""

Captures = Mapping[int, Sequence[float | None]]
"""Number of a caption -> CAPTURE of each of its pictures, in order; None where there is none."""


def found(
    records: Sequence[Record], trace: Sequence[TraceEntry], capture: Adviser, least_words: int
) -> Iterator[str]:
    """Check the initial pool and the final captions of each search."""
    tried: dict[str, list[TraceEntry]] = defaultdict(list)
    for entry in trace:
        tried[entry.id].append(entry)
    for record in records:
        if not record.found.get("pool"):
            continue
        searched = _captures(tried[record.id], "search", capture, least_words)
        fresh = _captures(tried[record.id], "report", capture, least_words)
        for fault in _of_search(record, searched, fresh):
            yield f"sample {shown(record.id)}: {fault}"


def _captures(
    tried: Sequence[TraceEntry], purpose: str, capture: Adviser, least_words: int
) -> Captures:
    entries = [entry for entry in tried if entry.purpose == purpose]
    results: dict[int, list[float | None]] = defaultdict(list)
    scored = []
    for entry in entries:
        number = entry.perturbation.get("caption")
        reference = reference_of(entry.text, entry.perturbation)
        if not isinstance(number, int):
            continue
        if (
            reference is None
            or entry.output is None
            or answer_status(entry.output, entry.refusal, least_words) != "scored"
        ):
            results[number].append(None)
            continue
        scored.append((number, len(results[number]), (reference, entry.output)))
        results[number].append(None)
    said = capture.ask([pair for _, _, pair in scored]) if scored else []
    for (number, place, _), one in zip(scored, said, strict=True):
        results[number][place] = capture_of(one)
    return results


def _of_search(record: Record, searched: Captures, fresh: Captures) -> Iterator[str]:
    found: Mapping[str, Any] = record.found
    for number, (_, stated) in enumerate(found["pool"]["captions"]):
        real = searched.get(number, [None])[0]
        if not _near(stated, real):
            yield f"initial caption {number} has CAPTURE {shown(stated)}, its answer gives {shown(real)}"
    for final in found["finals"]:
        number = final["id"]
        again = fresh.get(number, ())
        if not _all_near(final["fresh"], again):
            yield (
                f"final caption {number} has fresh {shown(final['fresh'])}, the trace gives"
                f" {shown(list(again))}"
            )
        known = [value for value in again if value is not None]
        mean = sum(known) / len(known) if known else None
        if not _near(final["capture_fresh"], mean):
            yield (
                f"final caption {number} has capture_fresh {shown(final['capture_fresh'])},"
                f" the trace gives {shown(mean)}"
            )
        if not _all_near(final["scores"], searched.get(number, ())):
            yield (
                f"final caption {number} has scores {shown(final['scores'])}, the trace gives"
                f" {shown(list(searched.get(number, ())))}"
            )


def _all_near(stated: Sequence[Any], real: Sequence[float | None]) -> bool:
    known = [value for value in real if value is not None]
    given = [value for value in stated if value is not None]
    return len(known) == len(given) and all(map(_near, sorted(given), sorted(known)))


def _near(stated: Any, real: float | None) -> bool:
    if stated is None or real is None:
        return stated is real
    return isinstance(stated, int | float) and abs(stated - real) <= NEAR
