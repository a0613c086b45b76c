"""Is an entry somebody else's under another name? Two models do not agree to four digits.

Nor may one model stand twice, from two libraries: its numbers would look like a confirmation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leaderboards.submission import Submission

SHARED = 8
"""Fewer equal scores than this say nothing."""

NEAR = 1e-4
"""Scores closer than this are equal: noise on the last digits must not hide a copy."""

MOST_EQUAL = 0.5
"""Share of the samples on which two different models may score alike."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What two entries are compared by."""

    entry: str
    model: str
    weights: str
    identity: tuple[str, str]
    clean: dict[tuple[str, str], float]
    data: str


def fingerprint(entry: str, found: Submission) -> Fingerprint | None:
    """None if the submission could not be read."""
    if found.header is None or found.records is None or found.config is None:
        return None
    models = found.header["models"]
    if "target" not in models or "data set" not in models:
        return None
    clean: dict[tuple[str, str], float] = {}
    for record in found.records:
        if record.clean_score is not None:
            clean[record.id, record.text] = record.clean_score
    target = models["target"]
    identity = (found.config.digest, target["weights"] or target["revision"])
    surrogate = (found.header.get("surrogate") or {}).get("target", "")
    return Fingerprint(
        entry=entry,
        model=target["id"],
        weights=target["weights"],
        identity=(identity[0] + str(surrogate), identity[1]),
        clean=clean,
        data=f"{found.config.attack} {models['data set']['weights']} {found.config.settings.get('prompt')}",
    )


def among(prints: Sequence[Fingerprint | None]) -> Iterator[str]:
    """Pairs of entries that cannot both be what they say."""
    known = [one for one in prints if one is not None]
    for index, second in enumerate(known):
        for first in known[:index]:
            yield from _pair(first, second)


def _pair(first: Fingerprint, second: Fingerprint) -> Iterator[str]:
    if first.identity == second.identity:
        yield f"{second.entry}: is the same run as {first.entry}"
    elif first.weights and first.weights == second.weights and first.model != second.model:
        yield (
            f"{second.entry}: {second.model} has the very weights of {first.model}"
            f" ({first.entry}): a copy under another name"
        )
    elif first.model != second.model and first.data == second.data:
        shared = first.clean.keys() & second.clean.keys()
        equal = sum(abs(first.clean[key] - second.clean[key]) <= NEAR for key in shared)
        if len(shared) >= SHARED and equal > MOST_EQUAL * len(shared):
            yield (
                f"{second.entry}: {equal} of {len(shared)} clean scores are those of"
                f" {first.entry}, which names another model: a copy under another name"
            )
