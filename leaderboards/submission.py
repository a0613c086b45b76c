"""One submission, read from its folder within limits; what cannot be read is a line in `problems`."""

import hashlib
import os
import re
import stat
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from pathlib import Path, PurePosixPath
from typing import Any

from benchmark.config import RunConfig
from benchmark.errors import UserError
from benchmark.types import Record, TraceEntry
from leaderboards import limits, schema
from leaderboards.checks import HEX64, Check, shown
from leaderboards.pictures import PictureError, digest_of
from leaderboards.strict_json import MalformedError, load_lines, load_object

CARD, HEADER, RECORDS, TRACE = "card.json", "run.json", "records.jsonl", "trace.jsonl.gz"
TABLE, REPRODUCED, ARTIFACTS = "table.csv", "reproduced.json", "artifacts"
HASHED = (HEADER, RECORDS, TRACE, TABLE)
"""The files whose sha256 the card names. Pictures are named by the digest of their pixels."""

_PICTURE = re.compile(r"([0-9a-f]{64})\.png")


@dataclass(slots=True)
class Submission:
    """What a folder holds, as far as it could be read. `files` are all there, by relative path."""

    path: Path
    files: dict[str, bytes] = field(default_factory=dict)
    card: dict[str, Any] | None = None
    header: dict[str, Any] | None = None
    config: RunConfig | None = None
    records: list[Record] | None = None
    trace: list[TraceEntry] | None = None
    reproduced: dict[str, Any] | None = None
    pictures: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """sha256 over what the submitter sent: the files' hashes but for the keepers' own."""
        return digest_of_files(self.files)


