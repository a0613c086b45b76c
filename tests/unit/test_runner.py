import json
import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmark import assembly, provenance, registry
from benchmark.assembly import Parts, Run, assemble
from benchmark.config import Execution, RunConfig
from benchmark.errors import UserError
from benchmark.events import Event, Finished, SampleDone, Started, Stopping, Totals, Warned
from benchmark.records import RunFolder, read_header, read_records, read_trace
from benchmark.runner import run
from benchmark.tables import read_csv
from benchmark.types import Measure, ModelInfo, Record
from tests import report_fakes
from tests.fakes import (
    EditAttack,
    FakeCriterion,
    FakeDataset,
    FakeEncoder,
    FakeMetric,
    FakeTool,
    Picture,
    build,
    config,
    picture,
    samples,
)

QUICK = Execution(batch_size=8)


def building(**changes: Any) -> Any:
    """A `build` whose parts are the fakes', with changes."""

    def make(run_config: RunConfig, execution: Execution) -> Parts:
        return replace(build(run_config, execution), **changes)

    return make


def comparable(path: Path) -> list[dict[str, Any]]:
    """Records by id, without what a clock says."""
    records = sorted(read_records(path), key=lambda record: record.id)
    return [asdict(replace(record, seconds=0)) for record in records]


def test_a_run_leaves_records_traces_and_tables(out: Path) -> None:
    summary = run(config(), QUICK, out, build)
    assert summary.status == "finished"
    assert summary.totals.done == summary.totals.total == 20
    assert sum(summary.counts.values()) == 20
    assert summary.counts["success"] == summary.totals.successes
    assert not summary.too_many_errors
    assert len(read_records(out)) == 20
    assert len(read_trace(out)) == 80
    table = read_csv(out / "table.csv")
    assert [row.metric for row in table] == ["asr", "score"]
    assert table[0].value == pytest.approx(summary.counts["success"] / 20)
    assert (out / "table.md").read_text().startswith("| metric | value |")


def test_run_json_says_where_the_numbers_come_from(out: Path) -> None:
    run(config(), QUICK, out, build)
    header = read_header(out)
    assert header["status"] == "finished"
    assert RunConfig.from_json(header["config"]) == config()
    assert header["digest"] == config().digest
    assert header["models"]["target"]["weights"] == "e0"
    assert header["versions"]["numpy"]
    assert header["totals"]["queries"] == 80
    (session,) = header["sessions"]
    assert session["end"] == header["end"]
    # 20 clean captions and 80 candidates, one picture for every four samples
    assert session["calls"]["target"] == {
        "asked": 100,
        "images_encoded": 5,
        "texts_encoded": 100,
        "pairs_scored": 0,
        "replies_generated": 0,
        "pictures_painted": 0,
        "cache_hits": 0,
    }
    assert session["calls"]["tool writer"]["replies_generated"] == 80


def test_the_dataset_is_cut_at_the_number_of_samples(out: Path) -> None:
    summary = run(config(samples=3), QUICK, out, build)
    assert summary.totals.total == 3
    assert [record.id for record in read_records(out)] == ["s000", "s001", "s002"]


def test_events_tell_the_story(out: Path) -> None:
    events: list[Event] = []
    summary = run(config(samples=2), QUICK, out, build, on_event=events.append)
    assert events[0] == Started(config(samples=2), out, Totals(total=2))
    done = [event for event in events if isinstance(event, SampleDone)]
    assert [event.totals.done for event in done] == [1, 2]
    assert done[-1].totals.queries == 8
    assert events[-1] == Finished(summary)


def test_a_second_run_is_answered_by_the_cache(out: Path, tmp_path: Path) -> None:
    execution = Execution(batch_size=8, cache=str(tmp_path / "cache"))
    run(config(), execution, out, build)
    run(config(), execution, tmp_path / "again", build)
    calls = read_header(tmp_path / "again")["sessions"][0]["calls"]["target"]
    assert (calls["texts_encoded"], calls["cache_hits"]) == (0, 105)
    assert comparable(out) == comparable(tmp_path / "again")


