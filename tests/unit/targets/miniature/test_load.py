"""With random weights in the shape of the real ones; tests/miniature measures those."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from open_clip.model import CustomTextCLIP
from safetensors.torch import save_file

from benchmark.errors import UserError
from benchmark.protocols import Answerer, DualEncoder, LanguageModel
from benchmark.types import Sampling
from targets.miniature import load
from targets.miniature.vocabulary import caption_tokenizer
from targets.weights import sha256_of
from tests import tiny_lvlms, tiny_models

CONFIG = {
    "embed_dim": 16,
    "vision_cfg": {
        "timm_model_name": "trident_resnet",
        "timm_model_pretrained": False,
        "timm_pool": "",
        "timm_proj": "linear",
        "image_size": 64,
    },
    "text_cfg": {
        "context_length": 32,
        "vocab_size": len(caption_tokenizer()),
        "width": 16,
        "heads": 2,
        "layers": 1,
        "hf_tokenizer_name": "trident",
        "pool_type": "eos",
        "eos_id": 2,
        "pad_id": 0,
    },
}


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of miniatures; the dual encoder has the architecture of the real ones, but thin."""
    torch.manual_seed(0)
    folder = tmp_path / "clip-mini"
    folder.mkdir()
    model = CustomTextCLIP(**CONFIG)
    half = {key: v.half() if v.is_floating_point() else v for key, v in model.state_dict().items()}
    save_file(
        {key: v.contiguous() for key, v in half.items()}, folder / "open_clip_model.safetensors"
    )
    (folder / "open_clip_config.json").write_text(
        json.dumps({"model_cfg": {**CONFIG, "custom_text": True}, "preprocess_cfg": {"size": 64}})
    )
    caption_tokenizer().save_pretrained(str(folder))
    tiny_models.save_language_model(tmp_path / "writer-mini")
    tiny_lvlms.save_llava(tmp_path / "lvlm-mini")
    monkeypatch.setattr(load, "WEIGHTS", tmp_path)
    return tmp_path


def test_a_target_is_an_open_clip_folder(weights: Path) -> None:
    model = load.target("clip-mini", {})
    assert model.info.id == "miniature:clip-mini"
    assert model.info.license == "Apache-2.0"
    assert model.info.weights == sha256_of([weights / "clip-mini" / "open_clip_model.safetensors"])
    assert isinstance(model, DualEncoder)
    embeddings = model.encode_texts(["a red ball", "three blue cactuses on the beach"])
    np.testing.assert_allclose(np.linalg.norm(embeddings, axis=1), 1, atol=1e-5)
    assert model.encode_images([np.zeros((64, 64, 3), np.uint8)]).shape == (1, 16)


def test_the_writer_runs_in_double_precision(weights: Path) -> None:
    writer = load.tool("writer-mini", {"device": "cpu"})
    assert isinstance(writer, LanguageModel)
    assert (writer.info.id, writer.info.dtype) == ("miniature:writer-mini", "float64")
    replies = writer.complete(["a red ball"] * 9, range(9), Sampling(1.0, 1.0, 8))
    assert len(set(replies)) > 3


def test_an_answerer_runs_in_double_precision_unless_told_otherwise(weights: Path) -> None:
    model = load.target("lvlm-mini", {})
    assert isinstance(model, Answerer)
    assert (model.info.id, model.info.dtype) == ("miniature:lvlm-mini", "float64")
    assert model.info.license == "Apache-2.0"
    assert load.target("lvlm-mini", {"dtype": "float32"}).info.dtype == "float32"


def test_an_unknown_miniature_is_answered_with_the_likely_ones(weights: Path) -> None:
    with pytest.raises(UserError, match=r"unknown miniature 'clip-mimi': did you mean 'clip-mini'"):
        load.target("clip-mimi", {})
    with pytest.raises(UserError, match=r"unknown miniature 'clip-mini'.*list tools"):
        load.tool("clip-mini", {})


def test_missing_weights_are_answered_with_the_command(weights: Path) -> None:
    with pytest.raises(
        UserError,
        match=r"has no weights in .*: train it with `python -m targets.miniature.train siglip-mini`",
    ):
        load.target("siglip-mini", {})
