"""What the files of a submission may hold."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args

from benchmark.config import RunConfig
from benchmark.types import Access, ModelInfo, Purpose, Record, Status, TraceEntry
from leaderboards import limits
from leaderboards.checks import (
    DATE,
    DIGEST,
    FLAG,
    SPEC,
    URL,
    Check,
    label,
    listing,
    mapping,
    nullable,
    number,
    one_of,
    plain,
    shape,
    text,
    whole,
)

SCHEMA = 1

_COUNT = whole(0, 10**7)
_SCORE = nullable(number(-limits.SCORE, limits.SCORE))
_VERDICTS = mapping(nullable(FLAG), 50, label(60))
_SECONDS = number(0, 1e8)


def _empty_or(inner: Check) -> Check:
    def check(value: Any, where: str) -> Iterator[str]:
        if value != "":
            yield from inner(value, where)

    return check


def _of(kind: type, known: dict[str, Check], optional: tuple[str, ...] = ()) -> Check:
    """The shape of a dataclass; fields that are not listed may hold anything small."""
    names = [field.name for field in fields(kind)]
    checks = {name: known.get(name, plain(10_000)) for name in names}
    return shape(
        {name: check for name, check in checks.items() if name in known and name not in optional},
        {name: check for name, check in checks.items() if name not in known or name in optional},
    )


CARD = shape(
    {
        "schema": one_of(SCHEMA),
        "model_name": label(80),
        "paper": _empty_or(URL),
        "note": _empty_or(label(300)),
        "submitted": DATE,
        "harness": text(40),
        "files": mapping(DIGEST, 10, SPEC),
        "history": listing(shape({"date": DATE, "was": DIGEST, "reason": label(300)}), 50),
    },
    {"withdrawn": _empty_or(label(300))},
)

MODEL = _of(
    ModelInfo,
    {
        "id": SPEC,
        "revision": _empty_or(text(120)),
        "weights": _empty_or(DIGEST),
        "dtype": text(40),
        "preprocessing": text(10_000),
        "license": text(120),
    },
)

CONFIG = _of(
    RunConfig,
    {
        "attack": SPEC,
        "target_name": SPEC,
        "target": SPEC,
        "preset": SPEC,
        "dataset_name": SPEC,
        "dataset": text(1_000),
        "samples": nullable(whole(1, limits.RECORDS)),
        "seed": whole(0, 2**63 - 1),
        "access": one_of(*get_args(Access)),
        "query_budget": nullable(_COUNT),
        "settings": plain(5_000),
        "dataset_settings": plain(200),
        "target_settings": plain(200),
    },
)

HEADER = shape(
    {
        "schema": one_of(1),
        "status": one_of("finished"),
        "config": CONFIG,
        "digest": DIGEST,
        "seed": whole(0, 2**63 - 1),
        "versions": mapping(text(60), 100, SPEC),
        "git_commit": text(60),
        "start": DATE,
        "end": DATE,
        "attack_version": text(40),
        "attack_details": plain(20_000),
        "models": mapping(MODEL, 50, text(300)),
        "totals": mapping(nullable(_COUNT), 50),
    },
    {
        "python": text(40),
        "platform": text(200),
        "sessions": plain(20_000),
        "surrogate": nullable(plain(500)),
    },
)
"""run.json. A key that is new to it must be added here, else its runs cannot be submitted."""

RECORD = _of(
    Record,
    {
        "id": text(200),
        "group": text(200),
        "status": one_of(*get_args(Status)),
        "text": text(limits.TEXT),
        "adversarial_text": nullable(text(limits.TEXT)),
        "image": text(300),
        "image_sha256": _empty_or(DIGEST),
        "perturbation": plain(2_000),
        "verdicts": _VERDICTS,
        "clean_score": _SCORE,
        "score": _SCORE,
        "fitness": _SCORE,
        "picked": nullable(_COUNT),
        "queries": _COUNT,
        "queries_to_success": nullable(whole(1, 10**7)),
        "artifacts": mapping(DIGEST, limits.FILES, text(60)),
        "seconds": _SECONDS,
        "error": nullable(text(2_000)),
        "clean_output": nullable(text(limits.TEXT)),
        "output": nullable(text(limits.TEXT)),
        "found": plain(100_000),
        "conditions": mapping(
            shape(
                {"n": _COUNT, "fooled": _COUNT, "valid": _COUNT, "score": _SCORE, "fitness": _SCORE}
            ),
            200,
        ),
    },
)

CANDIDATE = _of(
    TraceEntry,
    {
        "id": text(200),
        "index": _COUNT,
        "text": nullable(text(limits.TEXT)),
        "perturbation": plain(2_000),
        "verdicts": _VERDICTS,
        "score": _SCORE,
        "success": FLAG,
        "purpose": one_of(*get_args(Purpose)),
        "option_scores": listing(number(-limits.SCORE, limits.SCORE), 2_000),
        "output": nullable(text(limits.TEXT)),
    },
)

REPRODUCED = shape(
    {
        "schema": one_of(SCHEMA),
        "date": DATE,
        "by": label(80),
        "harness": text(40),
        "entry": DIGEST,
        "replayed": whole(1, limits.RECORDS),
        "agreed": whole(0, limits.RECORDS),
        "success": number(0, 1),
        "reported": number(0, 1),
    }
)
"""`success` is the share of the replayed samples that fool the target again, `reported` what it was."""
