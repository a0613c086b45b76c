"""Whether the files of a submission agree with each other: hashes, config, records, trace, totals.

Pure: each function takes what was read and yields one line a fault.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from benchmark import registry
from benchmark.album import PICKED
from benchmark.config import RunConfig, load_preset, presets
from benchmark.settings import ATTACKS, COMMON, DATASET, TARGET, Setting
from benchmark.types import SCORE_EPSILON, Record, Status, TraceEntry
from leaderboards.checks import shown
from leaderboards.submission import HASHED, HEADER, Submission

EMBEDDED = ("miniature", "toybox", "grammar")
"""Registry names of the embedded world: what they give is never about a published model."""

JUDGING = ("criteria", "observations", "metrics")
"""Settings that an entry may not change: its numbers would mean something else."""


PICK_SUCCESSES = ("mac", "advdreamer", "mm3dtbench")
"""Attacks that end with a success wherever one was found."""


def hashes(found: Submission) -> Iterator[str]:
    """The card names each file's sha256, the config gives the digest."""
    assert found.card is not None
    stated = found.card["files"]
    for name in HASHED:
        if name not in stated:
            yield f"card.json names no sha256 of {name}"
        elif name in found.files and hashlib.sha256(found.files[name]).hexdigest() != stated[name]:
            yield f"{name} is not the file whose sha256 the card names: it was changed"
    for name in sorted(stated.keys() - set(HASHED)):
        yield f"card.json names {shown(name)}, which is no file of a submission"


def config(found: Submission) -> Iterator[str]:
    """The config is one that this harness runs, under the preset that it names."""
    header, run = found.header, found.config
    assert header is not None
    assert run is not None
    if header["digest"] != run.digest:
        yield f"{HEADER}: digest {header['digest'][:12]}... is not that of its config"
    if header["seed"] != run.seed:
        yield f"{HEADER}: seed is {header['seed']} and in the config {run.seed}"
    if "target" not in header["models"] or "data set" not in header["models"]:
        yield f"{HEADER}: models lack the target or the data set"
        return
    if run.attack not in ATTACKS:
        yield f"{HEADER}: no attack {shown(run.attack)}: {', '.join(ATTACKS)} have leaderboards"
        return
    if run.preset not in presets():
        yield (
            f"{HEADER}: preset {shown(run.preset)} is not one that ships: run with"
            f" {' or '.join(presets())} and --set"
        )
        return
    yield from _settings(run)
    yield from _names(header, run)


def _settings(run: RunConfig) -> Iterator[str]:
    sections: list[tuple[str, Mapping[str, Any], Mapping[str, Setting]]] = [
        ("settings", run.settings, {**COMMON, **ATTACKS[run.attack]}),
        ("target_settings", run.target_settings, TARGET),
        ("dataset_settings", run.dataset_settings, DATASET),
    ]
    for section, values, known in sections:
        for key, value in values.items():
            if key not in known:
                yield f"{HEADER}: {section} has {shown(key)}, which {run.attack} does not know"
            elif not known[key].accepts(value):
                yield (
                    f"{HEADER}: {section}.{key} is {shown(value)}: expected {known[key].expected}"
                )
    preset = {**load_preset(run.preset)["attack"]}
    preset |= preset.get(run.attack, {})
    for key in JUDGING:
        if run.settings.get(key) != preset[key]:
            yield (
                f"{HEADER}: {key} are {shown(run.settings.get(key))}, not those of the preset"
                f" {run.preset}: such a run cannot be ranked"
            )


def _names(header: Mapping[str, Any], run: RunConfig) -> Iterator[str]:
    """The target is what its name stands for in the preset; nothing of another preset takes part."""
    alias = load_preset(run.preset)["targets"].get(run.target_name, run.target_name)
    target = alias["spec"] if isinstance(alias, Mapping) else alias
    if target != run.target:
        yield (
            f"{HEADER}: target {run.target_name} is {target} in the preset {run.preset},"
            f" not {run.target}"
        )
    stated = header["models"]["target"]["id"]
    if stated != run.target.partition("@")[0] and stated != run.target:
        yield f"{HEADER}: the target is {shown(run.target)}, but the model is {shown(stated)}"
    if not (header["models"]["target"]["weights"] or header["models"]["target"]["revision"]):
        yield f"{HEADER}: the target says neither its revision nor the sha256 of its weights"
    if run.preset == "paper":
        settings = run.settings
        named = [run.target, run.dataset, *(v for v in settings.values() if isinstance(v, str))]
        for name in sorted({one for one in named if registry.split(one)[0] in EMBEDDED}):
            yield f"{HEADER}: the preset is paper, but {name} is of the embedded world"


