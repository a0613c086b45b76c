"""The command line in this process, with the attack and target of the plugin package in its registry."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

from benchmark import registry
from benchmark.cli import main

PLUGIN = Path(__file__).parents[1] / "plugin_package"


@dataclass(frozen=True, slots=True)
class Result:
    code: int
    out: str
    err: str


Trident = Callable[..., Result]


@pytest.fixture
def paint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The plugin's module, registered as if it were installed: attack repaint, target colours."""
    monkeypatch.syspath_prepend(str(PLUGIN))
    points = [
        EntryPoint("repaint", "trident_paint:Repaint", "trident.attacks"),
        EntryPoint("colours", "trident_paint:Colours", "trident.targets"),
    ]
    monkeypatch.setattr(
        registry, "entry_points", lambda group: [one for one in points if one.group == group]
    )
    registry._entries.cache_clear()
    import trident_paint

    yield trident_paint
    registry._entries.cache_clear()
    del sys.modules["trident_paint"]


@pytest.fixture
def trident(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Trident:
    """Runs a command in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIDENT_CACHE", str(tmp_path / "cache"))

    def call(*arguments: str) -> Result:
        capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as stop:  # --help and --version end so.
            code = int(stop.code or 0)
        printed = capsys.readouterr()
        return Result(code, printed.out, printed.err)

    return call
