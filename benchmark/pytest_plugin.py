"""pytest: a fixture `robustness` that attacks a model, compares two runs, and fails with the comparison.

    def test_no_less_robust(robustness):
        new = robustness.run("mac", "open_clip:ViT-B-32/checkpoint.pt", preset="paper", samples=500)
        robustness.check("baseline/mac", new)

Options: --robustness-dir DIR keeps runs there and goes on with them the next time.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from benchmark.compare import Comparison


class Robustness:
    """Runs and comparisons within a test session. Runs are kept by name under `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(
        self,
        attack: str,
        target: str,
        *,
        name: str | None = None,
        overrides: Sequence[str] = (),
        device: str = "cpu",
        batch_size: int = 64,
        cache: str | None = None,
        **options: Any,
    ) -> Path:
        """Attack a target; returns the folder of the run, which is gone on with if it is there.

        Args:
            attack: As in `run --attack`.
            target: As in `run --target`.
            name: Of the folder; the attack's and the target's if left out.
            overrides: As in `run --set`, such as ["candidates=8"].
            device: As in `run --device`.
            batch_size: As in `run --batch-size`.
            cache: Folder of the cache of model calls; none if left out.
            options: preset, dataset, data_root, samples, seed, access, query_budget, as in `run`.

        Raises:
            UserError: A name or setting is not known, or the folder holds another experiment.
            RuntimeError: The run was interrupted, or samples ended in errors.
        """
        from benchmark import runner
        from benchmark.config import Execution, resolve
        from benchmark.records import HEADER

        config = resolve(attack, target, overrides=overrides, **options)
        folder = self.root / (name or f"{attack}-{target}".replace("/", "-").replace(":", "-"))
        summary = runner.run(
            config,
            Execution(batch_size=batch_size, device=device, cache=cache),
            folder,
            resume=(folder / HEADER).exists(),
        )
        if summary.status != "finished" or summary.too_many_errors:
            raise RuntimeError(
                f"{folder}: {summary.status}, {summary.totals.errors} of {summary.totals.done} samples"
                " errored: its records.jsonl says why"
            )
        return folder

    def compare(self, baseline: str | Path, new: str | Path, **options: Any) -> "Comparison":
        """Compare two runs, or folders of runs; `options` are those of `benchmark.compare.compare`."""
        from benchmark.compare import compare

        return compare(Path(baseline), Path(new), **options)

    def check(
        self,
        baseline: str | Path,
        new: str | Path,
        *,
        inconclusive: str = "fail",
        **options: Any,
    ) -> "Comparison":
        """Compare, and fail the test unless the verdict is PASS.

        `inconclusive` says what too few samples do: "fail", "skip" or "pass".
        """
        if inconclusive not in ("fail", "skip", "pass"):
            raise ValueError(f"inconclusive {inconclusive!r} is unknown: give fail, skip or pass")
        from benchmark.gate.text import render

        __tracebackhide__ = True
        comparison = self.compare(baseline, new, **options)
        outcome = "pass" if comparison.verdict == "PASS" else "fail"
        if comparison.verdict == "INCONCLUSIVE":
            outcome = inconclusive
        if outcome != "pass":
            end: Callable[..., Any] = pytest.skip if outcome == "skip" else pytest.fail
            text = render(comparison)
            end(text) if outcome == "skip" else end(text, pytrace=False)
        return comparison


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where runs are kept."""
    group = parser.getgroup("trident", "robustness of vision-language models")
    group.addoption(
        "--robustness-dir",
        type=Path,
        metavar="DIR",
        help="keep the runs of the fixture `robustness` here and go on with them (a temporary folder)",
    )


@pytest.fixture(scope="session")
def robustness(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Robustness:
    """Attacks models, compares runs, fails a test when a model got less robust."""
    chosen: Path | None = request.config.getoption("--robustness-dir")
    if chosen is None:
        return Robustness(tmp_path_factory.mktemp("robustness"))
    chosen.mkdir(parents=True, exist_ok=True)
    return Robustness(chosen)
