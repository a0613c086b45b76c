import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import LlavaForConditionalGeneration, LlavaProcessor

from benchmark.errors import UserError
from benchmark.protocols import Answerer, DualEncoder
from benchmark.types import Pixels, Sampling
from targets.transformers_lvlm import TransformersLVLM
from targets.weights import sha256_of
from tests import tiny_lvlms, tiny_models

GREEDY = Sampling(temperature=0, max_new_tokens=8)
FREE = Sampling(temperature=1.0, top_p=0.95, max_new_tokens=8)
PROMPTS = ["a red ball", "a dog", "a blue dog and a cat", "a dog .", "cat", "red ball"]
SHAPES = [(64, 64), (40, 90), (90, 40), (64, 64), (32, 32), (64, 64)]
CLASSES = {
    "llava": tiny_lvlms.save_llava,
    "llava_next": tiny_lvlms.save_llava_next,
    "qwen2_vl": tiny_lvlms.save_qwen2_vl,
}


def pictures() -> list[Pixels]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, 256, (*shape, 3), dtype=np.uint8) for shape in SHAPES]


@pytest.fixture(scope="module", params=CLASSES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    save: Callable[[Path], Path] = CLASSES[request.param]
    return save(tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def llava(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_lvlms.save_llava(tmp_path_factory.mktemp("llava"))


@pytest.mark.parametrize("sampling", [GREEDY, FREE])
def test_an_answer_does_not_depend_on_its_company(folder: Path, sampling: Sampling) -> None:
    def answers(size: int) -> list[str]:
        model = TransformersLVLM(str(folder), {"dtype": "float64", "batch_size": size})
        return model.answer(pictures() * 2, PROMPTS * 2, sampling)

    whole = answers(64)
    assert answers(1) == answers(5) == whole
    assert len(set(whole)) > 3
    model = TransformersLVLM(str(folder), {"dtype": "float64"})
    assert model.answer(pictures()[::-1], PROMPTS[::-1], sampling)[::-1] == whole[:6]


def test_the_picture_counts(folder: Path) -> None:
    model = TransformersLVLM(str(folder), {})
    rng = np.random.default_rng(1)
    images = [rng.integers(0, 256, (48, 48, 3), dtype=np.uint8) // (1 + i) for i in range(12)]
    assert len(set(model.answer(images, ["a red ball"] * 12, GREEDY))) > 1


def test_answers_are_those_of_the_model_itself(llava: Path) -> None:
    (image, *_) = pictures()
    model = LlavaForConditionalGeneration.from_pretrained(str(llava))
    processor = LlavaProcessor.from_pretrained(str(llava))
    text = "<bos><image> a red ball <sep>"
    inputs = processor(
        text=[text], images=[Image.fromarray(image)], return_tensors="pt", add_special_tokens=False
    )
    with torch.inference_mode():
        ids = model.generate(**inputs, max_new_tokens=8, do_sample=False)
    new = ids[0, inputs["input_ids"].shape[1] :]
    theirs = processor.tokenizer.decode(new, skip_special_tokens=True)
    assert TransformersLVLM(str(llava), {}).answer([image], ["a red ball"], GREEDY) == [theirs]


def test_the_same_question_is_drawn_the_same_and_pictures_apart(llava: Path) -> None:
    model = TransformersLVLM(str(llava), {})
    noise = np.random.default_rng(2).integers(0, 2, (20, 32, 32, 3), dtype=np.uint8)
    drawn = model.answer(list(noise), ["cat"] * 20, FREE)
    assert model.answer(list(noise), ["cat"] * 20, FREE) == drawn
    # Pictures that differ by one level of grey are answered alike, so the draws differ, not the logits.
    assert len(set(model.answer(list(noise), ["cat"] * 20, GREEDY))) == 1
    assert len(set(drawn)) > 10


def test_info(llava: Path) -> None:
    model = TransformersLVLM(str(llava), {"dtype": "bfloat16"})
    assert model.info.id == f"transformers_lvlm:{llava}"
    assert model.info.weights == sha256_of([llava / "model.safetensors"])
    assert model.info.dtype == "bfloat16"
    described = json.loads(model.info.preprocessing)
    assert described["image"]["crop_size"] == {"height": 32, "width": 32}
    assert described["image_processor"].endswith("Pil")
    assert len(described["chat_template"]) == 16
    assert isinstance(model, Answerer)
    assert not isinstance(model, DualEncoder)


def test_another_template_is_another_preprocessing(tmp_path: Path, llava: Path) -> None:
    other = tiny_lvlms.save_llava(tmp_path)
    template = other / "chat_template.jinja"
    template.write_text(template.read_text().replace("<sep>", "<sep> ."))
    one, two = (TransformersLVLM(str(f), {}).info for f in (llava, other))
    assert one.weights == two.weights
    assert one.preprocessing != two.preprocessing


def test_a_template_that_asks_for_the_date_gets_a_fixed_one(tmp_path: Path, llava: Path) -> None:
    dated = tiny_lvlms.save_llava(tmp_path)
    template = dated / "chat_template.jinja"
    words = "{% if date_string == '26 Jul 2024' %}cat {% else %}dog {% endif %}"
    template.write_text(template.read_text().replace("{{ part['text'] }}", words))
    plain = TransformersLVLM(str(llava), {})
    images = pictures()[:3]
    asked = TransformersLVLM(str(dated), {}).answer(images, ["a"] * 3, GREEDY)
    assert asked == plain.answer(images, ["cat"] * 3, GREEDY)
    assert asked != plain.answer(images, ["dog"] * 3, GREEDY)


def test_nothing_asked_nothing_answered(llava: Path) -> None:
    assert TransformersLVLM(str(llava), {}).answer([], [], GREEDY) == []


def test_each_picture_needs_a_prompt(llava: Path) -> None:
    with pytest.raises(ValueError, match="2 pictures need as many prompts, not 1"):
        TransformersLVLM(str(llava), {}).answer(pictures()[:2], ["a"], GREEDY)


def test_a_model_without_a_template_cannot_be_asked(tmp_path: Path) -> None:
    tiny_lvlms.save_llava(tmp_path, chat=False)
    with pytest.raises(UserError, match=r"has no chat template.*tuned on instructions"):
        TransformersLVLM(str(tmp_path), {})


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    tiny_models.save_clip(tmp_path)
    with pytest.raises(UserError, match=r"transformers cannot load .*: the folder must be one"):
        TransformersLVLM(str(tmp_path), {})


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"transformers cannot load 'no/such-model'"):
        TransformersLVLM("no/such-model", {})


def test_unknown_dtype() -> None:
    with pytest.raises(UserError, match="dtype 'half' is unknown"):
        TransformersLVLM("no/such-model", {"dtype": "half"})
