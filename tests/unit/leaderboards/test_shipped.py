"""The entries that ship: small, complete, and valid for the validator of today."""

from pathlib import Path

import pytest

from leaderboards.boards import boards
from leaderboards.keeper import SHIPPED
from leaderboards.validate import find_entries, validate
from tests.unit.leaderboards.test_site import loaded

MIB = 2**20
ENTRIES = list(find_entries(SHIPPED, []))


def size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda path: "/".join(path.parts[-4:]))
def test_an_entry_is_small(entry: Path) -> None:
    assert size(entry) < 1.5 * MIB


def test_all_of_them_are_small() -> None:
    assert size(SHIPPED) < 6 * MIB


def test_the_miniatures_stand_on_a_page_of_each_attack() -> None:
    found = {board.attack: board for board in boards(loaded(SHIPPED))}
    assert {"mac", "advdreamer"} <= found.keys()
    default = found["mac"].sections
    models = {
        one.model
        for section in default.values()
        if section.rules == "defaults"
        for one in section.standings
    }
    assert models == {"miniature:clip-mini", "miniature:siglip-mini", "miniature:negclip-mini"}


def test_all_of_them_pass() -> None:
    assert validate(SHIPPED).problems == []
