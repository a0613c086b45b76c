"""What rays need: the camera's rays, a scene's triangles, and directions towards the sun."""

from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from numpy.typing import NDArray

from benchmark.toybox.lights import Light, linear
from benchmark.toybox.objects import template
from benchmark.toybox.paints import CHALK, PAINTS, SILVER
from benchmark.toybox.scene import Camera, Scene, SceneObject

Floats = NDArray[np.float32]

_PAINTS = {name: linear(*rgb) for name, rgb in PAINTS.items()}


@dataclass(frozen=True, slots=True)
class View:
    """Rays of a camera, all from `eye`. Their forward part is 1, so a hit's distance is its depth.

    `dx` (1, n) depends on the column alone, `dy` and `dz` (n, 1) on the row alone.
    """

    eye: Floats
    dx: Floats
    dy: Floats
    dz: Floats
    samples: int

    @classmethod
    def of(cls, camera: Camera, px: int, samples: int) -> Self:
        """The rays of a square picture: px * samples of them along each side."""
        side, up = _frustum(camera.fov_deg, px * samples)
        cos, sin = np.cos(camera.elevation), np.sin(camera.elevation)
        eye = (0.0, -camera.distance * cos, camera.height + camera.distance * sin)
        dy, dz = up * np.float32(sin) + np.float32(cos), up * np.float32(cos) - np.float32(sin)
        return cls(np.array(eye, np.float32), side, dy, dz, samples)

    def rays(self) -> tuple[Floats, Floats]:
        """Origins and directions of all rays, each of shape (n * n, 3), row by row."""
        n = self.dx.size
        directions = np.empty((n, n, 3), np.float32)
        directions[..., 0], directions[..., 1], directions[..., 2] = self.dx, self.dy, self.dz
        origins = np.empty((n * n, 3), np.float32)
        origins[:] = self.eye
        return origins, directions.reshape(-1, 3)


@cache
def _frustum(fov_deg: float, n: int) -> tuple[Floats, Floats]:
    centre = np.asarray((np.arange(n, dtype=np.float32) + 0.5) / n * 2 - 1, np.float32)
    centre *= np.float32(np.tan(np.radians(fov_deg) / 2))
    return centre[None, :], -centre[:, None]


@dataclass(frozen=True, slots=True)
class Mesh:
    """All triangles of a scene: normals (n, 3, 3), linear colours (n, 3), flags (n,)."""

    caster: EmbreeScene
    normals: Floats
    colours: Floats
    shiny: NDArray[np.bool_]
    glows: NDArray[np.bool_]
    boxes: list[Floats]

    @classmethod
    def of(cls, scene: Scene) -> Self:
        """Places every object's template and builds the ray caster's tree over all of them."""
        corners, normals, colours, shiny, glows, boxes = [], [], [], [], [], []
        for thing in scene.objects:
            shape = template(thing.cls)
            turn = _orientation(thing)
            placed = shape.corners.reshape(-1, 3) @ turn.T * np.float32(thing.scale)
            lowest = placed[:, 2].min()
            placed += np.array([thing.x, thing.y, -lowest], np.float32)
            corners.append(placed)
            normals.append(shape.normals.reshape(-1, 3) @ turn.T)
            colours.append(_painted(thing.cls, thing.colour))
            shiny.append(np.full(len(shape.corners), thing.material == "shiny"))
            glows.append(shape.glows)
            boxes.append(np.stack([placed.min(axis=0), placed.max(axis=0)]))
        caster = EmbreeScene()
        TriangleMesh(caster, np.concatenate(corners).reshape(-1, 3, 3))
        return cls(
            caster,
            np.concatenate(normals).reshape(-1, 3, 3),
            np.concatenate(colours),
            np.concatenate(shiny),
            np.concatenate(glows),
            boxes,
        )


@cache
def _painted(cls: str, colour: str) -> Floats:
    shape = template(cls)
    fixed = shape.colours.copy()
    if colour == "white":  # white marks would be lost on a white thing
        fixed[(fixed == np.array(CHALK, np.float32)).all(axis=1)] = SILVER
    fixed = linear(*np.nan_to_num(fixed).T).T
    return np.where(np.isnan(shape.colours), _PAINTS[colour], fixed).astype(np.float32)


def _orientation(thing: SceneObject) -> Floats:
    """Roll about x, then pitch about y, then yaw about z, as one (3, 3) matrix."""
    cr, sr = np.cos(thing.roll), np.sin(thing.roll)
    cp, sp = np.cos(thing.pitch), np.sin(thing.pitch)
    cy, sy = np.cos(thing.yaw), np.sin(thing.yaw)
    roll = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    pitch = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    yaw = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return np.asarray(yaw @ pitch @ roll, np.float32)


def towards_sun(light: Light, ray: NDArray[np.int64], view: View) -> Floats:
    """Directions to the sun point that belongs to each ray's place within its pixel, (n, 3)."""
    n, s = view.dx.size, view.samples
    row, column = np.divmod(ray, n)
    pattern = _sun_points(s, light.softness)
    side = np.cross(light.sun, np.array([0, 0, 1], np.float32))
    side /= np.linalg.norm(side)
    frame = np.stack([side, np.cross(side, light.sun)]).astype(np.float32)
    points = (light.sun + pattern @ frame).astype(np.float32)
    return np.asarray(points[row % s * s + column % s])


@cache
def _sun_points(samples: int, radius: float) -> Floats:
    """samples**2 points spread evenly over a disc (a sunflower spiral), shape (samples**2, 2)."""
    k = np.arange(samples * samples)
    distance = radius * np.sqrt((k + 0.5) / len(k))
    angle = k * np.pi * (3 - np.sqrt(5))
    return np.stack([distance * np.cos(angle), distance * np.sin(angle)], axis=1).astype(np.float32)


def openness(mesh: Mesh, point: Floats, normal: Floats, ray: NDArray[np.int64]) -> Floats:
    """One cosine-distributed ray a point: 0.4 where it meets something within a unit, else 1."""
    angle = ray * np.float32(2.399963)
    height = np.mod(ray * np.float32(0.754878), 1.0) * 2 - 1
    flat = np.sqrt(1 - height**2)
    ball = np.stack([flat * np.cos(angle), flat * np.sin(angle), height], axis=1)
    direction = (normal * np.float32(1.02) + ball).astype(np.float32)
    near = mesh.caster.run(np.ascontiguousarray(point, np.float32), direction, output=True)
    return np.where((near["primID"] >= 0) & (near["tfar"] < 1.0), 0.4, 1.0).astype(np.float32)