def digest_of_files(files: Mapping[str, bytes]) -> str:
    """sha256 over the names and hashes of an entry's files, without what the keepers add."""
    lines = sorted(
        f"{hashlib.sha256(data).hexdigest()}  {name}\n"
        for name, data in files.items()
        if name != REPRODUCED
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def entry_path(header: Mapping[str, Any]) -> PurePosixPath:
    """Where an entry belongs: <attack>/<preset>/<model>@<revision>/<first digits of the digest>.

    All of it is read off run.json, so no entry can stand under another model's name.
    """
    config, target = header["config"], header["models"]["target"]
    revision = _slug(str(target["revision"]))[:40] or str(target["weights"])[:12] or "unknown"
    attack = str(config["attack"])
    if header.get("surrogate"):
        attack += "-transfer"
    parts = (_slug(attack), _slug(str(config["preset"])), f"{_slug(str(target['id']))}@{revision}")
    return PurePosixPath(*parts, str(header["digest"])[:12])


def read(path: Path) -> Submission:
    """Read a submission. Never raises for what is in the folder: that is in `problems`."""
    found = Submission(path)
    problems = found.problems
    found.files = dict(_files(path, problems))
    for name in (CARD, *HASHED):
        if name not in found.files and not any(
            text.startswith((f"{name} ", f"'{name}' ")) for text in problems
        ):
            problems.append(f"{name} is missing")
    found.card = _object(found, CARD, schema.CARD)
    found.header = _object(found, HEADER, schema.HEADER)
    if found.header is not None:
        try:
            found.config = RunConfig.from_json(found.header["config"])
        except UserError as error:
            problems.append(f"{HEADER}: {error}")
    if RECORDS in found.files:
        lines = _lines(found, RECORDS, found.files[RECORDS], schema.RECORD, limits.RECORDS)
        found.records = None if lines is None else [_made(Record, line) for line in lines]
    if TRACE in found.files:
        found.trace = _trace(found)
    if REPRODUCED in found.files:
        found.reproduced = _object(found, REPRODUCED, schema.REPRODUCED)
    for name, data in found.files.items():
        if name.startswith(f"{ARTIFACTS}/"):
            _look_at(found, name, data)
    return found


def unpacked(data: bytes, most: int) -> bytes:
    """What a .gz file of one member unpacks to, never more than `most` bytes.

    Raises:
        MalformedError: It is damaged, or larger, or more than one member.
    """
    unpacking = zlib.decompressobj(wbits=31)
    try:
        text = unpacking.decompress(data, most + 1)
    except zlib.error as error:
        raise MalformedError(f"not a .gz file: {error}") from error
    if len(text) > most:
        raise MalformedError(f"unpacks to more than {most} bytes")
    if not unpacking.eof:
        raise MalformedError("is cut off")
    if unpacking.unused_data:
        raise MalformedError("has bytes after its end")
    return text


def _files(path: Path, problems: list[str]) -> Iterator[tuple[str, bytes]]:
    """(relative path, content) of the files that may be there; all else is a problem."""
    total = count = 0
    for name, entry in _entries(path, "", problems):
        count += 1
        if count > limits.FILES:
            problems.append(f"more than {limits.FILES} files")
            return
        folder, _, file = name.rpartition("/")
        most = limits.FILE_BYTES.get(name)
        if folder == ARTIFACTS and _PICTURE.fullmatch(file):
            most = limits.PICTURE_BYTES
        if most is None:
            problems.append(f"{shown(name)} is no file of a submission")
            continue
        size = entry.stat(follow_symlinks=False).st_size
        total += size
        if size > most:
            problems.append(f"{name} has {size} bytes: at most {most} are allowed")
        elif total > limits.ENTRY_BYTES:
            problems.append(f"all files together have more than {limits.ENTRY_BYTES} bytes")
            return
        else:
            yield name, _bytes(Path(entry.path), most)


def _entries(
    path: Path, prefix: str, problems: list[str]
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Regular files of the folder and of artifacts/; links and special files are never followed."""
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            name = f"{prefix}{entry.name}"
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                problems.append(f"{shown(name)} is a symbolic link: send the file itself")
            elif stat.S_ISDIR(mode):
                if name == ARTIFACTS:
                    yield from _entries(Path(entry.path), f"{ARTIFACTS}/", problems)
                else:
                    problems.append(f"{shown(name)} is no folder of a submission")
            elif not stat.S_ISREG(mode):
                problems.append(f"{shown(name)} is no regular file")
            elif mode & 0o111:
                problems.append(f"{shown(name)} is executable: data is not")
            else:
                yield name, entry


def _bytes(path: Path, most: int) -> bytes:
    # Not followed even if it became a link since it was looked at.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most + 1)


def _object(found: Submission, name: str, check: Check) -> dict[str, Any] | None:
    if name not in found.files:
        return None
    try:
        value: dict[str, Any] = load_object(found.files[name])
    except MalformedError as error:
        found.problems.append(f"{name}: {error}")
        return None
    faults = list(check(value, ""))
    found.problems.extend(f"{name}: {fault}" for fault in faults)
    return None if faults else value


def _lines(
    found: Submission, name: str, data: bytes, check: Check, most: int
) -> list[dict[str, Any]] | None:
    lines: list[dict[str, Any]] = []
    before = len(found.problems)
    if not data.endswith(b"\n"):
        found.problems.append(f"{name} does not end with a line break: it is cut off or empty")
    for number, line in load_lines(data):
        if number > most:
            found.problems.append(f"{name} has more than {most} lines")
            break
        if len(found.problems) - before > limits.PROBLEMS:
            break
        if isinstance(line, MalformedError):
            found.problems.append(f"{name}, line {number}: {line}")
            continue
        found.problems.extend(f"{name}, line {number}: {fault}" for fault in check(line, ""))
        lines.append(line)
    return lines if len(found.problems) == before else None


def _trace(found: Submission) -> list[TraceEntry] | None:
    try:
        data = unpacked(found.files[TRACE], limits.TRACE_BYTES)
    except MalformedError as error:
        found.problems.append(f"{TRACE} {error}")
        return None
    lines = _lines(found, TRACE, data, schema.CANDIDATE, limits.CANDIDATES)
    return None if lines is None else [_made(TraceEntry, line) for line in lines]


def _made(kind: type[Any], line: Mapping[str, Any]) -> Any:
    known = {one.name for one in fields_of(kind)}
    return kind(**{key: value for key, value in line.items() if key in known})


def _look_at(found: Submission, name: str, data: bytes) -> None:
    stated = name.removeprefix(f"{ARTIFACTS}/").removesuffix(".png")
    assert HEX64.fullmatch(stated)
    try:
        digest = digest_of(data)
    except PictureError as error:
        found.problems.append(f"{name} {error}")
        return
    if digest != stated:
        found.problems.append(
            f"{name} is another picture: its pixels have the digest {digest[:12]}..."
        )
        return
    found.pictures.add(digest)


def _slug(text: str) -> str:
    """A name as a part of a path: nothing that climbs, nothing hidden, no case that folds."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip(".-")
