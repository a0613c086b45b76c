from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attacks.advdreamer.pose import Pose
from attacks.advdreamer.published.harmonisation import HarmonisingComposer
from attacks.advdreamer.published.regions import grown, shrunk
from attacks.advdreamer.stages import Composition, Mask, Rendering
from benchmark import registry
from benchmark.errors import UserError
from benchmark.types import ModelInfo, Pixels

SIDE = 48
BACKGROUND = np.random.default_rng(2).integers(100, 200, (SIDE, SIDE, 3), dtype=np.uint8)


class Paste:
    """Hard alpha, and a shadow below the object."""

    info = ModelInfo(id="paste")

    def prepare(self, original: Pixels, mask: Mask, background: Pixels) -> Composition:
        return Pasted(background)


class Pasted:
    def __init__(self, background: Pixels) -> None:
        self.background = background

    def compose(self, renderings: Sequence[Rendering], poses: Sequence[Pose]) -> list[Pixels]:
        return [self.one(rendering) for rendering in renderings]

    def one(self, rendering: Rendering) -> Pixels:
        picture = self.background.copy()
        picture[shadow_of(rendering)] //= 2
        seen = rendering.rgba[..., 3] > 0
        picture[seen] = (rendering.rgba[seen, :3] * 255).astype(np.uint8)
        return picture


def rendering(left: int = 12) -> Rendering:
    rgba = np.zeros((SIDE, SIDE, 4), np.float32)
    rgba[10:30, left : left + 20] = (0.9, 0.1, 0.2, 1.0)
    return Rendering(rgba, np.where(rgba[..., 3] > 0, 1.0, np.inf).astype(np.float32))


def shadow_of(one: Rendering) -> Mask:
    columns = (one.rgba[..., 3] > 0).any(axis=0)
    shadow = np.zeros((SIDE, SIDE), bool)
    shadow[32:36, columns] = True
    return shadow


@pytest.fixture(autouse=True)
def _paste(monkeypatch: pytest.MonkeyPatch) -> None:
    def create(kind: str, spec: str, settings: Mapping[str, Any]) -> Paste:
        assert (kind, spec) == ("composers", "paste")
        return Paste()

    monkeypatch.setattr(registry, "create", create)


@pytest.fixture
def prepared(request: pytest.FixtureRequest, pipelines: dict[str, Path]) -> Composition:
    task = getattr(request, "param", "inpaint")
    make = HarmonisingComposer.inpainting if task == "inpaint" else HarmonisingComposer.editing
    argument = f"{pipelines[task]},base=paste,side=48,steps=4,strength=0.6,outer=0.05,inner=0.05"
    mask = rendering().rgba[..., 3] > 0
    return make(argument, {}).prepare(BACKGROUND, mask, BACKGROUND)


@pytest.mark.parametrize("prepared", ["inpaint", "edit"], indirect=True)
def test_only_the_ring_and_the_shadow_are_repainted(prepared: Composition) -> None:
    one = rendering()
    silhouette = one.rgba[..., 3] > 0
    (picture,) = prepared.compose([one], [Pose()])
    pasted = Pasted(BACKGROUND).one(one)
    changed = (picture != pasted).any(axis=2)
    width = 0.05 * SIDE
    ring = grown(silhouette, width) & ~shrunk(silhouette, width)
    shadow = grown(shadow_of(one), 1)
    assert not (changed & ~(ring | shadow)).any()
    # The interior is the rendering's own, so the pose is kept.
    np.testing.assert_array_equal(
        picture[shrunk(silhouette, width)], pasted[shrunk(silhouette, width)]
    )
    assert changed[ring & ~silhouette].mean() > 0.5
    assert changed[ring & silhouette].mean() > 0.5
    assert changed[shadow_of(one)].mean() > 0.5


def test_company_changes_nothing(prepared: Composition) -> None:
    one, other = rendering(), rendering(left=20)
    alone = prepared.compose([one], [Pose()])[0]
    together = prepared.compose([other, one, one], [Pose(dx=0.1), Pose(), Pose()])
    np.testing.assert_array_equal(together[1], alone)
    np.testing.assert_array_equal(together[2], alone)
    assert (together[0] != alone).any()
    assert prepared.compose([], []) == []


def test_an_object_out_of_sight_leaves_the_background(prepared: Composition) -> None:
    nothing = Rendering(
        np.zeros((SIDE, SIDE, 4), np.float32), np.full((SIDE, SIDE), np.inf, np.float32)
    )
    np.testing.assert_array_equal(prepared.compose([nothing], [Pose()])[0], BACKGROUND)


def test_info_names_the_painter_and_what_pastes(pipelines: dict[str, Path]) -> None:
    made = HarmonisingComposer.inpainting(f"{pipelines['inpaint']},base=paste", {})
    assert made.info.id == f"diffusion:{pipelines['inpaint']}"
    assert "'paste'" in made.info.preprocessing
    assert '"strength": 0.35' in made.info.preprocessing


def test_the_ring_is_a_share(pipelines: dict[str, Path]) -> None:
    with pytest.raises(UserError, match=r"outer = 8: give a share from 0 to below 0.5"):
        HarmonisingComposer.inpainting(f"{pipelines['inpaint']},base=paste,outer=8", {})
