"""From a run folder to a submission: what to send, hashed, and nothing else."""

import gzip
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmark import __version__
from benchmark.album import PICKED
from benchmark.errors import UserError
from benchmark.jsonl import parsed_lines
from benchmark.records import HEADER as RUN_HEADER
from benchmark.records import TRACE as RUN_TRACE
from benchmark.records import read_header
from leaderboards.schema import SCHEMA
from leaderboards.submission import (
    ARTIFACTS,
    CARD,
    HASHED,
    HEADER,
    RECORDS,
    TABLE,
    TRACE,
    entry_path,
)


def pack(
    run: Path,
    root: Path,
    *,
    model_name: str,
    paper: str = "",
    note: str = "",
    all_pictures: bool = False,
) -> Path:
    """Write the submission of a finished run below `root`; returns its folder.

    Pictures other than the picked ones are left out unless `all_pictures`: they are not needed to
    check anything, and a repository should stay small.

    Raises:
        UserError: The run is not finished, has no trace or no table, or a picture is missing.
    """
    header = read_header(run)
    if header.get("status") != "finished":
        raise UserError(
            f"{run} is not finished (status {header.get('status')!r}): go on with"
            f" `python -m benchmark run --resume {run}`"
        )
    for name, remedy in (
        (RUN_TRACE, "run again without --no-trace"),
        (TABLE, "run again, or resume the run"),
    ):
        if not (run / name).is_file():
            raise UserError(f"{run} has no {name}, which a submission needs: {remedy}")
    try:
        out = root / entry_path(header)
    except (KeyError, TypeError) as error:
        raise UserError(
            f"{run / RUN_HEADER} does not say what was run ({error!r}): it is not from a run"
        ) from error
    files = _files(run, all_pictures=all_pictures)
    card = {
        "schema": SCHEMA,
        "model_name": model_name,
        "paper": paper,
        "note": note,
        "submitted": datetime.now(UTC).date().isoformat(),
        "harness": f"trident {__version__}",
        "files": {name: hashlib.sha256(files[name]).hexdigest() for name in HASHED},
        "history": [],
    }
    out.mkdir(parents=True)
    for name, data in {CARD: _json(card), **files}.items():
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_bytes(data)
    return out


def _files(run: Path, *, all_pictures: bool) -> dict[str, bytes]:
    lines, pictures = [], dict[str, None]()
    for _, line in parsed_lines(run / RECORDS):
        kept = {
            name: digest
            for name, digest in line.get("artifacts", {}).items()
            if all_pictures or name == PICKED
        }
        pictures |= dict.fromkeys(kept.values())
        lines.append(_line({**line, "artifacts": kept}))
    files = {
        HEADER: (run / RUN_HEADER).read_bytes(),
        RECORDS: b"".join(lines),
        # Without a time and a name, so that equal traces give equal files.
        TRACE: gzip.compress((run / RUN_TRACE).read_bytes(), 9, mtime=0),
        TABLE: (run / TABLE).read_bytes(),
    }
    for digest in pictures:
        name = f"{ARTIFACTS}/{digest}.png"
        try:
            files[name] = (run / name).read_bytes()
        except FileNotFoundError as error:
            raise UserError(f"{run / name} is missing: a record names it, run again") from error
    return files


def _line(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, allow_nan=False) + "\n").encode("ascii")


def _json(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
