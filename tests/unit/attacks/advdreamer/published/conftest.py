"""Random models of the real classes, small enough to make in a moment, saved as the libraries save them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from diffusers import (
    AutoencoderKL,
    DDIMScheduler,
    StableDiffusionInpaintPipeline,
    StableDiffusionInstructPix2PixPipeline,
    StableDiffusionPipeline,
    UNet2DConditionModel,
)
from safetensors.torch import save_file
from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    BertConfig,
    BertTokenizer,
    CLIPTextConfig,
    CLIPTextModel,
    CLIPTokenizer,
    GroundingDinoConfig,
    GroundingDinoForObjectDetection,
    GroundingDinoImageProcessor,
    GroundingDinoProcessor,
    Sam2Config,
    Sam2HieraDetConfig,
    Sam2ImageProcessor,
    Sam2MaskDecoderConfig,
    Sam2Model,
    Sam2Processor,
    Sam2PromptEncoderConfig,
    Sam2VisionConfig,
    Sam3Config,
    Sam3ImageProcessor,
    Sam3Model,
    Sam3Processor,
    SamConfig,
    SamImageProcessor,
    SamMaskDecoderConfig,
    SamModel,
    SamProcessor,
    SamPromptEncoderConfig,
    SamVisionConfig,
    SwinConfig,
)
from transformers.models.sam3.configuration_sam3 import (
    Sam3DETRDecoderConfig,
    Sam3DETREncoderConfig,
    Sam3GeometryEncoderConfig,
    Sam3MaskDecoderConfig,
    Sam3VisionConfig,
    Sam3ViTConfig,
)

from attacks.advdreamer.triposr import TripoSR

_CHANNELS = {"inpaint": 9, "text": 4, "edit": 8}
_KINDS: dict[str, Any] = {
    "inpaint": StableDiffusionInpaintPipeline,
    "text": StableDiffusionPipeline,
    "edit": StableDiffusionInstructPix2PixPipeline,
}


_VIT = {
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
_CONFIG: dict[str, Any] = {
    "cond_image_size": 24,
    "image_tokenizer": {"pretrained_model_name_or_path": "tiny"},
    "tokenizer": {"plane_size": 4, "num_channels": 32},
    "backbone": {
        "in_channels": 32,
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
        "num_samples_per_ray": 64,
    },
}
_AXES = (0.25, 0.4, 0.2)
"""Half axes of the object that the tests pretend TripoSR to see: deep, wide and high."""


@pytest.fixture(scope="session")
def pipelines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Stable Diffusion in the versions for three tasks, which share all but their UNet."""
    root = tmp_path_factory.mktemp("pipelines")
    torch.manual_seed(5)
    shared: dict[str, Any] = {
        "vae": AutoencoderKL(  # type: ignore[no-untyped-call]
            block_out_channels=(8, 8),
            down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
            up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"),
            latent_channels=4,
            norm_num_groups=4,
        ),
        "text_encoder": CLIPTextModel(_clip_text()),
        "tokenizer": _clip_tokenizer(),
        "scheduler": DDIMScheduler(  # type: ignore[no-untyped-call]
            clip_sample=False, set_alpha_to_one=False, steps_offset=1
        ),
        "safety_checker": None,
        "feature_extractor": None,
        "requires_safety_checker": False,
    }
    for task, kind in _KINDS.items():
        unet = UNet2DConditionModel(  # type: ignore[no-untyped-call]
            sample_size=16,
            in_channels=_CHANNELS[task],
            out_channels=4,
            block_out_channels=(8, 16),
            layers_per_block=1,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            cross_attention_dim=16,
            attention_head_dim=4,
            norm_num_groups=4,
        )
        kind(unet=unet, **shared).save_pretrained(str(root / task))
    return {task: root / task for task in _KINDS}


