"""What is run: presets, --set and flags become one RunConfig, whose digest names the experiment."""

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

from benchmark import registry
from benchmark.errors import UserError
from benchmark.overrides import apply_all, in_words
from benchmark.settings import ATTACKS, COMMON, DATASET, TARGET, Setting, of_defaults
from benchmark.types import JSON, Access


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything that can change a result, resolved: no default is left open.

    `target_name` is what the person typed ("clip"), `target` what it resolved to within the preset
    ("miniature:clip-mini"). `settings` are the attack's own, after preset and --set.
    """

    attack: str
    target_name: str
    target: str
    preset: str
    dataset_name: str
    dataset: str
    samples: int | None
    seed: int
    access: Access
    query_budget: int | None
    settings: Mapping[str, JSON] = field(default_factory=dict)
    dataset_settings: Mapping[str, JSON] = field(default_factory=dict)
    target_settings: Mapping[str, JSON] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain data for run.json."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RunConfig":
        """Rebuild what `to_json` wrote.

        Raises:
            UserError: If a key is missing or not one of ours.
        """
        known = {part.name for part in fields(cls)}
        if wrong := known.symmetric_difference(data):
            raise UserError(
                f"the run's config has other keys than this version of trident ({in_words(sorted(wrong))}):"
                " finish it with the version that began it, which its run.json names"
            )
        return cls(**data)

    @property
    def digest(self) -> str:
        """sha256 of the canonical JSON: equal for equal experiments, whatever the order of keys."""
        canonical = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Execution:
    """How it is run. Nothing here changes a result (scores agree to 1e-5)."""

    batch_size: int = 64
    device: str = "cpu"
    workers: int | None = None
    cache: str | None = None
    trace: bool = True
    max_error_rate: float = 0.0


Table = Mapping[str, Any]

_SECTIONS = ("run", "targets", "tools", "datasets", "attack")


def presets() -> list[str]:
    """Names of the presets that ship."""
    folder = files("benchmark") / "presets"
    return sorted(item.name.removesuffix(".toml") for item in folder.iterdir())


def load_preset(preset: str) -> Table:
    """Read a preset that ships, by name, or one of your own, by the path of a .toml file.

    Raises:
        UserError: If there is none, or it is not TOML of the right sections.
    """
    if preset.endswith(".toml"):
        path = Path(preset)
        if not path.is_file():
            raise UserError(f"preset {preset}: there is no such file")
        text = path.read_text(encoding="utf-8")
    elif preset in presets():
        text = (files("benchmark") / "presets" / f"{preset}.toml").read_text(encoding="utf-8")
    else:
        known = in_words(presets())
        raise UserError(f"unknown preset {preset!r}: give {known}, or the path of a .toml file")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"preset {preset} is not TOML: {error}") from error
    if missing := [name for name in _SECTIONS if name not in table]:
        raise UserError(f"preset {preset} lacks [{missing[0]}]: start from a copy of mini.toml")
    return table


def resolve(
    attack: str,
    target: str,
    preset: str = "mini",
    dataset: str | None = None,
    overrides: Sequence[str] = (),
    *,
    data_root: str | None = None,
    samples: int | None = None,
    seed: int | None = None,
    access: str | None = None,
    query_budget: int | None = None,
) -> RunConfig:
    """Turn names, a preset and overrides into a config with nothing left open.

    `overrides` are "key=value" texts, the value in TOML (bare words are texts): "candidates=8" sets
    the attack's own, "target.revision=..." and "dataset.split=..." the target's and the data set's.

    Raises:
        UserError: If a name, key or value is not known or not of the expected type.
    """
    table = load_preset(preset)
    registry.entry("attacks", attack)
    target_spec, target_settings = _target(target, table)
    # In a preset, [run.ATTACK] says what differs from [run] for one attack.
    run = {**table["run"], **table["run"].get(attack, {})}
    dataset_name, dataset_spec, dataset_settings = _dataset(
        dataset or str(run["dataset"]), table, attack, data_root
    )
    default_samples = dataset_settings.pop("samples", None)

    settings, schema = _attack_settings(attack, table)
    schemas = {
        "": (settings, schema),
        "target": (target_settings, _schema("targets", target_spec, TARGET)),
        "dataset": (dataset_settings, _schema("datasets", dataset_spec, DATASET)),
    }
    apply_all(overrides, schemas)
    _resolve_entries(settings, schema, table)

    return RunConfig(
        attack=attack,
        target_name=target,
        target=target_spec,
        preset=preset,
        dataset_name=dataset_name,
        dataset=dataset_spec,
        samples=default_samples if samples is None else samples,
        seed=run["seed"] if seed is None else seed,
        access=_access(run["access"] if access is None else access),
        query_budget=query_budget,
        settings=settings,
        dataset_settings=dataset_settings,
        target_settings=target_settings,
    )


def redirect(config: RunConfig, target: str | None, overrides: Sequence[str] = ()) -> RunConfig:
    """`config` with another target, named as in its preset, and overrides as `resolve` takes them.

    The data stay as they are, so that what came of a run can be shown again; None is the own target.

    Raises:
        UserError: If the preset, a name, key or value is not known, or an override is about the data.
    """
    if target is None and not overrides:
        return config
    if data := [override for override in overrides if override.strip().startswith("dataset.")]:
        raise UserError(f"--set {data[0]}: the data are those of the run, leave it out")
    table = load_preset(config.preset)
    target_spec, target_settings = config.target, dict(config.target_settings)
    if target is not None:
        target_spec, target_settings = _target(target, table)
    settings, (_, schema) = dict(config.settings), _attack_settings(config.attack, table)
    schemas = {
        "": (settings, schema),
        "target": (target_settings, _schema("targets", target_spec, TARGET)),
    }
    apply_all(overrides, schemas)
    _resolve_entries(settings, schema, table)
    return replace(
        config,
        target_name=target or config.target_name,
        target=target_spec,
        settings=settings,
        target_settings=target_settings,
    )


def _target(name: str, table: Table) -> tuple[str, dict[str, JSON]]:
    """What a target's name stands for within the preset, and its settings."""
    alias = table["targets"].get(name)
    if isinstance(alias, Mapping):
        rest = {key: value for key, value in alias.items() if key != "spec" and value != ""}
        return str(alias["spec"]), rest
    spec = name if alias is None else str(alias)
    entry, argument = registry.split(spec)
    if entry not in registry.names("targets"):
        known = [*table["targets"], *registry.names("targets")]
        raise UserError(registry.unknown("target", name, known, "list targets"))
    if not argument and registry.entry("targets", entry).origin == registry.OWN:
        summary = registry.entry("targets", entry).summary
        raise UserError(f"target {name!r} needs a model after a colon. {summary}")
    return spec, {}