def records(found: Submission) -> Iterator[str]:
    """No sample is there twice, statuses and fields fit each other, totals are sums."""
    assert found.records is not None
    counts = Counter(record.id for record in found.records)
    for id, count in counts.items():
        if count > 1:
            yield f"sample {shown(id)} has {count} records"
    budget = found.config.query_budget if found.config is not None else None
    for record in found.records:
        for fault in (*_statuses(record), *_spent(record, budget), *_kept(found, record)):
            yield f"sample {shown(record.id)}: {fault}"
    if found.header is not None:
        yield from _totals(found.header["totals"], found.records)
    used = {digest for record in found.records for digest in record.artifacts.values()}
    for digest in sorted(found.pictures - used):
        yield f"artifacts/{digest}.png belongs to no record"


def _statuses(record: Record) -> Iterator[str]:
    attacked = record.status in ("success", "failure")
    if attacked and record.picked is None and record.queries:
        yield f"status {record.status} without a candidate that was picked"
    if not attacked and (record.picked is not None or record.verdicts):
        yield f"status {record.status}, yet a candidate was picked"
    if (record.status == "error") != (record.error is not None):
        yield f"status {record.status} does not fit error {shown(record.error)}"
    if record.status == "success" and record.queries_to_success is None:
        yield "a success without queries_to_success"


def _spent(record: Record, budget: int | None) -> Iterator[str]:
    if budget is not None and record.queries > budget:
        yield f"{record.queries} queries, but the budget was {budget}"
    if record.queries_to_success is not None and record.queries_to_success > record.queries:
        yield f"success after {record.queries_to_success} queries of {record.queries}"


def _kept(found: Submission, record: Record) -> Iterator[str]:
    for name, digest in record.artifacts.items():
        if f"artifacts/{digest}.png" not in found.files:
            yield f"its picture {shown(name)}, artifacts/{digest[:12]}....png, is missing"
    if record.picked is not None and record.adversarial_text is None:
        if PICKED not in record.artifacts:
            yield "neither the text nor the picture that was picked is there"


def _totals(totals: Mapping[str, int | None], records: Sequence[Record]) -> Iterator[str]:
    counts = Counter(record.status for record in records)
    names: dict[Status, str] = {
        "success": "successes", "failure": "failures", "skipped": "skipped", "error": "errors"
    }  # fmt: skip
    real = {names[status]: counts[status] for status in get_args(Status)}
    real |= {"done": len(records), "queries": sum(record.queries for record in records)}
    for name, count in real.items():
        if totals.get(name) != count:
            yield f"{HEADER}: totals.{name} is {shown(totals.get(name))}, the records give {count}"
    if totals.get("total") not in (None, len(records)):
        yield f"{HEADER}: {len(records)} records of {totals.get('total')} samples"


def trace(found: Submission) -> Iterator[str]:
    """Each record is what its candidates give: queries, first success, pick, sums by condition."""
    assert found.records is not None
    assert found.trace is not None
    tried: dict[str, list[TraceEntry]] = defaultdict(list)
    for entry in found.trace:
        tried[entry.id].append(entry)
    known = {record.id for record in found.records}
    for id in sorted(tried.keys() - known):
        yield f"sample {shown(id)} has candidates in the trace, but no record"
    transferred = bool(found.header and found.header.get("surrogate"))
    best = found.config is not None and found.config.attack in PICK_SUCCESSES and not transferred
    wanted = None if transferred or found.config is None else planned(found.config)
    for record in found.records:
        for fault in _of_record(record, tried[record.id], wanted, best=best):
            yield f"sample {shown(record.id)}: {fault}"


def planned(run: RunConfig) -> int | None:
    """How many queries the settings promise for each sample, None if that depends on what is found."""
    match run.attack:
        case "mac":
            promised = run.settings.get("candidates")
        case "advdreamer":
            generations, population = (run.settings.get(k) for k in ("generations", "population"))
            if not isinstance(generations, int) or not isinstance(population, int):
                return None
            promised = generations * population
        case "mm3dtbench":
            promised = 1
        case _:
            return None
    if not isinstance(promised, int):
        return None
    return promised if run.query_budget is None else min(promised, run.query_budget)


