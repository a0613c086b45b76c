"""How much light each ray brings back: from the ground, the far side, the sky and the objects."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.toybox import places
from benchmark.toybox.lights import Light, linear
from benchmark.toybox.objects import template
from benchmark.toybox.paints import GLOW
from benchmark.toybox.render_geometry import Floats, Mesh, View, openness, towards_sun
from benchmark.toybox.scene import Scene, SceneObject

_GLOW = linear(*GLOW) * np.float32(1.3)


def surroundings(
    scene: Scene, view: View, light: Light
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Ground, backdrop and sky without shadows.

    Returns:
        Colours (n, n, 3), where the ground's are its albedo; depth (n * n,); rows that show ground (n,).
    """
    n = view.dx.size
    distance = min(float(places.FAR[scene.place]), 60.0) - view.eye[1]
    with np.errstate(divide="ignore"):
        down = np.where(view.dz < -1e-4, -view.eye[2] / view.dz, np.float32(1e6)).astype(np.float32)
        away = np.where(view.dy > 1e-4, distance / view.dy, np.float32(1e6)).astype(np.float32)
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
        t, wall = away[rows], np.asarray(scene.wall, np.float32)
        x, z = t * view.dx, view.eye[2] + t * dz
        far, stands = places.backdrop(scene.place, x, z, light, scene.seed, wall)
        colour[rows] = np.where(stands[..., None], far, colour[rows])
    depth = np.broadcast_to(np.minimum(down, away), (n, n)).reshape(-1).copy()
    return colour, depth, is_ground[:, 0]


def shadow_ground(
    colour: Floats,
    is_ground: NDArray[np.bool_],
    scene: Scene,
    mesh: Mesh,
    view: View,
    light: Light,
    seen: NDArray[np.int64],
    ambient_occlusion: bool,
) -> None:
    """Turns the albedo in the rows of ground, in place, into the light that the ground sends.

    Only points that an object's box could shade are asked for shadow; `seen` are the rays that meet
    an object, under which the ground cannot be seen.
    """
    rows = np.flatnonzero(is_ground)
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
    covered = np.zeros(colour.shape[:2], bool)
    covered.reshape(-1)[seen] = True
    at = np.nonzero(maybe & ~covered[rows])
    if at[0].size:
        point = np.stack([x[at], y[at], np.full(at[0].size, 2e-3, np.float32)], axis=1)
        flat = rows[at[0]] * view.dx.size + at[1]
        lit[at] = mesh.caster.run(point, towards_sun(light, flat, view)) < 0
        if ambient_occlusion:
            upright = np.broadcast_to(np.array([0, 0, 1], np.float32), point.shape)
            ambient[at] *= openness(mesh, point, upright, flat)
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


def object_colours(
    hit: dict[str, NDArray[Any]],
    seen: NDArray[np.int64],
    mesh: Mesh,
    view: View,
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
    blocked = mesh.caster.run(point[ask], towards_sun(light, seen[ask], view)) >= 0
    turned[ask[blocked]] = 0
    sky = (0.64 + 0.36 * normal[:, 2]) * (0.66 + 0.34 * np.minimum(point[:, 2] * 4, 1))
    if ambient_occlusion:
        sky *= openness(mesh, point, normal, seen)
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
        colour[glow] = _GLOW if light.lamps else np.maximum(colour[glow], _GLOW * np.float32(0.55))
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
