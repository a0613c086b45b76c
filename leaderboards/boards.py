"""From entries to rows that may stand in one table: same attack, threat model, preset, data and rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from benchmark import tables
from benchmark.config import RunConfig, load_preset
from benchmark.tables import Row
from benchmark.types import Record
from leaderboards.submission import Submission

FEW = 50
"""Fewer decided samples give intervals too wide to rank by."""
FEW_REPEATS = 3
"""Searches are drawn by chance: one alone may be lucky."""
MANY_FAILED = 0.05
"""A larger share of errors and skipped samples may hide a bias."""

DEFAULTS = "defaults"
"""How a table is named whose settings are the preset's."""

SCHEDULED = "scheduled queries"

_HARMLESS = frozenset({"pictures"})
"""Settings that change what is kept, not what is found."""


@dataclass(frozen=True, slots=True)
class Column:
    """One number of a board. `low_is_robust`: the fewer, the more robust the model."""

    title: str
    metric: str
    part: str = ""
    low_is_robust: bool | None = None
    explained: str = ""


COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "mac": (
        Column("ASR", "total", "", True, "Share of captions for which a valid rewrite fooled the model"),
        Column("cross", "cross", "", None, "Share of picks that the model scores above the true caption"),
        Column("false", "false_of_image", "", None, "Share of successes that are really false"),
        Column("H", "H", "", None, "Entropy of the edits, in nats"),
        Column("D1", "D1", "", None, "Different tokens by tokens"),
    ),
    "advdreamer": (
        Column("p* accuracy", "accuracy", "condition=distribution", False,
               "Share of pictures drawn from the worst distribution of poses that are recognised"),
        Column("clean", "accuracy", "condition=clean", None, "Share of unperturbed pictures recognised"),
        Column("random", "accuracy", "condition=random", None, "The same for random poses"),
        Column("best of random", "accuracy", "condition=best_of_random", None,
               "The same for the worst of as many random poses as the search had queries"),
        Column("true object", "accuracy_reproduced", "condition=distribution", None,
               "The same for the object itself in the poses of p*"),
    ),
    "evolution": (
        Column("evolution", "capture_fresh", "search=evolution", False,
               "CAPTURE of what the model says of fresh pictures of the captions that evolution ended with"),
        Column("random captions", "capture_random", "search=evolution", None, "CAPTURE before any search"),
        Column("random search", "capture_fresh", "search=random_search", None, "The same of random search"),
        Column("LANCE", "capture_fresh", "search=lance", None, "The same of LANCE"),
        Column("reduction", "reduction", "search=evolution", None, "1 - evolution / random captions"),
    ),
    "mm3dtbench": (
        Column("accuracy", "accuracy", "", False, "Share of right answers"),
        Column("chance", "chance", "", None, "What guessing gives"),
    ),
}  # fmt: skip

_ASR_NAMES = ("total", "success", "asr")


@dataclass(frozen=True, slots=True)
class Number:
    """A value with its interval, None where it is missing."""

    value: float | None
    low: float | None = None
    high: float | None = None
    flags: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """One entry on a board."""

    path: PurePosixPath
    model_name: str
    model: str
    version: str
    paper: str
    note: str
    submitted: str
    harness: str
    samples: int
    errors: int
    queries: int
    numbers: tuple[Number, ...]
    reproduced: Mapping[str, Any] | None
    flags: tuple[str, ...]
    withdrawn: str
    table: Sequence[Row]


@dataclass(slots=True)
class Section:
    """A table of entries that can be compared: one preset, one data set, one set of rules."""

    preset: str
    dataset: str
    data_hash: str
    rules: str
    samples: str
    standings: list[Standing] = field(default_factory=list)


