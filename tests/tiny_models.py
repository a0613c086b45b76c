"""Random models of the real classes, small enough to make in a moment, saved as the libraries save them."""

import json
from pathlib import Path

import open_clip
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    CLIPConfig,
    CLIPImageProcessorPil,
    CLIPModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    SiglipConfig,
    SiglipImageProcessorPil,
    SiglipModel,
)

WORDS = ("a", "red", "blue", "ball", "dog", "and", "cat", "on", "grass", ".")
CHAT = "{{ bos_token }}{% for m in messages %}{{ m['content'] }}{% endfor %}<sep>"


def tokenizer(*, chat: bool = False, words: tuple[str, ...] = WORDS) -> PreTrainedTokenizerFast:
    """<pad> 0, <bos> 1, <eos> 2, <unk> 3, <sep> 4, then the words."""
    special = ["<pad>", "<bos>", "<eos>", "<unk>", "<sep>"]
    vocabulary = {word: i for i, word in enumerate([*special, *words])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    wrapped = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=inner,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        unk_token="<unk>",
        additional_special_tokens=["<sep>"],
        clean_up_tokenization_spaces=False,
    )
    if chat:
        wrapped.chat_template = CHAT
    return wrapped


def save_language_model(
    folder: Path, *, chat: bool = True, pad: bool = True, words: tuple[str, ...] = WORDS
) -> Path:
    """A two-layer Llama with a vocabulary of words."""
    torch.manual_seed(1)
    tokens = tokenizer(chat=chat, words=words)
    config = LlamaConfig(
        vocab_size=len(tokens),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
        initializer_range=0.3,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0 if pad else None,
    )
    LlamaForCausalLM(config).save_pretrained(str(folder))
    if not pad:
        tokens.pad_token = None
    tokens.save_pretrained(str(folder))
    return folder


def save_clip(folder: Path) -> Path:
    """A two-tower CLIP of transformers for 32 px pictures."""
    torch.manual_seed(2)
    layers = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "initializer_range": 0.2,
    }
    text = {"vocab_size": 15, "max_position_embeddings": 77, "eos_token_id": 2, "bos_token_id": 1}
    config = CLIPConfig(
        text_config={**layers, **text, "pad_token_id": 0},
        vision_config={**layers, "image_size": 32, "patch_size": 8},
        projection_dim=16,
    )
    CLIPModel(config).save_pretrained(str(folder))
    tokenizer().save_pretrained(str(folder))
    CLIPImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    ).save_pretrained(str(folder))
    return folder


def save_siglip(folder: Path) -> Path:
    """A two-tower SigLIP of transformers for 32 px pictures."""
    torch.manual_seed(3)
    layers = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    }
    text = {"vocab_size": 15, "max_position_embeddings": 64, "projection_size": 32}
    config = SiglipConfig(
        text_config={**layers, **text, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0},
        vision_config={**layers, "image_size": 32, "patch_size": 8},
    )
    SiglipModel(config).save_pretrained(str(folder))
    tokenizer().save_pretrained(str(folder))
    SiglipImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(str(folder))
    return folder


OPEN_CLIP_CONFIG = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 32, "head_width": 16, "patch_size": 8},
    "text_cfg": {
        "context_length": 20,
        "vocab_size": 49408,
        "width": 16,
        "heads": 2,
        "layers": 2,
    },
}


def save_open_clip(folder: Path, *, seed: int = 4) -> Path:
    """A folder as open_clip writes it, with the tokenizer that is in open_clip itself."""
    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    model = open_clip.CLIP(**OPEN_CLIP_CONFIG)
    torch.save(model.state_dict(), folder / "open_clip_pytorch_model.bin")
    (folder / "open_clip_config.json").write_text(
        json.dumps({"model_cfg": OPEN_CLIP_CONFIG, "preprocess_cfg": {"size": 32}})
    )
    return folder
