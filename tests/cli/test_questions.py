"""Questions, from a run that is exported to the table of those who answered."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark.datasets.toybox import ToyboxDataset
from benchmark.records import RunFolder, read_records
from benchmark.tables import read_csv
from benchmark.types import JSON, Record
from tests import fakes
from tests.cli.conftest import Trident
from tests.loopback import Server, said, serving


@pytest.fixture
def exported(trident: Trident, tmp_path: Path) -> Path:
    """Twenty questions about pictures of the embedded world, each of another class."""
    settings: dict[str, JSON] = {
        "kind": "single",
        "labels": True,
        "balanced": True,
        "n": 20,
        "px": 64,
    }
    data = ToyboxDataset("", settings)
    header = {
        "config": fakes.config(attack="advdreamer").to_json(),
        "attack_details": {"labels": list(data.labels)},
    }
    with RunFolder.create(tmp_path / "advdreamer", header) as folder:
        for sample in data:
            assert sample.image is not None
            digest = folder.save_image(sample.image.load())
            poses: JSON = {"center": [[40, 0, 0, 0, 0, 1]]}
            record = Record(
                sample.id,
                sample.group,
                "success",
                sample.text,
                artifacts={"center": digest},
                found={"poses": poses},
            )
            folder.append([(record, ())])
    result = trident(
        "export", "mm3dtbench", "advdreamer", "--out", "quiz", "--conditions", "center"
    )
    assert result.code == 0, result.err
    assert "20 questions (20 of center): quiz/mm3dtbench.jsonl" in result.out
    return tmp_path / "quiz" / "mm3dtbench.jsonl"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with serving() as one:
        yield one


def ask(trident: Trident, target: str, *more: str) -> tuple[int, list[Record], str]:
    result = trident(
        "run", "--attack", "mm3dtbench", "--dataset", "quiz/mm3dtbench.jsonl",
        "--target", target, "--out", "answers", *more,
    )  # fmt: skip
    return result.code, read_records(Path("answers")), result.out + result.err


def test_a_dual_encoder_chooses_the_best_text(exported: Path, trident: Trident) -> None:
    code, records, printed = ask(trident, "clip")
    assert code == 0, printed
    right = [not record.verdicts["misanswered"] for record in records]
    assert len(right) == 20
    assert sum(right) >= 16  # of clean pictures, among four choices; chance is 5
    assert "accuracy" in printed
    assert f"{sum(right) / 20:.4f}".rstrip("0") in printed


def test_a_model_that_answers_is_asked_for_a_letter(
    exported: Path, trident: Trident, server: Server
) -> None:
    server.default = said("A")
    code, records, printed = ask(trident, f"openai:m@{server.url}")
    assert code == 0, printed
    assert len(server.requests) == 20
    for record in records:
        choices = record.perturbation["choices"]
        assert isinstance(choices, list)
        assert record.output == "A"
        assert record.verdicts["misanswered"] is (choices[0] != record.text)
    text = server.requests[0]["messages"][0]["content"][1]["text"]
    assert "\nA. " in text
    assert text.endswith("Answer with the letter of the right choice only.")


def test_free_answers_are_marked_by_a_judge(
    exported: Path, trident: Trident, server: Server
) -> None:
    def speak(body: dict[str, object]) -> object:
        if body["model"] == "judge":
            return said("Verdict: correct" if "a thing" in json.dumps(body) else "Verdict: no")
        return said("a thing")

    server.default = speak
    code, records, printed = ask(
        trident, "openai:m", "--base-url", server.url, "--samples", "5",
        "--set", "task=free", "--set", f"answer_judge=openai:judge@{server.url}",
    )  # fmt: skip
    assert code == 0, printed
    assert [record.verdicts["misanswered"] for record in records] == [False] * 5
    models = [request["model"] for request in server.requests]
    # Clean and candidate are one picture: asked once, marked once.
    assert (models.count("m"), models.count("judge")) == (5, 5)
    header = json.loads(Path("answers/run.json").read_text())
    assert f"tool openai:judge@{server.url}" in header["models"]


def test_a_refusal_is_an_error_and_no_wrong_answer(
    exported: Path, trident: Trident, server: Server
) -> None:
    server.enqueue(said(None, refusal="I would rather not."))
    server.default = said("A")
    code, records, printed = ask(
        trident, f"openai:m@{server.url}", "--samples", "4", "--max-error-rate", "0.5"
    )
    assert code == 0, printed
    errors = [record.error for record in records if record.status == "error"]
    assert errors == ["NoAnswerError: openai:m refused to answer: I would rather not."]
    assert len(server.requests) == 4
    assert sum("misanswered" in record.verdicts for record in records) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--attack", "mm3dtbench", "--target", "clip"], "data set toybox asks no questions: give"),
        (
            ["--attack", "mm3dtbench", "--target", "clip", "--dataset", "no.jsonl"],
            "no.jsonl': give JSON lines",
        ),
        (
            ["--attack", "mm3dtbench", "--target", "openai:m", "--base-url", "here"],
            "base_url 'here' cannot be used: write it like http://localhost:8000/v1",
        ),
        (
            ["--attack", "mac", "--target", "clip", "--base-url", "http://here/v1"],
            "--base-url is for targets behind a server, such as openai:MODEL, not for clip",
        ),
    ],
)
def test_mistakes_are_one_line(
    exported: Path, trident: Trident, arguments: list[str], message: str
) -> None:
    if "openai:m" in arguments:
        arguments = [*arguments, "--dataset", "quiz/mm3dtbench.jsonl"]
    result = trident("run", *arguments)
    assert result.code == 2
    assert message in result.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["coco", "advdreamer"], "unknown format 'coco': there is mm3dtbench"),
        (["mm3dtbench", "nowhere"], "nowhere holds no run: it has no run.json"),
        (["mm3dtbench", "advdreamer", "--choices", "1"], "--choices 1 leaves no choice: give 2"),
        (["mm3dtbench", "advdreamer", "--conditions", ","], "--conditions is empty: name at"),
        (["mm3dtbench", "advdreamer", "--question", " "], "--question is empty: say what is asked"),
        (["mm3dtbench", "advdreamer"], "keeps no pictures of distribution, only of center"),
    ],
)
def test_mistakes_of_an_export_are_one_line(
    exported: Path, trident: Trident, arguments: list[str], message: str
) -> None:
    result = trident("export", *arguments, "--out", "other")
    assert result.code == 2
    (line,) = result.err.splitlines()
    assert message in line
    assert not Path("other").exists()


def test_what_was_said_can_be_marked_after_the_run(
    exported: Path, trident: Trident, server: Server
) -> None:
    def speak(body: dict[str, object]) -> object:
        if body["model"] == "judge":
            return said("Verdict: correct\nScore: 9")
        return said("a thing on a floor")

    server.default = speak
    code, records, printed = ask(
        trident, f"openai:m@{server.url}", "--samples", "4", "--set", "task=free"
    )
    assert code == 0, printed
    people = [{"id": one.id, "references": [f"a {one.text}", "a thing"]} for one in records]
    Path("people.jsonl").write_text("\n".join(map(json.dumps, people)))
    result = trident(
        "answers", "answers", "--references", "people.jsonl",
        "--metrics", "captions,gpt_score,gpt_acc", "--judge", f"openai:judge@{server.url}",
    )  # fmt: skip
    assert result.code == 0, result.err
    rows = {(row.slice, row.metric): row.value for row in read_csv(Path("answers/answers.csv"))}
    assert rows["condition=clean", "gpt_score"] == 27
    assert rows["condition=adversarial", "gpt_acc"] == 1
    assert rows["condition=clean", "bleu_1"] == pytest.approx(2 / 5, abs=1e-4)  # a, thing
    lines = [json.loads(line) for line in Path("answers/answers.jsonl").read_text().splitlines()]
    assert len(lines) == 8
    assert lines[0]["references"] == list(people[0]["references"])
    assert lines[0]["question"] == "What is the main object in this picture?"
    assert "gpt_score" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metrics", "cider"], "unknown answer metric 'cider'"),
        (["--metrics", ","], "--metrics is empty: name at least one of `list answer_metrics`"),
        (["--metrics", "gpt_acc"], "holds no answers"),
        (["--references", "none.jsonl"], "references none.jsonl: there is no such file"),
    ],
)
def test_mistakes_of_marking_are_one_line(
    exported: Path, trident: Trident, arguments: list[str], message: str
) -> None:
    result = trident("answers", "advdreamer", *arguments)
    assert result.code == 2
    (line,) = result.err.splitlines()
    assert message in line
