import copy
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from huggingface_hub.errors import LocalEntryNotFoundError
from safetensors.torch import save_file
from torch import Tensor

from attacks.advdreamer import triposr_checkpoint
from attacks.advdreamer.triposr import TripoSR, cameras
from attacks.advdreamer.triposr_config import PUBLISHED, TripoConfig
from attacks.advdreamer.triposr_image import centred, on_grey
from attacks.advdreamer.triposr_rays import Marched, box_interval, march
from benchmark.errors import UserError

VIT = {
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "image_size": 16,
    "patch_size": 8,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
    "qkv_bias": True,
    "model_type": "vit",
}
CONFIG: dict[str, Any] = {
    "cond_image_size": 24,
    "image_tokenizer": {"pretrained_model_name_or_path": "tiny", "vit_config": VIT},
    "tokenizer": {"plane_size": 4, "num_channels": 32},
    "backbone": {
        "in_channels": "${tokenizer.num_channels}",
        "num_attention_heads": 2,
        "attention_head_dim": 6,
        "num_layers": 1,
        "cross_attention_dim": 8,
    },
    "post_processor": {"in_channels": 32, "out_channels": 5},
    "decoder": {"in_channels": 15, "n_neurons": 8, "n_hidden_layers": 2, "activation": "silu"},
    "renderer": {
        "radius": 0.87,
        "feature_reduction": "concat",
        "density_activation": "exp",
        "density_bias": -1.0,
        "num_samples_per_ray": 16,
    },
}


@pytest.fixture
def model() -> TripoSR:
    torch.manual_seed(3)
    return TripoSR.from_config(CONFIG)


@pytest.fixture
def code(model: TripoSR) -> Tensor:
    return model.scene_codes(torch.rand(24, 24, 3))


def with_density(model: TripoSR, raw: float) -> TripoSR:
    """The model with the same raw density everywhere, and grey everywhere."""
    last: Any = model.decoder.layers[-1]
    last.weight.zero_()
    last.bias.zero_()
    last.bias[0] = raw
    return model


def changed(**sections: Any) -> dict[str, Any]:
    config = copy.deepcopy(CONFIG)
    for name, section in sections.items():
        if isinstance(section, dict):
            config[name].update(section)
        else:
            config[name] = section
    return config


# Configuration


def test_the_published_configuration_has_dinos_sizes_built_in() -> None:
    config = TripoConfig.from_dict(PUBLISHED)
    assert (config.vit.hidden_size, config.vit.num_hidden_layers, config.vit.patch_size) == (
        768,
        12,
        16,
    )
    assert (config.channels, config.heads * config.head_dim, config.ray_samples) == (
        1024,
        1024,
        128,
    )
    assert config.vit.layer_norm_eps == 1e-12


