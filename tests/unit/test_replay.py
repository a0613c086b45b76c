"""Stored adversarial examples, shown again: the same target agrees, what was changed is refused."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from benchmark import registry
from benchmark.assembly import Run
from benchmark.config import Execution, RunConfig
from benchmark.errors import UserError
from benchmark.events import Event, SampleDone
from benchmark.protocols import Search
from benchmark.records import read_header, read_records, read_trace
from benchmark.replay import Replayed, replay, transfer
from benchmark.runner import run
from benchmark.stored import Stored
from benchmark.tables import read_csv
from benchmark.types import Candidate, Pixels, Record, Sample, Score, Submission, Trial
from tests import fakes
from tests.fakes import FakeCriterion, FakeDataset, FakeEncoder, FakeMetric, FakeTarget, samples
from tests.report_fakes import FakeAnswerer, PoseAttack

QUICK = Execution(batch_size=8)


class World:
    """What the registry gives; tests change it between a run and its replay."""

    def __init__(self) -> None:
        self.data: Any = FakeDataset(samples(6))
        self.target: Any = FakeEncoder()
        self.criterion = FakeCriterion()
        self.attack: Callable[[Any], Any] | None = None

    def create(self, kind: str, spec: str, settings: Any = None) -> Any:
        return {"datasets": self.data, "targets": self.target}[kind]

    def build(self, kind: str, name: str, context: Run) -> Any:
        match kind:
            case "attacks":
                return (self.attack or fakes.ATTACKS[name])(context.settings)
            case "criteria":
                return self.criterion
            case _:
                return FakeMetric()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(registry, "create", made.create)
    monkeypatch.setattr(registry, "build", made.build)
    return made


def attack(world: World, out: Path, name: str = "noise", **changes: Any) -> list[Record]:
    """Run an attack into `out`; returns its records."""
    settings = {"candidates": 3, "criteria": ["fooled"], "metrics": ["rates"]}
    config = fakes.config(attack=name, settings=settings, **changes)

    def build(config: RunConfig, execution: Execution) -> Any:
        parts = fakes.build(replace(config, attack="noise"), execution)
        made = world.build("attacks", name, Run(config, execution, world.data))
        return replace(
            parts,
            attack=made,
            target=world.target,
            dataset=world.data,
            criteria=[world.criterion],
            tools={"writer": fakes.FakeTool(), "nature": _adviser()},
            infos={"target": parts.infos["target"], "data set": world.data.info},
        )

    run(config, QUICK, out, build)
    return read_records(out)


def _adviser() -> Any:
    from tests.report_fakes import FakeAdviser

    return FakeAdviser()


def _fools_by_lot(trial: Trial) -> bool:
    pixels = trial.candidate.image
    return fakes.unit(trial.text, b"" if pixels is None else pixels.tobytes()) > 0.85


def same(one: Replayed) -> bool:
    before, now = one.baseline, one.record
    assert now.score == pytest.approx(before.score, abs=1e-5)
    assert now.fitness == pytest.approx(before.fitness, abs=1e-5)
    return (now.status, now.verdicts) == (before.status, before.verdicts)


@pytest.mark.parametrize("name", ["noise", "edit", "sequential"])
def test_the_same_target_agrees_with_itself(world: World, out: Path, name: str) -> None:
    world.criterion = FakeCriterion(rule=_fools_by_lot)
    records = attack(world, out, name)
    assert {record.status for record in records} == {"success", "failure"}
    shown = replay(out, execution=Execution(batch_size=5))
    assert [one.id for one in shown] == [record.id for record in records]
    assert [one.baseline for one in shown] == records
    assert all(same(one) for one in shown)
    for one in shown:
        assert one.record.queries == 1
        assert one.record.adversarial_text == one.baseline.adversarial_text
        assert one.record.artifacts == one.baseline.artifacts
        assert one.record.perturbation == one.baseline.perturbation


def test_another_target_is_shown_the_same_pictures(world: World, out: Path) -> None:
    records = {record.id: record for record in attack(world, out)}
    world.target = FakeTarget()
    for one in replay(out):
        with Image.open(out / "artifacts" / f"{one.baseline.artifacts['image']}.png") as image:
            seen = np.asarray(image)
        text = records[one.id].text
        assert one.record.score == pytest.approx(fakes.unit(seen.tobytes(), text), abs=1e-6)
        clean = fakes.picture(int(one.id[1:]) % 5)
        assert one.record.clean_score == pytest.approx(fakes.unit(clean.tobytes(), text), abs=1e-6)
        assert one.record.score is not None
        fooled = one.record.score > (one.record.clean_score or 0)
        assert one.record.verdicts == {"fooled": fooled}


def test_nothing_is_searched_and_no_model_of_the_attack_is_loaded(
    world: World, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Loading(fakes.EditAttack):
        def __init__(self, context: Run) -> None:
            super().__init__()
            self.writer = context.model("tools", "writer:huge")

    attack(world, out, "edit")
    made: list[Loading] = []

    def build(kind: str, name: str, context: Run) -> Any:
        if kind != "attacks":
            return world.build(kind, name, context)
        made.append(Loading(context))
        return made[-1]

    monkeypatch.setattr(registry, "build", build)
    assert all(same(one) for one in replay(out))
    assert made[0].writer.info.id == "writer:huge"
    with pytest.raises(AttributeError, match="tool writer:huge is not loaded in a replay"):
        made[0].writer.complete(["x"], [0])


def test_only_some_samples(world: World, out: Path) -> None:
    attack(world, out)
    assert [one.id for one in replay(out, ids={"s004", "s001"})] == ["s001", "s004"]
    with pytest.raises(UserError, match="has no record of sample 's9': give ids of its records"):
        replay(out, ids={"s001", "s9"})


def test_samples_without_a_candidate_are_left_out(world: World, out: Path) -> None:
    items = samples(3)
    items[1] = replace(items[1], image=fakes.Picture(1, OSError("torn")))
    world.data = FakeDataset(items)
    attack(world, out)
    assert [one.id for one in replay(out)] == ["s000", "s002"]
    lines = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    errors = [json.dumps(line) + "\n" for line in lines if line["status"] == "error"]
    (out / "records.jsonl").write_text("".join(errors))
    with pytest.raises(UserError, match="has no adversarial example to show: its 1 records"):
        replay(out)


def test_a_target_that_fails_errs_for_its_sample_only(world: World, out: Path) -> None:
    attack(world, out)
    world.target = FakeTarget()
    world.target.enqueue("a photo of thing 2", RuntimeError("no such thing"))
    shown = {one.id: one.record for one in replay(out)}
    assert shown["s002"].error == "RuntimeError: no such thing"
    assert {record.status for id, record in shown.items() if id != "s002"} <= {"success", "failure"}


def test_whoever_watches_is_told_of_each_sample(world: World, out: Path) -> None:
    attack(world, out)
    events: list[Event] = []
    replay(out, on_event=events.append)
    done = [event for event in events if isinstance(event, SampleDone)]
    assert [event.totals.done for event in done] == [1, 2, 3, 4, 5, 6]
    assert done[-1].totals.total == 6


def artefact(out: Path, record: Record, name: str = "image") -> Path:
    return out / "artifacts" / f"{record.artifacts[name]}.png"


def test_a_changed_picture_is_refused(world: World, out: Path) -> None:
    records = attack(world, out)
    file = artefact(out, records[2])
    with Image.open(file) as image:
        pixels = np.array(image)
    pixels[0, 0, 0] ^= 1
    Image.fromarray(pixels).save(file)
    with pytest.raises(UserError, match=r"png was changed: .* \(picture 'image' of sample s002\)"):
        replay(out)
    assert len(replay(out, ids=["s001"])) == 1


def test_a_picture_that_is_gone_or_torn_is_refused(world: World, out: Path) -> None:
    records = attack(world, out)
    file = artefact(out, records[2])
    file.write_bytes(file.read_bytes()[:60])
    with pytest.raises(UserError, match=r"is damaged .*restore it or run again"):
        replay(out)
    file.unlink()
    with pytest.raises(UserError, match=r"is missing .*copy the whole run folder"):
        replay(out)


def test_a_digest_that_is_a_path_is_refused(world: World, out: Path) -> None:
    attack(world, out)
    lines = [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]
    lines[0]["artifacts"]["image"] = "../../secret"
    (out / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(UserError, match=r"'\.\./\.\./secret' is no digest of a picture"):
        replay(out)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda items: items[:-1],
            "attacked sample 's005', which data set fake:data no longer has",
        ),
        (
            lambda items: [*items[:-1], replace(items[-1], text="a cat")],
            "the text of sample 's005' was 'a photo of thing 5' and is now 'a cat'",
        ),
    ],
)
def test_other_data_are_refused(world: World, out: Path, spoil: Any, message: str) -> None:
    attack(world, out)
    world.data = FakeDataset(spoil(samples(6)))
    with pytest.raises(UserError, match=f"{message}.*bring back the data that the run had"):
        replay(out)


def test_data_of_another_version_are_refused(world: World, out: Path) -> None:
    attack(world, out)
    world.data.info = replace(world.data.info, weights="d1")
    with pytest.raises(UserError, match=r"attacked other data .*weights was 'd0' and is now 'd1'"):
        replay(out)


def test_a_sample_whose_picture_is_another_one_errs(world: World, out: Path) -> None:
    attack(world, out)
    items = samples(6)
    items[3] = replace(items[3], image=fakes.Picture(77))
    world.data = FakeDataset(items)
    shown = {one.id: one.record for one in replay(out)}
    assert "the picture of sample s003 (picture 77) is not the one that was attacked" in (
        shown["s003"].error or ""
    )
    assert shown["s002"].error is None


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no run"):
        replay(tmp_path)


class Exhibiting(PoseAttack):
    """Has its mask shown again, and the picked candidate with a question of its own."""

    def replay(
        self, sample: Sample, record: Record, picked: Candidate, picture: Callable[[str], Pixels]
    ) -> Search:
        (first,) = yield Score((replace(picked, question="Still there?"),))
        mask = picture("mask")
        (said,) = yield Score(
            (Candidate(image=mask, perturbation={"condition": "mask"}),), "report"
        )
        answer = getattr(said, "output", None)
        return Submission(getattr(first, "index", None), {"said": answer}, {"mask": mask})


def test_an_attack_may_show_more_than_the_picked_candidate(world: World, out: Path) -> None:
    world.attack = lambda settings: Exhibiting()
    world.criterion = FakeCriterion(rule=lambda trial: trial.output == "yes")
    world.target = FakeAnswerer()
    records = attack(world, out, access="output")
    world.target = FakeAnswerer()
    world.target.enqueue("Still there?", "yes")
    shown = replay(out)
    assert [one.record.output for one in shown] == ["yes"] * len(records)
    assert {one.record.status for one in shown} == {"success"}
    for one in shown:
        assert set(one.record.conditions) == {"clean", "mask"}
        assert one.record.conditions["mask"]["n"] == 1
        assert one.record.found["said"] not in (None, "yes")
        assert one.record.artifacts == one.baseline.artifacts


def test_a_transfer_is_a_run_that_names_its_surrogate(
    world: World, out: Path, tmp_path: Path
) -> None:
    attack(world, out)
    world.target = FakeTarget()
    stored = Stored(out)
    config = replace(stored.config, target="other:target", target_name="other")
    there = tmp_path / "there"
    summary = transfer(stored, config, there, execution=QUICK)
    assert summary.status == "finished"
    assert {row.surrogate for row in read_csv(there / "table.csv")} == {"fake:target"}
    assert {row.target for row in read_csv(there / "table.csv")} == {"other:target"}
    header = read_header(there)
    assert header["surrogate"]["digest"] == stored.config.digest
    assert header["surrogate"]["model"]["weights"] == "e0"
    assert header["models"]["target"]["weights"] == "t0"
    assert read_header(out)["surrogate"] is None
    replayed = {one.id: one.record for one in replay(out)}
    for record in read_records(there):
        assert (record.status, record.score) == (
            replayed[record.id].status,
            replayed[record.id].score,
        )
        assert artefact(there, record).read_bytes() == artefact(out, record).read_bytes()
    assert [entry.index for entry in read_trace(there)] == [0] * 6
    # What was transferred can be shown on.
    assert all(same(one) for one in replay(there))


def test_a_transfer_goes_on_where_it_was_cut_short(world: World, out: Path, tmp_path: Path) -> None:
    attack(world, out)
    stored, there = Stored(out), tmp_path / "there"
    small = Execution(batch_size=2)

    def stop(event: Event) -> None:
        if isinstance(event, SampleDone):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        transfer(stored, stored.config, there, execution=small, on_event=stop)
    assert len(read_records(there)) == 1
    with pytest.raises(UserError, match="holds a run already"):
        transfer(stored, stored.config, there)
    assert transfer(stored, stored.config, there, resume=True).totals.done == 6
    with pytest.raises(
        UserError, match=r"holds a run of another experiment .*surrogate\.digest was"
    ):
        run(
            stored.config,
            small,
            there,
            lambda config, execution: fakes.build(config, execution),
            resume=True,
        )
