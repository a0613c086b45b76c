"""`run --attack evolution`: against a server of the OpenAI protocol, killed and resumed, and offline."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from benchmark.records import read_header, read_records, read_trace
from benchmark.toybox.captions import full_caption
from benchmark.toybox.sampling import sample_scene
from tests.cli.conftest import Trident
from tests.loopback import Answer, Server, said, serving

ROOT = Path(__file__).parents[2]
SMALL = (
    "--set", "pool=24", "--set", "population=3,3,2,2,1,1", "--set", "survivors=3,3,2,2,1,1",
    "--set", "islands=2",
)  # fmt: skip


def caption(number: int) -> str:
    return full_caption(sample_scene(number))


def described(image: str) -> Any:
    """What the target says of a picture: mostly some caption, and whatever else servers send."""
    number = int(sha256(image.encode()).hexdigest()[:8], 16)
    special: dict[int, Any] = {
        0: said("I'm sorry, but I can't describe this picture."),
        1: said("", finish="content_filter"),
        2: said(""),
        3: Answer({"error": {"message": "overloaded"}}, status=500),
        4: said("dog dog dog dog dog dog dog dog"),
        5: said("A dog."),
        6: said("There is no caption of the small world in this answer."),
    }
    return special.get(number % 24, said(caption(number)))


def written(prompt: str, seed: int) -> Any:
    """What the language model writes: captions in all kinds of wrapping, again and again, or nothing."""
    number = int(sha256(f"{seed}{prompt}".encode()).hexdigest()[:8], 16)
    captions = [caption(number + n) for n in range(int(number % 5 == 3) or 12)]
    wrapped: dict[int, Any] = {
        0: said(f"Sure! Here you are:\n```json\n{json.dumps({'captions': captions})}\n```\nEnjoy!"),
        1: said("\n".join(f"{n}. {text}" for n, text in enumerate(captions, start=1))),
        2: said(json.dumps({"captions": [caption(1), caption(2), caption(1).upper()]})),
        3: said("I'd rather talk about something else, for instance about the weather at sea."),
        4: said(None, finish="content_filter"),
    }
    return wrapped.get(number % 8, said(json.dumps({"captions": captions})))


def talk(body: dict[str, Any]) -> Any:
    content = body["messages"][0]["content"]
    if isinstance(content, list):
        return described(content[0]["image_url"]["url"])
    return written(content, int(body["seed"]))


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as script:
        script.default = talk
        yield script


def served(server: Server) -> tuple[str, ...]:
    return (
        "run", "--attack", "evolution", "--target", "openai:tiny", "--base-url", server.url,
        "--set", "operators=prompts", "--set", f"llm=openai:writer@{server.url}",
        "--set", "target.retries=0", *SMALL,
    )  # fmt: skip


def found(folder: str, search: str) -> dict[str, Any]:
    for record in read_records(Path(folder)):
        if record.id == search:
            assert record.error is None
            return dict(record.found)
    raise AssertionError(search)


def test_a_server_that_says_all_kinds_of_things(trident: Trident, server: Server) -> None:
    result = trident(*served(server), "--out", "run")
    assert result.code == 0, result.err
    for search in ("evolution", "random_search", "lance", "nl_adv"):
        one = found("run", f"{search}-0")
        assert 0 < one["evaluations"] <= 24 + 2 * 2 * 12 + 2 * 12
        assert one["finals"]
    one = found("run", "evolution-0")
    statuses = {"scored", "refused", "error", "short", "malformed", "repetitive"}
    assert {*one["counted"]} <= statuses
    assert len(one["counted"]) >= 4  # about one answer in three is no description
    assert one["counted"]["scored"] > one["evaluations"] / 2
    assert one["llm_calls"] > 20
    assert one["llm_failures"] < one["llm_calls"]
    texts = [final["text"] for final in one["finals"]]
    assert len({*texts}) == len(texts)
    assert "generation 6/6: best " in result.err
    with Path("run/table.csv").open() as file:
        table = list(csv.DictReader(file))
    assert table


def test_calls_of_the_language_model_can_be_capped(trident: Trident, server: Server) -> None:
    result = trident(
        *served(server), "--out", "run", "--set", "max_llm_calls=12",
        "--set", "dataset.searches=evolution",
    )  # fmt: skip
    assert result.code == 0, result.err
    one = found("run", "evolution-0")
    assert one["llm_calls"] == 12
    assert one["stopped"] == "llm budget"
    asked = Counter(body["model"] for body in server.requests)
    assert asked["writer"] <= 12


def comparable(folder: Path) -> tuple[list[Any], list[Any], bytes]:
    """Records and trace by id, and the table; without what a clock says."""
    records = sorted(read_records(folder), key=lambda record: record.id)
    trace = sorted(read_trace(folder), key=lambda entry: (entry.id, entry.index))
    return (
        [asdict(replace(record, seconds=0)) for record in records],
        [asdict(entry) for entry in trace],
        (folder / "table.csv").read_bytes(),
    )


def kill_in_generation(words: tuple[str, ...], generation: int) -> None:
    """Run in a process of its own, which is killed once it has told of that generation's beginning."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmark", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stderr is not None
        seen = []
        for line in process.stderr:
            seen.append(line)
            if f"evolution-0: generation {generation - 1}/6" in line:
                time.sleep(0.2)
                process.send_signal(signal.SIGKILL)
                break
        else:
            raise AssertionError("it ended before it could be killed: " + "".join(seen))
    assert process.returncode == -signal.SIGKILL


