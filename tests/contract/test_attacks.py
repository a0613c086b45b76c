"""What every attack must keep to. A new one needs a row in SETTINGS at most; broken ones must fail."""

import doctest
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, get_args

import pytest

from benchmark import registry
from benchmark.datasets.searches import SearchesDataset
from benchmark.datasets.toybox import ToyboxDataset
from benchmark.flight import Outcome
from benchmark.protocols import Criterion, Dataset
from benchmark.scheduler import Scheduler
from benchmark.serving import Target
from benchmark.tool import Tool
from benchmark.types import Access, ModelInfo, Pixels, Record, Sample, ThreatModel
from metrics.evolution_criteria import Undescribed
from metrics.pose_criteria import Misclassified
from targets.miniature.grammar_writer import GrammarWriter
from tests import codec_world, fakes, quiz

SMALL = {"pool": 8, "population": "3,2", "survivors": "3,2", "islands": 2}
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "advdreamer": [
        {
            **{"foreground": "grabcut", "background": "inpainting", "composer": "blend"},
            **{"reconstruction": "inflation", "naturalness": "scripted", "draws": 1},
            **{"generations": 2, "population": 4, "shortlist": 2, "parents": 1},
        },
    ],
    "evolution": [codec_world.settings_with(**SMALL)],
    "mac": [
        {"prompts": "mini", "candidates": 6},
        {"prompts": "mini", "candidates": 6, "mode": "specific", "tagger": "toybox"},
        {"prompts": "trident", "candidates": 3, "generation": "sequential"},
    ],
}
"""Settings to try each attack with; one that is not here is tried with none."""


@cache
def objects() -> ToyboxDataset:
    return ToyboxDataset("", {"n": 3, "kind": "single", "labels": True, "balanced": True})


@cache
def searches() -> SearchesDataset:
    return SearchesDataset("", {})


CRITERIA: dict[str, Callable[[], Criterion]] = {
    "advdreamer": lambda: Misclassified(Context({}, objects())),
    "evolution": lambda: Undescribed(Context(codec_world.settings_with(), searches())),
    "mm3dtbench": lambda: Misclassified(Context({}, quiz.questions())),
}
"""When the target counts as fooled, for attacks that leave scores as they are."""

DETERMINISTIC = {"mm3dtbench"}
"""Attacks that draw nothing."""

OWN = [name for name, e in registry.entries("attacks").items() if e.origin == registry.OWN]
CASES = [
    pytest.param(name, settings, id=f"{name}-{i}")
    for name in OWN
    for i, settings in enumerate(SETTINGS.get(name, [{}]))
]


@dataclass
class Context:
    """What an attack is built from, here."""

    settings: Mapping[str, Any]
    dataset: Dataset
    seed: int = 3

    def model(self, kind: str, spec: str) -> Any:
        return registry.create(kind, spec, {})


@dataclass(frozen=True)
class Decoded:
    """A picture that is drawn once for all tests."""

    name: str
    pixels: Pixels

    def load(self) -> Pixels:
        return self.pixels


@cache
def world() -> ToyboxDataset:
    return ToyboxDataset("", {"n": 20})


class Brightness:
    """Says that bright pictures are natural."""

    info = ModelInfo("brightness", weights="b")

    def ask(self, items: Sequence[Pixels]) -> list[tuple[float, float]]:
        return [(1 + float(item.mean()) / 64, 3.0) for item in items]


DATA: dict[str, Callable[[], Dataset]] = {
    "advdreamer": objects,
    "evolution": searches,
    "mm3dtbench": quiz.questions,
}
"""What each attack is tried on, if not on captions of the embedded world."""


TARGETS: dict[str, Callable[[], Any]] = {"evolution": codec_world.CodecTarget}
"""What each attack is tried on, if not on a dual encoder."""


def data_of(name: str) -> Dataset:
    return DATA.get(name, world)()


@cache
def decoded(name: str) -> list[Sample]:
    return [
        sample
        if sample.image is None
        else replace(sample, image=Decoded(sample.image.name, sample.image.load()))
        for sample in data_of(name)
    ]


def build(name: str, settings: Mapping[str, Any]) -> Any:
    return registry.build("attacks", name, Context(settings, data_of(name)))


def samples(name: str, n: int = 8) -> list[Sample]:
    return decoded(name)[:n]


