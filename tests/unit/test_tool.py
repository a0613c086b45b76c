from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.cache import Cache
from benchmark.errors import UserError
from benchmark.tool import Tool
from benchmark.types import ModelInfo, Sampling
from tests.fakes import FakeTarget, FakeTool
from tests.report_fakes import FakeAdviser, FakePainter

GREEDY, DRAWN = Sampling(temperature=0), Sampling(temperature=0.7)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "calls.sqlite", pytest.fail)


def test_what_is_no_tool_is_refused() -> None:
    with pytest.raises(UserError, match="FakeTarget cannot be a tool"):
        Tool(FakeTarget())  # type: ignore[arg-type]


def test_replies_are_batched_and_asked_for_once(cache: Cache) -> None:
    tool = Tool(model := FakeTool(), cache, 2)
    replies = tool.complete(["p", "p", "q", "p"], [1, 2, 1, 1], DRAWN)
    assert replies == ["p (1)", "p (2)", "q (1)", "p (1)"]
    assert model.history == [[("p", 1), ("p", 2)], [("q", 1), ("q", 1)]]
    assert tool.counts.replies_generated == 3
    again = Tool(FakeTool(), cache, 2)
    assert again.complete(["q"], [1], DRAWN) == ["q (1)"]
    assert again.counts.cache_hits == 1


def test_sampling_is_part_of_the_question() -> None:
    tool = Tool(FakeTool(), None, 1)
    tool.complete(["p"], [1], DRAWN)
    tool.complete(["p"], [1], Sampling(temperature=0.7, max_new_tokens=41))
    assert tool.counts.replies_generated == 2


def test_greedy_replies_do_not_depend_on_the_seed() -> None:
    tool = Tool(FakeTool(), None, 4)
    assert len(set(tool.complete(["p"] * 3, [1, 2, 3], GREEDY))) == 1
    assert tool.counts.replies_generated == 1


def test_replies_of_any_alphabet_survive_the_cache(cache: Cache) -> None:
    model = FakeTool()
    model.enqueue("p", "naïve 猫 \ud800")
    first = Tool(model, cache).complete(["p"], [0], DRAWN)
    assert Tool(FakeTool(), cache).complete(["p"], [0], DRAWN) == first == ["naïve 猫 \ud800"]


def test_missing_replies_are_refused() -> None:
    class Silent(FakeTool):
        def complete(self, *_: object) -> list[str]:
            return []

    with pytest.raises(ValueError, match="returned 0 replies for 64 prompts"):
        Tool(Silent()).complete(["p"], [0], DRAWN)


def test_items_are_asked_in_order_as_many_as_there_are() -> None:
    tool = Tool(model := FakeAdviser(rule=lambda item: item * 2), batch_size=2)
    assert tool.ask([1, 1, 5]) == [2, 2, 10]
    assert model.history == [2, 1]  # neither deduplicated nor filled up
    assert tool.ask([]) == []
    assert (tool.counts.asked, tool.counts.replies_generated) == (3, 3)


def test_missing_advice_is_refused() -> None:
    class Silent(FakeAdviser):
        def ask(self, items: object) -> list[object]:
            return []

    with pytest.raises(ValueError, match="ask returned 0 answers for 1 items"):
        Tool(Silent()).ask([1])


def test_pictures_are_painted_once_and_never_as_padding(cache: Cache) -> None:
    tool = Tool(model := FakePainter(declined={"b"}), cache, 4)
    first = tool.paint(["a", "a", "b", "a"], [1, 1, 1, 2])
    assert model.history == [[("a", 1), ("b", 1), ("a", 2)]]
    assert first[2] is None
    assert np.array_equal(first[0], first[1])  # type: ignore[arg-type]
    assert not np.array_equal(first[0], first[3])  # type: ignore[arg-type]
    assert (tool.counts.asked, tool.counts.pictures_painted) == (4, 3)


def test_painted_and_declined_pictures_come_back_from_the_cache_as_they_were(cache: Cache) -> None:
    first = Tool(FakePainter(declined={"b"}), cache).paint(["a", "b"], [1, 1])
    again = Tool(model := FakePainter(), cache).paint(["a", "b"], [1, 1])
    assert model.history == []
    assert np.array_equal(first[0], again[0])  # type: ignore[arg-type]
    assert first[1] is again[1] is None


def test_what_is_no_picture_is_refused() -> None:
    class Grey(FakePainter):
        def paint(self, *_: object) -> list[Any]:
            return [np.zeros((8, 8), dtype=np.uint8)]

    class Silent(FakePainter):
        def paint(self, *_: object) -> list[Any]:
            return []

    with pytest.raises(ValueError, match="must be uint8 of shape"):
        Tool(Grey()).paint(["a"], [1])
    with pytest.raises(ValueError, match="paint returned 0 pictures for 1 texts"):
        Tool(Silent()).paint(["a"], [1])
    with pytest.raises(ValueError, match="fake-tool does not paint"):
        Tool(FakeTool()).paint(["a"], [1])


def test_a_journal_keeps_what_the_cache_must_not_have(tmp_path: Path, cache: Cache) -> None:
    nameless = ModelInfo("somebody's server")
    journal = Cache(tmp_path / "journal.sqlite", pytest.fail)
    Tool(FakeTool(info=nameless), cache, journal=journal).complete(["p"], [0], DRAWN)
    for keeper, asked in ((None, 1), (journal, 0)):
        model = FakeTool(info=nameless)
        Tool(model, cache, journal=keeper).complete(["p"], [0], DRAWN)
        assert len(model.history) == asked
