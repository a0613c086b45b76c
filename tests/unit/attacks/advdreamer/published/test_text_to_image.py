"""The short names on the real classes of FLUX and Stable Diffusion 3, with tiny random weights."""

import string
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers import (
    AutoencoderKL,
    FlowMatchEulerDiscreteScheduler,
    FluxPipeline,
    FluxTransformer2DModel,
    SD3Transformer2DModel,
    StableDiffusion3Pipeline,
)
from transformers import (
    CLIPTextModel,
    CLIPTextModelWithProjection,
    T5Config,
    T5EncoderModel,
    T5Tokenizer,
)

from attacks.advdreamer.published.synthesis import TextToImage
from tests.unit.attacks.advdreamer.published.conftest import _clip_text, _clip_tokenizer

PIECES = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
PIECES += [(letter, -2.0) for letter in "\u2581" + string.printable.strip()]


def autoencoder() -> Any:
    return AutoencoderKL(  # type: ignore[no-untyped-call]
        block_out_channels=(8, 8),
        down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
        up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"),
        latent_channels=4,
        norm_num_groups=4,
        use_quant_conv=False,
        use_post_quant_conv=False,
        shift_factor=0.1,
        scaling_factor=1.5,
    )


def t5(width: int) -> dict[str, Any]:
    config = T5Config(
        vocab_size=len(PIECES), d_model=width, d_kv=8, d_ff=16, num_layers=1, num_heads=2
    )
    tokenizer = T5Tokenizer(vocab=PIECES, extra_ids=0, model_max_length=77)
    return {"encoder": T5EncoderModel(config), "tokenizer": tokenizer}


def flux() -> Any:
    transformer = FluxTransformer2DModel(  # type: ignore[no-untyped-call]
        patch_size=1,
        in_channels=16,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=16,
        pooled_projection_dim=16,
        axes_dims_rope=(4, 4, 8),
        guidance_embeds=True,
    )
    second = t5(16)
    return FluxPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),  # type: ignore[no-untyped-call]
        vae=autoencoder(),
        text_encoder=CLIPTextModel(_clip_text()),
        tokenizer=_clip_tokenizer(),
        text_encoder_2=second["encoder"],
        tokenizer_2=second["tokenizer"],
        transformer=transformer,
    )


def stable_diffusion_3() -> Any:
    transformer = SD3Transformer2DModel(  # type: ignore[no-untyped-call]
        sample_size=16,
        patch_size=1,
        in_channels=4,
        num_layers=1,
        attention_head_dim=8,
        num_attention_heads=2,
        caption_projection_dim=16,
        joint_attention_dim=32,
        pooled_projection_dim=32,
        out_channels=4,
    )
    third = t5(32)
    return StableDiffusion3Pipeline(
        transformer=transformer,
        scheduler=FlowMatchEulerDiscreteScheduler(),  # type: ignore[no-untyped-call]
        vae=autoencoder(),
        text_encoder=CLIPTextModelWithProjection(_clip_text(projection_dim=16)),
        tokenizer=_clip_tokenizer(),
        text_encoder_2=CLIPTextModelWithProjection(_clip_text(projection_dim=16)),
        tokenizer_2=_clip_tokenizer(),
        text_encoder_3=third["encoder"],
        tokenizer_3=third["tokenizer"],
    )


@pytest.mark.parametrize(("name", "make"), [("flux-dev", flux), ("sd3.5", stable_diffusion_3)])
def test_a_short_name_paints(name: str, make: Any, tmp_path: Path) -> None:
    torch.manual_seed(0)
    make().save_pretrained(str(tmp_path))
    argument = f"{name},model={tmp_path},dtype=float32,px=32,side=32,steps=2"
    tool = TextToImage(argument, {"device": "cpu"})
    assert '"guidance": 3.5' in tool.info.preprocessing
    first, again, seed, text = tool.paint(["a duck", "a duck", "a duck", "a mug"], [1, 1, 2, 1])
    assert first is not None
    assert again is not None
    assert seed is not None
    assert text is not None
    assert first.shape == (32, 32, 3)
    np.testing.assert_array_equal(first, again)
    assert (first != seed).mean() > 0.5
    assert (first != text).mean() > 0.5  # the prompt reaches the picture
