import csv
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from attacks.advdreamer import naturalness_annotator
from attacks.advdreamer.naturalness_annotator import Annotator, annotate, read
from benchmark import registry
from benchmark.errors import UserError
from benchmark.types import ModelInfo, Pixels, Sampling
from tests.fakes import picture

GOOD = "A mug, upright.\nFidelity: 4\nPlausibility: 3.5"


@dataclass
class FakeAnswerer:
    """Says what is enqueued, in order; `history` has the prompts."""

    replies: list[str]
    history: list[str] = field(default_factory=list)
    info: ModelInfo = field(default_factory=lambda: ModelInfo("fake:vlm", preprocessing="none"))

    def answer(
        self, images: Sequence[Pixels], prompts: Sequence[str], sampling: Sampling
    ) -> list[str]:
        assert len(images) == len(prompts)
        assert sampling.temperature == 0
        self.history += prompts
        return [self.replies.pop(0) for _ in prompts]


def annotator(
    monkeypatch: pytest.MonkeyPatch, *replies: str, **settings: Any
) -> tuple[Annotator, FakeAnswerer]:
    model = FakeAnswerer(list(replies))
    monkeypatch.setattr(registry, "create", lambda kind, spec, given: model)
    return Annotator("fake:vlm", settings), model


@pytest.mark.parametrize(
    ("reply", "fidelity", "plausibility"),
    [
        (GOOD, 4, 3.5),
        ("**Visual fidelity**: 4/5\n**Physical plausibility:** 2 out of 5", 4, 2),
        ("fidelity = 3,5; PLAUSIBILITY = 1", 3.5, 1),
        ('{"fidelity": 5, "plausibility": 2.5}', 5, 2.5),
        ("Fidelity (1-5): 2\nPlausibility (on a scale of 1 to 5): 3", 2, 3),
        # 8 of 10: 1 + 4 * 0.8; 50 of 100: 1 + 4 * 0.5.
        ("Fidelity: 8/10\nPlausibility: 50/100", 4.2, 3),
        # The last of each kind counts: earlier ones are reasoning.
        ("Its fidelity is about 2 ... plausibility 2?\nFidelity: 4\nPlausibility: 5", 4, 5),
        ("Realism: 3\nPlausible: 4", 3, 4),
    ],
)
def test_scores_are_found_whatever_is_around_them(
    reply: str, fidelity: float, plausibility: float
) -> None:
    rating = read(reply)
    assert (rating.fidelity, rating.plausibility) == pytest.approx((fidelity, plausibility))
    assert rating.reply == reply


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "it gave no number for fidelity"),
        ("Fidelity: 4", "it gave no number for plausibility"),
        ("2. Visual fidelity: it is good\n3. Plausibility: 3", "no number for fidelity"),
        ("Fidelity: 7\nPlausibility: 3", "fidelity 7 is not from 1 to 5"),
        ("Fidelity: 4\nPlausibility: 0", "plausibility 0 is not from 1 to 5"),
    ],
)
def test_what_cannot_be_read_says_why(reply: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read(reply)


def test_only_unread_pictures_are_asked_again_and_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    tool, model = annotator(monkeypatch, GOOD, "I {cannot} say.", "Fidelity: 2\nPlausibility: 1")
    first, second = tool.rate([picture(0), picture(1)])
    assert first is not None
    assert second is not None
    assert (second.fidelity, second.plausibility) == (2, 1)
    assert len(model.history) == 3
    assert model.history[0] == model.history[1]
    assert model.history[2].startswith(model.history[0])
    assert "it gave no number for fidelity" in model.history[2]
    assert "I {cannot} say." in model.history[2]


def test_after_all_tries_a_picture_has_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    tool, model = annotator(monkeypatch, "no", "no", GOOD, tries=2)
    assert tool.rate([picture(0)]) == [None]
    assert len(model.history) == 2
    model.replies = ["no", "no"]
    assert all(math.isnan(score) for score in tool.ask([picture(0)])[0])
    assert tool.ask([]) == []


def test_it_says_which_model_and_prompts_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool, _ = annotator(monkeypatch)
    assert tool.info.id == "annotator:fake:vlm"
    assert tool.info.preprocessing.endswith("; none")
    (tmp_path / "rate.txt").write_text("How natural?")
    (tmp_path / "again.txt").write_text("{prompt} {reason} {reply}")
    other, _ = annotator(monkeypatch, prompts=str(tmp_path))
    assert other.info.preprocessing != tool.info.preprocessing


def test_mistakes_are_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="needs a target that answers: annotator:openai"):
        Annotator("", {})
    with pytest.raises(UserError, match="tries 0 cannot be used"):
        Annotator("fake:vlm", {"tries": 0})
    with pytest.raises(UserError, match=r"no prompt .*rate.txt: a folder of prompts needs"):
        annotator(monkeypatch, prompts=str(tmp_path))
    (tmp_path / "rate.txt").write_text("How natural?")
    (tmp_path / "again.txt").write_text("{prompt} {reason}")
    with pytest.raises(UserError, match=r"again.txt lacks {reply}"):
        annotator(monkeypatch, prompts=str(tmp_path))
    monkeypatch.setattr(registry, "create", lambda kind, spec, given: object())
    with pytest.raises(UserError, match="target fake:vlm answers no questions"):
        Annotator("fake:vlm", {})


