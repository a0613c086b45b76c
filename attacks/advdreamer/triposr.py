"""TripoSR: a 3D object from one picture, as a field of density and colour (arXiv 2403.02151).

An own implementation of inference that loads the published checkpoint and nothing else of it. On a GPU,
`march` or `render` the field; on a CPU, extract its `mesh` once and cast rays at that.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from attacks.advdreamer.marching_cubes import marching_cubes
from attacks.advdreamer.triposr_checkpoint import (
    PUBLISHED_REPOSITORY,
    read_checkpoint,
    without_weights,
)
from attacks.advdreamer.triposr_config import PUBLISHED, TripoConfig
from attacks.advdreamer.triposr_image import FOREGROUND_RATIO, Bytes, centred, on_grey, resized
from attacks.advdreamer.triposr_network import (
    Backbone,
    Decoder,
    ImageTokenizer,
    PlaneUpsampler,
    Position,
    Triplane,
)
from attacks.advdreamer.triposr_rays import Marched, Rays, cameras, march
from benchmark.errors import UserError

__all__ = ["Marched", "Mesh", "Rays", "TripoSR", "cameras", "without_weights"]

_CHUNK, _CPU_CHUNK = 1 << 18, 1 << 13
"""Points decoded at once; on a CPU, as many as stay in its caches."""
_SHARE_OF_PEAK = 0.5


@dataclass(frozen=True, slots=True)
class Mesh:
    """A coloured surface; faces are counter-clockwise as seen from outside."""

    vertices: NDArray[np.float32]
    """(V, 3), in world coordinates."""
    faces: NDArray[np.int64]
    """(F, 3), indices of vertices."""
    colors: NDArray[np.float32]
    """(V, 3), of vertices, in [0, 1]."""
    threshold: float
    """The density that the surface was drawn at."""
    peak: float
    """The greatest density found, which says why a mesh is empty."""

    @property
    def is_empty(self) -> bool:
        """Whether no density was above the threshold, or all of it was."""
        return len(self.faces) == 0


class TripoSR(nn.Module):
    """The whole model, in evaluation mode; float32 unless `reduce_precision` is called.

    A scene code is three feature planes (3, C, S, S); one forward pass of the network makes it.
    """

    sha256: str = ""
    """Of the file that the weights came from; empty for weights drawn at random."""

    def __init__(self, config: TripoConfig, position: Position = "4.35") -> None:
        super().__init__()
        if position not in ("4.35", "5"):
            raise UserError(f"position interpolation {position!r}: it must be '4.35' or '5'")
        self.config = config
        self.image_tokenizer = ImageTokenizer(config.vit, position)
        self.tokenizer = Triplane(config.channels, config.plane_size)
        self.backbone = Backbone(config)
        self.post_processor = PlaneUpsampler(config.channels, config.plane_channels)
        self.decoder = Decoder(3 * config.plane_channels, config.neurons, config.hidden_layers)
        self.eval().requires_grad_(False)

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any] = PUBLISHED,
        vit_config: Mapping[str, Any] | None = None,
        *,
        position: Position = "4.35",
    ) -> Self:
        """A model with random weights, or with none inside `without_weights`.

        Args:
            config: With the published configuration's keys and nesting.
            vit_config: The vision transformer's published `config.json`, if its name is not known.
            position: transformers' version whose interpolation of position embeddings is used.

        Raises:
            UserError: The configuration is not one of TripoSR.
        """
        return cls(TripoConfig.from_dict(config, vit_config), position)

    @classmethod
    def load(
        cls,
        path: str | Path = PUBLISHED_REPOSITORY,
        *,
        revision: str | None = None,
        config: Mapping[str, Any] = PUBLISHED,
        vit_config: Mapping[str, Any] | None = None,
        position: Position = "4.35",
        device: str = "cpu",
    ) -> Self:
        """A model with the weights of a checkpoint, which must hold every tensor and no other.

        Args:
            path: A file (.ckpt or .safetensors), a folder with model.ckpt or model.safetensors, or a
                repository on the hub.
            revision: Commit, tag or branch on the hub.
            config: See `from_config`.
            vit_config: See `from_config`.
            position: See `from_config`.
            device: Where to.

        Raises:
            UserError: The file does not exist, is no checkpoint, lacks tensors or has others; or the
                published repository's checkpoint is not the published one.
            ConnectionError: The weights are not on this machine and cannot be fetched.
        """
        with without_weights():
            model = cls.from_config(config, vit_config, position=position)
        checkpoint = read_checkpoint(path, revision)
        model.load_published(checkpoint.state, str(checkpoint.file))
        model.sha256 = checkpoint.sha256
        return model.to(device)

    def load_published(self, state: Mapping[str, Tensor], source: str = "the checkpoint") -> None:
        """Takes the weights of a flat dictionary with the published names, all of them and no others.

        Raises:
            UserError: Tensors are missing, unknown, of another shape or not of floating point.
        """
        own = {name: tuple(value.shape) for name, value in self.state_dict().items()}
        given = {name: tuple(value.shape) for name, value in state.items()}
        missing, unknown = sorted(own.keys() - given.keys()), sorted(given.keys() - own.keys())
        remedy = "give TripoSR's checkpoint, with the configuration that belongs to it"
        if missing:
            raise UserError(
                f"{source} lacks {len(missing)} of {len(own)} tensors, first {missing[0]!r}: {remedy}"
            )
        if unknown:
            raise UserError(
                f"{source} has {len(unknown)} unknown tensors, first {unknown[0]!r}: {remedy}"
            )
        for name, shape in own.items():
            if given[name] != shape or not state[name].is_floating_point():
                raise UserError(
                    f"{source}: {name} is {state[name].dtype} {given[name]}, not float {shape}:"
                    f" {remedy}"
                )
        self.load_state_dict({k: v.float() for k, v in state.items()}, strict=True, assign=True)
        self.requires_grad_(False)

    def reduce_precision(self, dtype: torch.dtype) -> Self:
        """Runs the transformers in `dtype`; the decoder stays in float32, as half overflows in exp."""
        for part in (self.image_tokenizer, self.tokenizer, self.backbone):
            part.to(dtype)
        return self

    def preprocess(self, rgba: Bytes, foreground_ratio: float = FOREGROUND_RATIO) -> Tensor:
        """The conditioning picture, float32 (S, S, 3), of a cut-out, uint8 (H, W, 4).

        Raises:
            UserError: The array is no RGBA picture, or its alpha shows no object or no background.
        """
        return resized(on_grey(centred(rgba, foreground_ratio)), self.config.image_size)

    @torch.no_grad()
    def scene_codes(self, pixels: Tensor) -> Tensor:
        """Scene codes (3, C, S, S) of a picture (H, W, 3), or (B, 3, C, S, S) of pictures (B, H, W, 3).

        Raises:
            UserError: The pictures do not have the size that `preprocess` gives.
        """
        side = self.config.image_size
        if pixels.shape[-3:] != (side, side, 3) or pixels.ndim not in (3, 4):
            raise UserError(
                f"pixels {tuple(pixels.shape)}: the network needs ({side}, {side}, 3), see preprocess"
            )
        start = self.tokenizer.tokens()
        images = pixels.reshape(-1, side, side, 3).permute(0, 3, 1, 2).to(start)
        # cuDNN's convolutions round float32 to 10 bits (TF32) unless they are told not to.
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            context = self.image_tokenizer(images)
            tokens = self.backbone(start.expand(len(images), -1, -1), context)
            codes: Tensor = self.post_processor(self.tokenizer.planes(tokens).float())
        return codes if pixels.ndim == 4 else codes[0]

    def query(self, scene_code: Tensor, points: Tensor) -> tuple[Tensor, Tensor]:
        """Density (..., 1) and colour (..., 3) in [0, 1] at points (..., 3) in world coordinates.

        Outside the box the features are zero, not the density: what is there means nothing.
        """
        raw = self.raw(scene_code, points)
        return self._density(raw), torch.sigmoid(raw[..., 1:])

    @torch.no_grad()
    def raw(self, scene_code: Tensor, points: Tensor) -> Tensor:
        """The decoder's output (..., 4) at points (..., 3): density, then red, green and blue.

        Raises:
            UserError: The points' last axis is not 3 long.
        """
        if points.shape[-1:] != (3,):
            raise UserError(f"points {tuple(points.shape)}: the last axis must be x, y and z")
        if points.numel() == 0:
            return points.new_zeros(*points.shape[:-1], 4)
        chunk = _CPU_CHUNK if points.device.type == "cpu" else _CHUNK
        with torch.autocast(points.device.type, enabled=False):
            parts = [
                self._decoded(scene_code, part)
                for part in torch.split(points.reshape(-1, 3), chunk)
            ]
        return torch.cat(parts).reshape(*points.shape[:-1], 4)

    def _decoded(self, scene_code: Tensor, points: Tensor) -> Tensor:
        # As the released code scales the box: `points / radius` differs in the last bit, which exp enlarges.
        radius = self.config.radius
        unit = (points.float() + radius) / (2 * radius) * 2 - 1
        # Planes 0, 1 and 2 are indexed by (x, y), (x, z) and (y, z), the first along their columns.
        where = torch.stack([unit[:, [0, 1]], unit[:, [0, 2]], unit[:, [1, 2]]])[:, None]
        features = F.grid_sample(scene_code.float(), where, align_corners=False)  # (3, C, 1, n)
        decoded: Tensor = self.decoder(features[:, :, 0].flatten(0, 1).T)
        return decoded

    def _density(self, raw: Tensor) -> Tensor:
        return torch.exp(raw[..., :1] + self.config.density_bias)

    @torch.no_grad()
    def march(self, scene_code: Tensor, rays_o: Tensor, rays_d: Tensor) -> Marched:
        """Premultiplied colour and opacity along rays (..., 3): what compositing needs."""
        config = self.config
        return march(
            lambda points: self.query(scene_code, points),
            rays_o,
            rays_d,
            config.radius,
            config.ray_samples,
        )

    def render(self, scene_code: Tensor, rays_o: Tensor, rays_d: Tensor) -> Tensor:
        """Colours (..., 3) along rays (..., 3) over white; rays that miss the box are white."""
        return self.march(scene_code, rays_o, rays_d).over(1.0)

    def mesh(
        self,
        scene_code: Tensor,
        resolution: int = 256,
        threshold: float = 25.0,
        *,
        adaptive: bool = False,
    ) -> Mesh:
        """The surface where the density crosses the threshold, coloured by the field.

        Args:
            scene_code: Of one object.
            resolution: Grid points along each side of the box.
            threshold: Density at the surface.
            adaptive: Draws the surface at half the greatest density if that is not above the threshold.

        Returns:
            A mesh without faces, `is_empty`, if nothing crosses the threshold.

        Raises:
            UserError: The resolution is below 2, or the density is not a number somewhere.
        """
        if resolution < 2:
            raise UserError(f"resolution {resolution}: a grid needs at least 2 points each way")
        grid = self.grid_density(scene_code, resolution).cpu().numpy()
        if np.isnan(grid).any():
            raise UserError(
                "the density is not a number somewhere: the weights or the scene code are broken"
            )
        # exp may overflow; the greatest number that does not is as far above any threshold.
        grid = np.minimum(grid, np.finfo(np.float32).max)
        peak = float(grid.max())
        if adaptive and peak <= threshold:
            threshold = _SHARE_OF_PEAK * peak
        surface = marching_cubes(grid, threshold)
        side = 2 * self.config.radius
        vertices = surface.vertices / (resolution - 1) * side - self.config.radius
        world = vertices.astype(np.float32)
        _, colors = self.query(scene_code, torch.from_numpy(world).to(scene_code.device))
        return Mesh(world, surface.faces, colors.cpu().numpy(), threshold, peak)

    def grid_density(self, scene_code: Tensor, resolution: int) -> Tensor:
        """Density (R, R, R), indexed by x, y and z, on a grid that spans the box from corner to corner."""
        line = torch.linspace(0, 1, resolution, device=scene_code.device)
        line = line * (2 * self.config.radius) - self.config.radius
        slabs: Iterator[Tensor] = (torch.cartesian_prod(x[None], line, line) for x in line)
        density = [self._density(self.raw(scene_code, slab)) for slab in slabs]
        return torch.cat(density).reshape(resolution, resolution, resolution)