def _of_record(
    record: Record, tried: Sequence[TraceEntry], wanted: int | None, *, best: bool
) -> Iterator[str]:
    if [entry.index for entry in tried] != list(range(len(tried))):
        yield "its candidates in the trace are not numbered 0, 1, 2, ..."
        return
    searched = [entry for entry in tried if entry.purpose == "search"]
    if len(searched) != record.queries:
        yield f"{record.queries} queries, but the trace has {len(searched)} candidates"
    if record.status not in ("success", "failure"):
        return
    if wanted is not None and record.queries != wanted:
        yield f"{record.queries} queries where its settings promise {wanted}: candidates are missing"
    first = next((n for n, entry in enumerate(searched, start=1) if entry.success), None)
    if record.queries_to_success != first:
        yield (
            f"queries_to_success is {shown(record.queries_to_success)}, the trace gives {shown(first)}"
        )
    if record.picked is None:
        return
    if not record.picked < len(tried) or tried[record.picked].purpose != "search":
        yield f"picked candidate {record.picked} is not one of the search"
        return
    yield from _pick(record, tried[record.picked])
    if record.status == "failure" and first is not None and best:
        yield "a failure, although a candidate of the trace succeeded"
    yield from _conditions(record, tried)


def _pick(record: Record, picked: TraceEntry) -> Iterator[str]:
    if (record.status == "success") != picked.success:
        yield f"status {record.status} does not fit its picked candidate in the trace"
    pairs = {
        "adversarial_text": (record.adversarial_text, picked.text),
        "perturbation": (record.perturbation, picked.perturbation),
        "verdicts": (record.verdicts, picked.verdicts),
        "score": (record.score, picked.score),
        "output": (record.output, picked.output),
    }
    for name, (stated, traced) in pairs.items():
        if stated != traced:
            yield f"{name} is {shown(stated)}, its picked candidate has {shown(traced)}"


def _conditions(record: Record, tried: Sequence[TraceEntry]) -> Iterator[str]:
    """Sums by condition; those of the clean picture have no candidates."""
    groups: dict[str, list[TraceEntry]] = defaultdict(list)
    for entry in tried:
        if (name := entry.perturbation.get("condition")) is not None:
            groups[str(name)].append(entry)
    stated = {name: sums for name, sums in record.conditions.items() if name != "clean"}
    for name in sorted(stated.keys() ^ groups.keys()):
        yield f"condition {shown(name)} is in the record or the trace only"
    for name in sorted(stated.keys() & groups.keys()):
        sums, group = stated[name], groups[name]
        real = {"n": len(group), "valid": sum(entry.success for entry in group)}
        for key, count in real.items():
            if sums[key] != count:
                yield f"condition {shown(name)}: {key} is {shown(sums[key])}, the trace gives {count}"
        scores = [entry.score for entry in group if entry.score is not None]
        mean = sum(scores) / len(scores) if scores else None
        score = sums["score"]
        if (mean is None) != (score is None) or (
            isinstance(score, float | int) and abs(score - (mean or 0.0)) > 2 * SCORE_EPSILON
        ):
            yield f"condition {shown(name)}: score is {shown(score)}, the trace gives {shown(mean)}"
    yield from _reproduced(record, groups)
    clean = record.conditions.get("clean")
    if clean is not None and (clean["n"] != 1 or clean["fooled"] not in (0, 1)):
        yield "condition clean is not one picture"


def _reproduced(record: Record, groups: Mapping[str, Sequence[TraceEntry]]) -> Iterator[str]:
    """Of the poses of each condition: how many fool in the picture, with the true object, in both."""
    stated = record.found.get("reproduced")
    if not isinstance(stated, dict):
        return
    for name, counts in stated.items():
        pictured, real = groups.get(name, ()), groups.get(f"true/{name}", ())
        pairs = [(a.success, b.success) for a, b in zip(pictured, real, strict=False)]
        again = {
            "n": len(pairs),
            "picture": sum(a for a, _ in pairs),
            "true": sum(b for _, b in pairs),
            "both": sum(a and b for a, b in pairs),
        }
        if counts != again:
            yield f"reproduced.{shown(name)} is {shown(counts)}, the trace gives {shown(again)}"
