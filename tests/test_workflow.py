"""The workflow of docs/ci.md, step by step, in a folder of its own."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from benchmark import cli
from benchmark.compare import EXIT_CODES
from tests.plugin_site import environment, install

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
FILE = ROOT / "docs" / "workflows" / "robustness.yml"
WORKFLOW: dict[Any, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
JOB = WORKFLOW["jobs"]["gate"]
STEPS = [step for step in JOB["steps"] if "run" in step]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("plugin"))


def follow(folder: Path, variables: Mapping[str, str]) -> dict[str, int]:
    """Exit codes of the steps that run commands, as GitHub runs them, up to the first that fails."""
    codes = {}
    for step in STEPS:
        if step["name"] == "Install":  # the tests are run in what it makes
            continue
        command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
        done = subprocess.run(command, cwd=folder, env=variables, check=False)
        codes[step["name"]] = done.returncode
        if done.returncode:
            break
    return codes


def variables(site: Path, folder: Path, **changes: str) -> dict[str, str]:
    texts = {key: str(value) for key, value in WORKFLOW["env"].items()}
    return environment(
        site, **texts, **{"GITHUB_STEP_SUMMARY": str(folder / "summary.md")}, **changes
    )


def test_it_installs_as_the_readme_does() -> None:
    (install_step,) = [step for step in STEPS if step["name"] == "Install"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = re.search(r"^```bash\n(.*?) && python", readme, re.MULTILINE)
    assert first is not None
    assert install_step["run"] == first[1] == "pip install -e ."


def test_actions_have_versions_and_evidence_is_kept_after_failures() -> None:
    used = [step for step in JOB["steps"] if "uses" in step]
    assert all(re.fullmatch(r"[\w-]+/[\w/-]+@v\d+", step["uses"]) for step in used)
    after = JOB["steps"][[step.get("name") for step in JOB["steps"]].index("Gate") + 1 :]
    assert len(after) == 2
    assert all(step["if"] == "always()" for step in after)


@pytest.mark.parametrize(("samples", "code"), [(160, 0), (20, 11)])
def test_its_steps_one_by_one(site: Path, tmp_path: Path, samples: int, code: int) -> None:
    # A target and a writer that need no weights, so that it takes seconds.
    options = f"--preset mini --set writer=grammar --samples {samples}"
    env = variables(site, tmp_path) | {
        "BASELINE": "colours",
        "MODEL": "colours",
        "OPTIONS": options,
    }
    codes = follow(tmp_path, env)
    assert codes == {"Attack the baseline": 0, "Attack the model": 0, "Gate": code}
    verdict = {0: "PASS", 11: "INCONCLUSIVE"}[code]
    assert verdict in (tmp_path / "summary.md").read_text(encoding="utf-8").splitlines()[0]
    root = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("2", "0")
    assert json.loads((tmp_path / "gate.sarif").read_text())["version"] == "2.1.0"
    paths = WORKFLOW["jobs"]["gate"]["steps"][-2]["with"]["path"].split()
    assert all((tmp_path / path).exists() for path in paths)


def test_a_cached_baseline_is_not_attacked_again(site: Path, tmp_path: Path) -> None:
    (tmp_path / "runs/baseline/mac").mkdir(parents=True)
    (tmp_path / "runs/baseline/mac/table.csv").write_text("")
    (step,) = [step for step in STEPS if step["name"] == "Attack the baseline"]
    command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
    env = variables(site, tmp_path) | {"BASELINE": "nobody"}
    assert subprocess.run(command, cwd=tmp_path, env=env, check=False).returncode == 0


def commands() -> list[str]:
    """Every `python -m benchmark ...` of the blocks of docs/ci.md and of the workflow."""
    blocks = re.findall(r"^```bash\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    lines = "\n".join([*blocks, *(step["run"] for step in STEPS)]).replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip().startswith("python -m benchmark")]


@pytest.mark.parametrize("command", commands())
def test_every_command_of_the_guide_is_accepted(command: str) -> None:
    words = [word for word in shlex.split(command)[3:] if word != "$OPTIONS"]
    words = ["0.02" if word == "$MARGIN" else word for word in words]
    assert cli.build_parser().parse_args(words).main


def test_the_guide_shows_the_exit_codes() -> None:
    for verdict, code in EXIT_CODES.items():
        assert f"| {verdict} | {code} |" in GUIDE


@pytest.mark.slow
def test_the_recipe_makes_a_model_that_the_gate_refuses(tmp_path: Path) -> None:
    (recipe,) = re.findall(r"^```python\n(import shutil.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    env = environment(tmp_path, TRIDENT_CACHE=str(tmp_path / "cache"))

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *words]
        return subprocess.run(
            command, cwd=tmp_path, env=env, check=False, capture_output=True, text=True
        )

    assert call("-c", recipe).returncode == 0
    for target, out in (("clip", "before"), ("miniature:./damaged", "now")):
        run = ("run", "--attack", "mac", "--target", target, "-n", "60", "--out", out)
        assert call("-m", "benchmark", *run).returncode == 0
    compared = call("-m", "benchmark", "compare", "before", "now", "--replay")
    assert compared.returncode == 10, compared.stdout
    assert call("-m", "benchmark", "compare", "before", "before").returncode == 11
    assert "149 would decide" in call("-m", "benchmark", "compare", "before", "before").stdout


@pytest.mark.slow
def test_as_it_stands_with_a_miniature(tmp_path: Path) -> None:
    env = variables(tmp_path, tmp_path)
    assert set(follow(tmp_path, env).values()) == {0}
