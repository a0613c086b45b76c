"""What is run: presets, --set and flags become one RunConfig, whose digest names the experiment."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

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
