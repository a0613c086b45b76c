"""What final captions name more often than initial ones."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from benchmark.types import Measure, ModelInfo, Record
from metrics.concepts import (
    Concepts,
    noun_concepts,
    ranked_concepts,
    toybox_concepts,
)
from tests.unit.metrics.metric_fakes import FakeRun


@dataclass
class Tagged:
    """A tagger that takes words of five letters or more for nouns."""

    info: ModelInfo = field(default_factory=lambda: ModelInfo("fake"))
    asked: list[str] = field(default_factory=list)

    def tag(self, texts: Sequence[str]) -> list[list[tuple[str, str]]]:
        self.asked += texts
        return [
            [(word, "NOUN" if len(word) > 4 else "DET") for word in text.split()] for text in texts
        ]


def concepts_of(*records: Record, tagger: Tagged | None = None) -> dict[tuple[str, str], Measure]:
    measures = metric(tagger or Tagged()).measures(records)
    return {(measure.slice, measure.metric): measure for measure in measures}


def metric(tagger: Tagged) -> Concepts:
    return Concepts(FakeRun({"tagger": "fake"}, models={"taggers": tagger}))


def record(search: str, finals: Sequence[str], pool: Sequence[str], repeat: int = 0) -> Record:
    found: Any = {
        "search": search,
        "repeat": repeat,
        "pool": {"n": len(pool), "mean": 0.5, "captions": [[text, 0.5] for text in pool]},
        "finals": [{"text": text} for text in finals],
    }
    return Record(f"{search}-{repeat}", f"repeat-{repeat}", "success", search, found=found)


@pytest.mark.parametrize(
    ("caption", "concepts"),
    [
        ("a small red duck left of a blue mug on the grass at night",
         {"small", "red", "duck", "left of", "blue", "mug", "grass", "night"}),
        ("three shiny umbrellas in a room", {"three", "shiny", "umbrella", "room"}),
        ("In the fog, a bus", {"fog", "bus"}),
        ("a red duck, a mug and a red bus", {"red", "duck", "mug", "bus", "same colour"}),
        ("a duck and a mug", {"duck", "mug"}),
        ("a duck", {"duck"}),
    ],
)  # fmt: skip
def test_concepts_of_the_embedded_world(caption: str, concepts: set[str]) -> None:
    assert toybox_concepts(caption) == frozenset(concepts)


def test_other_texts_are_none_of_its_captions() -> None:
    assert toybox_concepts("An old clock tower stands in the fog.") is None


def test_nouns_and_pairs_of_nouns() -> None:
    tags = [
        ("the", "DET"), ("Zen", "PROPN"), ("master", "NOUN"), ("sit", "VERB"), ("temple", "NOUN"),
        ("photo", "NOUN"), ("garden", "NOUN"),
    ]  # fmt: skip
    assert noun_concepts(tags) == {"zen", "master", "zen master", "temple", "garden"}
    assert noun_concepts([]) == set()


def test_log_odds_by_hand() -> None:
    finals = [{"fog"}] * 3 + [{"duck"}]
    pool = [{"fog"}] * 2 + [{"duck"}] * 6
    (fog,) = ranked_concepts(finals, pool)
    assert (fog.word, fog.frequency, fog.pool_frequency) == ("fog", 0.75, 0.25)
    assert fog.log_odds == pytest.approx(math.log(3.5 / 1.5) - math.log(2.5 / 6.5))
    margin = 1.959964 * math.sqrt(1 / 3.5 + 1 / 1.5 + 1 / 2.5 + 1 / 6.5)
    assert fog.low == pytest.approx(fog.log_odds - margin)
    assert fog.high == pytest.approx(fog.log_odds + margin)


def test_what_was_common_from_the_start_ranks_low() -> None:
    finals = [{"small", "fog"}] * 6 + [{"small"}] * 2 + [{"umbrella"}] * 2
    pool = [{"small"}] * 80 + [{"fog"}] * 10 + [{"umbrella"}] * 10
    fog, umbrella, small = ranked_concepts(finals, pool)
    assert [one.word for one in (fog, umbrella, small)] == ["fog", "umbrella", "small"]
    assert [one.rank_by_frequency for one in (fog, umbrella, small)] == [2, 3, 1]
    assert small.log_odds == pytest.approx(math.log(8.5 / 2.5) - math.log(80.5 / 20.5))


def test_ties_are_broken_by_frequency_then_by_name() -> None:
    finals = [{"b", "a"}, {"b", "a"}]
    assert [one.word for one in ranked_concepts(finals, [])] == ["a", "b"]
    assert ranked_concepts([], []) == []


def test_a_concept_of_one_caption_is_none() -> None:
    assert [one.word for one in ranked_concepts([{"fog"}, {"fog", "bus"}], [{"bus"}])] == ["fog"]
    assert len(ranked_concepts([{"fog"}, {"fog", "bus"}], [{"bus"}], least=1)) == 2


def test_the_table_is_about_evolution_over_its_repeats() -> None:
    foggy, clear = "a duck in the fog", "a duck at night"
    tagger = Tagged()
    measures = concepts_of(
        record("random_search", [clear] * 4, [clear] * 9),
        record("evolution", [foggy] * 3 + [clear], [foggy] + [clear] * 3),
        record("evolution", [foggy] * 3 + [clear], [foggy] + [clear] * 3, repeat=1),
        tagger=tagger,
    )
    frequency = measures["concept=fog", "document_frequency"]
    assert (frequency.value, frequency.n) == (0.75, 8)
    assert frequency.ci_low == pytest.approx(0.4093, abs=1e-4)  # Wilson, 6 of 8
    assert measures["concept=fog", "pool_frequency"].value == 0.25
    assert measures["concept=fog", "rank"].value == 1
    log_odds = measures["concept=fog", "log_odds"]
    assert log_odds.value == pytest.approx(math.log(6.5 / 2.5) - math.log(2.5 / 6.5))
    assert log_odds.value is not None
    assert log_odds.ci_low is not None
    assert log_odds.ci_low < log_odds.value
    assert measures["concept=duck", "rank_by_frequency"].value == 1
    assert measures["concept=duck", "log_odds"].value == pytest.approx(0)
    assert tagger.asked == []  # the grammar reads these captions


def test_without_evolution_the_first_search_is_looked_at() -> None:
    measures = concepts_of(
        record("lance", ["a duck"] * 2, ["a bus"]), record("nl_adv", ["a mug"] * 2, ["a bus"])
    )
    assert {part for part, _ in measures} == {"concept=duck"}


def test_ten_concepts_are_enough() -> None:
    caption = "a small matte red duck left of a large shiny blue mug on the grass at night"
    measures = concepts_of(record("evolution", [caption] * 2, ["a bus"]))
    assert len({part for part, _ in measures}) == 10


def test_other_captions_are_tagged() -> None:
    tagger = Tagged()
    text = "an old clock tower"
    held = metric(tagger).held_by([text, "a duck", text])
    assert held == [{"clock", "tower", "clock tower"}, {"duck"}, {"clock", "tower", "clock tower"}]
    assert tagger.asked == [text]


def test_nothing_was_found() -> None:
    empty = Record("evolution-0", "repeat-0", "error", "evolution", error="no")
    assert concepts_of(empty) == {}
    assert concepts_of() == {}
    assert concepts_of(record("evolution", [], ["a duck"])) == {}
