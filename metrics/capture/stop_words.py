"""Abstract nouns, which CAPTURE does not count as objects."""

import ast
import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmark.errors import UserError

LISTS = ("trident", "released", "none")
_OWN = Path(__file__).with_name("stop_words.txt")


@dataclass(frozen=True, slots=True)
class StopWords:
    """One list by name; `sha256` is of the sorted words, one a line."""

    name: str
    words: frozenset[str]

    @property
    def sha256(self) -> str:
        """The same words have the same hash, in whatever order."""
        return hashlib.sha256("\n".join(sorted(self.words)).encode()).hexdigest()


def stop_words(name: str = "trident") -> StopWords:
    """A list of `LISTS`.

    "trident" is our own; the file says how it was made. "released" is the one of the package
    capture-metric: its file is read, never imported, because importing the package downloads data.

    Raises:
        UserError: There is no such list, or the package is not installed.
    """
    if name == "trident":
        lines = _OWN.read_text(encoding="utf-8").splitlines()
        return StopWords(name, frozenset(line for line in lines if line and line[0] != "#"))
    if name == "released":
        return StopWords(name, frozenset(_released()))
    if name == "none":
        return StopWords(name, frozenset())
    raise UserError(f"unknown stop list {name!r}: expected one of {', '.join(LISTS)}")


def _released() -> list[str]:
    spec = find_spec("capture_metric")  # of a top-level package, this imports nothing
    folders = list(spec.submodule_search_locations or []) if spec else []
    files = [file for folder in folders if (file := Path(folder) / "stop_words.py").is_file()]
    if not files:
        raise UserError(
            "stop list 'released' is read from the package capture-metric, which is not installed:"
            " `pip install --no-deps capture-metric==0.1.13`, or use the stop list 'trident'"
        )
    for statement in ast.parse(files[0].read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List):
            words: list[str] = ast.literal_eval(statement.value)
            return words
    raise UserError(f"{files[0]} holds no list of words: install capture-metric==0.1.13")
