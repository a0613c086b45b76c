from collections.abc import Callable

import numpy as np
import pytest
import torch
from huggingface_hub.errors import LocalEntryNotFoundError
from numpy.typing import NDArray

from attacks.advdreamer import triposr_checkpoint
from attacks.advdreamer.pose import Pose
from attacks.advdreamer.published.hub import PINNED
from attacks.advdreamer.published.reconstruction import TripoModel, TripoReconstruction
from attacks.advdreamer.stages import ForegroundError
from attacks.advdreamer.triposr import TripoSR
from benchmark.errors import UserError

HEIGHT, WIDTH = 60, 80
Argument = Callable[[str], str]
"""Settings -> the argument for the tiny TripoSR with them."""


def ellipse(x: float, y: float, half_width: float, half_height: float) -> NDArray[np.bool_]:
    across = (np.arange(WIDTH) + 0.5 - x) / half_width
    down = (np.arange(HEIGHT) + 0.5 - y) / half_height
    return np.asarray(across[None] ** 2 + down[:, None] ** 2 < 1)


MASK = ellipse(44, 26, 20, 10)
PICTURE = np.full((HEIGHT, WIDTH, 3), 120, np.uint8)
RENDERERS = ("mesh", "march")


def built(checkpoint: Argument, renderer: str) -> TripoModel:
    return TripoReconstruction(checkpoint(f"renderer={renderer}"), {}).build(PICTURE, MASK)


