"""What targets said in a run, by condition, and what people said of the same pictures."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from benchmark.errors import UserError
from benchmark.ledger import CLEAN
from benchmark.records import TRACE, read_header, read_records, read_trace
from benchmark.types import JSON, Measure, Record

PICKED = "adversarial"
"""The condition of the candidate that was picked."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer: to which question about which sample, under which condition, and right ones."""

    id: str
    group: str
    condition: str
    question: str
    answer: str
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Marked:
    """What a metric makes of answers: numbers, and for each answer what it was given, by name."""

    measures: Sequence[Measure]
    details: Sequence[Mapping[str, JSON]]


class AnswerMetric(Protocol):
    """Marks answers of one condition. Built as `factory(argument, settings)`.

    Among the settings are "judge", a `LanguageModel` or None, and "seed", of the intervals.
    """

    def mark(self, answered: Sequence[Answered]) -> Marked:
        """Numbers of these answers, with intervals; no answers -> None and n = 0, never 0."""
        ...


@dataclass(frozen=True, slots=True)
class References:
    """Right answers, or captions, by whatever a picture is called: its id, its number, its file."""

    by_name: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    questions: Mapping[str, str] = field(default_factory=dict)

    def of(self, record: Record) -> tuple[str, ...]:
        """Those of one sample; its own text where there is no file of references.

        Raises:
            UserError: The file has none for this sample.
        """
        if not self.by_name:
            answer = record.perturbation.get("answer")
            return (str(answer) if answer else record.text,)
        for name in _names(record):
            if name in self.by_name:
                return self.by_name[name]
        raise UserError(
            f"no references for sample {record.id}: give lines with an id such as"
            f" {' or '.join(map(repr, _names(record)))}"
        )

    def question(self, record: Record, otherwise: str) -> str:
        """What was asked about one sample."""
        asked = record.perturbation.get("question")
        for name in _names(record):
            asked = asked or self.questions.get(name)
        return str(asked or otherwise)


def read_references(path: Path) -> References:
    """Read JSON lines {"id", "references": [...], "question"?}, or COCO's captions_*.json.

    Raises:
        UserError: The file is missing, holds neither, or a line cannot be used (it is named).
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise UserError(f"references {path}: there is no such file") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 ({error.reason}): save it as UTF-8") from error
    by_name: dict[str, list[str]] = {}
    questions: dict[str, str] = {}
    for where, name, texts, question in _rows(path, content):
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            raise UserError(
                f"{where}: references are {json.dumps(texts):.60}: give a list of texts"
            )
        by_name.setdefault(name, []).extend(texts)
        if question:
            questions[name] = question
    if not by_name:
        raise UserError(f'{path} holds no references: write lines {{"id", "references": [...]}}')
    return References({name: tuple(texts) for name, texts in by_name.items()}, questions)


def read_answers(run: Path, references: References) -> dict[str, list[Answered]]:
    """All answers of a run by condition: "clean", the attack's conditions, and "adversarial".

    Raises:
        UserError: There is no run, nobody was asked anything in it, or references are missing.
    """
    header = read_header(run)
    asked = str(header.get("config", {}).get("settings", {}).get("question", ""))
    records = {record.id: record for record in read_records(run) if record.status != "error"}
    found: dict[str, list[Answered]] = {}

    def add(record: Record, condition: str, answer: str | None) -> None:
        if answer is not None:
            found.setdefault(condition, []).append(
                Answered(
                    record.id,
                    record.group or record.id,
                    condition,
                    references.question(record, asked),
                    answer,
                    references.of(record),
                )
            )

    for record in records.values():
        add(record, CLEAN, record.clean_output)
        add(record, PICKED, record.output)
    for entry in read_trace(run):
        condition = entry.perturbation.get("condition")
        if condition is not None and entry.id in records:
            add(records[entry.id], str(condition), entry.output)
    if not found:
        raise UserError(
            f"{run} holds no answers: run it with a target that answers, such as openai:MODEL, and"
            f" a question (--set question=...); conditions are in {TRACE}, which --no-trace leaves out"
        )
    return found


def _names(record: Record) -> list[str]:
    """What a file of references may call a sample's picture."""
    stem = Path(record.image).stem
    number = re.search(r"(\d+)$", stem)
    names = [record.id, record.group, stem, str(int(number[1])) if number else ""]
    return list(dict.fromkeys(name for name in names if name))


def _rows(path: Path, content: str) -> Iterator[tuple[str, str, list[Any], str]]:
    """(where, name, references, question) of each entry."""
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict) and isinstance(whole.get("annotations"), list):
        for index, entry in enumerate(whole["annotations"]):
            where = f"{path}, annotation {index + 1}"
            if not isinstance(entry, dict) or "image_id" not in entry or "caption" not in entry:
                raise UserError(f"{where}: expected image_id and caption, as COCO has them")
            yield where, str(entry["image_id"]), [entry["caption"]], ""
        return
    for number, text in enumerate(content.split("\n"), start=1):
        if not text.strip():
            continue
        where = f"{path} line {number}"
        try:
            line = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{where} is not JSON ({error}): correct it") from error
        if (
            not isinstance(line, dict)
            or "id" not in line
            or not isinstance(line.get("references"), list)
        ):
            raise UserError(f'{where}: expected {{"id", "references": [...]}}')
        question = line.get("question") or ""
        yield where, str(line["id"]), line["references"], str(question)
