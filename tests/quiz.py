"""A small set of questions: pictures of the embedded world as JSON lines, and as samples."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image

from benchmark.datasets.toybox import ToyboxDataset
from benchmark.questions import Question
from benchmark.types import Sample
from tests.fakes import FakeDataset

CHOICES = ["duck", "mug", "car", "tree"]


def line(**changes: Any) -> dict[str, Any]:
    """One line of a file, as it should be."""
    values: dict[str, Any] = {
        "id": "q0",
        "image": "a.png",
        "label": "duck",
        "question": "What is it?",
        "choices": CHOICES,
        "answer": "duck",
        "orientation": "turned left",
        "source": "digital",
        "theta": [1, 2, 3, 0, 0, 1],
    }
    return values | changes


def write(folder: Path, *lines: dict[str, Any] | str) -> Path:
    """A file of these lines, beside a picture a.png and another b.png."""
    for name, colour in (("a.png", (200, 100, 0)), ("b.png", (0, 100, 200))):
        Image.new("RGB", (5, 4), colour).save(folder / name)
    file = folder / "quiz.jsonl"
    texts = [each if isinstance(each, str) else json.dumps(each) for each in lines]
    file.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return file


@cache
def questions(n: int = 20) -> FakeDataset:
    """`n` questions, of which every second is about a picture from somewhere else."""
    samples = []
    for index, sample in enumerate(ToyboxDataset("", {"n": n})):
        answer = CHOICES[index % 4]
        asked = Question(
            text="What is it?",
            choices=(*CHOICES[index % 3 :], *CHOICES[: index % 3]),
            answer=answer,
            orientation="turned left" if index % 3 else "upside down",
            source="physical" if index % 2 else "digital",
        )
        samples.append(Sample(f"q{index:02}", answer, sample.image, group=f"g{index}", scene=asked))
    return FakeDataset(samples)