def test_references_between_sections_are_looked_up() -> None:
    assert TripoConfig.from_dict(CONFIG).channels == 32


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "lacks the section 'image_tokenizer': give TripoSR's config.yaml"),
        (changed(decodr=1), "the configuration has the unknown key 'decodr'"),
        (changed(decoder={"skip": 1}), "decoder has the unknown key 'skip'"),
        (changed(decoder={"activation": "relu"}), "decoder.activation is 'relu', only 'silu' is"),
        (changed(decoder={"n_neurons": 0}), "decoder.n_neurons is 0, it must be a positive integer"),
        (changed(renderer={"radius": "wide"}), "renderer.radius is 'wide', it must be a number"),
        (changed(decoder={"in_channels": 16}), r"decoder.in_channels is 16, the other parts need 15"),
        (changed(cond_image_size=25), "cond_image_size modulo the patch size is 1, .* need 0"),
        (changed(backbone={"in_channels": "${tokenizer.width}"}), "does not lead to a number"),
        (changed(decoder_cls="tsr.Other"), "decoder_cls is 'Other', only 'NeRFMLP' is implemented"),
        (
            changed(image_tokenizer={"vit_config": None}),
            "the unknown vision transformer 'tiny': give its config.json",
        ),
        (
            changed(image_tokenizer={"vit_config": VIT | {"hidden_act": "relu"}}),
            "vit_config.hidden_act is 'relu', only 'gelu'",
        ),
        (
            changed(image_tokenizer={"vit_config": VIT | {"hidden_size": 9}}),
            "vit_config.hidden_size is 9, which num_attention_heads 2 does not divide",
        ),
    ],
)  # fmt: skip
def test_what_is_no_configuration_of_triposr_is_refused(
    config: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        TripoSR.from_config(config)


def test_an_unknown_interpolation_is_refused() -> None:
    with pytest.raises(UserError, match=r"'4.40': it must be '4.35' or '5'"):
        TripoSR.from_config(CONFIG, position="4.40")  # type: ignore[arg-type]


# Checkpoints


@pytest.mark.parametrize("name", ["model.ckpt", "model.safetensors"])
@pytest.mark.parametrize("by_folder", [True, False])
def test_a_checkpoint_is_loaded(model: TripoSR, tmp_path: Path, name: str, by_folder: bool) -> None:
    state = model.state_dict()
    if name.endswith("ckpt"):
        torch.save(state, tmp_path / name)
    else:
        save_file(state, tmp_path / name)
    again = TripoSR.load(tmp_path if by_folder else tmp_path / name, config=CONFIG)
    pixels = torch.rand(24, 24, 3)
    assert torch.equal(again.scene_codes(pixels), model.scene_codes(pixels))
    assert len(again.sha256) == 64
    assert not again.training
    assert not any(p.requires_grad for p in again.parameters())


def broken(model: TripoSR, fault: str) -> Any:
    state: dict[str, Any] = dict(model.state_dict())
    if fault == "missing":
        del state["backbone.norm.bias"], state["backbone.norm.weight"]
    elif fault == "extra":
        state["decoder.layers.9.bias"] = torch.zeros(1)
    elif fault == "shape":
        state["backbone.norm.bias"] = torch.zeros(31)
    elif fault == "type":
        state["backbone.norm.bias"] = torch.zeros(32, dtype=torch.int64)
    elif fault == "wrapped":
        state = {"state_dict": state}
    elif fault == "code":
        state["path"] = Path("x")
    return state


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            "missing",
            r"model.ckpt lacks 2 of 59 tensors, first 'backbone.norm.bias': give TripoSR's",
        ),
        ("extra", "has 1 unknown tensors, first 'decoder.layers.9.bias'"),
        ("shape", r"backbone.norm.bias is torch.float32 \(31,\), not float \(32,\)"),
        ("type", r"backbone.norm.bias is torch.int64 \(32,\), not float"),
        ("wrapped", "is no flat dictionary of tensors"),
        ("code", "is no checkpoint .*: give TripoSR's model.ckpt"),
    ],
)
def test_loading_is_strict(model: TripoSR, tmp_path: Path, fault: str, message: str) -> None:
    torch.save(broken(model, fault), tmp_path / "model.ckpt")
    with pytest.raises(UserError, match=message):
        TripoSR.load(tmp_path / "model.ckpt", config=CONFIG)


@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"PK\x03\x04 cut off"])
@pytest.mark.parametrize("name", ["model.ckpt", "model.safetensors"])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match="is no checkpoint"):
        TripoSR.load(tmp_path / name, config=CONFIG)


def test_paths_that_lead_nowhere(tmp_path: Path, model: TripoSR) -> None:
    with pytest.raises(UserError, match=r"looked for model.ckpt or model.safetensors"):
        TripoSR.load(tmp_path)
    with pytest.raises(UserError, match=r"no checkpoint .*x.ckpt: give a file, a folder or a name"):
        TripoSR.load(tmp_path / "x.ckpt")
    torch.save(model.state_dict(), tmp_path / "model.ckpt")
    with pytest.raises(UserError, match="is a local file: leave out the revision 'main'"):
        TripoSR.load(tmp_path, revision="main", config=CONFIG)


def test_weights_that_cannot_be_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, file: str, revision: str | None) -> str:
        raise LocalEntryNotFoundError("offline")

    monkeypatch.setattr(triposr_checkpoint, "hf_hub_download", refuse)
    with pytest.raises(ConnectionError, match=r"weights of stabilityai/TripoSR .* \(offline\)"):
        TripoSR.load(revision="5b521936b01f")


