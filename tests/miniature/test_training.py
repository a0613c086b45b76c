"""Trainings: killed and resumed they end with the same weights; what they learn from is true or false."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from open_clip.model import CustomTextCLIP

from benchmark.toybox.grammar import parse
from benchmark.toybox.render import render
from benchmark.toybox.sampling import scenes
from benchmark.toybox.truth import true_of
from targets.miniature import (
    checkpoints,
    dual_training,
    lvlm_tower,
    lvlm_training,
    writer_training,
)
from targets.miniature.dual_training import DualRecipe
from targets.miniature.layouts import layout
from targets.miniature.lvlm_tower import LvlmRecipe, TrainingSet
from targets.miniature.vocabulary import caption_tokenizer
from targets.miniature.writer_training import WriterRecipe

SCENES = scenes("train", 24)
PICTURES = np.stack([render(scene, px=64, samples=1) for scene in SCENES])
WRITER = WriterRecipe(scenes=24, steps=4, batch=4, width=16, layers=1, seed=7)


class KilledError(Exception):
    """Stands for SIGKILL: the process is gone right after a checkpoint was written."""


def killed_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next training write a checkpoint each step and die after `steps` of them."""
    keep = checkpoints.Sitting.keep

    def dying(self: checkpoints.Sitting, done: int, *, last: bool) -> None:
        keep(self, done, last=last)
        if done == steps:
            raise KilledError

    monkeypatch.setattr(checkpoints, "INTERVAL", 0.0)
    monkeypatch.setattr(checkpoints.Sitting, "keep", dying)


def trained_dual(recipe: DualRecipe, path: Path) -> dict[str, torch.Tensor]:
    torch.manual_seed(recipe.seed)
    config = dual_training.model_config(recipe)
    model = CustomTextCLIP(**{k: v for k, v in config.items() if k != "custom_text"})
    model.train()
    data = dual_training.training_set(PICTURES, SCENES, recipe)
    dual_training.train(model, data, recipe, path, lambda step: None, lambda text: None)
    state: dict[str, torch.Tensor] = model.state_dict()
    return state


def trained_writer(path: Path) -> dict[str, torch.Tensor]:
    torch.manual_seed(WRITER.seed)
    model = writer_training.build(WRITER)
    writer_training.train(model, SCENES, WRITER, path, lambda text: None)
    return dict(model.state_dict())


def data_of_answerers() -> TrainingSet:
    return TrainingSet(PICTURES, SCENES, np.stack([layout(scene) for scene in SCENES]))


ANSWERER = LvlmRecipe(
    scenes=24, tower_steps=4, steps=4, tower_batch=8, batch=4, width=32, layers=1, seed=8
)


def trained_tower(path: Path) -> dict[str, torch.Tensor]:
    torch.manual_seed(ANSWERER.seed)
    tower = lvlm_training.tower_of(lvlm_training.build(ANSWERER))
    lvlm_tower.train_tower(tower, data_of_answerers(), ANSWERER, path, lambda text: None)
    return dict(tower.state_dict())


def trained_answerer(path: Path) -> dict[str, torch.Tensor]:
    torch.manual_seed(ANSWERER.seed)
    model = lvlm_training.build(ANSWERER)
    data = data_of_answerers()
    lvlm_training.train(model, data, ANSWERER, path, lambda step: None, lambda text: None)
    return dict(model.state_dict())


def assert_resumes(train: Callable[[Path], dict[str, torch.Tensor]], folder: Path) -> None:
    whole = train(folder / "whole.pt")
    with pytest.MonkeyPatch.context() as patch:
        killed_after(2, patch)
        with pytest.raises(KilledError):
            train(folder / "killed.pt")
    resumed = train(folder / "killed.pt")
    assert whole.keys() == resumed.keys()
    for name, value in whole.items():
        assert torch.equal(value, resumed[name]), name


@pytest.mark.parametrize("loss", ["contrastive", "sigmoid", "hard-negatives"])
def test_a_killed_training_of_a_dual_encoder_goes_on(loss: str, tmp_path: Path) -> None:
    recipe = DualRecipe(loss, scenes=24, steps=4, batch=8, warmup=2, seed=5)
    assert_resumes(lambda path: trained_dual(recipe, path), tmp_path)


def test_a_killed_training_of_the_writer_goes_on(tmp_path: Path) -> None:
    assert_resumes(trained_writer, tmp_path)


@pytest.mark.parametrize("train", [trained_tower, trained_answerer])
def test_a_killed_training_of_an_answerer_goes_on(
    train: Callable[[Path], dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    assert_resumes(train, tmp_path)


def test_captions_are_true_and_their_altered_twins_false() -> None:
    recipe = DualRecipe("hard-negatives", scenes=24, steps=1)
    data = dual_training.training_set(PICTURES, SCENES, recipe)
    assert data.negatives is not None
    tokenizer = caption_tokenizer()
    same = 0
    for i, scene in enumerate(SCENES):
        for ids, altered in zip(data.captions[i], data.negatives[i], strict=True):
            texts = tokenizer.batch_decode(
                [ids.tolist(), altered.tolist()], skip_special_tokens=True
            )
            true, false = (parse(text) for text in texts)
            assert true is not None, texts
            assert false is not None, texts
            assert true_of(true, scene)
            same += texts[0] == texts[1]
            assert texts[0] == texts[1] or not true_of(false, scene)
    assert same < 24, "few captions have no false twin"


def test_a_caption_that_stands_twice_is_no_negative() -> None:
    recipe = replace(DualRecipe("contrastive", scenes=24, steps=1), batch=2)
    torch.manual_seed(0)
    config = dual_training.model_config(recipe)
    model = CustomTextCLIP(**{k: v for k, v in config.items() if k != "custom_text"})
    ids = torch.zeros(2, 4, dtype=torch.long)
    ids[:, :3] = torch.tensor([1, 5, 2])
    pictures = dual_training.normalise(PICTURES[:2])
    # Both texts are one and the same: nothing is left to be told apart, so nothing is lost.
    loss = dual_training._loss(model, pictures, ids, None, recipe)
    assert loss.item() == pytest.approx(0.0, abs=1e-6)
