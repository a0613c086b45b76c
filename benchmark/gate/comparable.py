"""What must be equal for two runs to be comparable, each difference by a key that can be allowed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.config import RunConfig
from benchmark.errors import UserError
from benchmark.records import HEADER, read_header, read_records
from benchmark.registry import split
from benchmark.types import Record

ABSENT = "nothing"
_WITHOUT_EFFECT = {"metrics", "observations"}
"""Settings that say what is reported, not what happens."""
_DATA = "data set"
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class RunData:
    """A run folder in memory."""

    path: Path
    header: Mapping[str, Any]
    config: RunConfig
    records: Mapping[str, Record]

    @classmethod
    def read(cls, path: Path) -> "RunData":
        """Read a run folder.

        Raises:
            UserError: It holds no run, or a damaged one.
        """
        header = read_header(path)
        if "config" not in header:
            raise UserError(f"{path / HEADER} holds no config: it is not from a run")
        records = {record.id: record for record in read_records(path)}
        return cls(path, header, RunConfig.from_json(header["config"]), records)


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that two runs do not have in common. `key` is what --allow takes."""

    key: str
    baseline: str
    new: str

    def __str__(self) -> str:
        return f"{self.key}: {_short(self.baseline)} -> {_short(self.new)}"

    def is_allowed(self, allowed: Collection[str]) -> bool:
        """Whether its key, or one that begins it ("dataset" of "dataset.px"), was allowed."""
        parts = self.key.split(".")
        return any(".".join(parts[: end + 1]) in allowed for end in range(len(parts)))


def paired(baseline: Path, new: Path) -> tuple[list[tuple[RunData, RunData]], list[Difference]]:
    """Runs that belong together: two run folders, or two folders of runs, paired by attack.

    Runs of one attack are told apart by the names of their folders. What has no counterpart comes as a
    difference with the key "runs".

    Raises:
        UserError: There is no run in one of them.
    """
    before, now = _found(baseline), _found(new)
    pairs, differences = [], []
    for name, one in before.items():
        same = [other for other in now.values() if other.config.attack == one.config.attack]
        twin = now.get(name) if now.get(name) in same else None
        alone = sum(other.config.attack == one.config.attack for other in before.values()) == 1
        if twin is None and alone and len(same) == 1:
            twin = same[0]
        if twin is None:
            differences.append(Difference("runs", f"{name} ({one.config.attack})", ABSENT))
        else:
            pairs.append((one, twin))
    used = {id(one) for _, one in pairs}
    differences += [
        Difference("runs", ABSENT, f"{name} ({one.config.attack})")
        for name, one in now.items()
        if id(one) not in used
    ]
    return pairs, differences


def differences(baseline: RunData, new: RunData) -> list[Difference]:
    """All that makes the two incomparable, in the order in which people look for it."""
    before, now = _traits(baseline), _traits(new)
    found = [
        Difference(key, before.get(key, ABSENT), now.get(key, ABSENT))
        for key in [*before, *(key for key in now if key not in before)]
        if before.get(key, ABSENT) != now.get(key, ABSENT)
    ]
    if before["status"] == now["status"] != "finished":
        found.append(Difference("status", before["status"], now["status"]))
    return found + list(_of_samples(baseline.records, new.records))


def notes(baseline: RunData, new: RunData) -> list[str]:
    """What differs and seldom matters: versions of libraries, the device."""
    before, now = (dict(_surroundings(run.header)) for run in (baseline, new))
    return [
        str(Difference(key, before.get(key, ABSENT), now.get(key, ABSENT)))
        for key in sorted(before.keys() | now.keys())
        if before.get(key, ABSENT) != now.get(key, ABSENT)
    ]


def _found(folder: Path) -> dict[str, RunData]:
    """Runs by the name of their folder."""
    if (folder / HEADER).is_file():
        return {folder.resolve().name: RunData.read(folder)}
    paths = sorted(path.parent for path in folder.glob(f"*/{HEADER}"))
    if not paths:
        read_header(folder)  # says that there is none
    return {path.name: RunData.read(path) for path in paths}


