"""Which weights they were: files on disk, by sha256."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

_CHUNK = 1 << 20


def sha256_of(paths: Iterable[Path]) -> str:
    """sha256 of one file's bytes; of several, the sha256 of their "name digest" lines in name order.

    Raises:
        ValueError: There are no files.
    """
    digests = {path.name: _digest(path) for path in paths}
    if not digests:
        raise ValueError("no weight files to hash")
    if len(digests) == 1:
        return next(iter(digests.values()))
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
