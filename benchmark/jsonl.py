"""Files of one JSON object a line, and the lock that keeps a folder to one writer."""

import errno
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark.errors import UserError

try:
    import fcntl
except ImportError:  # not POSIX: two writers are then not told apart
    fcntl = None  # type: ignore[assignment]


class DamagedRunError(UserError):
    """A file of a run cannot be read; the message names file and line."""


def parsed_lines(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """(raw, parsed) lines of a .jsonl file; none if there is no file."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            line = _parsed(raw)
            if line is None:
                raise DamagedRunError(
                    f"{path}, line {number} is damaged: delete the line and run the same command "
                    "with --resume, which makes that sample again"
                )
            yield raw, line


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(raw)
    except ValueError:
        return None
    return line if isinstance(line, dict) else None


def cut_torn_line(path: Path) -> None:
    """Cut the last line if it is not a complete one: the process died while it wrote."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        end = start = 0
        last = b""
        for raw in file:
            start, end, last = end, end + len(raw), raw
        if last and (not last.endswith(b"\n") or _parsed(last) is None):
            file.truncate(start)


def lock(file: Path) -> int | None:
    """Take the folder's lock. The system drops a dead process's, so none can be left stale."""
    if fcntl is None:
        return None
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        # Not flock: that one would pass to worker processes, and outlive a parent that was killed.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.read(descriptor, 200).decode(errors="replace").strip()
        os.close(descriptor)
        if error.errno not in (errno.EACCES, errno.EAGAIN):
            raise
        raise UserError(
            f"{file.parent} is being written by another process ({holder or 'unknown'}): "
            "wait for it or name another folder with --out"
        ) from error
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"pid {os.getpid()} on {socket.gethostname()}".encode())
    return descriptor