def test_what_is_fetched_must_be_the_published_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "model.ckpt").write_bytes(b"other")
    asked: list[tuple[str, str, str | None]] = []

    def fetch(name: str, file: str, revision: str | None) -> str:
        asked.append((name, file, revision))
        return str(tmp_path / "model.ckpt")

    monkeypatch.setattr(triposr_checkpoint, "hf_hub_download", fetch)
    with pytest.raises(UserError, match=r"published checkpoint 429e2c6b22a0.*: delete the file"):
        TripoSR.load(revision="5b521936b01f")
    assert asked == [("stabilityai/TripoSR", "model.ckpt", "5b521936b01f")]


# Pictures


def cut_out(height: int, width: int, top: int, left: int, h: int, w: int) -> Any:
    rgba = np.zeros((height, width, 4), np.uint8)
    rgba[top : top + h, left : left + w] = (200, 100, 50, 255)
    return rgba


def test_an_object_is_centred_and_put_on_grey() -> None:
    # 12 x 7 pixels, of which the box keeps 11 x 6; int(11 / 0.85) = 12, so nothing is above, and
    # floor(5 / 2) = 2 are to the left of it in the 11 x 11 square.
    square = centred(cut_out(20, 30, 3, 21, 12, 7))
    assert square.shape == (12, 12, 4)
    opaque = square[..., 3] == 255
    assert np.flatnonzero(opaque.any(axis=1)).tolist() == list(range(11))
    assert np.flatnonzero(opaque.any(axis=0)).tolist() == [2, 3, 4, 5, 6, 7]
    rgb = on_grey(square)
    assert rgb[0, 2].tolist() == [200, 100, 50]
    assert rgb[11, 11].tolist() == [127, 127, 127]


def test_half_transparent_pixels_are_mixed_and_truncated() -> None:
    # alpha 51 / 255 = 0.2: 0.2 * 200 + 0.8 * 127.5 = 142, 0.2 * 101 + 102 = 122.2, 0.2 * 54 + 102.
    rgba = np.array([[[200, 101, 54, 51]]], np.uint8)
    assert on_grey(rgba)[0, 0, 1:].tolist() == [122, 112]


