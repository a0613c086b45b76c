"""Verdicts and aggregates made anew, without any model: what they were made from is in the submission."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from itertools import islice
from statistics import fmean
from typing import Any

import numpy as np

from benchmark import registry, tables
from benchmark.cache import pixels_digest
from benchmark.config import RunConfig
from benchmark.errors import UserError
from benchmark.protocols import Criterion, Dataset
from benchmark.types import Candidate, Measure, ModelInfo, Record, Sample, TraceEntry, Trial
from leaderboards import limits
from leaderboards.checks import shown
from leaderboards.searches import found as searched
from leaderboards.submission import HEADER, TABLE, Submission

EXACT = frozenset(
    {
        *("auxiliary", "crossmodal", "distance", "false_of_image", "misclassified"),
        *("tie", "undescribed", "unimodal", "unnamed"),
    }
)
"""Criteria that need nothing but what a submission holds, if their judge can be had."""

CAPTURE = "capture:parser=toybox,matching=exact,empty=renormalise,encoder=none"
OFFLINE = {
    ("judges", "toybox"), ("taggers", "toybox"), ("taggers", "spacy"), ("tools", CAPTURE)
}  # fmt: skip
"""Judges, taggers and tools that the validator may make: they decide by rule, or come with a package."""

EMBEDDED_DATA = ("toybox", "searches")
"""Data sets that need no files."""

SIMILARITY = "similarity"
"""The number that a setting `encoder` is for."""

LAST_DIGIT = 10.0**-tables.DIGITS
_NUMBERS = ("ci_low", "ci_high")
_PIXEL = np.zeros((1, 1, 3), np.uint8)


class NotOfflineError(UserError):
    """It takes a model that a validator does not load."""


class _Recorded:
    """Samples as the records tell them, where the data set itself cannot be had."""

    def __init__(self, records: Sequence[Record], info: ModelInfo) -> None:
        self.info = info
        self._samples = [Sample(record.id, record.text, group=record.group) for record in records]

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    @property
    def mean_words(self) -> float:
        """Of the captions that were attacked."""
        return fmean(len(sample.text.split()) for sample in self._samples)


class _Context:
    """What criteria and metrics are built from: the run's settings, and no model."""

    def __init__(self, config: RunConfig, dataset: Dataset, settings: Mapping[str, Any]) -> None:
        self.settings = settings
        self.dataset = dataset
        self.seed = config.seed

    def model(self, kind: str, spec: str) -> Any:
        """A judge or a tagger that needs no weights.

        Raises:
            NotOfflineError: It is none.
        """
        if (kind, spec) not in OFFLINE:
            raise NotOfflineError(f"{registry.singular(kind)} {spec}")
        return registry.create(kind, spec)


@dataclass(frozen=True, slots=True)
class Recomputing:
    """The data set (rebuilt, or as recorded), its samples by id, and what builds criteria."""

    context: _Context
    samples: Mapping[str, Sample]
    embedded: bool


def rebuild(found: Submission, problems: list[str], notes: list[str]) -> Recomputing | None:
    """Make the data set again where it is embedded, and compare it with the records."""
    run, header, records = found.config, found.header, found.records
    assert run is not None
    assert header is not None
    assert records is not None
    settings = dict(run.settings)
    if registry.split(run.dataset)[0] not in EMBEDDED_DATA:
        info = header["models"]["data set"]
        notes.append(f"data set {run.dataset_name} is not embedded: samples are taken as recorded")
        limit = header["attack_details"].get("max_distance")
        if type(limit) is int and limit >= 1:
            settings["max_distance"] = limit
        recorded = _Recorded(records, ModelInfo(**info))
        samples = {sample.id: sample for sample in recorded}
        return Recomputing(_Context(run, recorded, settings), samples, embedded=False)
    for key, most in (("px", limits.SCENE_PX), ("repeats", limits.RECORDS)):
        value = run.dataset_settings.get(key, 1)
        if not isinstance(value, int) or value > most:
            problems.append(f"{HEADER}: {key} is {shown(value)}: at most {most} are made again")
            return None
    try:
        dataset = registry.create("datasets", run.dataset, run.dataset_settings)
    except UserError as error:
        problems.append(f"{HEADER}: {error}")
        return None
    stated = header["models"]["data set"]
    problems.extend(
        f"{HEADER}: the data set's {key} is {shown(stated[key])}, made again it is {shown(value)}"
        for key, value in asdict(dataset.info).items()
        if stated.get(key) != value
    )
    most = run.samples if run.samples is not None else limits.RECORDS + 1
    samples = {sample.id: sample for sample in islice(dataset, most)}
    problems.extend(_compared(samples, records))
    return Recomputing(_Context(run, dataset, settings), samples, embedded=True)