@pytest.fixture(scope="session")
def detector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GroundingDINO for pictures of 64 px that knows the words duck, mug and red."""
    folder = tmp_path_factory.mktemp("detector")
    torch.manual_seed(1)
    words = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "?", "duck", "mug", "red")
    tokenizer = BertTokenizer(vocab={word: i for i, word in enumerate(words)})
    config = GroundingDinoConfig(
        backbone_config=SwinConfig(
            image_size=64,
            embed_dim=8,
            depths=[1, 1, 1],
            num_heads=[1, 1, 1],
            window_size=4,
            out_indices=[2, 3],  # type: ignore[call-arg]
        ),
        text_config=BertConfig(
            vocab_size=len(words),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=256,
        ),
        num_queries=5,
        encoder_layers=1,
        encoder_ffn_dim=16,
        encoder_attention_heads=2,
        decoder_layers=2,
        decoder_ffn_dim=16,
        decoder_attention_heads=2,
        d_model=32,
        num_feature_levels=3,
        disable_custom_kernels=True,
        max_text_len=16,
    )
    GroundingDinoForObjectDetection(config).save_pretrained(str(folder))
    images = GroundingDinoImageProcessor(size={"shortest_edge": 64, "longest_edge": 64})
    processor = GroundingDinoProcessor(images, tokenizer)  # type: ignore[no-untyped-call]
    processor.save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="session")
def segmenters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """SAM and SAM 2 for pictures of 64 px, masks of 16."""
    root = tmp_path_factory.mktemp("segmenters")
    torch.manual_seed(2)
    decoder: dict[str, Any] = {
        "hidden_size": 16,
        "mlp_dim": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "iou_head_hidden_dim": 16,
    }
    sam = SamConfig(
        vision_config=SamVisionConfig(
            hidden_size=16,
            output_channels=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            image_size=64,
            patch_size=16,
            window_size=4,
            global_attn_indexes=[0],
            num_pos_feats=8,
            mlp_dim=16,
            initializer_range=0.02,
        ),
        prompt_encoder_config=SamPromptEncoderConfig(
            hidden_size=16, image_size=64, patch_size=16, mask_input_channels=8
        ),
        mask_decoder_config=SamMaskDecoderConfig(**decoder),
    )
    SamModel(sam).save_pretrained(str(root / "sam"))
    SamProcessor(  # type: ignore[no-untyped-call]
        SamImageProcessor(
            size={"longest_edge": 64},
            pad_size={"height": 64, "width": 64},
            mask_size={"longest_edge": 16},
            mask_pad_size={"height": 16, "width": 16},
        )
    ).save_pretrained(str(root / "sam"))
    sam2 = Sam2Config(
        vision_config=Sam2VisionConfig(
            backbone_config=Sam2HieraDetConfig(
                hidden_size=8,
                image_size=[64, 64],
                blocks_per_stage=[1, 1, 2, 1],
                embed_dim_per_stage=[8, 16, 32, 64],
                num_attention_heads_per_stage=[1, 1, 1, 1],
                window_size_per_stage=[4, 4, 4, 2],
                window_positional_embedding_background_size=[4, 4],
                global_attention_blocks=[3],
            ),
            backbone_channel_list=[64, 32, 16, 8],
            backbone_feature_sizes=[[16, 16], [8, 8], [4, 4]],
            fpn_hidden_size=16,
        ),
        prompt_encoder_config=Sam2PromptEncoderConfig(
            hidden_size=16, image_size=64, patch_size=16, mask_input_channels=8
        ),
        mask_decoder_config=Sam2MaskDecoderConfig(**decoder),
    )
    Sam2Model(sam2).save_pretrained(str(root / "sam2"))
    Sam2Processor(
        Sam2ImageProcessor(size={"height": 64, "width": 64}, mask_size={"height": 16, "width": 16})
    ).save_pretrained(str(root / "sam2"))
    return {name: root / name for name in ("sam", "sam2")}


@pytest.fixture(scope="session")
def sam3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SAM 3 for pictures of 56 px, masks of 16."""
    folder = tmp_path_factory.mktemp("sam3")
    torch.manual_seed(4)
    small: dict[str, Any] = {"hidden_size": 16, "num_attention_heads": 2}
    layer: dict[str, Any] = {**small, "num_layers": 1, "intermediate_size": 16}
    config = Sam3Config(
        vision_config=Sam3VisionConfig(
            backbone_config=Sam3ViTConfig(
                **small,
                intermediate_size=16,
                num_hidden_layers=1,
                image_size=56,
                window_size=2,
                global_attn_indexes=[0],
                pretrain_image_size=56,
            ),
            fpn_hidden_size=16,
            backbone_feature_sizes=[[16, 16], [8, 8], [4, 4]],
        ),
        text_config=_clip_text(max_position_embeddings=32, projection_dim=16),
        geometry_encoder_config=Sam3GeometryEncoderConfig(**layer),
        detr_encoder_config=Sam3DETREncoderConfig(**layer),
        detr_decoder_config=Sam3DETRDecoderConfig(**layer, num_queries=5),
        mask_decoder_config=Sam3MaskDecoderConfig(**small),
    )
    Sam3Model(config).save_pretrained(str(folder))
    images = Sam3ImageProcessor(
        size={"height": 56, "width": 56}, mask_size={"height": 16, "width": 16}
    )
    Sam3Processor(images, _clip_tokenizer()).save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The argument for a tiny TripoSR, with more settings behind it."""
    folder = tmp_path_factory.mktemp("triposr")
    torch.manual_seed(3)
    save_file(TripoSR.from_config(_CONFIG, _VIT).state_dict(), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"config": _CONFIG, "vit_config": _VIT}))
    base = f"{folder},config={folder / 'config.json'},resolution=48"
    return lambda more: f"{base},{more}"


@pytest.fixture
def ellipsoid(monkeypatch: pytest.MonkeyPatch) -> None:
    """TripoSR's field is always an ellipsoid: red in front, green at the right, blue on top."""

    def raw(self: TripoSR, scene_code: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
        del self, scene_code
        radius = (points / torch.tensor(_AXES)).norm(dim=-1, keepdim=True)
        # 25 is exp(4.22 - 1); hard enough to be opaque within a few steps.
        density = 4.22 + 60 * (1 - radius)
        return torch.cat([density.clamp(-60, 30), 200 * points], dim=-1)

    monkeypatch.setattr(TripoSR, "raw", raw)


def _clip_text(**more: Any) -> CLIPTextConfig:
    return CLIPTextConfig(
        vocab_size=514,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        bos_token_id=512,
        eos_token_id=513,
        pad_token_id=513,
        **more,
    )


def _clip_tokenizer() -> CLIPTokenizer:
    """CLIP's tokenizer without merges: every byte is a token, 512 begins a text and 513 ends it."""
    letters = sorted(ByteLevel.alphabet())
    pieces = [*letters, *(f"{letter}</w>" for letter in letters)]
    vocabulary = {piece: i for i, piece in enumerate([*pieces, "<|startoftext|>", "<|endoftext|>"])}
    return CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=77)