def test_a_cache_that_fails_is_one_warning(out: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    events: list[Event] = []
    execution = Execution(cache=str(tmp_path / "file"))
    assert run(config(), execution, out, build, on_event=events.append).status == "finished"
    assert len([event for event in events if isinstance(event, Warned)]) == 1


def test_candidates_with_pictures_leave_artefacts(out: Path) -> None:
    run(config(attack="noise", samples=3), QUICK, out, build)
    for record in read_records(out):
        assert (out / "artifacts" / f"{record.artifacts['image']}.png").exists()


def test_pictures_that_an_attack_submits_are_artefacts(out: Path) -> None:
    run(config(samples=3), QUICK, out, report_fakes.build)
    for record in read_records(out):
        assert list(record.artifacts) == ["image", "mask", "reference"]
        assert len(set(record.artifacts.values())) == 3
        for digest in record.artifacts.values():
            assert (out / "artifacts" / f"{digest}.png").exists()
        with Image.open(out / "artifacts" / f"{record.artifacts['mask']}.png") as mask:
            np.testing.assert_array_equal(np.asarray(mask), 255 - picture(int(record.id[1:])))


def test_findings_and_conditions_are_recorded_and_reports_are_no_queries(out: Path) -> None:
    summary = run(config(samples=3), QUICK, out, report_fakes.build)
    assert summary.totals.queries == 12
    assert len(read_trace(out)) == 3 * (4 + 4)
    for record in read_records(out):
        assert set(record.found) == {"angles", "truth", "reported"}
        assert [(name, one["n"]) for name, one in record.conditions.items()] == [
            ("clean", 1), ("found", 2), ("random", 2),
        ]  # fmt: skip
    calls = read_header(out)["sessions"][0]["calls"]
    assert calls["tool nature"]["replies_generated"] == 12


# Errors.


def broken_data() -> FakeDataset:
    items = samples(10)
    items[4] = replace(items[4], image=Picture(4, OSError("photo.jpg is truncated")))
    return FakeDataset(items)


def test_errors_are_counted_beside_the_rate(out: Path) -> None:
    summary = run(config(), QUICK, out, building(dataset=broken_data()))
    assert summary.status == "finished"
    assert summary.counts["error"] == 1
    assert summary.measures[0].n == 9
    assert summary.too_many_errors


@pytest.mark.parametrize(("allowed", "too_many"), [(0.0, True), (0.09, True), (0.1, False)])
def test_the_allowed_share_of_errors(out: Path, allowed: float, too_many: bool) -> None:
    execution = Execution(max_error_rate=allowed)
    summary = run(config(), execution, out, building(dataset=broken_data()))
    assert summary.too_many_errors == too_many


def test_no_samples_is_not_too_many_errors(out: Path) -> None:
    summary = run(config(), QUICK, out, building(dataset=FakeDataset([])))
    assert not summary.too_many_errors
    assert summary.measures[0] == Measure("asr", None)


def test_errors_are_tried_again_on_resume(out: Path) -> None:
    run(config(), QUICK, out, building(dataset=broken_data()))
    summary = run(config(), QUICK, out, building(dataset=FakeDataset(samples(10))), resume=True)
    assert summary.counts["error"] == 0
    assert summary.totals.resumed == 9
    assert len(read_records(out)) == 10


def test_two_samples_of_one_id_are_refused(out: Path) -> None:
    twice = FakeDataset([*samples(2), samples(1)[0]])
    with pytest.raises(UserError, match="two samples have the id 's000'"):
        run(config(), QUICK, out, building(dataset=twice))
    assert read_header(out)["status"] == "interrupted"


def test_a_failing_metric_keeps_the_records(out: Path) -> None:
    class Broken:
        def measures(self, records: Sequence[Record]) -> list[Measure]:
            raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError):
        run(config(), QUICK, out, building(metrics=[Broken()]))
    assert len(read_records(out)) == 20
    assert read_header(out)["status"] == "interrupted"
    assert run(config(), QUICK, out, build, resume=True).totals.resumed == 20


def test_metrics_see_records_sorted_by_id(out: Path) -> None:
    seen: list[str] = []

    class Looking:
        def measures(self, records: Sequence[Record]) -> list[Measure]:
            seen.extend(record.id for record in records)
            return []

    shuffled = FakeDataset(samples(6)[::-1])
    run(config(), Execution(batch_size=1), out, building(metrics=[Looking()], dataset=shuffled))
    assert seen == sorted(seen)
    assert len(seen) == 6


