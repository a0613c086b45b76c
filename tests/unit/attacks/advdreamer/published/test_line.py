"""The published stages one after the other, on tiny models: what the attack makes of them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attacks.advdreamer.compose import Blend
from attacks.advdreamer.pose import Pose
from attacks.advdreamer.published.harmonisation import HarmonisingComposer
from attacks.advdreamer.published.inpainting import DiffusionBackground
from attacks.advdreamer.published.reconstruction import TripoReconstruction
from attacks.advdreamer.published.regions import grown, shrunk
from attacks.advdreamer.stages import Manipulator, Mask, Stages
from benchmark import registry
from benchmark.types import ModelInfo, Pixels

ROWS, COLUMNS = np.mgrid[:64, :80] + 0.5
MASK: Mask = ((COLUMNS - 40) / 20) ** 2 + ((ROWS - 32) / 10) ** 2 < 1
PICTURE: Pixels = np.random.default_rng(4).integers(80, 160, (64, 80, 3), dtype=np.uint8)


class Known:
    """The mask is known."""

    info = ModelInfo(id="known")

    def cut(self, pixels: Pixels, label: str, box: object = None) -> Mask:
        return MASK


@pytest.fixture
def stages(
    pipelines: dict[str, Path],
    checkpoint: Callable[[str], str],
    ellipsoid: None,
    monkeypatch: pytest.MonkeyPatch,
) -> Stages:
    def create(kind: str, spec: str, settings: Mapping[str, Any]) -> Blend:
        assert (kind, spec) == ("composers", "feather")
        return Blend()

    monkeypatch.setattr(registry, "create", create)
    tiny = f"{pipelines['inpaint']},side=64,steps=4"
    return Stages(
        Known(),
        DiffusionBackground(tiny, {}),
        TripoReconstruction(checkpoint(""), {}),
        HarmonisingComposer.inpainting(tiny, {}),
    )


def test_pictures_of_an_object_in_any_pose(stages: Stages) -> None:
    hole = grown(MASK, 3)
    manipulator = Manipulator.of(stages, PICTURE, MASK, hole)
    poses = [Pose(), Pose(yaw_deg=60, dx=0.1), Pose(roll_deg=90)]
    pictures = manipulator.pictures(poses)
    assert [picture.shape for picture in pictures] == [(64, 80, 3)] * 3
    for pose, picture in zip(poses, pictures, strict=True):
        np.testing.assert_array_equal(manipulator.pictures([pose])[0], picture)
        seen = manipulator.model.render(pose)
        inside = shrunk(seen.rgba[..., 3] > 0, 3)
        assert inside.sum() > 50
        # The object's interior is as it was rendered, whatever the painter made of its rim.
        rendered = seen.rgba[inside, :3] * 255
        np.testing.assert_allclose(picture[inside], rendered, atol=1)
    # The first row is far from object, hole and shadow.
    assert all((picture[0] == PICTURE[0]).all() for picture in pictures)
