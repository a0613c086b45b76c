"""Run folders made by hand, for what compares them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmark.config import resolve
from benchmark.types import Record, Status

MODELS: dict[str, Any] = {
    "target": {
        "id": "miniature:clip-mini",
        "revision": "",
        "weights": "a" * 64,
        "dtype": "float32",
        "preprocessing": "resize 64",
        "license": "",
    },
    "data set": {"id": "toybox", "revision": "test", "weights": "d" * 64},
    "judge toybox": {"id": "toybox", "revision": "1", "weights": ""},
}


def record(id: str, status: Status, **changes: Any) -> Record:
    """One line of records.jsonl."""
    return replace(
        Record(
            id=id,
            group=id,
            status=status,
            text=f"a red cube {id}",
            adversarial_text=f"a blue cube {id}",
            image_sha256="f" * 64,
            fitness=0.25 if status == "success" else -0.25,
            picked=0,
        ),
        **changes,
    )


def write_run(
    path: Path,
    statuses: Sequence[Status] | Sequence[Record],
    *,
    attack: str = "mac",
    target: str = "clip",
    models: Mapping[str, Any] | None = None,
    header: Mapping[str, Any] | None = None,
    **config: Any,
) -> Path:
    """A finished run of these outcomes; `models` and `header` replace what is in run.json."""
    resolved = resolve(attack, target, **config)
    records = [
        one if isinstance(one, Record) else record(f"s{number}", one)
        for number, one in enumerate(statuses)
    ]
    path.mkdir(parents=True)
    contents = {
        "schema": 1,
        "status": "finished",
        "config": resolved.to_json(),
        "digest": resolved.digest,
        "versions": {"torch": "2.6"},
        "attack_version": "1",
        "attack_details": {"prompts": "abc"},
        "models": {**MODELS, **(models or {})},
        "sessions": [{"device": "cpu"}],
        **(header or {}),
    }
    (path / "run.json").write_text(json.dumps(contents))
    lines = [json.dumps(asdict(one), default=dict) for one in records]
    (path / "records.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return path


def statuses(held: int, fooled: int, errors: int = 0) -> list[Status]:
    """So many outcomes of each kind, in this order."""
    return [*["failure"] * held, *["success"] * fooled, *["error"] * errors]  # type: ignore[list-item]