def overlap(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> float:
    return float((a & b).sum() / (a | b).sum())


@pytest.mark.usefixtures("ellipsoid")
@pytest.mark.parametrize("renderer", RENDERERS)
def test_at_the_identity_it_lies_over_the_mask(checkpoint: Argument, renderer: str) -> None:
    model = built(checkpoint, renderer)
    seen = model.render(Pose())
    assert seen.rgba.shape == (HEIGHT, WIDTH, 4)
    assert seen.rgba.dtype == seen.depth.dtype == np.float32
    assert overlap(seen.rgba[..., 3] > 0.5, MASK) > 0.95
    assert model.fit.overlap > 0.95
    assert seen.rgba.min() >= 0
    assert seen.rgba.max() <= 1
    assert (seen.rgba[seen.rgba[..., 3] == 0] == 0).all()
    # Front all over; right and top halves where they should be.
    assert seen.rgba[26, 44, 0] > 0.95
    assert seen.rgba[26, 54, 1] > 0.95
    assert seen.rgba[26, 34, 1] < 0.05
    assert seen.rgba[21, 44, 2] > 0.95
    assert seen.rgba[31, 44, 2] < 0.05
    assert seen.shadow is None


@pytest.mark.usefixtures("ellipsoid")
@pytest.mark.parametrize("renderer", RENDERERS)
def test_depth_is_in_pixels(checkpoint: Argument, renderer: str) -> None:
    model = built(checkpoint, renderer)
    depth = model.render(Pose()).depth
    focal = model.fit.view.focal
    # The middle of the object is at 1.9 and its front at 1.9 - 0.25.
    assert depth[26, 44] == pytest.approx(focal * (1.9 - 0.25) / 1.9, rel=0.02)
    assert np.isinf(depth[0, 0])
    nearer = model.render(Pose(yaw_deg=90)).depth[26, 44]
    assert nearer == pytest.approx(focal * (1.9 - 0.4) / 1.9, rel=0.03)


@pytest.mark.usefixtures("ellipsoid")
def test_both_renderers_see_the_same(checkpoint: Argument) -> None:
    models = [built(checkpoint, renderer) for renderer in RENDERERS]
    for pose in (Pose(), Pose(50, 20, -30, 0.1, 0.05, 1.2), Pose(170, -40, 10)):
        mesh, march = (model.render(pose) for model in models)
        inside = (mesh.rgba[..., 3] > 0.99) & (march.rgba[..., 3] > 0.99)
        assert overlap(mesh.rgba[..., 3] > 0.5, march.rgba[..., 3] > 0.5) > 0.93
        assert np.abs(mesh.rgba - march.rgba)[inside].mean() < 0.03
        # In focal lengths: a coarse mesh is a little larger than its field, and so fitted differently.
        near, far = (
            one.depth[inside] / model.fit.view.focal
            for one, model in zip((mesh, march), models, strict=True)
        )
        assert abs(np.median(far / near) - 1) < 0.03
        np.testing.assert_allclose(far, near, rtol=0.08)


@pytest.mark.usefixtures("ellipsoid")
@pytest.mark.parametrize("renderer", RENDERERS)
def test_poses(checkpoint: Argument, renderer: str) -> None:
    model = built(checkpoint, renderer)
    turned = model.render(Pose(yaw_deg=90)).rgba
    assert turned[26, 48, 0] > 0.95  # the front is at the right
    assert turned[26, 40, 0] < 0.05
    tilted = model.render(Pose(pitch_deg=90)).rgba
    assert tilted[29, 44, 0] > 0.95  # the front is below
    assert tilted[23, 44, 0] < 0.05
    rolled = model.render(Pose(roll_deg=90)).rgba
    assert rolled[20, 44, 1] > 0.95  # the right half is above
    assert rolled[32, 44, 1] < 0.05
    half = model.render(Pose(scale=0.5)).rgba[..., 3]
    assert half.sum() == pytest.approx(MASK.sum() / 4, rel=0.12)
    # A quarter of 80 pixels to the left, an eighth up.
    moved = model.render(Pose(dx=-0.25, dy=0.125)).rgba[..., 3] > 0.5
    assert overlap(moved, ellipse(24, 16, 20, 10)) > 0.9


@pytest.mark.usefixtures("ellipsoid")
@pytest.mark.parametrize("renderer", RENDERERS)
def test_out_of_sight_and_close_to_the_eye(checkpoint: Argument, renderer: str) -> None:
    model = built(checkpoint, renderer)
    assert not model.render(Pose(dx=3.0)).rgba.any()
    assert np.isinf(model.render(Pose(dx=3.0)).depth).all()
    # Larger than the distance of the camera: seen from within, but not an error.
    assert np.isfinite(model.render(Pose(scale=9.0)).rgba).all()


@pytest.mark.usefixtures("ellipsoid")
@pytest.mark.parametrize("renderer", RENDERERS)
def test_the_same_pose_looks_the_same(checkpoint: Argument, renderer: str) -> None:
    pose = Pose(50, 20, -30, 0.1, 0.05, 1.2)
    first, second = (built(checkpoint, renderer).render(pose) for _ in range(2))
    np.testing.assert_array_equal(first.rgba, second.rgba)
    np.testing.assert_array_equal(first.depth, second.depth)


@pytest.mark.usefixtures("ellipsoid")
def test_edges_of_a_mesh_are_soft(checkpoint: Argument) -> None:
    soft = built(checkpoint, "mesh").render(Pose()).rgba[..., 3]
    assert set(np.unique(soft)) == {0, 0.25, 0.5, 0.75, 1}
    hard = TripoReconstruction(checkpoint("samples=1"), {}).build(PICTURE, MASK)
    assert set(np.unique(hard.render(Pose()).rgba[..., 3])) == {0, 1}


@pytest.mark.usefixtures("ellipsoid")
def test_an_object_of_another_shape_was_not_recovered(checkpoint: Argument) -> None:
    corner = MASK.copy()
    corner[:26, 44:] = False
    message = r"overlaps the mask by 0\.\d+ only, though 0.9 is needed: give a better mask"
    with pytest.raises(ForegroundError, match=message):
        TripoReconstruction(checkpoint("min_overlap=0.9"), {}).build(PICTURE, corner)


@pytest.mark.parametrize("renderer", RENDERERS)
def test_nothing_is_no_object(
    checkpoint: Argument, renderer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raw(self: TripoSR, scene_code: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
        return torch.full((*points.shape[:-1], 4), -200.0)

    monkeypatch.setattr(TripoSR, "raw", raw)
    with pytest.raises(
        ForegroundError, match=r"TripoSR found no object: the greatest density is 0"
    ):
        built(checkpoint, renderer)


def test_a_mask_that_is_too_small(checkpoint: Argument) -> None:
    dot = np.zeros((HEIGHT, WIDTH), bool)
    dot[5, 5] = True
    with pytest.raises(ForegroundError, match=r"TripoSR cannot use the mask: the object is 1 x 1"):
        TripoReconstruction(checkpoint(""), {}).build(PICTURE, dot)


def test_info(checkpoint: Argument) -> None:
    info = TripoReconstruction(checkpoint("renderer=auto"), {"device": "cpu"}).info
    assert info.id.startswith("triposr:/")
    assert len(info.weights) == 64
    assert info.revision == ""
    assert '"renderer": "mesh"' in info.preprocessing


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("renderer=opengl", r"renderer 'opengl' is unknown: use auto, march or mesh"),
        ("samples=0", r"samples = 0: give at least 1 ray a pixel"),
        ("config=none.json", r"config 'none.json' cannot be used .*: give a JSON file"),
        ("position=4", r"position interpolation '4'"),
    ],
)
def test_what_cannot_be_used(checkpoint: Argument, more: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        TripoReconstruction(checkpoint(more), {})


def test_weights_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def missing(name: str, file: str, revision: str | None) -> str:
        asked.append((name, revision))
        raise LocalEntryNotFoundError("offline")

    monkeypatch.setattr(triposr_checkpoint, "hf_hub_download", missing)
    with pytest.raises(
        UserError, match=r"stabilityai/TripoSR are not on this machine .*connect to"
    ):
        TripoReconstruction("", {})
    assert asked == [("stabilityai/TripoSR", PINNED["stabilityai/TripoSR"])]