def folder_of(path: Path, n: int) -> Path:
    path.mkdir()
    with (path / "ratings.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["image", "fidelity", "plausibility", "group"])
        for i in range(n):
            Image.fromarray(picture(i)).save(path / f"{i}.png")
            writer.writerow([f"{i}.png", *(("3", "3") if i == 0 else ("", "")), f"g{i}"])
    return path


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "ratings.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_empty_scores_of_a_folder_are_filled_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "rated", 4)
    tool, _ = annotator(monkeypatch, GOOD, "no", GOOD, tries=1)
    assert annotate(folder, tool, lambda text: None) == (2, 1)
    assert [row["fidelity"] for row in rows_of(folder)] == ["3", "4", "", "4"]
    assert [row["group"] for row in rows_of(folder)] == ["g0", "g1", "g2", "g3"]
    said = [json.loads(line) for line in (folder / "replies.jsonl").read_text().splitlines()]
    assert [one["image"] for one in said] == ["1.png", "3.png"]
    assert said[0]["reply"] == GOOD
    again, model = annotator(monkeypatch, "Fidelity: 1\nPlausibility: 2")
    assert annotate(folder, again, lambda text: None) == (1, 0)
    assert len(model.history) == 1  # only what is still empty
    assert rows_of(folder)[2]["plausibility"] == "2"


def test_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_of(tmp_path / "rated", 2)
    model = FakeAnswerer([GOOD])
    monkeypatch.setattr(registry, "create", lambda kind, spec, given: model)
    assert naturalness_annotator.main([str(folder), "--model", "fake:vlm"]) == 0
    assert "rated 1 pictures, 0 could not be" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        naturalness_annotator.main([str(tmp_path), "--model", "fake:vlm"])
    assert stopped.value.code == 2
    assert "no ratings.csv in" in capsys.readouterr().err


def test_pictures_reach_the_model_as_they_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[Pixels] = []

    class Looking(FakeAnswerer):
        def answer(
            self, images: Sequence[Pixels], prompts: Sequence[str], sampling: Sampling
        ) -> list[str]:
            seen.extend(images)
            return super().answer(images, prompts, sampling)

    model = Looking([GOOD])
    monkeypatch.setattr(registry, "create", lambda kind, spec, given: model)
    annotate(folder_of(tmp_path / "rated", 2), Annotator("fake:vlm", {}), lambda text: None)
    np.testing.assert_array_equal(seen[0], picture(1))
