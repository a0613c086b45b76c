import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.config import resolve
from benchmark.datasets.mm3dtbench import MM3DTBenchDataset
from benchmark.errors import UserError
from benchmark.questions import Question
from tests.quiz import CHOICES, line, write


def read(path: Path, **settings: Any) -> MM3DTBenchDataset:
    return MM3DTBenchDataset(str(path), settings)


def test_a_line_is_a_sample(tmp_path: Path) -> None:
    data = read(write(tmp_path, line()), shuffle=False)
    (sample,) = data
    assert (sample.id, sample.text, sample.group) == ("q0", "duck", "a.png")
    assert sample.image is not None
    assert sample.image.load().shape == (4, 5, 3)
    assert sample.scene == Question(
        "What is it?", tuple(CHOICES), "duck", "turned left", "digital", (1, 2, 3, 0, 0, 1)
    )
    assert data.labels == ("duck",)


def test_pictures_made_from_one_are_a_group(tmp_path: Path) -> None:
    (sample,) = read(write(tmp_path, line(group="photo 7")))
    assert sample.group == "photo 7"


def test_what_may_be_left_out(tmp_path: Path) -> None:
    short = {k: v for k, v in line().items() if k not in ("orientation", "source", "theta")}
    (sample,) = read(write(tmp_path, short))
    assert sample.scene.theta is None
    assert (sample.scene.orientation, sample.scene.source) == ("", "")


def test_choices_are_shuffled_by_the_id(tmp_path: Path) -> None:
    lines = [line(id=f"q{n}") for n in range(200)]
    samples = list(read(write(tmp_path, *lines)))
    places = [sample.scene.choices.index("duck") for sample in samples]
    assert [places.count(place) for place in range(4)] == pytest.approx([50] * 4, abs=20)
    assert all(sorted(sample.scene.choices) == sorted(CHOICES) for sample in samples)
    turned = [line(id=f"q{n}", choices=CHOICES[::-1]) for n in range(200)]
    assert [s.scene for s in read(write(tmp_path, *turned))] == [s.scene for s in samples]


def test_the_order_is_part_of_what_data_it_is(tmp_path: Path) -> None:
    file = write(tmp_path, *(line(id=n) for n in range(9)))
    assert read(file).info != read(file, shuffle=False).info
    assert read(file).info.id == "mm3dtbench:quiz.jsonl"


def test_pictures_may_be_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    file = write(tmp_path, line())
    (tmp_path / "a.png").rename(tmp_path / "pictures" / "a.png")
    (sample,) = read(file, data_root=str(tmp_path / "pictures"))
    assert sample.image is not None
    sample.image.load()
    (sample,) = read(file)
    assert sample.image is not None
    with pytest.raises(FileNotFoundError, match=r"a\.png does not exist"):
        sample.image.load()


def test_a_separator_within_a_text_ends_no_line(tmp_path: Path) -> None:
    file = write(tmp_path, json.dumps(line(question="What\u2028is it?"), ensure_ascii=False), "")
    (sample,) = read(file)
    assert sample.scene.text == "What\u2028is it?"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("{", r"line 2 is not JSON \(.*\): correct it"),
        ("[" * 100_000, "line 2 is not JSON"),
        ("[]", r"line 2 is no object: write \{\.\.\.\} on a line of its own"),
        (line(), r"line 2: id 'q0' is that of line 1: make ids unique"),
        (line(id=None), "line 2: id is null: give a text"),
        ({"id": "x"}, "line 2: image is missing: give a text"),
        (line(id="x", label=" "), 'line 2: label is " ": give a text'),
        (line(id="x", question=3), "line 2: question is 3: give a text"),
        (line(id="x", source=3), "line 2: source is 3: give a text"),
        (line(id="x", choices="duck"), 'choices are "duck": give a list of texts'),
        (line(id="x", choices=["duck", ""]), "give a list of texts"),
        (line(id="x", choices=["duck"]), r"1 choices \(duck\): give 2 to 26 that differ"),
        (line(id="x", choices=["duck", "Duck"]), r"2 choices \(duck, Duck\): give 2 to 26"),
        (line(id="x", choices=[str(n) for n in range(27)]), "27 choices"),
        (line(id="x", answer="cow"), "answer 'cow' is not among the choices: add it"),
        (line(id="x", theta=[1, 2]), r"theta is \[1, 2\]: give \[yaw, pitch, roll, dx, dy"),
        (line(id="x", theta=[1, 2, 3, 4, 5, True]), "theta is"),
        (line(id="x", theta=[1, 2, 3, 4, 5, float("nan")]), "theta is"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, bad: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(write(tmp_path, line(), bad))


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no file '': give JSON lines as `export mm3dtbench RUN`"):
        MM3DTBenchDataset("", {})
    with pytest.raises(UserError, match="holds no questions: add one line for each"):
        read(write(tmp_path, ""))
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "\xe9"}')
    with pytest.raises(UserError, match="is not UTF-8"):
        read(tmp_path / "latin.jsonl")


def test_a_jsonl_file_is_a_data_set_of_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = resolve("mm3dtbench", "clip", dataset="set/quiz.jsonl")
    assert config.dataset == f"mm3dtbench:{tmp_path / 'set' / 'quiz.jsonl'}"
    assert config.dataset_name == "quiz.jsonl"
    with pytest.raises(UserError, match=r"'mm3dtbench' needs a file: --dataset FILE\.jsonl"):
        resolve("mm3dtbench", "clip", dataset="mm3dtbench")
