"""On a tiny random DINOv2 of the real class, and on a backbone of known numbers."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor
from transformers import (
    BitImageProcessorPil,
    Dinov2Config,
    Dinov2Model,
    Dinov2WithRegistersConfig,
    Dinov2WithRegistersModel,
)

from benchmark.errors import UserError
from benchmark.protocols import Adviser
from benchmark.types import ModelInfo, Pixels
from targets import naturalness, naturalness_training
from targets.miniature import checkpoints
from targets.naturalness import Dinov2, Heads, Naturalness, load_heads, save_heads, tool
from targets.naturalness_training import (
    HeadsRecipe,
    agreement,
    extract,
    fit,
    is_held_out,
    predict,
    read_ratings,
    spearman,
)
from targets.options import Options
from tests import tiny_models
from tests.fakes import picture

SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 28,
    "patch_size": 14,
    "mlp_ratio": 2,
}


@dataclass
class Means:
    """Features are the mean of each colour, 0..1; `calls` has the sizes of all calls."""

    info: ModelInfo = field(default_factory=lambda: ModelInfo("means", weights="f" * 64))
    width: int = 3
    calls: list[int] = field(default_factory=list)

    def features(self, images: Sequence[Pixels]) -> Tensor:
        self.calls.append(len(images))
        return torch.tensor(np.stack([i.mean((0, 1)) / 255 for i in images]), dtype=torch.float32)


def save_dinov2(folder: Path, *, registers: int = 0) -> Path:
    torch.manual_seed(5)
    if registers:
        config = Dinov2WithRegistersConfig(**SIZES, num_register_tokens=registers)
        Dinov2WithRegistersModel(config).save_pretrained(str(folder))
    else:
        Dinov2Model(Dinov2Config(**SIZES)).save_pretrained(str(folder))
    BitImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 28, "width": 28}
    ).save_pretrained(str(folder))
    return folder


def plain(colour: int, size: int = 6) -> Pixels:
    return np.full((size, size, 3), colour, np.uint8)


def linear(head: torch.nn.Sequential, layer: int) -> torch.nn.Linear:
    return cast("torch.nn.Linear", head[layer])


def known_heads() -> Heads:
    """Fidelity is 1 + 4 gelu(4 red) / gelu(4), plausibility always 3."""
    heads = Heads(3, 1)
    with torch.no_grad():
        for parameter in heads.parameters():
            parameter.zero_()
        linear(heads.fidelity, 0).weight[0, 0] = 4
        linear(heads.fidelity, 3).weight[0, 0] = 4 / 3.99987
        linear(heads.fidelity, 3).bias[0] = 1
        linear(heads.plausibility, 3).bias[0] = 3
    return heads


def test_two_independent_heads_on_features() -> None:
    model = Naturalness(Means(), known_heads(), ModelInfo("known"))
    assert isinstance(model, Adviser)
    black, white = model.ask([plain(0), plain(255)])
    assert black == pytest.approx((1, 3))
    assert white == pytest.approx((5, 3), abs=1e-3)
    assert white.fidelity == white[0]


def test_scores_are_limited_to_1_to_5() -> None:
    heads = known_heads()
    heads.load_state_dict(
        {k: v * 9 if k.endswith("3.bias") else v for k, v in heads.state_dict().items()}
    )
    assert Naturalness(Means(), heads, ModelInfo("known")).ask([plain(200)]) == [(5, 5)]


def test_standardised_as_in_training() -> None:
    heads = known_heads()
    heads.centre.fill_(0.5)
    heads.spread.fill_(0.25)
    # (0.5 - 0.5) / 0.25 = 0 and (0.75 - 0.5) / 0.25 = 1.
    rows = heads(torch.tensor([[0.5, 0, 0], [0.75, 0, 0]]))
    assert rows[:, 0].tolist() == pytest.approx([1, 5], abs=1e-3)


def test_company_changes_nothing_and_every_call_has_one_size(tmp_path: Path) -> None:
    backbone = Means()
    torch.manual_seed(0)
    model = Naturalness(backbone, Heads(3, 8), ModelInfo("random"))
    items = [picture(i) for i in range(37)]
    together = model.ask(items)
    assert backbone.calls == [16, 16, 16]
    assert [model.ask([item])[0] for item in items] == together
    assert model.ask(items[::-1])[::-1] == together
    assert model.ask([]) == []


@pytest.mark.parametrize("registers", [0, 2])
def test_features_are_the_class_token_and_the_mean_patch(tmp_path: Path, registers: int) -> None:
    backbone = Dinov2(str(save_dinov2(tmp_path, registers=registers)), Options.of({}))
    images = [picture(0, 40), picture(1, 28)]
    features = backbone.features(images)
    assert features.shape == (2, backbone.width) == (2, 32)
    pixels = backbone._processor(
        images=images,
        return_tensors="pt",
        size={"height": 28, "width": 28},
        do_center_crop=False,
    )["pixel_values"]
    assert pixels.shape == (2, 3, 28, 28)
    with torch.inference_mode():
        tokens = backbone._model(pixel_values=pixels).last_hidden_state
    assert tokens.shape == (2, 1 + registers + 4, 16)
    torch.testing.assert_close(features[:, :16], tokens[:, 0])
    torch.testing.assert_close(features[:, 16:], tokens[:, 1 + registers :].mean(1))


def test_nothing_of_a_picture_is_cropped_away(tmp_path: Path) -> None:
    backbone = Dinov2(str(save_dinov2(tmp_path)), Options.of({}))
    dark = np.zeros((64, 128, 3), np.uint8)
    marked = dark.copy()
    marked[:, :8] = 255  # a centre crop would lose it
    a, b = backbone.features([dark, marked])
    assert (a - b).abs().max() > 1e-3


def saved(folder: Path, backbone_folder: Path) -> Path:
    backbone = Dinov2(str(backbone_folder), Options.of({}))
    torch.manual_seed(1)
    heads = Heads(backbone.width, 8)
    for head in (heads.fidelity, heads.plausibility):
        torch.nn.init.constant_(linear(head, 3).bias, 3)
    save_heads(heads, backbone.info, folder)
    return folder


def test_a_folder_loads_as_a_tool_that_says_which_it_is(tmp_path: Path) -> None:
    folder = saved(tmp_path / "nrm", save_dinov2(tmp_path / "dino"))
    model = tool(str(folder), {"device": "cpu"})
    assert model.info.id == f"naturalness:{folder}"
    assert len(model.info.weights) == 64
    assert f"transformers:{tmp_path / 'dino'}" in model.info.preprocessing
    scores = model.ask([picture(i, 50) for i in range(3)])
    assert all(1 <= score <= 5 for pair in scores for score in pair)
    assert len(set(scores)) == 3
    assert model.ask([picture(1, 50)])[0] == scores[1]


def test_heads_refuse_another_backbone(tmp_path: Path) -> None:
    folder = saved(tmp_path / "nrm", save_dinov2(tmp_path / "dino"))
    with pytest.raises(UserError, match=r"trained on another .*\(weights .*, not ffffffffffff\)"):
        load_heads(folder, Means(), "nrm")


def test_mistakes_are_explained(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"lacks naturalness.json; train one with `python -m"):
        tool(str(tmp_path), {})
    clip = tiny_models.save_clip(tmp_path / "clip")
    with pytest.raises(UserError, match="is a 'clip' model, no DINOv2: give facebook/dinov2-base"):
        Dinov2(str(clip), Options.of({}))


def test_the_pinned_backbone_is_a_commit() -> None:
    assert naturalness.DINOV2 == "facebook/dinov2-base"
    assert len(naturalness.DINOV2_REVISION) == 40


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 40], 1),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1),
        # Differences of ranks 0, 0, 1, -1: 1 - 6 * 2 / (4 * 15) = 0.8.
        ([1, 2, 3, 4], [1, 2, 4, 3], 0.8),
        # Ranks 1.5, 1.5, 3 and 1, 2, 3: (0.75 + 0 + 1 - 0.25 + ...) = 1.5 / sqrt(1.5 * 2).
        ([0, 0, 1], [0, 1, 2], 1.5 / 3**0.5),
    ],
)
def test_spearman(a: list[float], b: list[float], expected: float) -> None:
    assert spearman(a, b) == pytest.approx(expected)


def test_spearman_of_a_constant_is_unknown() -> None:
    assert np.isnan(spearman([1, 1, 1], [1, 2, 3]))


def rated(folder: Path, n: int = 60) -> Path:
    """Fidelity grows with red, plausibility falls with blue."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    with (folder / "ratings.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["image", "fidelity", "plausibility", "group"])
        for i in range(n):
            red, green, blue = rng.integers(0, 256, 3)
            image = np.full((28, 28, 3), (red, green, blue), np.uint8)
            Image.fromarray(image).save(folder / f"{i}.png")
            scores = (1 + red / 64, 5 - blue / 64)
            writer.writerow([f"{i}.png", *(f"{score:.3f}" for score in scores), f"g{i // 2}"])
        writer.writerow(["unrated.png", "", "", "g"])
    return folder / "ratings.csv"


