"""A submission that a test changes as somebody with bad intentions would, hashes and all."""

import gzip
import hashlib
import json
import shutil
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.config import RunConfig
from leaderboards.submission import HASHED, entry_path

Line = dict[str, Any]


@dataclass(slots=True)
class Draft:
    root: Path
    path: Path

    def seal(self) -> None:
        """Let the card name the hashes of what is there now."""
        card = self.json("card.json")
        for name in HASHED:
            if (self.path / name).is_file():
                card["files"][name] = hashlib.sha256((self.path / name).read_bytes()).hexdigest()
        self.write("card.json", json.dumps(card).encode())

    def json(self, name: str) -> Any:
        return json.loads((self.path / name).read_bytes())

    def write(self, name: str, data: bytes) -> None:
        (self.path / name).write_bytes(data)

    def raw(self, name: str, change: Callable[[bytes], bytes]) -> None:
        """Change the bytes of a file, unpacked if it is packed."""
        data = (self.path / name).read_bytes()
        if name.endswith(".gz"):
            data = gzip.compress(change(gzip.decompress(data)), mtime=0)
        else:
            data = change(data)
        self.write(name, data)
        self.seal()

    def edit(self, name: str, change: Callable[[Any], Any]) -> None:
        """Change the JSON of a file in place."""
        value = self.json(name)
        change(value)
        self.write(name, json.dumps(value).encode())
        if name != "card.json":
            self.seal()

    def lines(self, name: str) -> list[Line]:
        data = (self.path / name).read_bytes()
        if name.endswith(".gz"):
            data = gzip.decompress(data)
        return [json.loads(line) for line in data.splitlines()]

    def edit_lines(self, name: str, change: Callable[[list[Line]], Any]) -> None:
        """Change the lines of a .jsonl file in place."""
        lines = self.lines(name)
        change(lines)
        self.raw(name, lambda _: "".join(json.dumps(line) + "\n" for line in lines).encode())

    def config(self, **changes: Any) -> None:
        """Change the config, forge its digest, and move the entry to where it then belongs."""

        def change(header: Line) -> None:
            header["config"].update(changes)
            header["digest"] = RunConfig.from_json(header["config"]).digest
            header["seed"] = header["config"]["seed"]

        self.edit("run.json", change)
        self.move()

    def move(self) -> None:
        """Put the entry where its run.json says."""
        wanted = self.root / entry_path(self.json("run.json"))
        if wanted != self.path:
            wanted.parent.mkdir(parents=True, exist_ok=True)
            self.path.rename(wanted)
            self.path = wanted

    def picture(self) -> Path:
        return sorted((self.path / "artifacts").iterdir())[0]


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(width: int, height: int, pixels: bytes | None = None, *extra: bytes) -> bytes:
    """A PNG that claims a size, whatever its pixels."""
    rows = b"\0" * (height * (1 + 3 * width)) if pixels is None else pixels
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(rows, 9))
    return b"".join(
        (b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", header), *extra, body, chunk(b"IEND", b""))
    )


def replaced(path: Path, by: Path) -> None:
    """A symbolic link where a file was."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    path.symlink_to(by)
