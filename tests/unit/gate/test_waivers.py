"""Waiver files."""

import json
from datetime import date
from pathlib import Path

import pytest

from benchmark.errors import UserError
from benchmark.gate.waivers import Waiver, read

TOML = """\
[[waiver]]
sample = "s1"
attack = "mac"
owner = "ana@example.org"
reason = "see issue 41"
expires = 2027-01-31

[[waiver]]
sample = "s2"
owner = "ben"
reason = "blurred"
expires = "2026-12-01"
"""


def written(tmp_path: Path, text: str, name: str = "waivers.toml") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_toml_and_json_say_the_same(tmp_path: Path) -> None:
    expected = [
        Waiver("s1", "ana@example.org", "see issue 41", date(2027, 1, 31), "mac"),
        Waiver("s2", "ben", "blurred", date(2026, 12, 1)),
    ]
    assert read(written(tmp_path, TOML)) == expected
    lines = [
        {"sample": "s1", "attack": "mac", "owner": "ana@example.org", "reason": "see issue 41",
         "expires": "2027-01-31"},
        {"sample": "s2", "owner": "ben", "reason": "blurred", "expires": "2026-12-01"},
    ]  # fmt: skip
    assert read(written(tmp_path, json.dumps({"waiver": lines}), "waivers.json")) == expected


def test_a_waiver_covers_its_sample_under_its_attack() -> None:
    one = Waiver("s1", "ana", "x", date(2027, 1, 31), "mac")
    assert one.covers("mac", "s1")
    assert not one.covers("mac", "s2")
    assert not one.covers("advdreamer", "s1")
    assert Waiver("s1", "ana", "x", date(2027, 1, 31)).covers("advdreamer", "s1")
    assert str(one) == "s1 of mac (ana, until 2027-01-31: x)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[[waiver]]\nsample = 's1'\n",
            "number 1 lacks 'owner': give sample, owner, reason, expires",
        ),
        (TOML.replace("reason =", "why ="), "number 1 lacks 'reason'"),
        (TOML.replace('attack = "mac"', "attak = 1"), "number 1 has the unknown key 'attak'"),
        (TOML.replace('"2026-12-01"', '"soon"'), "number 2: expires = 'soon' is no date"),
        (TOML.replace('"2026-12-01"', "7"), "number 2: expires = 7 is no date"),
        ("waivers = []", r"expected nothing but a list of \[\[waiver\]\] tables"),
        ("waiver = 1", r"expected nothing but a list of \[\[waiver\]\] tables"),
        ("[[", "are not TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(written(tmp_path, text))


def test_damaged_json_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="are not JSON"):
        read(written(tmp_path, "[", "waivers.json"))