def _traits(run: RunData) -> dict[str, str]:
    """All that must be equal but the samples themselves."""
    models = _models(run.header)
    traits = dict(_procedure(run.header))
    traits |= models
    # A model says more than the setting that names it ("judge").
    traits |= {key: value for key, value in _settings(run.config) if key not in models}
    return traits


def _procedure(header: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What was done, beside the settings."""
    yield "attack_version", str(header.get("attack_version", ABSENT))
    yield from _leaves("attack_details", header.get("attack_details") or {})
    yield "status", str(header.get("status", ABSENT))
    if header.get("surrogate"):
        yield "surrogate", str(header["surrogate"])


def _models(header: Mapping[str, Any]) -> dict[str, str]:
    """Data and models by their kind; of the target only what must be equal."""
    models: Mapping[str, Mapping[str, str]] = header.get("models", {})
    target = models.get("target", {})
    found = {
        "data": _identity(models.get(_DATA, {})),
        "preprocessing": target.get("preprocessing", ""),
        "dtype": target.get("dtype", ""),
    }
    for role in sorted(models.keys() - {_DATA, "target"}):
        kind, one = role.partition(" ")[0], _identity(models[role])
        found[kind] = f"{found[kind]}, {one}" if kind in found else one
    return found


def _settings(config: RunConfig) -> Iterator[tuple[str, str]]:
    """What was asked for."""
    yield "attack", config.attack
    yield "seed", str(config.seed)
    yield "access", config.access
    yield "query_budget", "none" if config.query_budget is None else str(config.query_budget)
    # Where a file lies may differ between machines: what is in it is hashed.
    yield "dataset", split(config.dataset)[0]
    for key, value in sorted(config.dataset_settings.items()):
        if key != "data_root":
            yield f"dataset.{key}", str(value)
    for key, value in sorted(config.settings.items()):
        if key not in _WITHOUT_EFFECT:
            yield from _leaves(key, value)


def _of_samples(baseline: Mapping[str, Record], new: Mapping[str, Record]) -> Iterator[Difference]:
    missing = [id for id in baseline if id not in new]
    more = [id for id in new if id not in baseline]
    if missing or more:
        yield Difference(
            "samples",
            f"{len(baseline)} ({_few(missing, 'NEW lacks')})",
            f"{len(new)} ({_few(more, 'BASELINE lacks')})",
        )
    changed = [
        id
        for id, before in baseline.items()
        if (now := new.get(id)) is not None
        and (before.text, before.image_sha256 or now.image_sha256)
        != (now.text, now.image_sha256 or before.image_sha256)
    ]
    if changed:
        first = changed[0]
        yield Difference(
            "data",
            f"sample {first}: {_content(baseline[first])}",
            f"{_content(new[first])}{f', and {len(changed) - 1} more' if len(changed) > 1 else ''}",
        )


def _surroundings(header: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, version in header.get("versions", {}).items():
        yield name, str(version)
    sessions = header.get("sessions") or [{}]
    yield "device", str(sessions[-1].get("device", ABSENT))


def _identity(info: Mapping[str, str]) -> str:
    """Which model or data it is, exactly, as text."""
    keys = ("id", "revision", "weights", "dtype", "preprocessing")
    return " ".join(info[key] for key in keys if info.get(key))


def _leaves(key: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for inner, one in sorted(value.items()):
            yield from _leaves(f"{key}.{inner}", one)
    else:
        yield key, str(value)


def _content(record: Record) -> str:
    return f"{record.text!r} {record.image_sha256[:12]}".strip()


def _few(ids: Sequence[str], label: str) -> str:
    if not ids:
        return f"{label} none"
    more = f" and {len(ids) - 2} more" if len(ids) > 2 else ""
    return f"{label} {', '.join(ids[:2])}{more}"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}...{text[-_SHOWN // 2 :]}"
