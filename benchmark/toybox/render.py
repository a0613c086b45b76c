"""Pictures of scenes, by ray casting: the same scene gives the same pixels, in any order or process.

One ray a sample finds what is seen; one more towards the sun finds shadows. Soft shadows come from a
fixed pattern of sun points within each pixel, not from chance, so there is no noise to average out.
"""

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from numpy.typing import NDArray

from benchmark.toybox import places
from benchmark.toybox.lights import LIGHTS, Light, linear
from benchmark.toybox.objects import CHALK, GLOW, PAINTS, SILVER, template
from benchmark.toybox.sampling import split_of
from benchmark.toybox.scene import Camera, Scene, SceneObject

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float32]

_PAINTS = {name: linear(*rgb) for name, rgb in PAINTS.items()}
_GLOW = linear(*GLOW) * np.float32(1.3)
_IN_PROCESS = 24
"""Below this many scenes a pool of workers costs more than it saves."""


def render(scene: Scene, px: int = 64, samples: int = 2, ambient_occlusion: bool = False) -> Pixels:
    """The picture of a scene.

    Args:
        scene: What to draw.
        px: Width and height of the picture.
        samples: Rays a pixel along each side, so samples**2 in all.
        ambient_occlusion: Also cast one ray a sample for nearby surfaces that block skylight. It is
            slower and grainier; the shadow where an object touches the ground is always drawn.

    Returns:
        Pixels of shape (px, px, 3), sRGB.

    Raises:
        ValueError: If px or samples is below 1.
    """
    if px < 1 or samples < 1:
        raise ValueError(f"px={px}, samples={samples}: a picture needs at least 1 of each")
    light = LIGHTS[scene.light]
    view = _View.of(scene.camera, px, samples)
    mesh = _Mesh.of(scene)
    hit = mesh.caster.run(*view.rays(), output=True)
    seen = np.flatnonzero(hit["primID"] >= 0)
    colour, depth, shaded = _surroundings(scene, view, light)
    _shadow_ground(colour, shaded, scene, mesh, view, light, seen, ambient_occlusion)
    colour = colour.reshape(-1, 3)
    if seen.size:
        colour[seen] = _object_colours(hit, seen, mesh, view, light, ambient_occlusion)
        depth[seen] = hit["tfar"][seen]
    if light.fog:
        start = np.float32(0.55 * scene.camera.distance)
        rate = np.float32(light.fog / scene.camera.distance)
        clear = np.exp(-np.maximum(depth - start, 0) * rate)[:, None]
        colour = light.horizon + (colour - light.horizon) * clear
    np.clip(colour, 0.0, 1.0, out=colour)
    mean = colour.reshape(px, samples, px, samples, 3).mean(axis=(1, 3))
    return np.asarray(mean ** np.float32(1 / 2.2) * 255 + 0.5).astype(np.uint8)


def render_many(
    scenes: Sequence[Scene],
    px: int = 64,
    samples: int = 2,
    workers: int | None = None,
    ambient_occlusion: bool = False,
) -> Pixels:
    """The pictures of many scenes, shape (n, px, px, 3), in order; the same for any `workers`.

    Workers (default: one a CPU core) are started afresh, never forked, so threads of the calling
    process do no harm. A few scenes are drawn in this process.
    """
    workers = workers or os.cpu_count() or 1
    out = np.empty((len(scenes), px, px, 3), np.uint8)
    if workers == 1 or len(scenes) < _IN_PROCESS:
        for i, scene in enumerate(scenes):
            out[i] = render(scene, px, samples, ambient_occlusion)
        return out
    size = min(512, -(-len(scenes) // (2 * workers)))
    starts = range(0, len(scenes), size)
    jobs = [(scenes[i : i + size], px, samples, ambient_occlusion) for i in starts]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(jobs)), mp_context=context) as pool:
        for start, part in zip(starts, pool.map(_render_chunk, jobs), strict=True):
            out[start : start + len(part)] = part
    return out


@dataclass(frozen=True, slots=True)
class SceneImage:
    """A picture that is drawn when it is needed: a scene and how to draw it."""

    scene: Scene
    px: int = 64
    samples: int = 2
    ambient_occlusion: bool = False

    @property
    def name(self) -> str:
        """Where the scene's seed belongs, such as "toybox/test/11000003"."""
        return f"toybox/{split_of(self.scene.seed)}/{self.scene.seed}"

    def load(self) -> Pixels:
        """The pixels, shape (px, px, 3)."""
        return render(self.scene, self.px, self.samples, self.ambient_occlusion)


def _render_chunk(job: tuple[Sequence[Scene], int, int, bool]) -> Pixels:
    scenes, px, samples, ambient_occlusion = job
    return np.stack([render(scene, px, samples, ambient_occlusion) for scene in scenes])


@dataclass(frozen=True, slots=True)
class _View:
    """Rays of a camera, all from `eye`. Their forward part is 1, so a hit's distance is its depth.

    `dx` (1, n) depends on the column alone, `dy` and `dz` (n, 1) on the row alone.
    """

    eye: Floats
    dx: Floats
    dy: Floats
    dz: Floats
    samples: int

    @classmethod
    def of(cls, camera: Camera, px: int, samples: int) -> "_View":
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
        directions = directions.reshape(-1, 3)
        origins = np.empty_like(directions)
        origins[:] = self.eye
        return origins, directions


