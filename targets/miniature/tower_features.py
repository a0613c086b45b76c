"""Features of a miniature's frozen picture tower, for heads that judge pictures."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from PIL import __version__ as pillow_version
from safetensors.torch import load_file
from torch import Tensor

from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Pixels
from targets.miniature.dual_training import MEAN, STD, normalise
from targets.miniature.tower import TridentResNet
from targets.miniature.world_data import PICTURE_PX
from targets.options import Options
from targets.weights import sha256_of

FILE = "tower.safetensors"


class TowerFeatures:
    """The tower in a miniature's folder: mean and maximum of its last map, side by side.

    They take the place of DINOv2's mean patch and class token: what there is on the whole, and what
    there is somewhere.

    Settings:
        dtype, device: See `targets.options`.

    Raises:
        UserError: The folder has no tower.
    """

    def __init__(self, folder: Path, name: str, settings: Mapping[str, JSON]) -> None:
        options = Options.of(settings)
        if not (folder / FILE).is_file():
            raise UserError(f"no tower in {str(folder)!r}: it lacks {FILE}; train the model again")
        state = load_file(folder / FILE)
        tower = TridentResNet(width=len(state["stem.1.weight"]))
        tower.load_state_dict(state)
        self._tower = tower.to(options.device, options.dtype).eval()
        self._options = options
        self.width = tower.num_features
        self.info = ModelInfo(
            id=name,
            weights=sha256_of([folder / FILE]),
            dtype=options.dtype_name,
            preprocessing=f"{PICTURE_PX} x {PICTURE_PX} px, bicubic, Pillow {pillow_version},"
            f" mean {MEAN}, std {STD}",
        )

    def features(self, images: Sequence[Pixels]) -> Tensor:
        """Shape (n, width), for pictures of any size."""
        pixels = normalise(squeezed(images)).to(self._options.device, self._options.dtype)
        with torch.inference_mode():
            features: Tensor = self._tower(pixels)
        return features.float().cpu()


def squeezed(images: Sequence[Pixels]) -> Pixels:
    """Pictures of any size as the tower takes them, shape (n, 64, 64, 3)."""
    size = (PICTURE_PX, PICTURE_PX)
    return np.stack(
        [
            np.asarray(Image.fromarray(image).resize(size, Image.Resampling.BICUBIC))
            for image in images
        ]
    )