def _compared(samples: Mapping[str, Sample], records: Sequence[Record]) -> Iterator[str]:
    known = {record.id for record in records}
    for id in samples:
        if id not in known:
            yield f"sample {shown(id)} has no record"
    step = max(1, -(-len(records) // limits.DRAWN))
    for index, record in enumerate(records):
        sample = samples.get(record.id)
        if sample is None:
            yield f"sample {shown(record.id)} is not in the data set"
            continue
        for name, stated, real in (
            ("text", record.text, sample.text),
            ("group", record.group, sample.group),
            ("image", record.image, sample.image.name if sample.image is not None else ""),
        ):
            if stated != real:
                yield (
                    f"sample {shown(record.id)}: its {name} is {shown(stated)}, in the data set"
                    f" {shown(real)}"
                )
        if record.image_sha256 and sample.image is not None and index % step == 0:
            digest = pixels_digest(sample.image.load())
            if digest != record.image_sha256:
                yield f"sample {shown(record.id)}: image_sha256 is not that of the sample's picture"


def verdicts(found: Submission, again: Recomputing, notes: list[str]) -> Iterator[str]:
    """Each candidate's verdicts from its text and scores, and its success from these."""
    run, records, trace = found.config, found.records, found.trace
    assert run is not None
    assert records is not None
    assert trace is not None
    by_id = {record.id: record for record in records}
    known = [entry for entry in trace if entry.id in by_id and entry.id in again.samples]
    trials = [_trial(entry, by_id[entry.id], again.samples[entry.id]) for entry in known]
    names = [*_names(run, "criteria"), *_names(run, "observations")]
    roles: dict[str, str] = {}
    for name in names:
        criterion = _built(name, again, notes)
        if criterion is None:
            roles[name] = "constraint" if name in _names(run, "criteria") else "observation"
            continue
        roles[name] = criterion.role
        if name == "recognised" and _names(run, "criteria") == ["misclassified"]:
            yield from _recognised(known, by_id)
            continue
        if name not in EXACT:
            notes.append(f"criterion {name} is not recomputed: it saw more than what is recorded")
            continue
        real = criterion.verdicts(trials)
        for entry, verdict in zip(known, real, strict=True):
            stated = entry.verdicts.get(name)
            if stated is not verdict:
                yield (
                    f"sample {shown(entry.id)}, candidate {entry.index}: {name} is {shown(stated)},"
                    f" recomputed {shown(verdict)}"
                )
    needed = [name for name, role in roles.items() if role != "observation"]
    for entry in known:
        if entry.verdicts.keys() != set(names):
            yield (
                f"sample {shown(entry.id)}, candidate {entry.index}: its verdicts are not"
                f" {', '.join(names)}"
            )
        elif entry.success != all(entry.verdicts[name] is True for name in needed):
            yield (
                f"sample {shown(entry.id)}, candidate {entry.index}: success is {entry.success},"
                " its verdicts say otherwise"
            )
        if entry.option_scores and entry.option_scores[0] != entry.score:
            yield (
                f"sample {shown(entry.id)}, candidate {entry.index}: score is {shown(entry.score)},"
                f" the true option's is {shown(entry.option_scores[0])}"
            )


def searches(found: Submission, again: Recomputing, notes: list[str]) -> Iterator[str]:
    """What searches for captions found, where CAPTURE needs no model."""
    run, records, trace = found.config, found.records, found.trace
    assert run is not None
    assert records is not None
    assert trace is not None
    if run.dataset_name != "searches":
        return
    try:
        capture = again.context.model("tools", str(run.settings.get("capture")))
    except NotOfflineError as error:
        notes.append(f"what searches found is not recomputed: it takes {error}")
        return
    captioning = run.settings.get("task") == "caption"
    least = run.settings.get("min_answer_words")
    yield from searched(
        records, trace, capture, least if captioning and isinstance(least, int) else 1
    )


def _recognised(tried: Sequence[TraceEntry], by_id: Mapping[str, Record]) -> Iterator[str]:
    """The clean picture is recognised where the condition "clean" did not fool."""
    for entry in tried:
        clean = by_id[entry.id].conditions.get("clean")
        stated = entry.verdicts.get("recognised")
        if clean is None or stated is not (clean["fooled"] == 0):
            yield (
                f"sample {shown(entry.id)}, candidate {entry.index}: recognised is {shown(stated)},"
                " its condition clean says otherwise"
            )


def _names(run: RunConfig, key: str) -> list[str]:
    value = run.settings.get(key, [])
    return [str(name) for name in value] if isinstance(value, list) else []


def _built(name: str, again: Recomputing, notes: list[str]) -> Criterion | None:
    try:
        criterion: Criterion = registry.build("criteria", name, again.context)
    except NotOfflineError as error:
        notes.append(f"criterion {name} is not recomputed: it takes {error}")
        return None
    return criterion


def _trial(entry: TraceEntry, record: Record, sample: Sample) -> Trial:
    picture = None if entry.text is not None else _PIXEL
    return Trial(
        sample,
        Candidate(entry.text, picture, entry.perturbation),
        clean_score=record.clean_score,
        score=entry.score,
        option_scores=tuple(entry.option_scores),
        clean_output=record.clean_output,
        output=entry.output,
        refusal=entry.refusal,
    )


def table(found: Submission, again: Recomputing, notes: list[str]) -> Iterator[str]:
    """table.csv against the rows that the records give."""
    run, records, header = found.config, found.records, found.header
    assert run is not None
    assert records is not None
    assert header is not None
    measures: list[Measure] = []
    complete, trusted = True, set[str]()
    ordered = sorted(records, key=lambda record: record.id)
    plain = _Context(run, again.context.dataset, {**again.context.settings, "encoder": "none"})
    for name in _names(run, "metrics"):
        try:
            measures += registry.build("metrics", name, again.context).measures(ordered)
        except NotOfflineError as error:
            if "encoder" not in run.settings or not str(error).startswith("encoder"):
                complete = False
                notes.append(f"metric {name} is not recomputed: it takes {error}")
                continue
            # All but one of its numbers do without.
            trusted.add(SIMILARITY)
            notes.append(f"{SIMILARITY} is not recomputed: it takes {error}")
            measures += registry.build("metrics", name, plain).measures(ordered)
    surrogate = header.get("surrogate") or {}
    real = _parsed(tables.to_csv(tables.rows(measures, run, str(surrogate.get("target", "")))))
    try:
        stated = _parsed(found.files[TABLE].decode("utf-8"))
    except (UnicodeDecodeError, csv.Error, ValueError) as error:
        yield f"{TABLE} cannot be read: {error}"
        return
    for key in [key for key in real if key[1] in trusted]:
        del real[key]
        stated.pop(key, None)
    for key in real.keys() - stated.keys():
        yield f"{TABLE} lacks {_told(key)}"
    for key in sorted(stated.keys() - real.keys()) if complete else ():
        yield f"{TABLE} has {_told(key)}, which no metric of the run gives"
    for key in real.keys() & stated.keys():
        for column, value in real[key].items():
            if not _equal(column, stated[key].get(column, ""), value):
                yield (
                    f"{TABLE}: {column} of {_told(key)} is {shown(stated[key].get(column))}, the"
                    f" records give {shown(value)}"
                )


def _parsed(text: str) -> dict[tuple[str, str], dict[str, str]]:
    """Rows by (slice, metric).

    Raises:
        ValueError: It has other columns, or two rows of one name.
    """
    rows = list(csv.DictReader(StringIO(text, newline=""), strict=True))
    found: dict[tuple[str, str], dict[str, str]] = {}
    for number, row in enumerate(rows, start=2):
        if list(row) != list(tables.COLUMNS) or None in row.values():
            raise ValueError(f"line {number} has other columns than a table of a run")
        key = (row["slice"], row["metric"])
        if key in found:
            raise ValueError(f"{_told(key)} is there twice")
        found[key] = row
    return found


def _told(key: tuple[str, str]) -> str:
    part, metric = key
    return shown(f"{metric}, {part}" if part else metric)


def _equal(column: str, stated: str, real: str) -> bool:
    """Equal as written; bounds may differ in the last digit, which libraries may round otherwise."""
    if stated == real:
        return True
    if column not in _NUMBERS or not stated or not real:
        return False
    try:
        return abs(float(stated) - float(real)) <= 1.01 * LAST_DIGIT
    except ValueError:
        return False
