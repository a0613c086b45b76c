import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import CLIPModel, CLIPProcessor

from benchmark.errors import UserError
from targets.transformers_dual import TransformersDualEncoder
from targets.weights import sha256_of
from tests import tiny_models

TEXTS = ["a red ball", "a blue dog and a cat on grass .", "cat"]


@pytest.fixture(scope="module")
def clip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.save_clip(tmp_path_factory.mktemp("clip"))


@pytest.fixture(scope="module")
def clip(clip_folder: Path) -> TransformersDualEncoder:
    return TransformersDualEncoder(str(clip_folder), {})


def test_scores_are_those_of_the_whole_model(
    clip_folder: Path, clip: TransformersDualEncoder
) -> None:
    theirs = CLIPModel.from_pretrained(str(clip_folder))
    processor = CLIPProcessor.from_pretrained(str(clip_folder))
    image = np.random.default_rng(0).integers(0, 256, (40, 32, 3), dtype=np.uint8)
    inputs = processor(text=TEXTS, images=[image], padding=True, return_tensors="pt")
    with torch.inference_mode():
        logits = theirs(**inputs).logits_per_text[:, 0] / theirs.logit_scale.exp()
    cosines = clip.encode_texts(TEXTS) @ clip.encode_images([image])[0]
    np.testing.assert_allclose(cosines, logits.numpy(), atol=1e-5)


def test_info(clip_folder: Path, clip: TransformersDualEncoder) -> None:
    assert clip.info.id == f"transformers:{clip_folder}"
    assert clip.info.weights == sha256_of([clip_folder / "model.safetensors"])
    described = json.loads(clip.info.preprocessing)
    assert described["context_length"] == 77
    assert described["image_processor"].endswith("Pil")
    assert described["image"]["size"] == {"shortest_edge": 32}


def test_long_texts_are_cut(clip: TransformersDualEncoder) -> None:
    long = clip.encode_texts(["a " * 77 + "dog", "a " * 77 + "cat"])
    np.testing.assert_array_equal(long[0], long[1])


def test_siglip_is_padded_to_its_full_length(tmp_path: Path) -> None:
    siglip = TransformersDualEncoder(str(tiny_models.save_siglip(tmp_path)), {})
    assert json.loads(siglip.info.preprocessing)["context_length"] == 64
    # 61 words more do not fit beside three: with full padding the 64th token is the last one seen.
    padded = siglip.encode_texts(["cat " * 64, "cat " * 70, "cat " * 63])
    np.testing.assert_array_equal(padded[0], padded[1])
    assert np.abs(padded[0] - padded[2]).max() > 1e-4


def test_weights_in_several_files_are_all_hashed(tmp_path: Path) -> None:
    whole = tiny_models.save_clip(tmp_path / "whole")
    CLIPModel.from_pretrained(str(whole)).save_pretrained(str(whole), max_shard_size="50KB")
    shards = sorted(whole.glob("model-*.safetensors"))
    (whole / "model.safetensors").unlink(missing_ok=True)
    assert len(shards) > 1
    assert TransformersDualEncoder(str(whole), {}).info.weights == sha256_of(shards)


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    folder = tiny_models.save_language_model(tmp_path)
    tiny_models.save_clip(tmp_path / "clip")
    (folder / "preprocessor_config.json").write_bytes(
        (tmp_path / "clip" / "preprocessor_config.json").read_bytes()
    )
    with pytest.raises(UserError, match=r"is a 'llama' model, no dual encoder: give CLIP"):
        TransformersDualEncoder(str(folder), {})


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot load 'no/such' \(.*give a local folder, or conn"):
        TransformersDualEncoder("no/such", {})
    with pytest.raises(UserError, match=r"must be one that save_pretrained wrote"):
        TransformersDualEncoder(str(tmp_path), {})