RECIPE = HeadsRecipe(steps=300, batch=32, hidden=16, learning_rate=0.01, dropout=0.1)


def test_heads_learn_what_features_say(tmp_path: Path) -> None:
    ratings = read_ratings(rated(tmp_path))
    assert len(ratings.images) == 60
    features = extract(Means(), ratings, tmp_path / "work", lambda text: None)
    heads, seconds = fit(features[:40], ratings.scores[:40], RECIPE, tmp_path)
    found = agreement(predict(heads, features[40:]), ratings.scores[40:])
    assert found["fidelity_spearman"] > 0.95
    assert found["plausibility_spearman"] > 0.95
    assert found["fidelity_mae"] < 0.3
    assert seconds > 0


def test_features_are_computed_once(tmp_path: Path) -> None:
    ratings = read_ratings(rated(tmp_path))
    backbone = Means()
    first = extract(backbone, ratings, tmp_path / "work", lambda text: None)
    calls = len(backbone.calls)
    torch.testing.assert_close(
        extract(backbone, ratings, tmp_path / "work", lambda text: None), first
    )
    assert len(backbone.calls) == calls
    Image.fromarray(picture(3, 28)).save(tmp_path / "0.png")  # another picture, the same name
    changed = extract(backbone, ratings, tmp_path / "work", lambda text: None)
    assert not torch.equal(changed[0], first[0])


