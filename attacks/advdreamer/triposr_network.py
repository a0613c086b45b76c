"""TripoSR's network: a picture's tokens, the triplane transformer, and the decoder of points.

Modules carry the published checkpoint's names, so that it loads strictly and without a table of names.
"""

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attacks.advdreamer.triposr_config import TripoConfig, VitConfig

Position = Literal["4.35", "5"]
"""The version of transformers whose interpolation of position embeddings is reproduced."""

_MEAN = (0.485, 0.456, 0.406)
_STD = (0.229, 0.224, 0.225)


class ImageTokenizer(nn.Module):
    """A picture's tokens, after ImageNet's normalisation."""

    def __init__(self, config: VitConfig, position: Position) -> None:
        super().__init__()
        self.model = Vit(config, position)

    def forward(self, pixels: Tensor) -> Tensor:
        """Tokens (B, 1 + patches, hidden) of pixels (B, 3, H, W) in [0, 1]."""
        mean, std = (pixels.new_tensor(v).reshape(1, 3, 1, 1) for v in (_MEAN, _STD))
        tokens: Tensor = self.model((pixels - mean) / std)
        return tokens


class Vit(nn.Module):
    """A pre-norm vision transformer; every token after the last norm is returned, the class token too."""

    def __init__(self, config: VitConfig, position: Position) -> None:
        super().__init__()
        width = config.hidden_size
        self.embeddings = VitEmbeddings(config, position)
        self.encoder = VitEncoder(config)
        self.layernorm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        # In the checkpoint, though nothing reads its output.
        self.pooler = Dense(width, width)

    def forward(self, pixels: Tensor) -> Tensor:
        """Tokens (B, 1 + patches, hidden) of normalised pixels (B, 3, H, W)."""
        tokens: Tensor = self.layernorm(self.encoder(self.embeddings(pixels)))
        return tokens


class VitEmbeddings(nn.Module):
    """Patches, a class token, and a position table that is stretched to the picture's size."""

    def __init__(self, config: VitConfig, position: Position) -> None:
        super().__init__()
        width, patch = config.hidden_size, config.patch_size
        self.position = position
        self.table_side = config.image_size // patch
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.position_embeddings = nn.Parameter(torch.zeros(1, 1 + self.table_side**2, width))
        self.patch_embeddings = nn.ModuleDict({"projection": nn.Conv2d(3, width, patch, patch)})

    def positions(self, side: int) -> Tensor:
        """Position embeddings (1, 1 + side², hidden) for a picture of `side` x `side` patches."""
        table = self.position_embeddings
        if side == self.table_side:
            return table
        grid = table[:, 1:].reshape(1, self.table_side, self.table_side, -1).permute(0, 3, 1, 2)
        if self.position == "4.35":
            # The 0.1 guarded the rounding of the size; but the factor is also what the positions are
            # computed with, so the whole grid is sampled slightly off. The weights were used so.
            grid = F.interpolate(
                grid.float(),
                scale_factor=(side + 0.1) / self.table_side,
                mode="bicubic",
                align_corners=False,
            )
        else:
            grid = F.interpolate(
                grid.float(), size=(side, side), mode="bicubic", align_corners=False
            )
        patches = grid.to(table.dtype).permute(0, 2, 3, 1).reshape(1, side * side, -1)
        return torch.cat([table[:, :1], patches], dim=1)

    def forward(self, pixels: Tensor) -> Tensor:
        """Tokens (B, 1 + patches, hidden) of normalised pixels (B, 3, H, W), H = W."""
        patches = self.patch_embeddings["projection"](pixels)  # (B, hidden, side, side)
        side = patches.shape[-1]
        patches = patches.flatten(2).transpose(1, 2)
        first = self.cls_token.expand(len(patches), -1, -1)
        return torch.cat([first, patches], dim=1) + self.positions(side)


