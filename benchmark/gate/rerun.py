"""The command that makes a run, or some of its samples, again."""

import json
import shlex
from collections.abc import Mapping, Sequence

from benchmark.config import RunConfig, resolve
from benchmark.errors import UserError
from benchmark.overrides import parse_value
from benchmark.types import JSON

_MODULE = ("python", "-m", "benchmark")


def run_words(config: RunConfig) -> list[str] | None:
    """The words of the `run` command that resolves to `config`; None if none does any more.

    What the preset says anyway is left out. There is none if the preset changed since, or the attack
    is a plugin that is not installed here.
    """
    dataset = None
    words = ["run", "--attack", config.attack, "--target", config.target_name]
    try:
        if _resolve(config, None).dataset != config.dataset:
            dataset = config.dataset
        plain = _resolve(config, dataset)
        overrides = [
            *_overrides("", plain.settings, config.settings),
            *_overrides("target.", plain.target_settings, config.target_settings),
            *_overrides("dataset.", plain.dataset_settings, config.dataset_settings),
        ]
        given = {
            "--preset": (config.preset, "mini"),
            "--dataset": (dataset, None),
            "--data-root": (config.dataset_settings.get("data_root"), None),
            "--samples": (config.samples, plain.samples),
            "--seed": (config.seed, plain.seed),
            "--access": (config.access, plain.access),
            "--query-budget": (config.query_budget, None),
        }
        again = _resolve(config, dataset, overrides, exactly=True)
    except UserError:
        return None
    if again.to_json() != config.to_json():
        return None
    for flag, (value, default) in given.items():
        if value != default:
            words += [flag, str(value)]
    for override in overrides:
        words += ["--set", override]
    return words


def sample_command(words: Sequence[str], id: str) -> str:
    """A command line that attacks this one sample as the run with these words did."""
    return shlex.join([*_MODULE, *words, *_only(id)])


def replay_command(run: str, target: str, settings: Mapping[str, JSON], id: str) -> str:
    """A command line that shows one stored adversarial example to a target."""
    words = [*_MODULE, "transfer", run, "--target", target]
    for key, value in settings.items():
        words += ["--set", f"target.{key}={_toml(value)}"]
    return shlex.join([*words, *_only(id)])


def _only(id: str) -> list[str]:
    return [f"--ids={id}"] if id.startswith("-") else ["--ids", id]


def _resolve(
    config: RunConfig,
    dataset: str | None,
    overrides: Sequence[str] = (),
    *,
    exactly: bool = False,
) -> RunConfig:
    """What the command line makes of the names, and of all numbers if `exactly`."""
    root = config.dataset_settings.get("data_root")
    return resolve(
        config.attack,
        config.target_name,
        config.preset,
        dataset,
        overrides,
        data_root=None if root is None else str(root),
        samples=config.samples if exactly else None,
        seed=config.seed if exactly else None,
        access=config.access if exactly else None,
        query_budget=config.query_budget if exactly else None,
    )


def _overrides(prefix: str, plain: Mapping[str, JSON], wanted: Mapping[str, JSON]) -> list[str]:
    return [
        f"{prefix}{key}={_toml(value)}"
        for key, value in wanted.items()
        if plain.get(key) != value and key != "data_root"
    ]


def _toml(value: JSON) -> str:
    """A value as --set reads it; texts bare where that is no other value."""
    if isinstance(value, str) and value == value.strip() and value and parse_value(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)