@cache
def _frustum(fov_deg: float, n: int) -> tuple[Floats, Floats]:
    centre = (np.arange(n, dtype=np.float32) + 0.5) / n * 2 - 1
    centre *= np.float32(np.tan(np.radians(fov_deg) / 2))
    return centre[None, :], -centre[:, None]


@dataclass(frozen=True, slots=True)
class _Mesh:
    """All triangles of a scene: normals (n, 3, 3), linear colours (n, 3), flags (n,)."""

    caster: EmbreeScene
    normals: Floats
    colours: Floats
    shiny: NDArray[np.bool_]
    glows: NDArray[np.bool_]
    boxes: list[Floats]

    @classmethod
    def of(cls, scene: Scene) -> "_Mesh":
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
        fixed[(fixed == np.float32(CHALK)).all(axis=1)] = SILVER
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


def _surroundings(
    scene: Scene, view: _View, light: Light
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Ground, backdrop and sky without shadows.

    Returns:
        Colours (n, n, 3), where the ground's are its albedo; depth (n * n,); mask of ground (n, n).
    """
    n = view.dx.size
    with np.errstate(divide="ignore"):
        down = np.where(view.dz < -1e-4, -view.eye[2] / view.dz, np.float32(1e6)).astype(np.float32)
    distance = min(float(places.FAR[scene.place]), 60.0) - view.eye[1]
    away = (distance / view.dy).astype(np.float32)
    is_ground = down < away
    rows = np.flatnonzero(is_ground)
    colour = np.empty((n, n, 3), np.float32)
    if rows.size:
        t = down[rows]
        colour[rows] = places.ground(
            scene.place, t * view.dx, view.eye[1] + t * view.dy[rows], scene.seed
        )
    rows = np.flatnonzero(~is_ground)
    if rows.size:
        dz = view.dz[rows]
        colour[rows] = places.sky(view.dx, dz, light, scene.seed)
        if scene.place != "beach":
            t = away[rows]
            far, stands = places.backdrop(
                scene.place, t * view.dx, view.eye[2] + t * dz, light, scene.seed,
                np.asarray(scene.wall, np.float32),
            )  # fmt: skip
            colour[rows] = np.where(stands[..., None], far, colour[rows])
    depth = np.broadcast_to(np.minimum(down, away), (n, n)).reshape(-1).copy()
    return colour, depth, np.broadcast_to(is_ground, (n, n))


def _shadow_ground(
    colour: Floats,
    mask: NDArray[np.bool_],
    scene: Scene,
    mesh: _Mesh,
    view: _View,
    light: Light,
    seen: NDArray[np.int64],
    ambient_occlusion: bool,
) -> None:
    """Turns the ground's albedo, in place, into the light that it sends."""
    rows = np.flatnonzero(mask[:, 0])
    if not rows.size:
        return
    t = -view.eye[2] / view.dz[rows]
    x, y = t * view.dx, np.broadcast_to(view.eye[1] + t * view.dy[rows], (rows.size, view.dx.size))
    ambient = np.ones_like(x)
    lit = np.ones_like(x)
    maybe = np.zeros(x.shape, bool)
    lean = light.sun[:2] / light.sun[2]
    for thing, box in zip(scene.objects, mesh.boxes, strict=True):
        ambient *= _contact(thing, x, y)
        reach = lean * box[1, 2]
        low = np.minimum(box[0, :2], box[0, :2] - reach) - np.float32(0.1)
        high = np.maximum(box[1, :2], box[1, :2] - reach) + np.float32(0.1)
        maybe |= (x > low[0]) & (x < high[0]) & (y > low[1]) & (y < high[1])
    covered = np.zeros(mask.shape, bool)
    covered.reshape(-1)[seen] = True
    at = np.nonzero(maybe & ~covered[rows])
    if at[0].size:
        point = np.stack([x[at], y[at], np.full(at[0].size, 2e-3, np.float32)], axis=1)
        flat = rows[at[0]] * view.dx.size + at[1]
        lit[at] = mesh.caster.run(point, _towards_sun(light, flat, view)) < 0
        if ambient_occlusion:
            upright = np.broadcast_to(np.array([0, 0, 1], np.float32), point.shape)
            ambient[at] *= _openness(mesh, point, upright, flat)
    colour[rows] *= (
        light.ground_ambient * ambient[..., None]
        + light.ground_key * light.sun[2] * (lit * (0.35 + 0.65 * ambient))[..., None]
    )


def _contact(thing: SceneObject, x: Floats, y: Floats) -> Floats:
    """How much skylight the ground keeps around a thing's foot, 0..1: what makes it touch."""
    cos, sin = np.float32(np.cos(thing.yaw)), np.float32(np.sin(thing.yaw))
    u, v = x - np.float32(thing.x), y - np.float32(thing.y)
    half = np.array(template(thing.cls).foot, np.float32) * np.float32(thing.scale)
    across = np.maximum(np.abs(u * cos + v * sin) - half[0], 0)
    along = np.maximum(np.abs(v * cos - u * sin) - half[1], 0)
    width = np.float32(0.13 * thing.scale)
    return np.asarray(1 - np.float32(0.62) * np.exp(-(across**2 + along**2) / width**2))


def _object_colours(
    hit: dict[str, NDArray[np.generic]],
    seen: NDArray[np.int64],
    mesh: _Mesh,
    view: _View,
    light: Light,
    ambient_occlusion: bool,
) -> Floats:
    """The light that the objects send, for the rays `seen`, shape (len(seen), 3)."""
    face = hit["primID"][seen]
    u, v = hit["u"][seen, None], hit["v"][seen, None]
    row, column = np.divmod(seen, view.dx.size)
    ray = np.stack([view.dx[0, column], view.dy[row, 0], view.dz[row, 0]], axis=1)
    point = view.eye + ray * hit["tfar"][seen, None]
    ray /= np.sqrt((ray * ray).sum(axis=1, keepdims=True))
    corner = mesh.normals[face]
    normal = corner[:, 0] * (1 - u - v) + corner[:, 1] * u + corner[:, 2] * v
    normal /= np.sqrt((normal * normal).sum(axis=1, keepdims=True))
    facing = -(normal * ray).sum(axis=1)
    normal *= np.sign(facing)[:, None]
    facing = np.abs(facing)
    albedo = mesh.colours[face]

    turned = np.maximum(normal @ light.sun, 0)
    ask = np.flatnonzero(turned > 0)
    point += normal * np.float32(4e-3)
    blocked = mesh.caster.run(point[ask], _towards_sun(light, seen[ask], view)) >= 0
    turned[ask[blocked]] = 0
    sky = (0.64 + 0.36 * normal[:, 2]) * (0.66 + 0.34 * np.minimum(point[:, 2] * 4, 1))
    if ambient_occlusion:
        sky *= _openness(mesh, point, normal, seen)
    fill = np.float32(0.16) * facing
    colour = albedo * (light.ambient * (sky + fill)[:, None] + light.key * turned[:, None])
    edge = (1 - facing) ** 3
    colour += light.glint * (np.float32(0.07) * edge * sky)[:, None]

    gloss = np.flatnonzero(mesh.shiny[face])
    if gloss.size:
        colour[gloss] = _polished(
            colour[gloss], ray[gloss], normal[gloss], edge[gloss], turned[gloss] > 0, light
        )
    glow = mesh.glows[face]
    if glow.any():
        night = light.key.max() < 0.5
        colour[glow] = _GLOW if night else np.maximum(colour[glow], _GLOW * np.float32(0.55))
    return np.asarray(colour)


def _polished(
    colour: Floats, ray: Floats, normal: Floats, edge: Floats, lit: NDArray[np.bool_], light: Light
) -> Floats:
    """Adds what a lacquered surface mirrors: sky and ground, a studio window, and the sun."""
    mirror = ray - 2 * (ray * normal).sum(axis=1, keepdims=True) * normal
    rise = mirror[:, 2:3]
    above = light.horizon + (light.zenith - light.horizon) * np.clip(rise * 0.6, 0, 1)
    above = above.mean(axis=1, keepdims=True) * np.float32(0.6) + above * np.float32(0.4)
    below = light.ground_ambient * np.float32(0.25)
    scene = np.where(rise > 0, above, below)
    window = (np.abs(mirror[:, 0] + 0.10) < 0.30) & (np.abs(rise[:, 0] - 0.62) < 0.26)
    bars = (np.abs(mirror[:, 0] + 0.10) < 0.03) | (np.abs(rise[:, 0] - 0.62) < 0.03)
    pane = (window & ~bars & (mirror[:, 1] < 0.6)).astype(np.float32)
    spot = np.maximum(mirror @ light.sun, 0)
    glint = (spot**90 * 2.2 + spot**12 * 0.30) * lit
    strength = np.float32(0.10) + np.float32(0.42) * edge
    return np.asarray(
        colour * np.float32(0.88)
        + scene * strength[:, None]
        + light.glint * (np.float32(0.55) * pane + glint)[:, None]
    )


def _towards_sun(light: Light, ray: NDArray[np.int64], view: _View) -> Floats:
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


def _openness(mesh: _Mesh, point: Floats, normal: Floats, ray: NDArray[np.int64]) -> Floats:
    """One cosine-distributed ray a point: 0.4 where it meets something within a unit, else 1."""
    angle = ray * np.float32(2.399963)
    height = np.mod(ray * np.float32(0.754878), 1.0) * 2 - 1
    flat = np.sqrt(1 - height**2)
    ball = np.stack([flat * np.cos(angle), flat * np.sin(angle), height], axis=1)
    direction = (normal * np.float32(1.02) + ball).astype(np.float32)
    near = mesh.caster.run(np.ascontiguousarray(point, np.float32), direction, output=True)
    return np.where((near["primID"] >= 0) & (near["tfar"] < 1.0), 0.4, 1.0).astype(np.float32)
