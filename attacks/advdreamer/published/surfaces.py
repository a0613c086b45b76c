"""What rays meet: TripoSR's field, marched on a GPU, or its mesh, by embree on a CPU."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from numpy.typing import NDArray

from attacks.advdreamer.triposr import Mesh, TripoSR
from attacks.advdreamer.triposr_rays import march

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_FAINT = 1 / 255
"""Less opaque than this is not there."""


class Hits(NamedTuple):
    """What n rays meet."""

    colour: Singles
    """(n, 3), 0..1, not premultiplied; 0 where there is nothing."""
    alpha: Singles
    """(n,), 0..1."""
    depth: Singles
    """(n,), in lengths of the ray; inf where there is nothing."""


class Surface(Protocol):
    """An object in world coordinates."""

    @property
    def box(self) -> Floats:
        """(2, 3), its lowest and highest coordinates."""
        ...

    def cast(self, origin: Floats, directions: Floats) -> Hits:
        """What rays (n, 3) from `origin` (3,) meet."""
        ...


class MeshSurface:
    """Triangles with coloured corners; the tree over them is built once."""

    def __init__(self, mesh: Mesh) -> None:
        self.box: Floats = np.stack([mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)]).astype(
            np.float64
        )
        self._faces = mesh.faces
        self._colours = mesh.colors
        self._scene = EmbreeScene()
        TriangleMesh(
            self._scene,
            np.ascontiguousarray(mesh.vertices, np.float32),
            np.ascontiguousarray(mesh.faces, np.int32),
        )

    def cast(self, origin: Floats, directions: Floats) -> Hits:
        """What rays (n, 3) from `origin` (3,) meet."""
        n = len(directions)
        origins = np.broadcast_to(origin.astype(np.float32), (n, 3))
        found = self._scene.run(
            np.ascontiguousarray(origins), np.ascontiguousarray(directions, np.float32), output=True
        )
        hit = np.flatnonzero(found["primID"] >= 0)
        colour, alpha = np.zeros((n, 3), np.float32), np.zeros(n, np.float32)
        depth = np.full(n, np.inf, np.float32)
        u, v = found["u"][hit, None], found["v"][hit, None]
        first, second, third = self._colours[self._faces[found["primID"][hit]]].swapaxes(0, 1)
        colour[hit] = first * (1 - u - v) + second * u + third * v
        alpha[hit] = 1.0
        depth[hit] = found["tfar"][hit]
        return Hits(np.clip(colour, 0.0, 1.0), alpha, depth)


@dataclass(frozen=True, slots=True)
class MarchedSurface:
    """The field of one scene code, on the model's device."""

    model: TripoSR
    scene_code: torch.Tensor
    box: Floats

    def cast(self, origin: Floats, directions: Floats) -> Hits:
        """What rays (n, 3) from `origin` (3,) meet."""
        device = self.scene_code.device
        length = np.linalg.norm(directions, axis=1)
        rays = torch.from_numpy((directions / length[:, None]).astype(np.float32)).to(device)
        eye = torch.from_numpy(origin.astype(np.float32)).to(device)
        starts = eye.expand_as(rays).contiguous()
        marched = self.model.march(self.scene_code, starts, rays)
        alpha = marched.alpha[:, 0]
        there = alpha > _FAINT
        colour = marched.premultiplied / alpha.clamp_min(_FAINT)[:, None] * there[:, None]
        depth = self._depth(starts, rays)
        depth = torch.where(there & (depth > 0), depth, torch.inf)
        return Hits(
            colour.clamp(0, 1).cpu().numpy(),
            (alpha.clamp(0, 1) * there).cpu().numpy(),
            (depth.cpu().numpy() / length).astype(np.float32),
        )

    def _depth(self, starts: torch.Tensor, rays: torch.Tensor) -> torch.Tensor:
        """Mean distance (n,) of what each ray sees, by gathering positions instead of colours."""

        def positions(points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return self.model.query(self.scene_code, points)[0], points

        config = self.model.config
        with torch.no_grad():
            marched = march(positions, starts, rays, config.radius, config.ray_samples)
        seen = marched.premultiplied / marched.alpha.clamp_min(_FAINT)
        return ((seen - starts) * rays).sum(dim=-1)


def dense_box(density: Floats, threshold: float, radius: float) -> Floats | None:
    """Lowest and highest coordinates (2, 3) where a grid over the box of half side `radius` is denser."""
    dense = np.argwhere(density > threshold)
    if not len(dense):
        return None
    cell = 2 * radius / (len(density) - 1)
    return np.stack([dense.min(axis=0), dense.max(axis=0)]) * cell - radius
