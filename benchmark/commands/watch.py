"""What a person is told before and during a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark import __version__, events
from benchmark.config import Execution, RunConfig
from benchmark.progress import Progress, State
from benchmark.records import read_header
from benchmark.settings import ATTACKS
from benchmark.types import JSON

SHOWN_ERRORS = 3
_NOTHING = events.Underway(samples=0, queries=0, rounds=0)
_MAY_BE_NONE = ("naturalness", "encoder", "llm", "other_llm", "gate")
_WORK_WITH = (("judge", "criteria", "unimodal"), ("tagger", "metrics", "edit_diversity"))
"""(setting, kind, name): what it names is loaded where a run has this criterion or metric."""


def banner(config: RunConfig, out: Path) -> str:
    """What was resolved, a line each."""
    settings = config.settings
    target = config.target_name
    if config.target != target:
        target += f" = {config.target}"
    target += "".join(f", {key} {value}" for key, value in config.target_settings.items())
    data = config.dataset_name
    data += "".join(f", {key} {_said(value)}" for key, value in config.dataset_settings.items())
    samples = "all samples" if config.samples is None else f"at most {config.samples} samples"
    budget = "no query budget" if config.query_budget is None else f"{config.query_budget} queries"
    helpers = [f"{key} {settings[key]}" for key in _helpers(config)]
    own = (
        "candidates", "mode", "generation", "generations", "population", "islands", "selection", "niches",
    )  # fmt: skip
    details = [f"{key} {_said(settings[key])}" for key in own if key in settings]
    lines = {
        "attack": ", ".join([config.attack, *details]),
        "target": target,
        "data": f"{data}, {samples}",
        "models": ", ".join(helpers),
        "preset": f"{config.preset}, seed {config.seed}, access {config.access}, {budget}",
        "out": str(out),
    }
    shown = [f"  {key:7} {value}" for key, value in lines.items() if value]
    return "\n".join([f"trident {__version__}", *shown])


def _said(value: JSON) -> str:
    """A setting's value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _helpers(config: RunConfig) -> list[str]:
    """The settings that name what this attack, its criteria and its metrics work with."""
    settings = config.settings
    schema = ATTACKS.get(config.attack, {})
    keys = [key for key, setting in schema.items() if setting.entry]
    keys += [key for key in _MAY_BE_NONE if key in schema and settings.get(key) != "none"]
    for key, kind, name in _WORK_WITH:
        used = settings.get(kind)
        if isinstance(used, list) and name in used:
            keys.append(key)
    return [key for key in keys if key in settings]


def identities(header: Mapping[str, Any]) -> str:
    """Which attack, models and data it is exactly, once they are loaded."""
    lines = [f"  version {header['attack_version']} of the attack"]
    for role, info in header["models"].items():
        exactly = [info[key][:12] for key in ("revision", "weights") if info[key]]
        lines.append(f"  loaded  {role}: {' '.join([info['id'], *exactly])}")
    return "\n".join(lines)


class Watcher:
    """Turns the runner's events into what a person sees."""

    def __init__(self, progress: Progress, execution: Execution) -> None:
        self._progress = progress
        self._batch_size = execution.batch_size
        self._totals: events.Totals | None = None
        self._errors = 0

    def __call__(self, event: events.Event) -> None:
        """Show one event."""
        match event:
            case events.Started():
                self._progress.say(identities(read_header(event.path)))
                if event.totals.resumed:
                    self._progress.say(
                        f"  resumed {event.totals.resumed} samples are there already"
                    )
                self._show(event.totals)
            case events.Underway():
                if self._totals is not None:
                    self._show(self._totals, event)
            case events.Noted():
                self._progress.say(f"  {event.id}: {event.text}")
            case events.SampleDone():
                if event.record.error is not None:
                    self._complain(event.record.id, event.record.error)
                self._show(event.totals)
            case events.Warned():
                self._progress.say(f"warning: {event.message}")
            case events.Stopping():
                left = self._batch_size
                if self._totals is not None and self._totals.total is not None:
                    left = min(left, self._totals.total - self._totals.done)
                self._progress.interrupt(
                    f"finishing the samples in flight, {left} at most; Ctrl-C again stops at once"
                )

    def _show(self, totals: events.Totals, underway: events.Underway = _NOTHING) -> None:
        self._totals = totals
        self._progress.show(
            State(
                done=totals.done,
                total=totals.total,
                resumed=totals.resumed,
                successes=totals.successes,
                errors=totals.errors,
                queries=totals.queries + underway.queries,
                underway=underway.samples,
                rounds=underway.rounds,
            )
        )

    def _complain(self, sample: str, error: str) -> None:
        self._errors += 1
        if self._errors <= SHOWN_ERRORS:
            self._progress.say(f"sample {sample} errored: {' '.join(error.split())}")
        if self._errors == SHOWN_ERRORS:
            self._progress.say("further errors are in records.jsonl only")


def counts(totals: events.Totals) -> str:
    """How many samples ended how, in one line."""
    return (
        f"{totals.done} samples: {totals.successes} successes, {totals.failures} failures,"
        f" {totals.skipped} skipped, {totals.errors} errors; {totals.queries} queries"
    )