def _dataset(
    spec: str, table: Table, attack: str, data_root: str | None
) -> tuple[str, str, dict[str, Any]]:
    """(short name, spec, settings) of a data set, how many samples to take among its settings.

    In a preset, [datasets.NAME.ATTACK] says what differs from [datasets.NAME] for one attack.
    """
    for ending, reader in ((".csv", "pairs"), (".jsonl", "mm3dtbench")):
        if spec.endswith(ending) and not spec.startswith(f"{reader}:"):
            spec = f"{reader}:{spec}"
    entry, argument = registry.split(spec)
    registry.entry("datasets", entry)
    short = entry
    needs = {"pairs": "FILE.csv", "mm3dtbench": "FILE.jsonl"}
    if entry in needs and not argument:
        raise UserError(f"data set {entry!r} needs a file: --dataset {needs[entry]}")
    if entry in (*needs, "photo") and argument:
        # Absolute, so that a run resumes from any folder.
        short, spec = Path(argument).name, f"{entry}:{Path(argument).absolute()}"
    tables = table["datasets"].get(entry, {})
    settings = {key: value for key, value in tables.items() if not isinstance(value, Mapping)}
    settings |= tables.get(attack, {})
    if entry == "toybox" and argument:
        settings["split"] = argument
    if data_root is not None:
        settings["data_root"] = str(Path(data_root).absolute())
    elif entry == "coco":
        raise UserError("data set 'coco' needs the folder of its pictures: --data-root DIR")
    return short, spec, settings


def _attack_settings(attack: str, table: Table) -> tuple[dict[str, JSON], dict[str, Setting]]:
    """An attack's settings before overrides, and what each may be."""
    common = {key: value for key, value in table["attack"].items() if not isinstance(value, dict)}
    if attack in ATTACKS:
        own, schema = {}, ATTACKS[attack]
    else:
        # A plugin's settings and their types are its factory's `defaults`, where it has any.
        own = dict(getattr(registry.load("attacks", attack), "defaults", {}))
        schema = of_defaults(own)
    return {**common, **own, **table["attack"].get(attack, {})}, {**COMMON, **schema}


def _schema(kind: str, spec: str, known: dict[str, Setting]) -> dict[str, Setting] | None:
    """What is known of a model's settings; None for a plugin's, which takes any."""
    origin = registry.entry(kind, registry.split(spec)[0]).origin
    return known if origin == registry.OWN else None


def _resolve_entries(
    settings: dict[str, JSON], schema: Mapping[str, Setting], table: Table
) -> None:
    """Replace a tool's alias by what it stands for, and refuse names that no registry has."""
    for key, setting in schema.items():
        value = settings.get(key)
        if not setting.entry or value is None:
            continue
        if isinstance(value, str):
            if setting.entry == "tools":
                value = settings[key] = str(table["tools"].get(value, value))
            registry.entry(setting.entry, registry.split(value)[0])
        elif isinstance(value, list):
            for name in value:
                registry.entry(setting.entry, str(name))


def _access(value: str) -> Access:
    for access in get_args(Access):
        if value == access:
            return access  # type: ignore[no-any-return]
    raise UserError(f"unknown access {value!r}: give {in_words(get_args(Access))}")
