import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.answers import Answered, References, read_answers, read_references
from benchmark.errors import UserError
from benchmark.records import RunFolder
from benchmark.types import JSON, Record, TraceEntry
from tests import fakes


def record(key: str = "7", **changes: Any) -> Record:
    values: dict[str, Any] = {"id": key, "group": f"g{key}", "status": "success", "text": "duck"}
    return Record(**values | changes)


def entry(key: str, condition: str | None, output: str | None) -> TraceEntry:
    perturbation: dict[str, JSON] = {} if condition is None else {"condition": condition}
    return TraceEntry(key, 0, None, perturbation, {}, None, False, output=output)


def run(path: Path, *outcomes: tuple[Record, list[TraceEntry]], question: str = "What?") -> Path:
    config = fakes.config(settings={"question": question}).to_json()
    with RunFolder.create(path, {"config": config}) as folder:
        folder.append(outcomes)
    return path


def test_answers_are_told_apart_by_condition(out: Path) -> None:
    spoken = record(clean_output="a duck", output="a shoe", image="x/COCO_000012.jpg")
    silent = record("8", clean_output=None)
    trace = [entry("7", "center", "a hat"), entry("7", "center", "a cap"), entry("7", None, "?")]
    references = References({"12": ("a duck swims", "one duck")}, {"12": "Which bird?"})
    found = read_answers(
        run(out, (spoken, trace), (silent, [entry("8", "center", None)])), references
    )

    def answered(condition: str, answer: str) -> Answered:
        said = ("a duck swims", "one duck")
        return Answered("7", "g7", condition, "Which bird?", answer, said)

    assert found == {
        "clean": [answered("clean", "a duck")],
        "adversarial": [answered("adversarial", "a shoe")],
        "center": [answered("center", "a hat"), answered("center", "a cap")],
    }


def test_without_a_file_the_sample_itself_says_what_is_right(out: Path) -> None:
    labelled = record(clean_output="yes")
    asked = record("8", output="A", perturbation={"answer": "mug", "question": "What is it?"})
    found = read_answers(run(out, (labelled, []), (asked, [])), References())
    (clean,), (picked,) = found["clean"], found["adversarial"]
    assert (clean.question, clean.references) == ("What?", ("duck",))
    assert (picked.question, picked.references) == ("What is it?", ("mug",))


def test_errors_have_no_answers(out: Path) -> None:
    failed = record(status="error", clean_output="a duck")
    with pytest.raises(UserError, match="holds no answers: run it with a target that answers"):
        read_answers(run(out, (failed, [entry("7", "center", "a")])), References())


def test_a_sample_without_references_is_named(out: Path) -> None:
    path = run(out, (record(clean_output="a duck", image="a/b12.png"), []))
    with pytest.raises(
        UserError,
        match="no references for sample 7: give lines with an id such as '7' or 'g7' or 'b12' or '12'",
    ):
        read_answers(path, References({"9": ("x",)}))


def test_references_are_lines(tmp_path: Path) -> None:
    file = tmp_path / "refs.jsonl"
    lines: list[dict[str, Any]] = [
        {"id": 7, "references": ["a"], "question": "What?"},
        {"id": "x", "references": ["b", "c"]},
        {"id": 7, "references": ["d"]},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    assert read_references(file) == References({"7": ("a", "d"), "x": ("b", "c")}, {"7": "What?"})


def test_references_are_cocos_captions(tmp_path: Path) -> None:
    file = tmp_path / "captions_val2014.json"
    said = [{"image_id": 7, "caption": text} for text in ("a", "b")]
    file.write_text(json.dumps({"images": [], "annotations": said}, indent=1))
    assert read_references(file).by_name == {"7": ("a", "b")}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no references: write lines"),
        ("{", "line 1 is not JSON"),
        ("[1]", r'line 1: expected \{"id", "references"'),
        ('{"id": 1, "references": "a"}', "line 1: expected"),
        ('{"id": 1, "references": []}', r"line 1: references are \[\]: give a list of texts"),
        ('{"id": 1, "references": [" "]}', "give a list of texts"),
        ('{"annotations": [{"caption": "a"}]}', "annotation 1: expected image_id and caption"),
        ("\udce9", "is not UTF-8"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "refs"
    file.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(UserError, match=message):
        read_references(file)
    with pytest.raises(UserError, match="none: there is no such file"):
        read_references(tmp_path / "none")
