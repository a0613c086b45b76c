"""Shows stored adversarial examples again: to the model they were made for, or to another one (transfer).

Nothing is searched. The attack is built for its options, questions and fitness alone, so none of the models
that it works with is loaded; the target is asked and the criteria judge as in any run.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmark import registry
from benchmark.album import PICKED
from benchmark.assembly import Parts, Run, named
from benchmark.cache import Cache, pixels_digest
from benchmark.config import Execution, RunConfig, resolve_target
from benchmark.errors import UserError
from benchmark.events import OnEvent, SampleDone, Summary, Totals, Warned
from benchmark.jsonl import DamagedRunError
from benchmark.protocols import Attack, Dataset, Search
from benchmark.records import ARTIFACTS, read_header, read_records
from benchmark.runner import CACHE_FILE
from benchmark.runner import run as run_parts
from benchmark.scheduler import Scheduler
from benchmark.serving import Target
from benchmark.types import (
    JSON,
    Candidate,
    ModelInfo,
    Pixels,
    Record,
    Sample,
    Score,
    ThreatModel,
    Trial,
)

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Replayed:
    """One stored adversarial example: as its run recorded it, and as the target now sees it.

    `record` is about the same candidate; its status, verdicts, scores, output and conditions are new, its
    queries are those of the replay. Its status is "error" if the target or a criterion failed.
    """

    id: str
    baseline: Record
    record: Record


def replay(
    run: Path,
    *,
    target: str | None = None,
    target_settings: Mapping[str, JSON] | None = None,
    execution: Execution = Execution(),  # noqa: B008 - frozen
    ids: Collection[str] | None = None,
    on_event: OnEvent = lambda event: None,
) -> list[Replayed]:
    """Show the adversarial examples of the run folder `run` to a target again; writes nothing.

    `target` is named as in a run of the same preset, None for the run's own. `ids` limits it to some
    samples. Samples without a picked candidate (skipped, errored) are left out; the others come in the
    order of the run's records.

    Raises:
        UserError: `run` is no run, a picture is missing or was changed, the data set is not the one that
            was attacked, or an id is not among the records.
    """
    stored = Stored(run, ids)
    config = stored.config_for(target, target_settings)
    parts = stored.parts(config, execution)
    totals = Totals(total=len(stored.records))
    fresh: dict[str, Record] = {}
    cache = None
    if execution.cache is not None:
        cache = Cache(Path(execution.cache) / CACHE_FILE, lambda text: on_event(Warned(text)))
    try:
        scheduler = Scheduler(
            parts.attack,
            Target(parts.target, cache, execution.batch_size),
            {},
            parts.criteria,
            ThreatModel(config.access),
            config.seed,
            execution.batch_size,
            record_trace=False,
            load_many=getattr(parts.dataset, "load_many", None),
            on_round=on_event,
        )
        with closing(scheduler.run(parts.dataset)) as outcomes:
            for outcome in outcomes:
                record = replace(
                    outcome.record, artifacts=stored.records[outcome.record.id].artifacts
                )
                fresh[record.id] = record
                totals = totals.plus(record)
                on_event(SampleDone(record, totals))
    finally:
        if cache is not None:
            cache.close()
    return [Replayed(id, record, fresh[id]) for id, record in stored.records.items()]


def transfer(
    run: Path,
    target: str | None,
    out: Path,
    *,
    target_settings: Mapping[str, JSON] | None = None,
    execution: Execution = Execution(),  # noqa: B008 - frozen
    resume: bool = False,
    on_event: OnEvent = lambda event: None,
) -> Summary:
    """`replay`, written as a run folder of its own, whose run.json and table name the surrogate.

    Raises:
        UserError: As `replay` does, or `out` holds another experiment, or a run and `resume` is not set.
    """
    stored = Stored(run)
    config = stored.config_for(target, target_settings)
    return run_parts(config, execution, out, stored.parts, resume=resume, on_event=on_event)


class Stored:
    """The adversarial examples of a run folder. `records` are those that have one, by id."""

    def __init__(self, run: Path, ids: Collection[str] | None = None) -> None:
        """Read the records, of these `ids` only if given, and check their pictures.

        Raises:
            UserError: `run` is no run, an id is not among its records, a picture is missing or was
                changed, or nothing is left to show.
        """
        self.path = run
        self.header = read_header(run)
        if "config" not in self.header:
            raise UserError(f"{run} holds no config: it is not from a run")
        self.config = RunConfig.from_json(self.header["config"])
        known = {record.id: record for record in read_records(run)}
        if ids is not None and (missing := sorted(set(ids) - known.keys())):
            raise UserError(
                f"{run} has no record of sample {missing[0]!r}: give ids of its records"
            )
        self.records = {
            id: record
            for id, record in known.items()
            if record.picked is not None and (ids is None or id in ids)
        }
        if not self.records:
            raise UserError(
                f"{run} has no adversarial example to show: its {len(known)} records, or those that were"
                " named, are skipped or errored"
            )
        for record in self.records.values():
            for name in record.artifacts:
                self.picture(record, name)

    def picture(self, record: Record, name: str) -> Pixels:
        """Load the artefact `name` of a record.

        Raises:
            DamagedRunError: There is none, it cannot be read, or it is not the picture that was kept.
        """
        from PIL import Image

        digest = record.artifacts.get(name)
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise DamagedRunError(
                f"{self.path}, sample {record.id}: no picture {name!r} was kept"
                if digest is None
                else f"{self.path}, sample {record.id}: {digest!r:.80} is no digest of a picture"
            )
        file = self.path / ARTIFACTS / f"{digest}.png"
        try:
            with Image.open(file, formats=["PNG"]) as image:
                pixels = np.asarray(image)
            found = pixels_digest(pixels)
        except FileNotFoundError as error:
            raise DamagedRunError(
                f"{file} is missing (picture {name!r} of sample {record.id}): copy the whole run folder,"
                " or run again"
            ) from error
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            raise DamagedRunError(
                f"{file} is damaged ({error}): restore it or run again"
            ) from error
        if found != digest:
            raise DamagedRunError(
                f"{file} was changed: its pixels have the digest {found[:12]}... (picture {name!r} of"
                f" sample {record.id}): restore it or run again"
            )
        return pixels

    def config_for(
        self, target: str | None, target_settings: Mapping[str, JSON] | None = None
    ) -> RunConfig:
        """The run's config with another target, named as in the run's preset; None is its own."""
        config = self.config
        spec, settings = config.target, dict(config.target_settings)
        if target is not None:
            spec, settings = resolve_target(target, config.preset)
        return replace(
            config,
            target_name=target or config.target_name,
            target=spec,
            target_settings={**settings, **(target_settings or {})},
        )

    def parts(self, config: RunConfig, execution: Execution) -> Parts:
        """What a replay on `config`'s target is put together from.

        Raises:
            UserError: The data set is not the one that was attacked.
        """
        workers = {} if execution.workers is None else {"workers": execution.workers}
        dataset = registry.create(
            "datasets", config.dataset, {**config.dataset_settings, **workers}
        )
        self._check_data(dataset.info)
        samples = self._samples(dataset)
        context = Run(config, execution, dataset)
        attack = registry.build("attacks", config.attack, _Bare(config, execution, dataset))
        names = [*named(config, "criteria"), *named(config, "observations")]
        criteria = [registry.build("criteria", name, context) for name in names]
        metrics = [registry.build("metrics", name, context) for name in named(config, "metrics")]
        device = {"device": execution.device}
        target = registry.create("targets", config.target, {**config.target_settings, **device})
        return Parts(
            _Replaying(attack, self),
            target,
            {},
            criteria,
            metrics,
            _Samples(dataset, samples),
            {"target": target.info, "data set": dataset.info, **context.infos},
            surrogate={
                "target": self.config.target,
                "target_name": self.config.target_name,
                "target_settings": dict(self.config.target_settings),
                "digest": self.config.digest,
                "model": self.header.get("models", {}).get("target"),
                "attack_version": self.header.get("attack_version"),
                "start": self.header.get("start"),
            },
        )

    def _check_data(self, info: ModelInfo) -> None:
        before = self.header.get("models", {}).get("data set")
        if before is not None and before != asdict(info):
            differing = [
                f"{key} was {before.get(key)!r} and is now {value!r}"
                for key, value in asdict(info).items()
                if before.get(key) != value
            ]
            raise UserError(
                f"{self.path} attacked other data than what {self.config.dataset} is now"
                f" ({'; '.join(differing)}): bring back the data that the run had"
            )

    def _samples(self, dataset: Dataset) -> list[Sample]:
        found = {
            sample.id: sample
            for sample in islice(dataset, self.config.samples)
            if sample.id in self.records
        }
        for id, record in self.records.items():
            if id not in found:
                raise UserError(
                    f"{self.path} attacked sample {id!r}, which data set {self.config.dataset} no longer"
                    " has: bring back the data that the run had"
                )
            if found[id].text != record.text:
                raise UserError(
                    f"{self.path}: the text of sample {id!r} was {record.text!r:.80} and is now"
                    f" {found[id].text!r:.80}: bring back the data that the run had"
                )
        return [found[id] for id in self.records]


class _Samples:
    """The samples that have an adversarial example, as a data set."""

    def __init__(self, dataset: Dataset, samples: Sequence[Sample]) -> None:
        self.info = dataset.info
        self._dataset = dataset
        self._samples = samples
        if (load_many := getattr(dataset, "load_many", None)) is not None:
            self.load_many: Callable[[Sequence[Sample]], Sequence[Pixels | None]] = load_many

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)

    @property
    def mean_words(self) -> float:
        return self._dataset.mean_words


class _Bare(Run):
    """What an attack is built from that is not going to search: its models are names only."""

    def model(self, kind: str, spec: str) -> Any:
        return _NotLoaded(kind, spec)


class _NotLoaded:
    """Stands for a model of an attack that does not search."""

    def __init__(self, kind: str, spec: str) -> None:
        self.info = ModelInfo(spec)
        self._what = f"{registry.singular(kind)} {spec}"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self._what} is not loaded in a replay, which searches nothing")


class _Replaying:
    """The attack as it was, but its search shows what the run kept."""

    def __init__(self, attack: Attack, stored: Stored) -> None:
        self.name = attack.name
        self.version = attack.version
        self._attack = attack
        self._stored = stored
        self._replay: Callable[[Sample, Record, Candidate, Callable[[str], Pixels]], Search]
        self._replay = getattr(attack, "replay", _show)

    def __getattr__(self, name: str) -> Any:
        # Whatever else the attack offers holds (options, question, answering), but for these.
        if name in ("report", "tools") or name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._attack, name)

    def search(self, sample: Sample, rng: np.random.Generator) -> Search:
        del rng
        record = self._stored.records[sample.id]
        if sample.image is not None and record.image_sha256:
            digest = pixels_digest(sample.image.load())
            if digest != record.image_sha256:
                raise ValueError(
                    f"the picture of sample {sample.id} ({sample.image.name}) is not the one that was"
                    f" attacked: its digest was {record.image_sha256[:12]}... and is now {digest[:12]}..."
                )
        image = self._stored.picture(record, PICKED) if PICKED in record.artifacts else None
        picked = Candidate(record.adversarial_text, image, record.perturbation)
        return (
            yield from self._replay(
                sample, record, picked, lambda name: self._stored.picture(record, name)
            )
        )

    def fitness(self, trial: Trial) -> float | None:
        return self._attack.fitness(trial)


def _show(
    sample: Sample, record: Record, picked: Candidate, picture: Callable[[str], Pixels]
) -> Search:
    """The replay of an attack that offers none of its own: the picked candidate alone."""
    del sample, record, picture
    yield Score((picked,))
    return 0