def outcomes(
    attack: Any,
    data: Sequence[Sample],
    *,
    budget: int | None = None,
    access: Access = "score",
    batch_size: int = 5,
    seed: int = 3,
) -> list[Outcome]:
    scheduler = Scheduler(
        attack,
        Target(TARGETS.get(attack.name, fakes.FakeEncoder)()),
        {
            "writer": Tool(GrammarWriter("", {})),
            "naturalness": Tool(Brightness()),
            "painter": Tool(codec_world.CodecPainter()),
            "capture": Tool(codec_world.capture_tool()),
        },
        [CRITERIA.get(attack.name, fakes.FakeCriterion)()],
        ThreatModel(access, budget),
        seed,
        batch_size,
    )
    return sorted(scheduler.run(data), key=lambda outcome: outcome.record.id)


def records(attack: Any, data: Sequence[Sample], **how: Any) -> list[Record]:
    """One record a sample; an error of the attack's is raised."""
    done = outcomes(attack, data, **how)
    for outcome in done:
        if outcome.exception is not None:
            raise outcome.exception
    return [outcome.record for outcome in done]


def comparable(record: Record) -> tuple[Any, ...]:
    return (
        record.id,
        record.status,
        record.adversarial_text,
        json.dumps(dict(record.perturbation)),
        record.score,
        record.picked,
        record.queries,
    )


def keeps_the_budget(make: Callable[[], Any], name: str) -> None:
    for budget in (0, 1, 7):
        for record in records(make(), samples(name), budget=budget):
            assert record.queries <= budget
            assert record.status in ("success", "failure", "skipped")


def leaves_its_input_alone(make: Callable[[], Any], name: str) -> None:
    data = samples(name)
    before = [(s.id, s.text, s.image.load().tobytes()) for s in data if s.image is not None]
    records(make(), data)
    assert before == [(s.id, s.text, s.image.load().tobytes()) for s in data if s.image is not None]


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_the_budget_is_kept(name: str, settings: dict[str, Any]) -> None:
    keeps_the_budget(lambda: build(name, settings), name)


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_the_input_is_left_alone(name: str, settings: dict[str, Any]) -> None:
    leaves_its_input_alone(lambda: build(name, settings), name)


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_the_same_seed_gives_the_same_records_in_any_order_and_batch(
    name: str, settings: dict[str, Any]
) -> None:
    data = samples(name)
    expected = list(map(comparable, records(build(name, settings), data)))
    shuffled = records(build(name, settings), data[::-1], batch_size=1)
    assert list(map(comparable, shuffled)) == expected
    other = records(build(name, settings), data, seed=4)
    assert (list(map(comparable, other)) == expected) == (name in DETERMINISTIC)


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_one_attack_object_serves_run_after_run(name: str, settings: dict[str, Any]) -> None:
    attack = build(name, settings)
    first = list(map(comparable, records(attack, samples(name))))
    assert list(map(comparable, records(attack, samples(name)))) == first


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_a_larger_budget_never_loses_a_success(name: str, settings: dict[str, Any]) -> None:
    won: set[str] = set()
    for budget in (1, 2, 4, None):
        done = records(build(name, settings), samples(name, 20), budget=budget)
        wins = {record.id for record in done if record.status == "success"}
        assert won <= wins
        won = wins
    assert won


@pytest.mark.parametrize("access", get_args(Access))
@pytest.mark.parametrize(("name", "settings"), CASES)
def test_any_access_will_do(name: str, settings: dict[str, Any], access: Access) -> None:
    for record in records(build(name, settings), samples(name), access=access):
        assert record.queries > 0


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_perturbations_are_plain_data(name: str, settings: dict[str, Any]) -> None:
    for outcome in outcomes(build(name, settings), samples(name)):
        assert outcome.trace
        for entry in outcome.trace:
            plain = dict(entry.perturbation)
            assert plain
            assert json.loads(json.dumps(plain)) == plain


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_the_attack_can_be_identified(name: str, settings: dict[str, Any]) -> None:
    attack = build(name, settings)
    assert attack.name == name
    assert attack.version
    json.dumps(attack.describe() if hasattr(attack, "describe") else None)


@pytest.mark.parametrize("name", OWN)
def test_the_module_names_its_source_and_its_deviations(name: str) -> None:
    module, _, _ = registry.entry("attacks", name).location.partition(":")
    documented = importlib.import_module(module)
    text = documented.__doc__ or ""
    assert "Source:" in text
    assert "\nDeviations\n" in text
    assert doctest.testmod(documented).failed == 0


@pytest.mark.parametrize(
    ("check", "broken"),
    [
        (keeps_the_budget, fakes.OverspendingAttack),
        (leaves_its_input_alone, fakes.MutatingAttack),
    ],
)
def test_a_broken_attack_fails_these_tests(
    check: Callable[[Callable[[], Any], str], None], broken: Callable[[], Any]
) -> None:
    with pytest.raises((AssertionError, RuntimeError, ValueError)):
        check(broken, "broken")
