"""The picture tower of the miniature vision-language model: 64 features of 64 cells, with timm's interface.

transformers builds it by name (`TimmWrapperConfig(architecture="trident_pyramid")`) inside a LLaVA, as
clip-mini's tower is built by open_clip. A residual network learns from 80,000 pictures in minutes what
a vision transformer of the same cost does not.
"""

from typing import Any

import torch
from timm.models import register_model
from torch import Tensor, nn

from targets.miniature.tower import ResidualBlock

CELLS = 8
"""Cells of the map along each side; a cell is 8 px wide."""


class TridentPyramid(nn.Module):
    """(B, 3, 64, 64) -> (B, 64, 12 * width): cells row by row, two scales side by side.

    The finer map (8x8) says what is where, the coarser one (4x4, repeated) sees whole objects. A learnt
    vector a cell is added, as language models read cells in a row.
    """

    def __init__(self, width: int = 32, num_classes: int = 0, **_: Any) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.num_features = 12 * width
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()
        )
        self.fine = nn.Sequential(
            ResidualBlock(width, 2 * width, 2), ResidualBlock(2 * width, 4 * width, 2)
        )
        self.coarse = ResidualBlock(4 * width, 8 * width, 2)
        self.positions = nn.Parameter(torch.randn(1, CELLS * CELLS, self.num_features) * 0.1)

    def forward_features(self, x: Tensor) -> Tensor:
        """Features of the cells, (B, 64, 12 * width)."""
        fine = self.fine(self.stem(x))
        coarse = nn.functional.interpolate(self.coarse(fine), scale_factor=2.0)
        cells: Tensor = torch.cat([fine, coarse], dim=1).flatten(2).transpose(1, 2)
        return cells + self.positions

    def forward_intermediates(self, x: Tensor, **_: Any) -> tuple[Tensor, list[Tensor]]:
        """What transformers calls: the cells, and the list of layers, which holds only them."""
        cells = self.forward_features(x)
        return cells, [cells]

    def forward(self, x: Tensor) -> Tensor:
        """The mean of all cells, (B, 12 * width)."""
        return self.forward_features(x).mean(1)


@register_model
def trident_pyramid(
    pretrained: bool = False,
    pretrained_cfg: Any = None,
    pretrained_cfg_overlay: Any = None,
    **kwargs: Any,
) -> TridentPyramid:
    """The entry that timm calls; there are no pretrained weights to load."""
    if pretrained:
        raise ValueError("trident_pyramid has no pretrained weights: pass pretrained=False")
    return TridentPyramid(**kwargs)
