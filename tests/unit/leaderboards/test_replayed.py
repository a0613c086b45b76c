from pathlib import Path
from typing import Any

import pytest

from leaderboards.keeper import Keeper
from leaderboards.replayed import NotHadError, replay_some
from leaderboards.submission import read
from tests.unit.leaderboards.conftest import New
from tests.unit.leaderboards.drafts import Draft, Line


def test_an_honest_entry_agrees(new: New) -> None:
    draft = new()
    agreement = replay_some(read(draft.path), share=0.5, seed=0)
    assert (agreement.replayed, agreement.agreed, agreement.differing) == (6, 6, ())
    assert agreement.enough
    assert agreement.success == agreement.reported


def test_pictures_are_replayed_too(new: New) -> None:
    agreement = replay_some(read(new("advdreamer").path))
    assert (agreement.replayed, agreement.agreed) == (2, 2)


def test_answers_are_replayed_too(new: New) -> None:
    draft = new("evolution")
    agreement = replay_some(read(draft.path))
    assert (agreement.replayed, agreement.agreed) == (1, 1)
    draft.edit_lines("records.jsonl", lambda lines: lines[0].update(output="a cat"))
    assert replay_some(read(draft.path)).agreed == 0


def test_made_up_scores_are_found_out(new: New) -> None:
    """What no recomputation can tell: scores that the model never gave."""
    draft = new()

    def flatter(lines: list[Line]) -> None:
        for line in lines:
            line["score"] = round(line["score"] - 0.3, 6)

    draft.edit_lines("records.jsonl", flatter)
    agreement = replay_some(read(draft.path), share=1.0)
    assert agreement.agreed == 0
    assert not agreement.enough


def test_what_the_keepers_found_stands_beside_the_entry(new: New) -> None:
    draft = new()
    keeper = Keeper()
    report = keeper.validate(draft.root)
    from benchmark.config import Execution

    (line,) = keeper.replay(draft.root, report, Execution(), share=0.1, by="the keepers")
    assert "5 of 5 replayed examples agree" in line
    found = read(draft.path)
    assert found.problems == []
    assert found.reproduced is not None
    assert found.reproduced["entry"] == found.digest
    assert keeper.validate(draft.root).passed


@pytest.mark.parametrize(
    "target",
    ["openai:gpt@http://127.0.0.1:1", "open_clip:/etc/model", "transformers:../x", "open_clip:."],
)
def test_no_strangers_file_or_server_is_opened(
    new: New, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmark import registry

    def refuse(*_: Any) -> None:
        raise AssertionError("a target was made")

    draft = new()
    draft.config(target=target)
    monkeypatch.setattr(registry, "create", refuse)
    with pytest.raises(NotHadError, match="not one whose weights are published"):
        replay_some(_unchecked(draft))


def test_a_local_folder_is_no_published_model(
    new: New, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "org" / "model").mkdir(parents=True)
    draft = new()
    draft.config(target="open_clip:org/model")
    with pytest.raises(NotHadError, match="not one whose weights are published"):
        replay_some(_unchecked(draft))


def test_other_weights_are_not_replayed(new: New) -> None:
    draft = new()
    draft.edit("run.json", lambda h: h["models"]["target"].update(weights="1" * 64))
    with pytest.raises(NotHadError, match=r"the entry is about 111111111111"):
        replay_some(_unchecked(draft))


def _unchecked(draft: Draft) -> Any:
    """A submission whose config was not looked at."""
    found = read(draft.path)
    if found.config is None:
        from benchmark.config import RunConfig

        found.header = draft.json("run.json")
        found.config = RunConfig.from_json(draft.json("run.json")["config"])
    return found
