"""The fixture `robustness` in a project of its own, where Trident is installed."""

from pathlib import Path

import pytest

from tests.plugin_site import environment, install

pytest_plugins = ["pytester"]

TESTS = """
def run(robustness, samples, name=None):
    return robustness.run("repaint", "colours", samples=samples, name=name)

def test_same(robustness):
    first = run(robustness, 160)
    comparison = robustness.check(first, run(robustness, 160, "again"), margin=0.02)
    assert comparison.exit_code == 0
    assert robustness.compare(first, first).verdict == "PASS"

def test_few(robustness):
    robustness.check(few := run(robustness, 20, "few"), few)

def test_few_skips(robustness):
    robustness.check(few := run(robustness, 20, "few"), few, inconclusive="skip")

def test_few_passes(robustness):
    robustness.check(few := run(robustness, 20, "few"), few, inconclusive="pass")

def test_other_samples(robustness):
    robustness.check(run(robustness, 160), run(robustness, 20, "few"), inconclusive="pass")
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("plugin"))


def test_the_fixture_runs_compares_and_fails(
    site: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in environment(site).items():
        monkeypatch.setenv(key, value)
    pytester.makepyfile(TESTS)
    arguments = ("--robustness-dir", "kept", "-rs", "-p", "no:cacheprovider")
    result = pytester.runpytest_subprocess(*arguments)
    result.assert_outcomes(passed=2, failed=2, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "INCONCLUSIVE  too few samples to tell whether robust accuracy fell by 2 points",
            "*repaint adaptive: 20 samples are too few: * would decide (PASS)*",
            "NOT COMPARABLE  the runs differ in more than the target*",
            "*samples: 160 *-> 20 *",
        ]
    )
    kept = {path.name for path in (pytester.path / "kept").iterdir()}
    assert kept == {"repaint-colours", "again", "few"}


def test_its_option_and_fixture_explain_themselves(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--fixtures", "--help", "-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(["*--robustness-dir=DIR*"])


def test_an_unknown_way_to_take_too_few_samples_is_refused(tmp_path: Path) -> None:
    from benchmark.pytest_plugin import Robustness

    with pytest.raises(
        ValueError, match="inconclusive 'ignore' is unknown: give fail, skip or pass"
    ):
        Robustness(tmp_path).check("a", "b", inconclusive="ignore")
