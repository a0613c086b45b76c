"""A random part of an entry's adversarial examples, shown to the named target again."""

import json
import random
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmark import __version__, registry
from benchmark.config import Execution
from benchmark.errors import UserError
from benchmark.replay import replay
from benchmark.types import Record
from leaderboards.recompute import EMBEDDED_DATA
from leaderboards.schema import SCHEMA
from leaderboards.submission import REPRODUCED, Submission

SHARE = 0.1
LEAST = 5
ENOUGH = 0.95
"""Share that must agree: the last digits of scores differ between machines, and verdicts may tip."""

SCORES_AGREE = 1e-3

_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of `replayed` samples, `agreed` had the same status and score; shares of successes then and now."""

    replayed: int
    agreed: int
    reported: float
    success: float
    differing: tuple[str, ...]

    @property
    def enough(self) -> bool:
        """Whether the entry counts as reproduced."""
        return self.agreed >= ENOUGH * self.replayed


class NotHadError(Exception):
    """The target's weights cannot be had here; the message says why."""


def replay_some(
    found: Submission,
    *,
    share: float = SHARE,
    seed: int | None = None,
    execution: Execution = Execution(),  # noqa: B008 - frozen
) -> Agreement:
    """Replay a random `share` of the picked examples, at least five; another choice each time.

    The submission must have passed `validate`.

    Raises:
        NotHadError: The target's weights cannot be had, or are not those that were submitted.
    """
    assert found.records is not None
    _check_target(found)
    ids = sorted(record.id for record in found.records if record.picked is not None)
    if not ids:
        raise NotHadError("no sample has an adversarial example")
    count = min(len(ids), max(LEAST, round(share * len(ids))))
    chooser = random.SystemRandom() if seed is None else random.Random(seed)
    chosen = set(chooser.sample(ids, count))
    try:
        again = replay(found.path, execution=execution, ids=chosen)
    except (UserError, ImportError, OSError) as error:
        raise NotHadError(str(error)) from error
    differing = []
    for one in again:
        before, now = one.baseline, one.record
        if before.status != now.status or not _near(before, now):
            differing.append(one.id)
    return Agreement(
        replayed=len(again),
        agreed=len(again) - len(differing),
        reported=sum(one.baseline.status == "success" for one in again) / len(again),
        success=sum(one.record.status == "success" for one in again) / len(again),
        differing=tuple(differing),
    )


def _near(before: Record, now: Record) -> bool:
    """The same score, or of a target that has none the same words."""
    if before.score is None or now.score is None:
        return before.score is now.score and before.output == now.output
    return abs(before.score - now.score) <= SCORES_AGREE


def keep(found: Submission, agreement: Agreement, by: str) -> Path:
    """Write reproduced.json beside the entry."""
    path = found.path / REPRODUCED
    values = {
        "schema": SCHEMA,
        "date": datetime.now(UTC).date().isoformat(),
        "by": by,
        "harness": f"trident {__version__}",
        "entry": found.digest,
        "replayed": agreement.replayed,
        "agreed": agreement.agreed,
        "success": round(agreement.success, 6),
        "reported": round(agreement.reported, 6),
    }
    path.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    return path


def _check_target(found: Submission) -> None:
    """Only weights from a known place are loaded: a stranger's name must not open a file or a socket."""
    assert found.config is not None
    assert found.header is not None
    run = found.config
    kind, argument = registry.split(run.target)
    hub = kind in ("open_clip", "transformers") and _HUB.fullmatch(argument)
    if kind != "miniature" and not (hub and not Path(argument).exists()):
        raise NotHadError(f"target {run.target} is not one whose weights are published")
    if registry.split(run.dataset)[0] not in EMBEDDED_DATA:
        raise NotHadError(f"data set {run.dataset_name} is not here")
    try:
        info = registry.create("targets", run.target, run.target_settings).info
    except (UserError, ImportError, OSError) as error:
        raise NotHadError(str(error)) from error
    stated = found.header["models"]["target"]["weights"]
    if info.weights != stated:
        raise NotHadError(
            f"{run.target} now has the weights {info.weights[:12]}..., the entry is about {stated[:12]}..."
        )