class VitEncoder(nn.Module):
    """All blocks, one after the other."""

    def __init__(self, config: VitConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList(VitBlock(config) for _ in range(config.num_hidden_layers))

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens (B, n, hidden) to tokens."""
        for block in self.layer:
            tokens = block(tokens)
        return tokens


class VitBlock(nn.Module):
    """Self-attention and an MLP with exact GELU, each after a norm and added to its input."""

    def __init__(self, config: VitConfig) -> None:
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        self.attention = VitAttention(width, config.num_attention_heads)
        self.intermediate = Dense(width, inner)
        self.output = Dense(inner, width)
        self.layernorm_before = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.layernorm_after = nn.LayerNorm(width, eps=config.layer_norm_eps)

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens (B, n, hidden) to tokens."""
        tokens = tokens + self.attention(self.layernorm_before(tokens))
        hidden = F.gelu(self.intermediate(self.layernorm_after(tokens)))
        added: Tensor = tokens + self.output(hidden)
        return added


class VitAttention(nn.Module):
    """Multi-head self-attention with biases, and its output projection."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = VitSelfAttention(width, heads)
        self.output = Dense(width, width)

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens (B, n, hidden) to tokens."""
        attended: Tensor = self.output(self.attention(tokens))
        return attended


class VitSelfAttention(nn.Module):
    """The three projections and what they attend to."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens (B, n, hidden) to tokens."""
        projected = (self.query(tokens), self.key(tokens), self.value(tokens))
        query, key, value = (split(x, self.heads) for x in projected)
        # In the released order of operations, not fused: this reproduces its tokens to the last bit.
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
        return joined(scores.softmax(dim=-1) @ value)


class Dense(nn.Module):
    """A linear layer, one level down in the checkpoint's names."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, inner)

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens (..., width) to (..., inner)."""
        mapped: Tensor = self.dense(tokens)
        return mapped


class Triplane(nn.Module):
    """The learnt tokens that every picture's planes start from."""

    def __init__(self, channels: int, plane_size: int) -> None:
        super().__init__()
        self.embeddings = nn.Parameter(torch.empty(3, channels, plane_size, plane_size))
        nn.init.normal_(self.embeddings, std=channels**-0.5)

    def tokens(self) -> Tensor:
        """Tokens (C, 3 * size²), ordered by plane, row and column."""
        return self.embeddings.transpose(0, 1).flatten(1)

    def planes(self, tokens: Tensor) -> Tensor:
        """Tokens (B, C, 3 * size²) as planes (B, 3, C, size, size)."""
        side = self.embeddings.shape[-1]
        return tokens.reshape(len(tokens), -1, 3, side, side).transpose(1, 2)


class Backbone(nn.Module):
    """The triplane transformer: a picture enters through cross-attention only."""

    def __init__(self, config: TripoConfig) -> None:
        super().__init__()
        inner = config.heads * config.head_dim
        self.norm = nn.GroupNorm(config.groups, config.channels, eps=1e-6)
        self.proj_in = nn.Linear(config.channels, inner)
        self.transformer_blocks = nn.ModuleList(
            TriplaneBlock(inner, config.vit.hidden_size, config.heads) for _ in range(config.layers)
        )
        self.proj_out = nn.Linear(inner, config.channels)

    def forward(self, tokens: Tensor, context: Tensor) -> Tensor:
        """Tokens (B, C, n) given the picture's tokens (B, m, hidden), to tokens (B, C, n)."""
        hidden = self.proj_in(self.norm(tokens).transpose(1, 2))
        for block in self.transformer_blocks:
            hidden = block(hidden, context)
        # What is added back is the input before its norm; nothing is normalised afterwards.
        added: Tensor = self.proj_out(hidden).transpose(1, 2) + tokens
        return added


class TriplaneBlock(nn.Module):
    """Self-attention, cross-attention and a gated MLP, each after a norm and added to its input."""

    def __init__(self, width: int, context_width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.attn1 = Attention(width, width, heads)
        self.attn2 = Attention(width, context_width, heads)
        # At place 1 of the checkpoint's list was a dropout, which has no weights.
        layers = [GatedGelu(width, 4 * width), nn.Identity(), nn.Linear(4 * width, width)]
        self.ff = nn.ModuleDict({"net": nn.Sequential(*layers)})

    def forward(self, tokens: Tensor, context: Tensor) -> Tensor:
        """Tokens (B, n, width) given context (B, m, context_width), to tokens."""
        normed = self.norm1(tokens)
        tokens = tokens + self.attn1(normed, normed)
        tokens = tokens + self.attn2(self.norm2(tokens), context)
        added: Tensor = tokens + self.ff["net"](self.norm3(tokens))
        return added


class Attention(nn.Module):
    """Multi-head attention of tokens to a context; only the output projection has a bias."""

    def __init__(self, width: int, context_width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_k = nn.Linear(context_width, width, bias=False)
        self.to_v = nn.Linear(context_width, width, bias=False)
        self.to_out = nn.Sequential(nn.Linear(width, width))

    def forward(self, tokens: Tensor, context: Tensor) -> Tensor:
        """Tokens (B, n, width) to the context (B, m, context_width), to tokens."""
        projected = (self.to_q(tokens), self.to_k(context), self.to_v(context))
        query, key, value = (split(x, self.heads) for x in projected)
        attended: Tensor = self.to_out(joined(F.scaled_dot_product_attention(query, key, value)))
        return attended


class GatedGelu(nn.Module):
    """`value * gelu(gate)`; value and gate are the two halves of one projection."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.proj = nn.Linear(width, 2 * inner)

    def forward(self, tokens: Tensor) -> Tensor:
        """Tokens (B, n, width) to (B, n, inner)."""
        value, gate = self.proj(tokens).chunk(2, dim=-1)
        gated: Tensor = value * F.gelu(gate)
        return gated


class PlaneUpsampler(nn.Module):
    """Doubles the side of every plane and reduces its channels: the scene code."""

    def __init__(self, channels: int, plane_channels: int) -> None:
        super().__init__()
        self.upsample = nn.ConvTranspose2d(channels, plane_channels, kernel_size=2, stride=2)

    def forward(self, planes: Tensor) -> Tensor:
        """Planes (B, 3, C, s, s) to (B, 3, plane_channels, 2 s, 2 s)."""
        upsampled: Tensor = self.upsample(planes.flatten(0, 1))
        return upsampled.reshape(-1, 3, *upsampled.shape[1:])


class Decoder(nn.Module):
    """Raw density and colour of points from their plane features."""

    def __init__(self, width: int, neurons: int, hidden_layers: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for i in range(hidden_layers):
            layers += [nn.Linear(neurons if i else width, neurons), nn.SiLU(inplace=True)]
        self.layers = nn.Sequential(*layers, nn.Linear(neurons, 4))

    def forward(self, features: Tensor) -> Tensor:
        """Features (n, width) to (n, 4): raw density, then raw red, green and blue."""
        raw: Tensor = self.layers(features)
        return raw


def split(tokens: Tensor, heads: int) -> Tensor:
    """Tokens (B, n, width) as (B, heads, n, width / heads)."""
    return tokens.reshape(*tokens.shape[:2], heads, -1).transpose(1, 2)


def joined(tokens: Tensor) -> Tensor:
    """Tokens (B, heads, n, d) as (B, n, heads * d)."""
    return tokens.transpose(1, 2).flatten(2)