def test_the_picture_has_the_networks_size_whatever_the_cut_out(model: TripoSR) -> None:
    for height, width in ((20, 31), (64, 9)):
        pixels = model.preprocess(cut_out(height, width, 2, 1, height // 2, width // 2))
        assert pixels.shape == (24, 24, 3)
        assert pixels.dtype == torch.float32
        assert 0 <= pixels.min() <= pixels.max() <= 1


@pytest.mark.parametrize(
    ("rgba", "message"),
    [
        (np.zeros((8, 8, 4), np.uint8), "alpha is 0 everywhere: there is no object"),
        (np.full((8, 8, 4), 255, np.uint8), "alpha is 255 everywhere: segment the picture"),
        (cut_out(8, 8, 2, 2, 1, 5), "the object is 1 x 5 pixels high and wide: two are needed"),
        (np.zeros((8, 8, 3), np.uint8), r"an array uint8 \(8, 8, 3\) is no RGBA picture"),
        (np.zeros((8, 8, 4), np.float32), "an array float32 .* is no RGBA picture"),
    ],
)
def test_pictures_without_an_object_are_refused(model: TripoSR, rgba: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        model.preprocess(rgba)


def test_a_ratio_outside_the_picture_is_refused(model: TripoSR) -> None:
    with pytest.raises(UserError, match=r"foreground ratio 1.2: it must be above 0 and at most 1"):
        model.preprocess(cut_out(8, 8, 2, 2, 4, 4), 1.2)


# The network


def test_pictures_are_coded_alike_alone_and_together(model: TripoSR) -> None:
    pixels = torch.rand(3, 24, 24, 3)
    together = model.scene_codes(pixels)
    assert together.shape == (3, 3, 5, 8, 8)
    torch.testing.assert_close(together[1], model.scene_codes(pixels[1]), rtol=1e-5, atol=1e-6)
    assert (together[0] - together[1]).abs().max() > 1e-3


def test_pictures_of_another_size_are_refused(model: TripoSR) -> None:
    with pytest.raises(UserError, match=r"pixels \(3, 24, 24\): the network needs \(24, 24, 3\)"):
        model.scene_codes(torch.zeros(3, 24, 24))


def test_the_decoder_stays_in_float32(model: TripoSR, code: Tensor) -> None:
    torch.manual_seed(5)
    pixels = torch.rand(24, 24, 3)
    exact = model.scene_codes(pixels)
    model.reduce_precision(torch.bfloat16)
    rough = model.scene_codes(pixels)
    assert rough.dtype == torch.float32
    torch.testing.assert_close(rough, exact, rtol=0.1, atol=0.1)
    assert not torch.equal(rough, exact)
    points = torch.rand(7, 3)
    plain = model.query(code, points)
    with torch.autocast("cpu", torch.bfloat16):
        assert all(torch.equal(a, b) for a, b in zip(model.query(code, points), plain, strict=True))


# Points


def test_points_are_read_from_the_planes_of_their_coordinates(model: TripoSR) -> None:
    # Each plane is a ramp along its columns: x, x and y; or along its rows: y, z and z.
    ramp = (torch.arange(8) + 0.5) / 4 - 1
    pick = torch.nn.Linear(15, 4)
    model.decoder.layers = torch.nn.Sequential(pick.requires_grad_(False))
    pick.weight.zero_()
    pick.bias.zero_()
    pick.weight[[0, 1, 2], [0, 5, 10]] = 1.0  # the first channel of each plane
    point = 0.87 * torch.tensor([0.5, -0.25, 0.125])
    for plane, expected in (
        (ramp.expand(8, 8), [0.5, 0.5, -0.25]),
        (ramp[:, None].expand(8, 8), [-0.25, 0.125, 0.125]),
    ):
        found = model.raw(plane.expand(3, 5, 8, 8), point)
        torch.testing.assert_close(found, torch.tensor([*expected, 0.0]))


def test_chunks_change_nothing(model: TripoSR, code: Tensor) -> None:
    points = torch.rand(2, 10_000, 3) * 2 - 1
    density, color = model.query(code, points)
    assert density.shape == (2, 10_000, 1)
    assert color.shape == (2, 10_000, 3)
    for start in (0, 7000):
        part = model.query(code, points[1, start : start + 3000])
        torch.testing.assert_close(density[1, start : start + 3000], part[0], rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(color[1, start : start + 3000], part[1], rtol=1e-5, atol=1e-6)


def test_no_points_have_no_density(model: TripoSR, code: Tensor) -> None:
    density, color = model.query(code, torch.zeros(0, 3))
    assert density.shape == (0, 1)
    assert color.shape == (0, 3)


def test_points_without_three_coordinates_are_refused(model: TripoSR, code: Tensor) -> None:
    with pytest.raises(UserError, match=r"points \(4, 2\): the last axis must be x, y and z"):
        model.query(code, torch.zeros(4, 2))


# Rays


def test_where_rays_are_inside_the_box() -> None:
    origins = torch.tensor([[2.0, 0, 0], [0, 0, 0], [2, 0, 0], [0, 5, 0]])
    directions = torch.tensor([[-1.0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0]])
    near, far, hits = box_interval(origins, directions, 1.0)
    # The half side is 0.999: from x = 2 the box begins after 1.001 and ends after 2.999; from its
    # middle the way starts at 0; the other two have it behind or beside them.
    torch.testing.assert_close(near, torch.tensor([1.001, 0, 0, 0]))
    torch.testing.assert_close(far, torch.tensor([2.999, 0.999, 0, 0]))
    assert hits.tolist() == [True, True, False, False]


def even(density: float, colour: float) -> Any:
    return lambda points: (
        torch.full((len(points), 1), density),
        torch.full((len(points), 3), colour),
    )


@pytest.mark.parametrize("y", [0.0, 0.5])
def test_opacity_of_an_even_fog_does_not_depend_on_the_ways_length(y: float) -> None:
    direction = torch.nn.functional.normalize(torch.tensor([-1.0, y / 2, 0]), dim=0)
    gathered = march(even(2.0, 0.25), torch.tensor([2.0, 0, 0]), direction, 1.0, 50)
    # 50 steps of exp(-2 / 50) let exp(-2) through.
    alpha = 1 - math.exp(-2)
    assert gathered.alpha.shape == (1,)
    assert gathered.alpha.item() == pytest.approx(alpha, abs=1e-5)
    assert gathered.premultiplied.tolist() == pytest.approx([alpha / 4] * 3, abs=1e-5)
    assert gathered.over(1.0)[0].item() == pytest.approx(alpha / 4 + math.exp(-2), abs=1e-5)


def test_what_is_in_front_hides_what_is_behind() -> None:
    def field(points: Tensor) -> tuple[Tensor, Tensor]:
        front = points[:, :1] > 0
        red, blue = torch.tensor([1.0, 0, 0]), torch.tensor([0, 0, 1.0])
        return torch.full_like(points[:, :1], 2.0), torch.where(front, red, blue)

    origin, direction = torch.tensor([2.0, 0, 0]), torch.tensor([-1.0, 0, 0])
    colour = march(field, origin, direction, 1.0, 40).premultiplied
    # Each half lets exp(-1) through: red gets 1 - 1 / e, blue what is left of the same.
    passed = math.exp(-1)
    assert colour.tolist() == pytest.approx([1 - passed, 0, passed * (1 - passed)], abs=1e-5)


def test_many_rays_are_marched_as_few(model: TripoSR, code: Tensor) -> None:
    rays = cameras(1, 10.0, height=70, width=70)  # 4,900: more than are marched at once
    whole = model.march(code, *rays)
    last = model.march(code, rays.origins[0, 68:], rays.directions[0, 68:])
    torch.testing.assert_close(whole.alpha[0, 68:], last.alpha, rtol=1e-5, atol=1e-6)


def test_rays_that_miss_the_box_are_white_and_transparent(model: TripoSR, code: Tensor) -> None:
    with_density(model, 5.0)
    rays = cameras(2, 15.0, fov=90.0, height=9, width=9)
    hits = box_interval(*rays, 0.87).hits
    assert 0 < hits.sum() < hits.numel()
    gathered = model.march(code, *rays)
    picture = model.render(code, *rays)
    assert (picture[~hits] == 1).all()
    assert (gathered.alpha[~hits] == 0).all()
    assert (picture[hits] < 0.51).all()
    assert (gathered.alpha[hits] > 0.99).all()
    away = model.render(code, rays.origins, -rays.directions)
    assert (away == 1).all()


def test_a_picture_can_be_laid_over_another() -> None:
    gathered = Marched(torch.tensor([[0.2, 0.1, 0.0]]), torch.tensor([[0.25]]))
    over = gathered.over(torch.tensor([[0.4, 0.8, 1.0]]))
    torch.testing.assert_close(over, torch.tensor([[0.5, 0.7, 0.75]]))


def test_rays_that_do_not_match_are_refused(model: TripoSR, code: Tensor) -> None:
    with pytest.raises(
        UserError, match=r"origins \(2, 3\) and directions \(3, 3\): both must have"
    ):
        model.render(code, torch.zeros(2, 3), torch.zeros(3, 3))


# Cameras


@pytest.mark.parametrize("n_views", [1, 2, 3, 4, 5])
def test_every_camera_is_the_first_one_turned(n_views: int) -> None:
    rays = cameras(n_views, 20.0, 1.9, 40.0, 4, 6)
    assert rays.origins.shape == rays.directions.shape == (n_views, 4, 6, 3)
    for view in range(n_views):
        a = 2 * math.pi * view / n_views
        turn = torch.tensor(
            [[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1]]
        )
        for found, first in (
            (rays.origins, rays.origins[0]),
            (rays.directions, rays.directions[0]),
        ):
            torch.testing.assert_close(found[view], first @ turn.T, rtol=1e-5, atol=1e-6)


def test_the_first_camera_looks_from_plus_x_with_plus_y_to_its_right() -> None:
    rays = cameras(1, 0.0, 2.0, 90.0, 2, 4)
    assert rays.origins[0, 0, 0].tolist() == [2, 0, 0]
    # The focal length is 1 pixel: the upper left pixel's middle is 1.5 to the left and 0.5 up.
    corner = torch.nn.functional.normalize(torch.tensor([-1.0, -1.5, 0.5]), dim=0)
    torch.testing.assert_close(rays.directions[0, 0, 0], corner)


@pytest.mark.parametrize("elevation", [-90.0, 90.0])
def test_cameras_at_the_poles_look_at_the_object(elevation: float) -> None:
    rays = cameras(3, elevation, 2.0, 40.0, 3, 3)
    expected = torch.tensor([0, 0, -math.copysign(1, elevation)]).expand(3, 3)
    torch.testing.assert_close(rays.directions[:, 1, 1], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_views": 0}, "0 views of 256 x 256 pixels: each must be at least 1"),
        ({"n_views": 1, "fov": 180.0}, "field of view 180.0 degrees: it must be between 0 and 180"),
    ],
)
def test_cameras_that_see_nothing_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        cameras(**settings)


def test_three_views_are_rendered(model: TripoSR, code: Tensor) -> None:
    picture = model.render(code, *cameras(3, 15.0, height=6, width=5))
    assert picture.shape == (3, 6, 5, 3)
    assert picture.isfinite().all()


# Meshes


def slab(model: TripoSR, middle: float = 6.0, fall: float = 8.0) -> Tensor:
    """A scene code for which the model's raw density is middle - fall |x| away from the box's sides."""
    model.decoder.layers = torch.nn.Sequential(torch.nn.Linear(15, 4))
    model.requires_grad_(False)
    layer: Any = model.decoder.layers[0]
    layer.weight.zero_()
    layer.bias.zero_()
    layer.weight[0, :3] = torch.tensor([-fall, 0, middle])
    layer.weight[1, 1] = 8.0
    ramp = ((torch.arange(8) + 0.5) / 4 - 1) * 0.87
    code = torch.zeros(3, 5, 8, 8)
    code[0, 0], code[0, 1], code[0, 2] = ramp.abs(), ramp, 1.0
    return code


def test_a_slab_is_meshed_in_world_coordinates_and_coloured(model: TripoSR) -> None:
    mesh = model.mesh(slab(model), 33, threshold=math.exp(1.0))
    assert not mesh.is_empty
    # density = exp(6 - 8 |x| - 1) is e at |x| = 0.5, which linear steps of 0.05 find only roughly; the
    # features fade where the box ends.
    inner = np.abs(mesh.vertices[:, 1]) < 0.75
    assert np.abs(mesh.vertices[inner, 0]) == pytest.approx(0.5, abs=0.01)
    assert mesh.vertices[:, 2].min() == pytest.approx(-0.87)
    assert mesh.vertices[:, 2].max() == pytest.approx(0.87)
    assert mesh.vertices.dtype == np.float32
    # Red is sigmoid(8 x): 0.98 on the right side, 0.02 on the left.
    right = mesh.vertices[:, 0] > 0
    assert mesh.colors[inner & right, 0] == pytest.approx(0.982, abs=0.01)
    assert mesh.colors[inner & ~right, 0] == pytest.approx(0.018, abs=0.01)
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (normals[:, 0] * corners[:, :, 0].mean(axis=1) > 0).all()  # fronts face outwards


def test_an_empty_mesh_says_so(model: TripoSR, code: Tensor) -> None:
    with_density(model, 1.0 + math.log(3))
    mesh = model.mesh(code, 5)
    assert mesh.is_empty
    assert mesh.vertices.shape == mesh.colors.shape == mesh.faces.shape == (0, 3)
    assert mesh.threshold == 25.0
    assert mesh.peak == pytest.approx(3.0)
    assert model.mesh(code, 5, threshold=2.0).is_empty  # all of the box is inside
    assert model.mesh(code, 5, adaptive=True).is_empty  # an even fog has no surface


def test_the_threshold_can_follow_a_thin_object(model: TripoSR) -> None:
    code = slab(model, middle=3.0)  # densities from exp(2) = 7.4 down
    assert model.mesh(code, 17).is_empty
    mesh = model.mesh(code, 17, adaptive=True)
    assert not mesh.is_empty
    assert mesh.threshold == pytest.approx(mesh.peak / 2)
    assert model.mesh(code, 17, threshold=2.0, adaptive=True).threshold == 2.0


def test_densities_beyond_float32_are_as_good_as_solid(model: TripoSR) -> None:
    code = slab(model, middle=130.0, fall=200.0)
    assert model.grid_density(code, 17).isinf().any()
    mesh = model.mesh(code, 17)
    assert not mesh.is_empty
    assert np.isfinite(mesh.vertices).all()


def test_broken_grids_are_refused(model: TripoSR, code: Tensor) -> None:
    with pytest.raises(UserError, match="resolution 1: a grid needs at least 2 points"):
        model.mesh(code, 1)
    with pytest.raises(UserError, match="the density is not a number somewhere"):
        model.mesh(code * math.nan, 4)


def test_the_configuration_survives_json() -> None:
    assert TripoConfig.from_dict(json.loads(json.dumps(dict(PUBLISHED)))).radius == 0.87