class KilledError(Exception):
    """Stands for SIGKILL: the process is gone right after a checkpoint was written."""


def test_a_training_goes_on_as_if_it_had_not_been_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    features, scores = torch.rand(50, 3), np.random.default_rng(0).uniform(1, 5, (50, 2))
    said: list[str] = []
    whole_work = tmp_path / "whole"
    whole_work.mkdir()
    whole, _ = fit(features, scores, RECIPE, whole_work, said.append)
    keep = checkpoints.Sitting.keep

    def dying(self: checkpoints.Sitting, done: int, *, last: bool) -> None:
        keep(self, done, last=last)
        if done == 150:
            raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(checkpoints, "INTERVAL", 0.0)
        patched.setattr(checkpoints.Sitting, "keep", dying)
        with pytest.raises(KilledError):
            fit(features, scores, RECIPE, tmp_path, said.append)
    assert not said
    resumed, _ = fit(features, scores, RECIPE, tmp_path, said.append)
    assert said == ["resumed at step 150"]
    for key, value in whole.state_dict().items():
        torch.testing.assert_close(resumed.state_dict()[key], value)
    other, _ = fit(features + 1, scores, RECIPE, tmp_path, said.append)  # has its own checkpoint
    assert len(said) == 1
    assert not torch.equal(other.centre, whole.centre)


def test_a_group_is_held_out_as_a_whole() -> None:
    held = [is_held_out(f"g{i}") for i in range(2000)]
    assert 150 < sum(held) < 250  # 200 expected, standard deviation 13
    assert is_held_out("g7") == is_held_out("g7")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image,fidelity\na.png,3\n", r"lacks the column\(s\) plausibility: add them"),
        ("image,fidelity,plausibility\na.png,,\n", "holds no rated picture"),
        ("image,fidelity,plausibility\na.png,6,3\n", "fidelity '6' of a.png is no score"),
        ("image,fidelity,plausibility\na.png,3,high\n", "plausibility 'high' of a.png is no score"),
    ],
)
def test_a_file_of_ratings_is_checked(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "ratings.csv").write_text(text)
    with pytest.raises(UserError, match=message):
        read_ratings(tmp_path / "ratings.csv")


def test_the_command_trains_on_a_backbone_and_writes_a_tool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ratings, dino = rated(tmp_path / "rated"), save_dinov2(tmp_path / "dino")
    out = tmp_path / "nrm"
    arguments = [str(ratings), "--out", str(out), "--backbone", str(dino), "--steps", "20"]
    assert naturalness_training.main(arguments) == 0
    card = json.loads((out / "card.json").read_text())
    assert card["pictures"]["trained_on"] + card["pictures"]["held_out"] == 60
    assert card["recipe"]["steps"] == 20
    model = tool(str(out), {})
    assert card["weights"]["sha256"] == model.info.weights
    assert "wrote" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        naturalness_training.main(["nothing.csv", "--out", str(out)])
    assert "error: no file 'nothing.csv'" in capsys.readouterr().err
