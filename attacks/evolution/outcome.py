"""What of a search goes into its record: the pool, the generations, the finals and their fresh scores."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, cast

from attacks.evolution.concepts import similarity
from attacks.evolution.engine import Engine, Found
from attacks.evolution.individuals import Evaluation, Individual
from attacks.evolution.ranking import scores_of
from benchmark.types import JSON, SCORE_DIGITS

FIRST_FRESH = 1_000_000
"""Pictures from this number on are for the report alone."""

_PARTS = ("f1_object", "f1_attribute", "f1_relation", "accuracy")


def picture_name(position: int) -> str:
    """Under which name the first fresh picture of a final is kept."""
    return f"final-{position:02}"


def found_of(name: str, repeat: int, engine: Engine, found: Found) -> dict[str, JSON]:
    """The record of a search, before its finals are shown again."""
    evaluator = engine.evaluator
    scores = scores_of(engine.scored)
    captures = {one.individual.id: one.capture for one in engine.scored}
    selected = found.selected or [fmean(scores_of(final)) for final in found.finals]
    return {
        "search": name,
        "repeat": repeat,
        "evaluations": evaluator.used,
        "llm_calls": engine.operators.calls,
        "llm_failures": engine.operators.failures,
        "stopped": found.stopped,
        "counted": cast("JSON", dict(sorted(evaluator.counted.items()))),
        "gate_threshold": None if evaluator.gate is None else evaluator.gate.threshold,
        "pool": {
            "n": len(engine.pool),
            "mean": rounded(fmean(scores)) if scores else None,
            "captions": [[one.text, rounded(captures.get(one.id))] for one in engine.pool],
        },
        "generations": [_with_similarity(row) for row in found.generations],
        "finals": [
            _final(position, final, value)
            for position, (final, value) in enumerate(zip(found.finals, selected, strict=True))
        ],
        **found.extra,
    }


def with_fresh(final: Mapping[str, JSON], evaluations: Sequence[Evaluation]) -> dict[str, JSON]:
    """A final with what came of its fresh pictures: a score each, None for what has none."""
    fresh = [rounded(one.capture) for one in evaluations]
    known = scores_of(evaluations)
    first = evaluations[0] if evaluations else None
    return {
        **final,
        "fresh": cast("JSON", fresh),
        "fresh_status": [one.status for one in evaluations],
        "capture_fresh": rounded(fmean(known)) if known else None,
        "answer": first.answer if first is not None else None,
        **{key: first.breakdown[key] for key in _PARTS if first and key in first.breakdown},
    }


def individual_of(final: Mapping[str, Any]) -> Individual:
    """The caption that a final in a record is."""
    return Individual(
        int(final["id"]),
        str(final["text"]),
        str(final["operator"]),
        tuple(final["parents"]),
        int(final["generation"]),
        int(final["island"]),
    )


def best_candidate(found: Found, below: float) -> int | None:
    """The candidate to submit: the best final's worst described picture, if that is a blind spot."""
    scored = [
        (one.capture, one.index)
        for one in (found.finals[0] if found.finals else ())
        if one.capture is not None and one.index is not None
    ]
    if not scored or min(scored)[0] >= below:
        return None
    return min(scored)[1]


def rounded(value: float | None) -> float | None:
    """A number as records hold it."""
    return None if value is None else round(value, SCORE_DIGITS)


def _final(position: int, evaluations: Sequence[Evaluation], selected: float) -> dict[str, JSON]:
    one = evaluations[0].individual
    return {
        "id": one.id,
        "text": one.text,
        "island": one.island,
        "operator": one.operator,
        "parents": list(one.parents),
        "generation": one.generation,
        "selected": rounded(selected),
        "scores": [rounded(evaluation.capture) for evaluation in evaluations],
        "picture": picture_name(position),
    }


def _with_similarity(row: Mapping[str, JSON]) -> dict[str, JSON]:
    captions = row.get("captions")
    if "similarity" in row or not isinstance(captions, list):
        return {"similarity": None, **row}
    return {**row, "similarity": rounded(similarity([str(text) for text in captions]))}
