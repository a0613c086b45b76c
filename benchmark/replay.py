"""Shows stored adversarial examples again: to the model they were made for, or to another one (transfer).

Nothing is searched. The attack is built for its options, questions and fitness alone, so none of the models
that it works with is loaded; the target is asked and the criteria judge as in any run.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmark import registry
from benchmark.album import PICKED
from benchmark.assembly import Parts, Run, named
from benchmark.cache import Cache, pixels_digest
from benchmark.config import Execution, RunConfig, redirect
from benchmark.events import OnEvent, SampleDone, Summary, Totals, Warned
from benchmark.protocols import Attack, Search
from benchmark.runner import CACHE_FILE
from benchmark.runner import run as run_parts
from benchmark.scheduler import Scheduler
from benchmark.serving import Target
from benchmark.stored import Stored
from benchmark.subset import Subset
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
    overrides: Sequence[str] = (),
    execution: Execution = Execution(),  # noqa: B008 - frozen
    ids: Collection[str] | None = None,
    on_event: OnEvent = lambda event: None,
) -> list[Replayed]:
    """Show the adversarial examples of the run folder `run` to a target again; writes nothing.

    `target` is named as in a run of the same preset, None for the run's own. `overrides` such as
    "criteria=unnamed" change how it is asked and judged. `ids` limits it to some samples. Samples
    without a picked candidate (skipped, errored) are left out; the others come in the order of the
    run's records.

    Raises:
        UserError: `run` is no run, a picture is missing or was changed, the data set is not the one that
            was attacked, an id is not among the records, or a name or override is not known.
    """
    stored = Stored(run, ids)
    config = _config(stored, target, target_settings, overrides)
    parts = parts_of(stored, config, execution)
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
        for outcome in scheduler.run(parts.dataset):
            kept = stored.records[outcome.record.id].artifacts
            fresh[outcome.record.id] = record = replace(outcome.record, artifacts=kept)
            totals = totals.plus(record)
            on_event(SampleDone(record, totals))
    finally:
        if cache is not None:
            cache.close()
    return [Replayed(id, record, fresh[id]) for id, record in stored.records.items()]


def transfer(
    stored: Stored,
    config: RunConfig,
    out: Path,
    *,
    execution: Execution = Execution(),  # noqa: B008 - frozen
    resume: bool = False,
    on_event: OnEvent = lambda event: None,
) -> Summary:
    """A replay written as a run folder of its own, whose run.json and table name the surrogate.

    `config` is that of the stored run on another target; see `redirect`.

    Raises:
        UserError: The data set is not the one that was attacked, or `out` holds another experiment, or a
            run and `resume` is not set.
    """
    build = partial(parts_of, stored)
    return run_parts(config, execution, out, build, resume=resume, on_event=on_event)


def _config(
    stored: Stored,
    target: str | None,
    target_settings: Mapping[str, JSON] | None,
    overrides: Sequence[str],
) -> RunConfig:
    config = redirect(stored.config, target, overrides)
    return replace(config, target_settings={**config.target_settings, **(target_settings or {})})


def parts_of(stored: Stored, config: RunConfig, execution: Execution) -> Parts:
    """What a replay on `config`'s target is put together from.

    Raises:
        UserError: The data set is not the one that was attacked, or a name is unknown.
    """
    workers = {} if execution.workers is None else {"workers": execution.workers}
    dataset = registry.create("datasets", config.dataset, {**config.dataset_settings, **workers})
    samples = stored.samples(dataset)
    context = Run(config, execution, dataset)
    attack = registry.build("attacks", config.attack, _Bare(config, execution, dataset))
    names = [*named(config, "criteria"), *named(config, "observations")]
    criteria = [registry.build("criteria", name, context) for name in names]
    metrics = [registry.build("metrics", name, context) for name in named(config, "metrics")]
    device = {"device": execution.device}
    target = registry.create("targets", config.target, {**config.target_settings, **device})
    return Parts(
        _Replaying(attack, stored),
        target,
        {},
        criteria,
        metrics,
        Subset(dataset, samples),
        {"target": target.info, "data set": dataset.info, **context.infos},
        surrogate={
            "target": stored.config.target,
            "target_name": stored.config.target_name,
            "target_settings": dict(stored.config.target_settings),
            "digest": stored.config.digest,
            "model": stored.header.get("models", {}).get("target"),
            "attack_version": stored.header.get("attack_version"),
            "start": stored.header.get("start"),
        },
    )


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
