"""From the names in a config to the objects that a run is put together from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark import registry
from benchmark.config import Execution, RunConfig
from benchmark.errors import UserError
from benchmark.protocols import Adviser, Attack, Criterion, Dataset, LanguageModel, Metric, Painter
from benchmark.settings import ATTACKS
from benchmark.types import JSON, ModelInfo


@dataclass(frozen=True, slots=True)
class Parts:
    """What a run is put together from. `infos` say which models and data exactly, by role.

    `surrogate` says what was attacked where the target is only shown what came of that: its "target" as
    a config has it, and its run.
    """

    attack: Attack
    target: object
    tools: Mapping[str, LanguageModel | Adviser | Painter]
    criteria: Sequence[Criterion]
    metrics: Sequence[Metric]
    dataset: Dataset
    infos: Mapping[str, ModelInfo]
    surrogate: Mapping[str, JSON] | None = None


class Run:
    """The `RunContext` of a run: attacks, criteria and metrics are built from it."""

    def __init__(self, config: RunConfig, execution: Execution, dataset: Dataset) -> None:
        self.settings: Mapping[str, Any] = config.settings
        self.dataset = dataset
        self.seed = config.seed
        self.infos: dict[str, ModelInfo] = {}
        self._device = execution.device
        self._models: dict[tuple[str, str], Any] = {}

    def model(self, kind: str, spec: str) -> Any:
        """Create (once a run) the `kind` ("judges", "taggers", "tools") named by `spec`."""
        if (kind, spec) not in self._models:
            model = registry.create(kind, spec, {"device": self._device})
            self._models[kind, spec] = model
            self.infos[f"{registry.singular(kind)} {spec}"] = model.info
        return self._models[kind, spec]


def assemble(config: RunConfig, execution: Execution) -> Parts:
    """Create what `config` names: models get the setting `device`, data sets `workers` if given.

    Raises:
        UserError: A name is unknown, or its library is not installed.
    """
    workers = {} if execution.workers is None else {"workers": execution.workers}
    dataset = registry.create("datasets", config.dataset, {**config.dataset_settings, **workers})
    context = Run(config, execution, dataset)
    attack = registry.build("attacks", config.attack, context)
    tools = {
        name: context.model("tools", spec) for name, spec in _tool_specs(config, attack).items()
    }
    names = [*named(config, "criteria"), *named(config, "observations")]
    criteria = [registry.build("criteria", name, context) for name in names]
    metrics = [registry.build("metrics", name, context) for name in named(config, "metrics")]
    device = {"device": execution.device}
    target = registry.create("targets", config.target, {**config.target_settings, **device})
    infos = {"target": target.info, "data set": dataset.info, **context.infos}
    return Parts(attack, target, tools, criteria, metrics, dataset, infos)


def named(config: RunConfig, key: str) -> list[str]:
    """The names in a setting that lists some ("criteria", "observations", "metrics")."""
    names = config.settings.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UserError(f"setting {key} = {names!r}: give a list of names")
    return [str(name) for name in names]


def _tool_specs(config: RunConfig, attack: Attack) -> dict[str, str]:
    """Tools by the name the attack asks for: of its settings, of its `tools`, of settings.tools."""
    schema = ATTACKS.get(config.attack, {})
    keys = [key for key, setting in schema.items() if setting.entry == "tools"]
    keys += getattr(attack, "tools", ())
    specs = {key: config.settings[key] for key in keys if key in config.settings}
    named = config.settings.get("tools", {})
    if isinstance(named, Mapping):
        specs |= named
    return {name: str(spec) for name, spec in specs.items()}
