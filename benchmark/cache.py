"""A content-addressed cache of model calls: what went in decides the key, never a path or an id.

Harnesses that cache by sample id or by file name can hand back a clean answer for a perturbed
picture. Here the key covers the decoded pixels, their size, all of the preprocessing, the exact
text, the model with its weights and the generation settings.
"""

import hashlib
import json
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from benchmark.types import JSON, ModelInfo, Pixels

SCHEMA_VERSION = 1
"""Goes into every key: raise it when the meaning of a stored value changes."""

BUSY_SECONDS = 5.0
_KEYS_A_QUERY = 500
_CHECKSUM = struct.Struct("<I")


def pixels_digest(pixels: Pixels) -> str:
    """sha256 of an RGB picture's size and decoded pixels.

    Raises:
        ValueError: `pixels` is not uint8 of shape (height, width, 3).
    """
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3:
        raise ValueError(
            f"a picture must be uint8 of shape (height, width, 3), not {pixels.dtype} of shape "
            f"{pixels.shape}: convert it to 8-bit RGB first"
        )
    height, width, _ = pixels.shape
    digest = hashlib.sha256(f"{height}x{width}:".encode())
    digest.update(np.ascontiguousarray(pixels).data)
    return digest.hexdigest()


def call_key(kind: str, model: ModelInfo, *parts: JSON) -> str:
    """The key of one model call: its kind, the exact model and the exact input.

    `parts` are the input: a picture by its `pixels_digest`, a text as it is, generation settings.
    """
    canonical = json.dumps(
        [
            SCHEMA_VERSION,
            kind,
            [model.id, model.revision, model.weights, model.dtype, model.preprocessing],
            *parts,
        ],
        separators=(",", ":"),
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def is_identified(model: ModelInfo) -> bool:
    """Whether the model says which weights it has. One that does not must not be cached on disk."""
    return bool(model.weights or model.revision)


class Cache:
    """Values by key in one SQLite file (write-ahead log, so several runs may share it).

    It only ever saves time. A file that is damaged is renamed and a new one begun; one that is
    locked or cannot be written is left alone for the rest of the run. Both cost one call of `warn`.
    """

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self.path = path
        self._warn = warn
        self._database: sqlite3.Connection | None = None
        with self._guarded():
            self._database = self._connect()

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The stored values of those `keys` that are known."""
        found: dict[str, bytes] = {}
        with self._guarded() as database:
            if database is None:
                return {}
            for start in range(0, len(keys), _KEYS_A_QUERY):
                wanted = [bytes.fromhex(key) for key in keys[start : start + _KEYS_A_QUERY]]
                marks = ",".join("?" * len(wanted))
                query = f"SELECT key, value FROM calls WHERE key IN ({marks})"
                for key, stored in database.execute(query, wanted):
                    value = stored[_CHECKSUM.size :]
                    # SQLite keeps no checksums: a flipped bit would be a wrong score.
                    if stored[: _CHECKSUM.size] == _CHECKSUM.pack(zlib.crc32(value)):
                        found[key.hex()] = value
        return found

    def put_many(self, values: Mapping[str, bytes]) -> None:
        """Store all `values` in one transaction."""
        rows = [
            (bytes.fromhex(key), _CHECKSUM.pack(zlib.crc32(value)) + value)
            for key, value in values.items()
        ]
        with self._guarded() as database:
            if database is not None and rows:
                with database:
                    database.executemany("INSERT OR REPLACE INTO calls VALUES (?, ?)", rows)

    def close(self) -> None:
        """Let go of the file."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def delete(self) -> None:
        """Let go of the file and remove it."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self.path, timeout=BUSY_SECONDS)
        try:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            database.execute(
                "CREATE TABLE IF NOT EXISTS calls (key BLOB PRIMARY KEY, value BLOB NOT NULL)"
            )
            with database:  # a file that can be read but not written is found out here, not later
                database.execute("DELETE FROM calls WHERE key = x''")
        except sqlite3.Error:
            database.close()
            raise
        return database

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection | None]:
        """The connection, or None without one. No failure of the cache gets past this."""
        try:
            yield self._database
        except (sqlite3.OperationalError, OSError) as error:
            self.close()
            self._warn(
                f"cache {self.path} cannot be used ({error}): the run goes on without it; "
                f"name another one with --cache, or none with --no-cache"
            )
        except sqlite3.DatabaseError as error:
            self.close()
            aside = self._put_aside()
            self._warn(f"cache {self.path} is damaged ({error}): put aside as {aside}")

    def _put_aside(self) -> Path | None:
        """Rename the damaged file and begin a new one; without either, run on without a cache."""
        aside = self.path.with_name(self.path.name + ".damaged")
        try:
            self.path.replace(aside)
            for suffix in ("-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            self._database = self._connect()
        except (sqlite3.Error, OSError):
            return None
        return aside


def is_usable(path: Path) -> bool:
    """Whether a cache can be opened and written at `path` (for `doctor`)."""
    problems: list[str] = []
    with closing(Cache(path, problems.append)):
        return not problems
