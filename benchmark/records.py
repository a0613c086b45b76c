"""A run folder: run.json, records.jsonl, trace.jsonl and artifacts/, written so that a kill loses nothing.

A sample's trace lines are written before its record, each batch in one write, so whatever moment a
process dies at, a record has its whole trace; `RunFolder.repair` cuts what has no record.
"""

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields
from io import BytesIO
from pathlib import Path
from time import monotonic
from typing import Any, Self, TypeVar

from benchmark.cache import pixels_digest
from benchmark.config import RunConfig
from benchmark.errors import UserError
from benchmark.jsonl import DamagedRunError, cut_torn_line, lock, parsed_lines
from benchmark.types import JSON, Pixels, Record, TraceEntry

HEADER, RECORDS, TRACE, ARTIFACTS = "run.json", "records.jsonl", "trace.jsonl", "artifacts"
SYNC_SECONDS = 1.0

Line = TypeVar("Line", Record, TraceEntry)


class DiskFullError(OSError):
    """No space is left; the message says what is safe and how to go on."""


class RunFolder:
    """One run on disk, held by one process. Make it with `create` or `open`."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        self.path = path
        self.header = header
        self._synced = monotonic()
        self._kept = 0
        self._files: dict[str, int] = {}
        self._lock = lock(path / ".lock")

    @classmethod
    def create(cls, path: Path, header: Mapping[str, Any]) -> Self:
        """Begin a run in a folder that holds none.

        Raises:
            UserError: It holds one, or another process is writing to it.
        """
        cls.refuse_if_taken(path)
        try:
            (path / ARTIFACTS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"cannot make the run folder {path} ({error.strerror}): name another with --out"
            ) from error
        folder = cls(path, dict(header))
        folder.update()
        return folder

    @staticmethod
    def refuse_if_taken(path: Path) -> None:
        """Check that a run can begin in `path`.

        Raises:
            UserError: It holds a run already, or is a file.
        """
        if path.exists() and not path.is_dir():
            raise UserError(f"{path} is a file: name another folder with --out")
        if (path / HEADER).exists() or (path / RECORDS).exists():
            raise UserError(
                f"{path} holds a run already: add --resume to continue it, "
                "or name another folder with --out"
            )

    @classmethod
    def open(cls, path: Path) -> Self:
        """Go on with a run that was begun.

        Raises:
            UserError: There is none, its run.json is damaged, or another process is writing to it.
        """
        return cls(path, read_header(path))

    def __enter__(self) -> Self:
        """Hold the folder until the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(self, **changes: JSON) -> None:
        """Change keys of run.json and write it whole: a reader sees the old or the new one."""
        self.header |= changes
        text = json.dumps(self.header, indent=2, allow_nan=False) + "\n"
        self._replace(self.path / HEADER, text.encode())

    def append(self, outcomes: Iterable[tuple[Record, Iterable[TraceEntry]]]) -> None:
        """Add finished samples, each with its trace, in one write a file.

        Raises:
            DiskFullError: Nothing of this batch was kept.
        """
        outcomes = list(outcomes)
        self._write(TRACE, b"".join(_line(entry) for _, trace in outcomes for entry in trace))
        self._write(RECORDS, b"".join(_line(record) for record, _ in outcomes))
        self._kept += len(outcomes)
        if monotonic() - self._synced >= SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Make what was appended survive a power cut. Costs milliseconds, so not for every batch."""
        for name in (TRACE, RECORDS):
            if name in self._files:
                os.fsync(self._files[name])
        self._synced = monotonic()

    def save_image(self, pixels: Pixels) -> str:
        """Keep a picture as lossless PNG; returns the digest that names it in artifacts/."""
        from PIL import Image

        digest = pixels_digest(pixels)
        path = self.path / ARTIFACTS / f"{digest}.png"
        if not path.exists():
            encoded = BytesIO()
            Image.fromarray(pixels).save(encoded, format="PNG")
            path.parent.mkdir(exist_ok=True)
            self._replace(path, encoded.getvalue())
        return digest

    def write_text(self, name: str, text: str) -> None:
        """Write a whole file of the folder."""
        self._replace(self.path / name, text.encode())

    def repair(self) -> int:
        """Make the folder consistent before it is resumed; returns how many samples are kept.

        Torn last lines are cut. Records of errors go, so that those samples are tried again, and
        so do trace lines of samples without a record.
        """
        for name in (RECORDS, TRACE):
            cut_torn_line(self.path / name)
        ids: set[str] = set()

        def is_kept(line: Mapping[str, Any]) -> bool:
            if line.get("status") == "error":
                return False
            ids.add(str(line.get("id")))
            return True

        self._filter(RECORDS, is_kept)
        self._filter(TRACE, lambda line: line.get("id") in ids)
        self._kept = len(ids)
        return len(ids)

    def finished_ids(self) -> set[str]:
        """Samples that need not be attacked again: all recorded ones but errors."""
        return {record.id for record in read_records(self.path) if record.status != "error"}

    def refuse_if_different(self, config: RunConfig, **others: JSON) -> None:
        """Check that the run was begun with this `config` and these `others` keys of run.json.

        Raises:
            UserError: It was not; lists each key that differs, with both values.
        """
        recorded = {"config": self.header.get("config"), **{k: self.header.get(k) for k in others}}
        asked = json.loads(json.dumps({"config": config.to_json(), **others}))
        before, now = dict(_flat(recorded)), dict(_flat(asked))
        differing = [
            f"{key.removeprefix('config.')} was {before.get(key, _ABSENT)}"
            f" and is now {now.get(key, _ABSENT)}"
            for key in sorted(before.keys() | now.keys())
            if before.get(key, _ABSENT) != now.get(key, _ABSENT)
        ]
        if differing:
            raise UserError(
                f"{self.path} holds a run of another experiment ({'; '.join(differing)}): "
                "resume it with the same settings, or name another folder with --out"
            )

    def close(self) -> None:
        """Sync, close and let another process have the folder."""
        if self._files:
            self.sync()
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files = {}
        if self._lock is not None:
            # The file stays: another process may have opened it, and must find the same one locked.
            os.ftruncate(self._lock, 0)
            os.close(self._lock)
            self._lock = None

    def _write(self, name: str, data: bytes) -> None:
        if not data:
            return
        path = self.path / name
        if name not in self._files:
            self._files[name] = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        descriptor = self._files[name]
        size = os.fstat(descriptor).st_size
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError as error:
            with suppress(OSError):  # `repair` cuts a torn line as well
                os.ftruncate(descriptor, size)
            raise self._explained(error, path) from error

    def _replace(self, path: Path, data: bytes) -> None:
        """Write a whole file so that it is there completely or not at all."""
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise self._explained(error, path) from error

    def _explained(self, error: OSError, path: Path) -> OSError:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            return error
        return DiskFullError(
            error.errno,
            f"the disk is full, {path} cannot be written: {self._kept} finished samples are kept; "
            "free some space and run the same command with --resume",
        )

    def _filter(self, name: str, is_kept: Callable[[Mapping[str, Any]], bool]) -> None:
        """Rewrite a .jsonl file without the lines that are not kept; untouched if all are."""
        path = self.path / name
        kept = b"".join(raw for raw, line in parsed_lines(path) if is_kept(line))
        if path.exists() and path.stat().st_size > len(kept):
            self._replace(path, kept)


def read_header(path: Path) -> dict[str, Any]:
    """Read run.json of the run folder `path`.

    Raises:
        UserError: There is none, or it is damaged.
    """
    file = path / HEADER
    try:
        header = json.loads(file.read_bytes())
    except FileNotFoundError as error:
        raise UserError(f"{path} holds no run: it has no {HEADER}") from error
    except ValueError as error:
        raise DamagedRunError(f"{file} is damaged ({error}): restore it or run again") from error
    if not isinstance(header, dict):
        raise DamagedRunError(f"{file} is damaged (not a JSON object): restore it or run again")
    return header


def read_records(path: Path) -> list[Record]:
    """Records of a run folder, or of a .jsonl file. Keys of later versions are ignored.

    Raises:
        DamagedRunError: A line cannot be read; names file and line.
    """
    return _read(path / RECORDS if path.is_dir() else path, Record)


def read_trace(path: Path) -> list[TraceEntry]:
    """Every candidate of a run folder, or of a .jsonl file; empty if the run kept none.

    Raises:
        DamagedRunError: A line cannot be read; names file and line.
    """
    return _read(path / TRACE if path.is_dir() else path, TraceEntry)


def _read(path: Path, kind: type[Line]) -> list[Line]:
    known = {field.name for field in fields(kind)}
    required = {
        field.name
        for field in fields(kind)
        if field.default is MISSING and field.default_factory is MISSING
    }
    read = []
    for number, (_, line) in enumerate(parsed_lines(path), start=1):
        if missing := required - line.keys():
            raise DamagedRunError(
                f"{path}, line {number}: {', '.join(sorted(missing))} missing: "
                "the file is not from a run, or was edited"
            )
        read.append(kind(**{key: value for key, value in line.items() if key in known}))
    return read


def _line(entry: Record | TraceEntry) -> bytes:
    values = {field.name: getattr(entry, field.name) for field in fields(entry)}
    # ASCII, since a text may hold a lone surrogate that UTF-8 has no bytes for.
    return (json.dumps(values, allow_nan=False, default=dict) + "\n").encode("ascii")


_ABSENT = "absent"


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """("settings.candidates", "4") for each leaf."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, json.dumps(value)