# Refusals come before anything is made.


def test_a_taken_folder_is_refused_before_models_are_loaded(out: Path) -> None:
    run(config(), QUICK, out, build)
    before = (out / "run.json").read_bytes()
    with pytest.raises(UserError, match="holds a run already"):
        run(config(), QUICK, out, lambda *_: pytest.fail("loaded"))
    with pytest.raises(UserError, match="seed was 7 and is now 8"):
        run(config(seed=8), QUICK, out, lambda *_: pytest.fail("loaded"), resume=True)
    assert (out / "run.json").read_bytes() == before


def test_other_weights_of_the_same_name_are_refused(out: Path) -> None:
    run(config(), QUICK, out, build)
    infos = {"target": ModelInfo("fake-encoder", weights="e1")}
    with pytest.raises(UserError, match=r'models\.target\.weights was "e0" and is now "e1"'):
        run(config(), QUICK, out, building(infos=infos), resume=True)


def test_what_an_attack_says_of_itself_is_recorded_and_compared(out: Path) -> None:
    class Told(EditAttack):
        prompts = "p0"

        def describe(self) -> dict[str, str]:
            return {"prompts": self.prompts}

    run(config(), QUICK, out, building(attack=Told()))
    assert read_header(out)["attack_details"] == {"prompts": "p0"}
    Told.prompts = "p1"
    with pytest.raises(UserError, match=r'attack_details\.prompts was "p0" and is now "p1"'):
        run(config(), QUICK, out, building(attack=Told()), resume=True)


def test_a_run_that_cannot_be_built_leaves_no_folder(out: Path) -> None:
    with pytest.raises(UserError, match="cannot be a target"):
        run(config(), QUICK, out, building(target=FakeTool()))
    with pytest.raises(UserError, match="no criterion"):
        run(config(), QUICK, out, building(criteria=[]))
    assert not out.exists()


def test_execution_may_change_on_resume(out: Path) -> None:
    run(config(), QUICK, out, building(dataset=broken_data()))
    whole = building(dataset=FakeDataset(samples(10)))
    assert run(config(), Execution(batch_size=3), out, whole, resume=True).status == "finished"
    assert [one["batch_size"] for one in read_header(out)["sessions"]] == [8, 3]


def test_resume_of_nothing_begins(out: Path) -> None:
    assert run(config(), QUICK, out, build, resume=True).totals.done == 20


# Interruption.


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_finishes_what_is_in_flight_and_resume_completes(
    out: Path, tmp_path: Path, number: signal.Signals
) -> None:
    events: list[Event] = []

    def on_event(event: Event) -> None:
        events.append(event)
        if isinstance(event, SampleDone) and event.totals.done == 1:
            os.kill(os.getpid(), number)

    before = signal.getsignal(number)
    summary = run(config(), Execution(batch_size=6), out, build, on_event=on_event)
    assert summary.status == "interrupted"
    assert summary.measures == []
    assert len(read_records(out)) == 6
    assert Stopping() in events
    assert signal.getsignal(number) == before
    assert read_header(out)["status"] == "interrupted"
    assert not (out / "table.csv").exists()

    resumed = run(config(), Execution(batch_size=6), out, build, resume=True)
    assert resumed.totals.resumed == 6
    run(config(), Execution(batch_size=6), tmp_path / "whole", build)
    assert comparable(out) == comparable(tmp_path / "whole")
    assert (out / "table.csv").read_bytes() == (tmp_path / "whole" / "table.csv").read_bytes()


def test_a_second_signal_ends_at_once(out: Path) -> None:
    def on_event(event: Event) -> None:
        if isinstance(event, SampleDone):
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(config(), Execution(batch_size=6), out, build, on_event=on_event)
    assert read_header(out)["status"] == "interrupted"
    assert 1 <= len(read_records(out)) <= 2


def test_a_run_in_another_thread_leaves_signals_alone(out: Path) -> None:
    thread = threading.Thread(target=run, args=(config(), QUICK, out, build))
    thread.start()
    thread.join()
    assert len(read_records(out)) == 20


def test_one_folder_one_writer(out: Path) -> None:
    run(config(), QUICK, out, build)
    with RunFolder.open(out):
        pass
    assert (out / ".lock").read_text() == ""


