"""Random vision-language models of the real classes, saved as transformers saves them."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    CLIPImageProcessorPil,
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaNextConfig,
    LlavaNextForConditionalGeneration,
    LlavaNextImageProcessorPil,
    LlavaNextProcessor,
    LlavaProcessor,
    PreTrainedTokenizerFast,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    Qwen2VLImageProcessorPil,
    Qwen2VLProcessor,
)
from transformers.models.qwen2_vl.configuration_qwen2_vl import (
    Qwen2VLTextConfig,
    Qwen2VLVisionConfig,
)
from transformers.models.qwen2_vl.video_processing_qwen2_vl import Qwen2VLVideoProcessor

from tests import tiny_models

CHAT = (
    "{{ bos_token }}{% for m in messages %}{% for part in m['content'] %}"
    "{% if part['type'] == 'image' %}IMAGE {% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endfor %}{% if add_generation_prompt %} <sep>{% endif %}"
)
"""IMAGE stands for what a class takes for a picture."""

_VISION: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "initializer_range": 0.4,
    "image_size": 32,
    "patch_size": 8,
}
_TEXT: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "initializer_range": 0.4,
    "max_position_embeddings": 512,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


def _tokenizer(*tokens: str, template: str) -> PreTrainedTokenizerFast:
    tokenizer = tiny_models.tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["<sep>", *tokens]})
    tokenizer.chat_template = template
    return tokenizer


def save_llava(folder: Path, *, chat: bool = True) -> Path:
    """LLaVA 1.5: one size of pictures, 16 tokens each."""
    torch.manual_seed(5)
    template = CHAT.replace("IMAGE", "<image>")
    tokenizer = _tokenizer("<image>", template=template)
    if not chat:
        tokenizer.chat_template = None
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**_VISION),
        text_config=LlamaConfig(vocab_size=len(tokenizer), **_TEXT),
        image_token_index=tokenizer.get_vocab()["<image>"],
    )
    LlavaForConditionalGeneration(config).save_pretrained(str(folder))
    LlavaProcessor(  # type: ignore[no-untyped-call]
        image_processor=CLIPImageProcessorPil(
            size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
        ),
        tokenizer=tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=template if chat else None,
    ).save_pretrained(str(folder))
    return folder


def save_llava_next(folder: Path) -> Path:
    """LLaVA-NeXT: a picture is cut into tiles by its shape, so pictures differ in tokens."""
    torch.manual_seed(6)
    template = CHAT.replace("IMAGE", "<image>")
    tokenizer = _tokenizer("<image>", template=template)
    pinpoints = [[32, 64], [64, 32], [64, 64]]
    config = LlavaNextConfig(
        vision_config=CLIPVisionConfig(**_VISION),
        text_config=LlamaConfig(vocab_size=len(tokenizer), **_TEXT),
        image_token_index=tokenizer.get_vocab()["<image>"],
        image_grid_pinpoints=pinpoints,
    )
    LlavaNextForConditionalGeneration(config).save_pretrained(str(folder))
    LlavaNextProcessor(  # type: ignore[no-untyped-call]
        image_processor=LlavaNextImageProcessorPil(
            size={"shortest_edge": 32},
            crop_size={"height": 32, "width": 32},
            image_grid_pinpoints=pinpoints,
        ),
        tokenizer=tokenizer,
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=template,
    ).save_pretrained(str(folder))
    return folder


def save_qwen2_vl(folder: Path) -> Path:
    """Qwen2-VL: pictures of any resolution, positions in three dimensions."""
    torch.manual_seed(7)
    around = ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>", "<|video_pad|>")
    template = CHAT.replace("IMAGE", "".join(around[:3]))
    tokenizer = _tokenizer(*around, template=template)
    vocabulary = tokenizer.get_vocab()
    sections: Any = {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 10_000.0}
    config = Qwen2VLConfig(
        vision_config=Qwen2VLVisionConfig(
            embed_dim=32, depth=2, hidden_size=32, num_heads=2, patch_size=8
        ),
        text_config=Qwen2VLTextConfig(
            vocab_size=len(tokenizer),
            rope_parameters=sections,
            **_TEXT,
        ),
        image_token_id=vocabulary["<|image_pad|>"],
        video_token_id=vocabulary["<|video_pad|>"],
        vision_start_token_id=vocabulary["<|vision_start|>"],
        vision_end_token_id=vocabulary["<|vision_end|>"],
    )
    Qwen2VLForConditionalGeneration(config).save_pretrained(str(folder))
    sizes = {"shortest_edge": 256, "longest_edge": 4096}
    Qwen2VLProcessor(  # type: ignore[no-untyped-call]
        image_processor=Qwen2VLImageProcessorPil(patch_size=8, size=sizes),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(patch_size=8, size=sizes),
        chat_template=template,
    ).save_pretrained(str(folder))
    return folder
