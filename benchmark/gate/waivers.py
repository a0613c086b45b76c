"""Known exceptions: samples that may be fooled, each with an owner, a reason and a last day.

    [[waiver]]
    sample = "test/1312"
    attack = "mac"              # any attack if left out
    owner = "ana@example.org"
    reason = "two colours that people mix up as well, see issue 41"
    expires = 2027-01-31

The same as JSON: {"waiver": [{"sample": "test/1312", ..., "expires": "2027-01-31"}]}.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from benchmark.errors import UserError

_REQUIRED = ("sample", "owner", "reason", "expires")


@dataclass(frozen=True, slots=True)
class Waiver:
    """One exception; `attack` is "" for every attack. It holds up to and including `expires`."""

    sample: str
    owner: str
    reason: str
    expires: date
    attack: str = ""

    def covers(self, attack: str, sample: str) -> bool:
        """Whether it is about this sample under this attack."""
        return self.sample == sample and self.attack in ("", attack)

    def __str__(self) -> str:
        of = f" of {self.attack}" if self.attack else ""
        return f"{self.sample}{of} ({self.owner}, until {self.expires}: {self.reason})"


def read(path: Path) -> list[Waiver]:
    """Read a waiver file, .toml or .json.

    Raises:
        UserError: It is neither, or a waiver lacks something; names the waiver and the key.
    """
    text = path.read_text(encoding="utf-8")
    try:
        data = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:
        kind = "JSON" if path.suffix == ".json" else "TOML"
        raise UserError(f"waivers {path} are not {kind}: {error}") from error
    lines = data.get("waiver") if isinstance(data, dict) and set(data) <= {"waiver"} else None
    if not isinstance(lines, list) or not all(isinstance(line, dict) for line in lines):
        raise UserError(f"waivers {path}: expected nothing but a list of [[waiver]] tables")
    return [_waiver(line, f"waivers {path}, number {n}") for n, line in enumerate(lines, start=1)]


def _waiver(line: Mapping[str, Any], where: str) -> Waiver:
    if missing := [key for key in _REQUIRED if not line.get(key)]:
        raise UserError(f"{where} lacks {missing[0]!r}: give {', '.join(_REQUIRED)}")
    if wrong := sorted(line.keys() - {*_REQUIRED, "attack"}):
        raise UserError(f"{where} has the unknown key {wrong[0]!r}: give {', '.join(_REQUIRED)}")
    expires = line["expires"]
    if isinstance(expires, str):
        try:
            expires = date.fromisoformat(expires)
        except ValueError:
            expires = None
    if isinstance(expires, datetime):
        expires = expires.date()
    if not isinstance(expires, date):
        raise UserError(
            f"{where}: expires = {line['expires']!r} is no date: write it as 2027-01-31"
        )
    texts = {key: str(line.get(key, "")) for key in ("sample", "owner", "reason", "attack")}
    return Waiver(**texts, expires=expires)
