"""Questions about objects in odd poses, in the manner of MM3DTBench (AdvDreamer, sec. 5): JSON lines.

The authors have published no file format. Here each line is an object with

    {"id", "image", "label", "question", "choices": [...], "answer", "orientation", "source", "theta"?,
     "group"?}

`image` is relative to the file's folder, `answer` is one of the choices, `source` says where the picture is
from ("digital" or "physical"), `theta` is [yaw, pitch, roll, dx, dy, scale], `group` names what the picture
was made from, for the intervals (itself if left out). `export mm3dtbench RUN` writes such files.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmark.datasets.images import ImageFile, mean_words, sha256_of_rows
from benchmark.errors import UserError
from benchmark.questions import MOST_CHOICES, Question
from benchmark.types import JSON, ModelInfo, Sample

POSE_NUMBERS = 6


class MM3DTBenchDataset:
    """One sample a line, with the label as its text and the `Question` as its scene.

    A picture that cannot be decoded fails when it is loaded, so the other lines go on. `info` hashes
    ids, paths as written and questions; records hash the pictures.

    Settings:
        data_root: Folder that the paths are relative to, if it is not the file's own.
        shuffle: Show the choices in an order that a hash of the id draws (default), or as written.
            Models prefer certain letters, and files often have the answer first.

    Raises:
        UserError: The file is missing or empty, or a line cannot be used (it is named).
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        path = Path(argument)
        if not argument or not path.is_file():
            raise UserError(
                f"no file {argument!r}: give JSON lines as `export mm3dtbench RUN` writes them"
            )
        root = settings.get("data_root")
        folder = Path(str(root)) if root else path.parent
        shuffles = bool(settings.get("shuffle", True))
        self._samples: list[Sample] = []
        seen: dict[str, int] = {}
        rows = []
        for number, line in _lines(path):
            where = f"{path} line {number}"
            key, image = _identifier(where, line), _text(where, line, "image")
            if key in seen:
                raise UserError(f"{where}: id {key!r} is that of line {seen[key]}: make ids unique")
            seen[key] = number
            self._samples.append(
                Sample(
                    id=key,
                    text=_text(where, line, "label"),
                    image=ImageFile(folder / image),
                    group=_text(where, line, "group", optional=True) or image,
                    scene=_question(where, line, key if shuffles else None),
                )
            )
            last = self._samples[-1]
            rows.append((key, image, last.group, last.text, repr(last.scene)))
        if not self._samples:
            raise UserError(f"{path} holds no questions: add one line for each")
        self.labels = tuple(sorted({sample.text for sample in self._samples}))
        self.info = ModelInfo(id=f"mm3dtbench:{path.name}", weights=sha256_of_rows(rows))

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)

    @cached_property
    def mean_words(self) -> float:
        """Of the labels."""
        return mean_words(sample.text for sample in self._samples)


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        content = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 ({error.reason}): save it as UTF-8") from error
    # Not splitlines: JSON text may hold other line separators, such as U+2028.
    for number, text in enumerate(content.split("\n"), start=1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path} line {number} is not JSON ({error}): correct it") from error
        if not isinstance(line, dict):
            raise UserError(
                f"{path} line {number} is no object: write {{...}} on a line of its own"
            )
        yield number, line


def _identifier(where: str, line: Mapping[str, Any]) -> str:
    value = line.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _text(where, line, "id")


def _text(where: str, line: Mapping[str, Any], key: str, *, optional: bool = False) -> str:
    value = line.get(key)
    if optional and value is None:
        return ""
    if not isinstance(value, str) or not (value.strip() or optional):
        shown = "missing" if key not in line else f"{json.dumps(value):.40}"
        raise UserError(f"{where}: {key} is {shown}: give a text")
    return value.strip()


def _question(where: str, line: Mapping[str, Any], shuffled_by: str | None) -> Question:
    given = line.get("choices")
    if not isinstance(given, list) or not all(isinstance(c, str) and c.strip() for c in given):
        raise UserError(f"{where}: choices are {json.dumps(given):.40}: give a list of texts")
    choices = [choice.strip() for choice in given]
    if len(set(map(str.lower, choices))) != len(choices) or not 2 <= len(choices) <= MOST_CHOICES:
        raise UserError(
            f"{where}: {len(choices)} choices ({', '.join(choices):.60}): give 2 to {MOST_CHOICES}"
            " that differ"
        )
    answer = _text(where, line, "answer")
    if answer not in choices:
        raise UserError(f"{where}: answer {answer!r} is not among the choices: add it to them")
    if shuffled_by is not None:
        choices.sort(key=lambda c: hashlib.sha256(f"{shuffled_by}\x1f{c}".encode()).digest())
    return Question(
        text=_text(where, line, "question"),
        choices=tuple(choices),
        answer=answer,
        orientation=_text(where, line, "orientation", optional=True),
        source=_text(where, line, "source", optional=True),
        theta=_theta(where, line.get("theta")),
    )


def _theta(where: str, value: Any) -> tuple[float, ...] | None:
    if value is None:
        return None
    numbers = value if isinstance(value, list) else []
    if len(numbers) != POSE_NUMBERS or not all(
        isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n) for n in numbers
    ):
        raise UserError(
            f"{where}: theta is {json.dumps(value):.60}: give [yaw, pitch, roll, dx, dy, scale]"
        )
    return tuple(float(n) for n in numbers)
