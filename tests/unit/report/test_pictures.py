import base64
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmark.report.pictures import PREVIEW_SIDE, Wanted, artefact, embed, originals
from benchmark.report.runs import RunView
from benchmark.types import Pixels
from tests import report_runs
from tests.report_runs import picture


def decoded(uri: str) -> Pixels:
    return np.asarray(Image.open(BytesIO(base64.b64decode(uri.partition(",")[2]))).convert("RGB"))


def test_pixels_are_exact() -> None:
    pixels = picture(0)
    (one,) = embed([Wanted(("a", "b"), pixels)]).values()
    assert one.is_exact
    assert one.uri.startswith("data:image/png;base64,")
    np.testing.assert_array_equal(decoded(one.uri), pixels)


def test_those_last_in_line_become_previews() -> None:
    wanted = [Wanted((str(i), ""), picture(i, 200)) for i in range(3)]
    whole = len(embed(wanted[:1])["0", ""].uri)
    found = embed(wanted, budget=int(2.3 * whole))
    assert [found[str(i), ""].is_exact for i in range(3)] == [True, True, False]
    assert max(decoded(found["2", ""].uri).shape) == PREVIEW_SIDE
    assert sum(len(one.uri) for one in found.values()) <= 2.3 * whole
    assert found["2", ""].width == 200


def test_originals_come_from_the_data_set(tmp_path: Path) -> None:
    run = RunView(report_runs.captions(tmp_path / "run", "SF"))
    found, missing = originals(run, ["s0", "s1"])
    assert missing == ""
    np.testing.assert_array_equal(found["s1"], picture(1))


def test_another_picture_is_not_shown_as_the_runs(tmp_path: Path) -> None:
    run = RunView(report_runs.captions(tmp_path / "run", "SFF"))
    Image.fromarray(picture(99)).save(tmp_path / "0.png")
    (tmp_path / "1.png").write_bytes(b"no picture")
    found, missing = originals(run, ["s0", "s1", "s2"])
    assert list(found) == ["s2"]
    assert missing == "2 samples of the data set cannot be read or are not what the run had"


def test_a_data_set_that_is_gone_is_said(tmp_path: Path) -> None:
    run = RunView(report_runs.captions(tmp_path / "run", "S"))
    (tmp_path / "pairs.csv").unlink()
    found, missing = originals(run, ["s0"])
    assert found == {}
    assert "cannot be read here: no file" in missing


def test_artefacts_are_checked(tmp_path: Path) -> None:
    path = report_runs.captions(tmp_path / "run", "S")
    run = RunView(path)
    digest = report_runs.keep(path, picture(5))
    record = run.records["s0"]

    def shown(name: str) -> Pixels | None:
        return artefact(run, replace(record, artifacts={"image": name}), "image")

    np.testing.assert_array_equal(shown(digest), picture(5))
    assert shown("../run.json") is None
    assert shown("0" * 64) is None
    (path / "artifacts" / f"{digest}.png").write_bytes(b"\x89PNG no")
    assert shown(digest) is None
    Image.fromarray(picture(6)).save(path / "artifacts" / f"{digest}.png")
    assert shown(digest) is None


@pytest.mark.parametrize("budget", [0, 10**9])
def test_no_picture_is_no_problem(budget: int) -> None:
    assert embed([], budget) == {}
