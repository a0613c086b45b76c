"""A plugin that is really installed adds an attack and a target, and a run uses both."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin_site import install


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of its own that the plugin is installed into."""
    return install(tmp_path_factory.mktemp("plugin"))


def trident(site: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site), "TRIDENT_CACHE": str(cwd / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "benchmark", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_installing_there_is_no_plugin(tmp_path: Path) -> None:
    result = trident(tmp_path, "list", "attacks", cwd=tmp_path)
    assert "repaint" not in result.stdout


def test_list_shows_what_a_plugin_adds(site: Path, tmp_path: Path) -> None:
    result = trident(site, "list", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines() if line.strip()]
    assert ["repaint", "From trident-paint."] in lines
    assert ["colours", "From trident-paint."] in lines


def test_a_run_uses_the_plugins_attack_target_and_setting(site: Path, tmp_path: Path) -> None:
    flags = "--attack repaint --target colours --set tries=2 --samples 6 --out run"
    result = trident(site, "run", *flags.split(), cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    records = [
        json.loads(line) for line in (tmp_path / "run/records.jsonl").read_text().splitlines()
    ]
    assert [record["queries"] for record in records] == [2] * 6
    assert all(record["perturbation"].keys() == {"place"} for record in records)
    with (tmp_path / "run/table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {(row["attack"], row["target"]) for row in rows} == {("repaint", "colours")}
    header = json.loads((tmp_path / "run/run.json").read_text())
    assert header["config"]["settings"]["tries"] == 2
    assert header["models"]["target"]["id"] == "colours"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("tries=many", 'setting tries = "many": expected an integer'),
        ("trise=2", "unknown setting 'trise': did you mean tries"),
    ],
)
def test_a_plugins_settings_are_checked(
    site: Path, tmp_path: Path, override: str, message: str
) -> None:
    flags = ["--attack", "repaint", "--target", "colours", "--set", override]
    result = trident(site, "run", *flags, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