def test_killed_in_generation_4_and_resumed_it_ends_as_if_it_had_not_been(
    trident: Trident, server: Server
) -> None:
    """Servers repeat themselves no more than they like: what they said is in the run's journal."""
    searches = ("--set", "dataset.searches=evolution,random_search")
    asked: set[str] = set()
    repeated: list[str] = []

    def unlike_itself(body: dict[str, Any]) -> Any:
        key = json.dumps(body, sort_keys=True)
        if key in asked and isinstance(talk(body), dict):
            repeated.append(key)
        asked.add(key)
        time.sleep(0.005)
        return talk(body)

    server.default = unlike_itself
    kill_in_generation((*served(server), *searches, "--out", "killed"), 4)
    assert read_header(Path("killed"))["status"] == "running"
    assert not list(read_records(Path("killed")))
    before = len(asked)
    result = trident("run", "--resume", "killed")
    assert result.code == 0, result.err
    assert len(asked) > before
    answered = [key for key in repeated if usable(json.loads(key))]
    assert len(answered) <= 64  # what was under way when it was killed
    server.default = talk
    result = trident(*served(server), *searches, "--out", "whole")
    assert result.code == 0, result.err
    assert comparable(Path("killed")) == comparable(Path("whole"))


def usable(body: dict[str, Any]) -> bool:
    """Whether the server gives an answer that can be kept."""
    answer = talk(body)
    return isinstance(answer, dict) and bool(answer["choices"][0]["message"]["content"])


def test_it_runs_offline_on_the_miniature(trident: Trident) -> None:
    result = trident(
        "run", "--attack", "evolution", "--target", "lvlm", "--out", "run", "--set", "pool=16",
        "--set", "population=2,1", "--set", "survivors=2,1", "--set", "islands=2",
        "--set", "dataset.searches=evolution,random_search", "--set", "fresh=1",
    )  # fmt: skip
    assert result.code == 0, result.err
    one = found("run", "evolution-0")
    assert re.search(r"generation 2/2: best 1?\.\d\d, mean 1?\.\d\d, \d+ evaluations", result.err)
    assert one["counted"]["scored"] > 0.9 * one["evaluations"]
    assert one["pool"]["mean"] > 0.5  # the miniature describes most things well
    (record, _) = read_records(Path("run"))
    for final in one["finals"]:
        assert Path(f"run/artifacts/{record.artifacts[final['picture']]}.png").is_file()