# Assembly from the registry.


class _Needy(EditAttack):
    tools = ("painter",)


@pytest.fixture
def fake_registry(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, Any]]:
    created: list[tuple[str, str, Any]] = []
    makers: dict[str, Any] = {
        "targets": FakeEncoder,
        "tools": FakeTool,
        "judges": FakeTool,
        "datasets": lambda: FakeDataset(samples(5)),
    }

    def create(kind: str, spec: str, settings: Any = None) -> Any:
        created.append((kind, spec, settings))
        return makers[kind]()

    def build_part(kind: str, name: str, context: Run) -> Any:
        match kind:
            case "attacks":
                return _Needy(candidates=context.settings["candidates"])
            case "criteria":
                context.model("judges", "exact:1")
                return FakeCriterion(name, "observation" if name == "seen" else "criterion")
            case _:
                return FakeMetric()

    monkeypatch.setattr(registry, "create", create)
    monkeypatch.setattr(registry, "build", build_part)
    return created


def registered(**settings: Any) -> RunConfig:
    defaults = {
        "candidates": 2,
        "criteria": ["fooled", "near"],
        "observations": ["seen"],
        "metrics": ["rates"],
        "painter": "fake:painter",
        "tools": {"writer": "fake:writer"},
    }
    return config(settings={**defaults, **settings})


def test_assemble_creates_what_the_config_names(
    fake_registry: list[tuple[str, str, Any]], out: Path
) -> None:
    parts = assemble(registered(), Execution(device="cuda", workers=3))
    assert [one.name for one in parts.criteria] == ["fooled", "near", "seen"]
    assert set(parts.tools) == {"writer", "painter"}
    assert fake_registry == [
        ("datasets", "fake:data", {"workers": 3}),
        ("tools", "fake:painter", {"device": "cuda"}),
        ("tools", "fake:writer", {"device": "cuda"}),
        ("judges", "exact:1", {"device": "cuda"}),
        ("targets", "fake:target", {"device": "cuda"}),
    ]
    assert set(parts.infos) == {
        "target", "data set", "tool fake:painter", "tool fake:writer", "judge exact:1",
    }  # fmt: skip
    assert run(registered(), QUICK, out).totals.queries == 10


def test_a_list_of_names_is_needed(fake_registry: object) -> None:
    with pytest.raises(UserError, match="setting criteria = 'fooled': give a list of names"):
        assemble(registered(criteria="fooled"), QUICK)


def test_attacks_of_ours_name_their_tools_in_the_settings(
    fake_registry: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Needy, "tools", ())
    parts = assemble(replace(registered(writer="fake:w", tools={}), attack="mac"), QUICK)
    assert set(parts.tools) == {"writer"}


# Provenance.


def test_the_commit_is_known_in_a_checkout_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "benchmark" / "provenance.py"))
    assert provenance.header(config())["git_commit"] == ""
    (tmp_path / ".git").mkdir()
    assert provenance.header(config())["git_commit"] == ""


def test_the_header_is_plain_json() -> None:
    header = provenance.header(config())
    assert json.loads(json.dumps(header)) == header
    assert assembly.Run(config(), QUICK, FakeDataset([])).seed == 7


def test_answers_that_no_other_run_may_have_are_kept_until_the_run_is_finished(
    out: Path, tmp_path: Path
) -> None:
    """A server's model says not which weights it has; a resumed run must not ask it again."""
    model = FakeTool(info=ModelInfo("somebody's server"))
    cache = Execution(cache=str(tmp_path / "cache"))
    kept: list[bool] = []

    def watch(event: Event) -> None:
        if isinstance(event, SampleDone):
            kept.append((out / "journal.sqlite").exists())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(config(), cache, out, building(tools={"writer": model}), on_event=watch)
    asked = len(model.history)
    assert kept == [True]
    assert asked > 0
    summary = run(config(), cache, out, building(tools={"writer": model}), resume=True)
    assert summary.status == "finished"
    assert len(model.history) == asked
    assert not (out / "journal.sqlite").exists()
    other = out.with_name("other")
    run(config(), cache, other, building(tools={"writer": model}))
    assert len(model.history) > asked
