"""What the vision-language models learn from: packed rows, cells, and nothing that is withheld."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import AutoProcessor

from benchmark.toybox import words
from benchmark.toybox.grammar import parse
from benchmark.toybox.questions import DESCRIBE
from benchmark.toybox.render import render
from benchmark.toybox.sampling import sample_scene, scenes
from benchmark.toybox.scene import Camera, Scene, SceneObject
from benchmark.toybox.truth import true_of
from targets.miniature import lvlm_tower, lvlm_training
from targets.miniature.layouts import layout, layouts
from targets.miniature.lvlm_tower import IGNORED, LvlmRecipe, TrainingSet, shows, without
from targets.miniature.vocabulary import answerer_tokenizer

SCENES = scenes("train", 40)
DATA = TrainingSet(
    np.stack([render(scene, px=64, samples=1) for scene in SCENES]),
    SCENES,
    np.stack([layout(scene) for scene in SCENES]),
)
RECIPE = LvlmRecipe(scenes=40, tower_steps=2, steps=2, batch=6, width=32, layers=1, seed=3)
VOCABULARY = answerer_tokenizer().get_vocab()


def test_an_exchange_is_read_as_if_it_stood_alone() -> None:
    torch.manual_seed(0)
    model = lvlm_training.build(RECIPE)
    model.train(False)
    inputs, _ = lvlm_training.batch(DATA, RECIPE, VOCABULARY, 0)
    with torch.inference_mode():
        packed = model(**inputs, use_cache=False).logits
    ids, positions = inputs["input_ids"], inputs["position_ids"]
    for row in range(len(ids)):
        starts = [j for j in range(65, ids.shape[1]) if positions[row, j] == 65]
        ends = [*starts[1:], int((ids[row] != 0).sum())]
        assert len(starts) == RECIPE.exchanges
        for start, end in zip(starts, ends, strict=True):
            alone = torch.cat([ids[row, :65], ids[row, start:end]])[None]
            with torch.inference_mode():
                logits = model(
                    input_ids=alone,
                    pixel_values=inputs["pixel_values"][row : row + 1],
                    use_cache=False,
                ).logits
            torch.testing.assert_close(logits[0, 65:], packed[row, start:end], atol=1e-4, rtol=0)


def test_only_answers_are_learnt() -> None:
    inputs, labels = lvlm_training.batch(DATA, RECIPE, VOCABULARY, 1)
    tokenizer = answerer_tokenizer()
    for ids, wanted in zip(inputs["input_ids"], labels, strict=True):
        text = str(tokenizer.decode(ids[65:], skip_special_tokens=False))
        answers = [part.split("<eos>")[0].strip() for part in text.split("<sep>")[1:]]
        learnt = str(tokenizer.decode(wanted[wanted != IGNORED], skip_special_tokens=False))
        assert [part.strip() for part in learnt.split("<eos>")[:-1]] == answers
        assert parse(answers[0]) is not None


def test_the_processor_writes_what_was_trained_on(tmp_path: Path) -> None:
    lvlm_training.processor().save_pretrained(str(tmp_path))
    processor = AutoProcessor.from_pretrained(str(tmp_path))  # type: ignore[no-untyped-call]
    content = [{"type": "image", "image": Image.fromarray(DATA.pictures[0])}]
    content.append({"type": "text", "text": DESCRIBE})
    made = processor.apply_chat_template(
        [{"role": "user", "content": content}],
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
        processor_kwargs={"return_tensors": "pt"},
    )
    inputs, _ = lvlm_training.batch(
        TrainingSet(DATA.pictures[:1], SCENES[:1], DATA.layouts[:1]), RECIPE, VOCABULARY, 0
    )
    torch.testing.assert_close(made["pixel_values"], inputs["pixel_values"][:1], atol=1e-5, rtol=0)
    asked = ["<bos>", *["<image>"] * 64, *"describe this image in detail . <sep>".split()]
    assert made["input_ids"][0].tolist() == [VOCABULARY[token] for token in asked]


def test_every_word_is_known() -> None:
    for scene in SCENES:
        rng = np.random.default_rng(scene.seed)
        for _ in range(10):
            for question, answer in lvlm_training.exchanges(scene, RECIPE, rng):
                ids = answerer_tokenizer()(f"{question} {answer}")["input_ids"]
                assert VOCABULARY["<unk>"] not in ids


def test_what_is_withheld_is_neither_shown_nor_named() -> None:
    recipe = replace(RECIPE, withheld=("fog", "umbrella", "rocket"))
    kept = without(DATA, recipe.withheld)
    assert 0 < len(kept.scenes) < len(SCENES)
    assert len(kept.pictures) == len(kept.layouts) == len(kept.scenes)
    assert without(DATA, ()) is DATA
    rng = np.random.default_rng(0)
    said = ""
    for scene in kept.scenes:
        assert not shows(scene, recipe.withheld)
        for _ in range(40):
            said += " ".join(f"{q} {a}" for q, a in lvlm_training.exchanges(scene, recipe, rng))
    for word in ("fog", "umbrella", "umbrellas", "rocket", "rockets"):
        assert word not in said.replace("?", " ").replace(",", " ").split()
    assert "no, there is no" in said


def test_captions_are_true_of_their_scenes() -> None:
    rng = np.random.default_rng(1)
    for scene in SCENES:
        (_, caption), *_ = lvlm_training.exchanges(scene, RECIPE, rng)
        facts = parse(caption)
        assert facts is not None
        assert true_of(facts, scene)


def standing(cls: str, x: float) -> SceneObject:
    return SceneObject(cls, "red", "large", "matte", x, 0.0, 1.0, 0.0)


def test_cells_show_the_object_that_covers_them() -> None:
    scene = Scene(
        (standing("ball", 0.9), standing("house", -0.9)), "grass", "day", Camera(0.2, 4.0), 0
    )
    cells = layout(scene)
    assert cells.shape == (8, 8)
    assert set(cells[:, :4].ravel()) == {-1, 1}
    assert set(cells[:, 4:].ravel()) == {-1, 0}
    assert (cells[0] == -1).all()


def test_layouts_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = [sample_scene(seed) for seed in range(3)]
    made = layouts(some, tmp_path, workers=1)
    np.testing.assert_array_equal(made, np.stack([layout(scene) for scene in some]))
    monkeypatch.setattr("targets.miniature.layouts.layout", None)  # not computed again
    np.testing.assert_array_equal(layouts(some, tmp_path, workers=1), made)


def test_labels_of_cells() -> None:
    cells, settings = lvlm_tower._cell_labels(DATA)
    scene, shown = SCENES[0], DATA.layouts[0].ravel()
    for index, cell in zip(shown, cells[0].tolist(), strict=True):
        if index < 0:
            assert cell == [0, IGNORED, IGNORED]
        else:
            thing = scene.objects[index]
            assert words.CLASSES[cell[0] - 1] == thing.cls
            assert words.COLOURS[cell[1]] == thing.colour
            assert words.SIZES[cell[2]] == thing.size
    assert list(words.PLACES)[settings[0, 0]] == scene.place
    assert list(words.LIGHTS)[settings[0, 1]] == scene.light
