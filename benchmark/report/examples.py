"""The examples of the gallery: what was shown, what the target made of it, how it ended."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any

from benchmark.report.pictures import Wanted, artefact, originals
from benchmark.report.runs import RunView, items, number
from benchmark.types import JSON, Record

ORIGINAL, PICKED = "original", "image"
_EXTRAS = ("center", "true/center", "true/image")
"""Artefacts that are shown too, if a run has them: p*'s centre, and the true object in that pose."""

_CAPTIONS = {
    ORIGINAL: "original",
    PICKED: "adversarial",
    "center": "centre of p*",
    "true/center": "true object, same pose",
    "true/image": "true object, same pose",
}
_RANK = {"success": 0, "error": 1, "failure": 2, "skipped": 3}
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Side:
    """One adversarial example, as one target saw it. `pictures` are (key, caption).

    `clean_score` is that of the original where it is not the same for all sides.
    """

    name: str
    status: str
    text: str | None = None
    score: float | None = None
    rival: float | None = None
    output: str | None = None
    verdicts: Mapping[str, bool | None] = field(default_factory=dict)
    facts: Sequence[tuple[str, str]] = ()
    pictures: Sequence[tuple[tuple[str, str], str]] = ()
    error: str | None = None
    title: str = "adversarial"
    clean_score: float | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A card. `states` are what it can be filtered by."""

    id: str
    states: frozenset[str]
    text: str
    score: float | None
    output: str | None
    sides: Sequence[Side]
    pictures: Sequence[tuple[tuple[str, str], str]] = ()
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Gallery:
    """Examples with their pictures, of `total` there are; `missing` says why originals are missing."""

    examples: Sequence[Example]
    wanted: Sequence[Wanted]
    total: int
    missing: str


def collect(run: RunView, other: RunView | None, most: int) -> Gallery:
    """The gallery of a run; with `other`, of both runs side by side."""
    finals = [] if other is not None else list(_finals(run))
    if finals:
        finals += [(_ended(record), []) for record in run.records.values() if record.error]
        examples = [example for example, _ in finals][:most]
        wanted = [one for _, pictures in finals[:most] for one in pictures]
        return Gallery(examples, wanted, len(finals), "")
    records = _chosen(list(run.records.values()), most)
    clean, missing = originals(run, [record.id for record in records])
    rivals = [_rivals(one) for one in (run, other) if one is not None]
    examples, first, later = [], [], []
    for record in records:
        pictures = []
        if record.id in clean:
            key = (record.id, ORIGINAL)
            pictures.append((key, _CAPTIONS[ORIGINAL]))
            first.append(Wanted(key, clean[record.id]))
        sides = []
        for name, view, rival in zip(("A", "B"), (run, other), rivals, strict=False):
            if view is None or record.id not in view.records:
                continue
            mine = view.records[record.id]
            side, kept = _side(view, mine, name if other else "", rival.get(record.id))
            sides.append(side)
            first += [one for one in kept if one.key[1].endswith(PICKED)]
            later += [one for one in kept if not one.key[1].endswith(PICKED)]
        examples.append(
            Example(
                record.id,
                _states([side.status for side in sides], other is not None),
                record.text,
                None if other else record.clean_score,
                None if other else record.clean_output,
                sides,
                pictures,
                _kind(record),
            )
        )
    return Gallery(examples, [*first, *later], len(run.records), missing)


def _chosen(records: Sequence[Record], most: int) -> list[Record]:
    """At most so many records: those that fooled first, in each kind the fittest first.

    Of more than fit, successes and failures take turns, so that both are there.
    """
    kinds: dict[str, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda r: (-(r.fitness or 0.0), r.id)):
        kinds[record.status].append(record)
    if len(records) > most:
        turns = zip_longest(*(kinds[status] for status in _RANK))
        records = [one for one in chain.from_iterable(turns) if one is not None][:most]
    return sorted(records, key=lambda r: (_RANK[r.status], -(r.fitness or 0.0), r.id))


def _states(statuses: Sequence[str], compared: bool) -> frozenset[str]:
    states = set(statuses)
    if compared and set(statuses) == {"success", "failure"}:
        states |= {"flipped"}
    return frozenset(states)


def _side(
    run: RunView, record: Record, name: str, rival: float | None
) -> tuple[Side, list[Wanted]]:
    pictures, wanted = [], []
    for artefact_name in (PICKED, *_EXTRAS):
        if artefact_name in record.artifacts:
            pixels = artefact(run, record, artefact_name)
            if pixels is not None:
                key = (record.id, f"{name}/{artefact_name}")
                pictures.append((key, _CAPTIONS[artefact_name]))
                wanted.append(Wanted(key, pixels))
    queries = f"{record.queries}"
    if record.queries_to_success is not None:
        queries += f", first success at {record.queries_to_success}"
    side = Side(
        name,
        record.status,
        record.adversarial_text,
        record.score,
        rival,
        record.output,
        record.verdicts,
        [*_perturbation(record.perturbation), *([("queries", queries)] if record.queries else [])],
        pictures,
        record.error,
        clean_score=record.clean_score if name else None,
    )
    return side, wanted


def _ended(record: Record) -> Example:
    """A search that came to nothing."""
    side = Side("", record.status, error=record.error)
    return Example(record.id, frozenset({record.status}), record.text, None, None, [side])


def _finals(run: RunView) -> Iterator[tuple[Example, list[Wanted]]]:
    """Of searches over concepts: one example for each individual that a search ended with."""
    blind_below = number(run.config.settings.get("blind_below")) or 0.3
    found: list[tuple[int, float, int, Example, list[Wanted]]] = []
    for record in run.records.values():
        for i, final in enumerate(items(record.found.get("finals"))):
            fresh = number(final.get("capture_fresh"))
            status = "error" if fresh is None else "success" if fresh < blind_below else "failure"
            id = f"{record.id}, final {i}"
            wanted = []
            name = str(final.get("picture", ""))
            pixels = artefact(run, record, name) if name in record.artifacts else None
            if pixels is not None:
                wanted.append(Wanted((id, "final"), pixels))
            answer = final.get("answer")
            side = Side(
                "",
                status,
                output=answer if isinstance(answer, str) else None,
                score=fresh,
                facts=_final_facts(final),
                error=None if fresh is not None else "none of its pictures could be scored",
                title="CAPTURE, anew",
            )
            example = Example(
                id,
                frozenset({status}),
                str(final.get("text", "")),
                None,
                None,
                [side],
                [((id, "final"), "painted anew")] if wanted else [],
                str(record.found.get("search", "")),
            )
            found.append((_RANK[status], fresh or 0.0, len(found), example, wanted))
    for _, _, _, example, wanted in sorted(found, key=lambda one: one[:3]):
        yield example, wanted


def _final_facts(final: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = []
    for key, title in (
        ("selected", "CAPTURE, as selected"),
        ("f1_object", "objects F1"),
        ("f1_attribute", "attributes F1"),
        ("f1_relation", "relations F1"),
    ):
        value = number(final.get(key))
        if value is not None:
            facts.append((title, f"{value:.3f}"))
    for key in ("operator", "generation", "island"):
        if key in final:
            facts.append((key, _short(final[key])))
    return facts


def _rivals(run: RunView) -> dict[str, float]:
    """The best score of a wrong option for the picked candidate, where options were scored."""
    picked = {record.id: record.picked for record in run.records.values()}
    found = {}
    if any(record.adversarial_text is None for record in run.decided):
        for entry in run.trace:
            if picked.get(entry.id) == entry.index and len(entry.option_scores) > 1:
                found[entry.id] = max(entry.option_scores[1:])
    return found


def _kind(record: Record) -> str:
    for key in ("operation_found", "operation"):
        if isinstance(name := record.perturbation.get(key), str):
            return name
    return ""


def _perturbation(perturbation: Mapping[str, JSON]) -> list[tuple[str, str]]:
    facts = []
    for key, value in list(perturbation.items())[:14]:
        if key in ("operation_found", "candidate") or isinstance(value, dict | list):
            continue
        name = key.removesuffix("_deg")
        shown = f"{value:.3g}" if isinstance(value, float) else _short(value)
        facts.append((name, f"{shown}°" if key.endswith("_deg") else shown))
    return facts


def _short(value: Any) -> str:
    shown = str(value)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
