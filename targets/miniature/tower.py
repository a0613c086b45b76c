"""The picture tower of the miniatures: a residual network for 64 px pictures, registered with timm.

open_clip builds it by name (`timm_model_name: "trident_resnet"`), so importing this module is all that
a miniature's folder needs to load through the ordinary open_clip adapter.
"""

from typing import Any

import torch
from timm.models import register_model
from torch import Tensor, nn


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions with batch norm and a shortcut. (B, C_in, H, W) -> (B, C_out, H/s, W/s)."""

    def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels_out)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels_out)
        self.shortcut: nn.Module = nn.Identity()
        if stride > 1 or channels_in != channels_out:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels_in, channels_out, 1, stride, bias=False),
                nn.BatchNorm2d(channels_out),
            )
        nn.init.zeros_(self.norm2.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Residual plus shortcut, rectified."""
        y = self.norm2(self.conv2(torch.relu(self.norm1(self.conv1(x)))))
        return torch.relu(y + self.shortcut(x))


class TridentResNet(nn.Module):
    """(B, 3, 64, 64) -> (B, 16 * width): mean and maximum over the last 4x4 map.

    The maximum keeps an object that fills only one of the sixteen cells; the mean keeps place and light.
    """

    def __init__(self, width: int = 32, num_classes: int = 0, **_: Any) -> None:
        super().__init__()
        self.default_cfg = {"pool_size": (4, 4), "input_size": (3, 64, 64)}
        self.num_classes = num_classes
        self.num_features = 16 * width
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()
        )
        self.blocks = nn.Sequential(
            ResidualBlock(width, 2 * width, 2),
            ResidualBlock(2 * width, 4 * width, 2),
            ResidualBlock(4 * width, 8 * width, 2),
        )

    def reset_classifier(self, num_classes: int, global_pool: str | None = None) -> None:
        """timm's interface for using the tower without a head; it has none."""
        if num_classes:
            raise ValueError(f"trident_resnet has no classifier, so not {num_classes} classes")

    def forward_features(self, x: Tensor) -> Tensor:
        """The last map, (B, 8 * width, 4, 4)."""
        features: Tensor = self.blocks(self.stem(x))
        return features

    def forward(self, x: Tensor) -> Tensor:
        """Pooled features, (B, 16 * width)."""
        x = self.forward_features(x)
        return torch.cat([x.mean((2, 3)), x.amax((2, 3))], dim=1)


@register_model
def trident_resnet(
    pretrained: bool = False,
    pretrained_cfg: Any = None,
    pretrained_cfg_overlay: Any = None,
    **kwargs: Any,
) -> TridentResNet:
    """The entry that timm calls; there are no pretrained weights to load."""
    if pretrained:
        raise ValueError("trident_resnet has no pretrained weights: pass pretrained=False")
    return TridentResNet(**kwargs)