@dataclass(slots=True)
class Board:
    """One attack family under one threat model: a page."""

    attack: str
    version: str
    access: str
    budget: str
    transfer: bool
    columns: tuple[Column, ...]
    sections: dict[tuple[str, ...], Section] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its page."""
        attack = f"{self.attack}-transfer" if self.transfer else self.attack
        limit = self.budget.partition(" ")[0]
        return f"{attack}-v{self.version}-{self.access}-{limit}"

    @property
    def threat_model(self) -> str:
        """The threat model in words."""
        sees = {
            "decision": "sees only whether it fooled the model",
            "score": "sees the model's scores",
            "output": "sees the model's scores and answers",
        }[self.access]
        if self.transfer:
            return "made against another model and shown once"
        if self.budget == SCHEDULED:
            return f"{sees}; as many queries as the search's schedule has"
        return f"{sees}; {self.budget} a sample"


def boards(entries: Sequence[tuple[PurePosixPath, Submission]]) -> list[Board]:
    """All boards, by attack, threat model and name. Entries must have passed `validate`."""
    found: dict[tuple[Any, ...], Board] = {}
    for path, entry in entries:
        header, run, records = entry.header, entry.config, entry.records
        assert header is not None
        assert run is not None
        assert records is not None
        budget = _budget(run, records)
        key = (
            run.attack,
            header["attack_version"],
            run.access,
            budget,
            bool(header.get("surrogate")),
        )
        if key not in found:
            found[key] = Board(*key, columns=_columns(entry))
        info = header["models"]["data set"]
        place = (
            run.preset,
            run.dataset_name,
            str(info["weights"])[:12],
            _rules(entry),
            str(run.samples or len(records)),
        )
        section = found[key].sections.setdefault(place, Section(*place))
        section.standings.append(_standing(path, entry, found[key].columns))
    for board in found.values():
        for section in board.sections.values():
            section.standings.sort(key=lambda one: _order(board.columns[0], one))
        board.sections = dict(sorted(board.sections.items()))
    return [found[key] for key in sorted(found, key=str)]


def _order(column: Column, standing: Standing) -> tuple[Any, ...]:
    """The most robust model first; withdrawn entries and missing numbers last."""
    value = standing.numbers[0].value
    sign = 1 if column.low_is_robust else -1
    return (bool(standing.withdrawn), value is None, sign * (value or 0.0), standing.model_name)


def _columns(entry: Submission) -> tuple[Column, ...]:
    """A family's columns; of one without, the rate of successes and the other rates of all samples."""
    assert entry.config is not None
    if entry.config.attack in COLUMNS:
        return COLUMNS[entry.config.attack]
    whole = [row for row in _table(entry) if not row.slice and row.unit == "rate"]
    names = sorted((row.metric for row in whole), key=lambda name: name not in _ASR_NAMES)
    return tuple(
        Column(name, name, "", True if name in _ASR_NAMES else None) for name in names[:5]
    ) or (Column("success", "success", "", True),)


def _budget(run: RunConfig, records: Sequence[Record]) -> str:
    """What each sample may cost: the cap, or without one the most that a sample took."""
    if run.query_budget is not None:
        return f"{run.query_budget} queries"
    if run.dataset_name == "searches":
        return SCHEDULED
    return f"{max((record.queries for record in records), default=0)} queries"


def _rules(entry: Submission) -> str:
    """Settings that differ from the preset's, as one would type them."""
    assert entry.config is not None
    run = entry.config
    attack = load_preset(run.preset)["attack"]
    standard = {key: value for key, value in attack.items() if not isinstance(value, dict)}
    standard |= attack.get(run.attack, {})
    changed = [
        f"{key}={value}"
        for key, value in sorted(run.settings.items())
        if key in standard
        and key not in _HARMLESS
        and not _same(key, value, standard[key], run.preset)
    ]
    return ", ".join(changed) or DEFAULTS


def _same(key: str, value: Any, standard: Any, preset: str) -> bool:
    if value == standard:
        return True
    # A tool's alias is recorded as what it stands for.
    return isinstance(standard, str) and load_preset(preset)["tools"].get(standard) == value


def _table(entry: Submission) -> list[Row]:
    return tables.read_csv(entry.path / "table.csv")


def _standing(path: PurePosixPath, entry: Submission, columns: Sequence[Column]) -> Standing:
    card, header, records = entry.card, entry.header, entry.records
    assert card is not None
    assert header is not None
    assert records is not None
    table = _table(entry)
    cells = {(row.metric, row.slice): row for row in table}
    numbers = []
    for column in columns:
        row = cells.get((column.metric, column.part))
        numbers.append(
            Number(None) if row is None else Number(row.value, row.ci_low, row.ci_high, row.flags)
        )
    target = header["models"]["target"]
    decided = sum(record.status in ("success", "failure") for record in records)
    reproduced = entry.reproduced
    return Standing(
        path=path,
        model_name=card["model_name"],
        model=target["id"],
        version=target["revision"][:12] or target["weights"][:12],
        paper=card["paper"],
        note=card["note"],
        submitted=card["submitted"][:10],
        harness=card["harness"],
        samples=len(records),
        errors=len(records) - decided,
        queries=max((record.queries for record in records), default=0),
        numbers=tuple(numbers),
        reproduced=reproduced,
        flags=_flags(entry, decided, numbers),
        withdrawn=card.get("withdrawn", ""),
        table=table,
    )


def _flags(entry: Submission, decided: int, numbers: Sequence[Number]) -> tuple[str, ...]:
    """Why a row should be read with care."""
    assert entry.header is not None
    assert entry.config is not None
    assert entry.records is not None
    flags = []
    failed = len(entry.records) - decided
    if failed > MANY_FAILED * len(entry.records):
        flags.append("unreliable: many errors")
    if entry.config.dataset_name == "searches":
        repeats = entry.config.dataset_settings.get("repeats", 1)
        if isinstance(repeats, int) and repeats < FEW_REPEATS:
            flags.append(f"few repeats: {repeats}")
    elif decided < FEW:
        flags.append(f"few samples: {decided}")
    if any(number.flags for number in numbers):
        flags.append("; ".join(sorted({number.flags for number in numbers if number.flags})))
    if str(entry.header["git_commit"]).endswith("+"):
        flags.append("changed harness")
    again = entry.reproduced
    if again is not None and again["entry"] != entry.digest:
        flags.append("replayed before it was changed")
    elif again is not None and again["agreed"] < 0.95 * again["replayed"]:
        flags.append("unreliable: replay disagrees")
    return tuple(flags)
