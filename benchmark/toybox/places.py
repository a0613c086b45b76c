"""The five places: what the ground, the far side and the sky look like. All colours are linear RGB.

The functions work on whole planes: `x`, `y`, `z` broadcast to (rows, columns), and a colour has a
last axis of 3. Random-looking detail comes from one fixed noise table, shifted by the scene's seed.
"""

import numpy as np
from numpy.typing import NDArray

from benchmark.toybox.lights import Light, linear

Plane = NDArray[np.float32]

FAR = {"grass": 9.0, "beach": np.inf, "snow": 7.0, "street": 6.0, "room": 2.7}
"""How far behind the origin the backdrop stands (a hedge, pines, houses, a wall), in world units."""

_SAND, _WET, _FOAM = linear(0.90, 0.79, 0.56), linear(0.66, 0.55, 0.38), linear(0.97, 0.98, 0.98)
_SHALLOW, _DEEP = linear(0.16, 0.62, 0.70), linear(0.05, 0.34, 0.58)
_BLADE, _TURF = linear(0.50, 0.60, 0.24), linear(0.24, 0.38, 0.13)
_DRIFT, _HOLLOW = linear(0.96, 0.97, 1.00), linear(0.74, 0.82, 0.95)
_TAR, _PAINT = linear(0.36, 0.36, 0.38), linear(0.93, 0.93, 0.86)
_KERB, _PAVING = linear(0.80, 0.79, 0.76), linear(0.62, 0.60, 0.57)
_PLANK, _JOINT = linear(0.66, 0.49, 0.33), linear(0.30, 0.20, 0.12)
_SKIRTING = linear(0.95, 0.95, 0.93)
_LEAF, _NEEDLE = linear(0.20, 0.36, 0.14), linear(0.13, 0.25, 0.22)
_LIT_WINDOW, _MOON = linear(1.0, 0.82, 0.42), linear(0.98, 0.97, 0.86)


def _noise_table(size: int = 256) -> Plane:
    """Smooth periodic noise in 0..1, the sum of six octaves."""
    rng = np.random.default_rng(7)
    total = np.zeros((size, size))
    for octave in (4, 8, 16, 32, 64, 128):
        grid = rng.random((octave, octave))
        at = np.linspace(0.0, octave, size, endpoint=False)
        low = at.astype(int)
        share = (at - low) ** 2 * (3 - 2 * (at - low))
        high = (low + 1) % octave
        grid = grid[low] * (1 - share)[:, None] + grid[high] * share[:, None]
        grid = grid[:, low] * (1 - share) + grid[:, high] * share
        total += grid / octave**0.55
    total -= total.min()
    return np.asarray(total / total.max(), np.float32)


_NOISE = _noise_table()


def noise(x: Plane, y: Plane, scale: float, shift: int = 0) -> Plane:
    """Noise in 0..1 at the points; one table cell is 1 / scale units wide."""
    column = np.floor(x * np.float32(scale)).astype(np.int32) + shift
    row = np.floor(y * np.float32(scale)).astype(np.int32) + shift // 7
    return np.asarray(_NOISE[row & 255, column & 255])


def ground(place: str, x: Plane, y: Plane, seed: int) -> Plane:
    """The ground's albedo at (x, y), shape (rows, columns, 3)."""
    return _GROUNDS[place](x, y, seed % 251)


def backdrop(
    place: str, x: Plane, z: Plane, light: Light, seed: int, wall: Plane
) -> tuple[Plane, NDArray[np.bool_]]:
    """The light that the upright far side sends, and where it stands, at points (x, z) of its plane.

    Returns:
        Colours of shape (rows, columns, 3), linear, and a mask of shape (rows, columns).
    """
    shift = seed % 251
    shade = light.ground_ambient + light.ground_key * np.float32(0.62)
    if place == "room":
        return _wall(x, z, light, shift, wall, shade), np.ones(np.broadcast(x, z).shape, bool)
    if place == "street":
        return _houses(x, z, light, shift, shade)
    if place == "snow":
        return _pines(x, z, shift, shade)
    if place == "grass":
        return _hedge(x, z, shift, shade)
    shape = np.broadcast(x, z).shape  # behind the beach is only sea
    return np.zeros((*shape, 3), np.float32), np.zeros(shape, bool)


def sky(dx: Plane, dz: Plane, light: Light, seed: int) -> Plane:
    """The sky in directions whose sideways and upward parts are dx and dz (forward part 1)."""
    rise = np.clip(dz * np.float32(3.2), 0, 1) ** np.float32(0.8)
    colour = _mix(light.horizon, light.zenith, np.broadcast_to(rise, np.broadcast(dx, dz).shape))
    shift = seed % 251
    side = 0.03 * (shift % 13) - 0.18  # where the sun or the moon stands
    if light.sky == "stars":
        luck = np.sin(np.floor(dx * 110) * 12.9898 + np.floor(dz * 110) * 78.233 + shift) * 437.585
        colour = np.where((np.mod(luck, 1.0) > 0.985)[..., None], np.float32(0.7), colour)
        return _disc(colour, dx, dz, (side, 0.085), 0.032, _MOON)
    if light.sky == "dusk":
        streak = np.clip(3 * noise(dx * 2, dz * 16, 22, shift) - 1.6, 0, 0.7)
        colour = _blend(colour, linear(0.98, 0.45, 0.36), streak)
        return _disc(colour, dx, dz, (side, 0.035), 0.05, linear(1.0, 0.93, 0.62))
    if light.sky == "clouds":
        puff = np.clip((noise(dx * 3, dz * 8, 26, shift) - 0.5) * 4, 0, 0.9)
        colour = _blend(colour, np.ones(3, np.float32), puff * np.clip(dz * 12, 0, 1))
    return colour


def _grass(x: Plane, y: Plane, shift: int) -> Plane:
    blade, broad = noise(x * 2.5, y * 0.6, 40, shift), noise(x, y, 9, shift)
    return _mix(_TURF, _BLADE, np.clip(1.5 * (0.6 * blade + 0.4 * broad) - 0.3, 0, 1))


def _beach(x: Plane, y: Plane, shift: int) -> Plane:
    """Rippled sand that gets wet towards the shore, foam, and a sea that gets deeper."""
    fine, broad = noise(x, y, 42, shift), noise(x, y, 9, shift)
    ripple = np.sin(y * 24 + 9 * broad) * np.float32(0.05)
    shore = y + np.sin(x * 1.3 + shift) * np.float32(0.16) - np.float32(2.3)
    sand = _SAND * (0.80 + 0.32 * (0.5 * fine + 0.5 * broad) + ripple)[..., None]
    sand = _blend(sand, _WET, np.clip((shore + 0.45) / 0.4, 0, 1))
    swell = noise(x * 0.3, y * 1.5, 22, shift)
    water = _mix(_SHALLOW, _DEEP, np.clip(shore / 3.0, 0, 1)) * (0.7 + 0.6 * swell)[..., None]
    foam = np.exp(-((shore - 0.06) ** 2) / np.float32(0.012))
    return _blend(_blend(sand, water, np.clip(shore / 0.08, 0, 1)), _FOAM, foam)


def _snow(x: Plane, y: Plane, shift: int) -> Plane:
    """Drifts, white on top and blue in the hollows, so that snow is not taken for fog."""
    drift = noise(x * 0.6, y * 1.1, 16, shift)
    white = _mix(_HOLLOW, _DRIFT, np.clip(2.4 * drift - 0.75, 0, 1))
    return np.asarray(white * (0.90 + 0.14 * noise(x, y, 42, shift))[..., None])


def _street(x: Plane, y: Plane, shift: int) -> Plane:
    """A road that runs from left to right, with a dashed line, a kerb and a paved path."""
    fine, broad = noise(x, y, 42, shift), noise(x, y, 9, shift)
    tar = _TAR * (0.70 + 0.6 * (0.5 * fine + 0.5 * broad))[..., None]
    dash = (np.abs(y - 1.45) < 0.07) & (np.mod(x + 0.01 * shift, 1.3) < 0.8)
    tar = np.where((dash | (np.abs(y + 1.15) < 0.05))[..., None], _PAINT, tar)
    paving = _PAVING * (0.85 + 0.25 * fine)[..., None]
    seam = (np.mod(x, 0.6) < 0.03) | (np.mod(y, 0.6) < 0.03)
    paving = np.where(seam[..., None], paving * np.float32(0.55), paving)
    tar = np.where((y > 2.75)[..., None], paving, tar)
    return np.where(((y > 2.6) & (y <= 2.75))[..., None], _KERB, tar)


def _floor(x: Plane, y: Plane, shift: int) -> Plane:
    shade = np.mod(np.sin(np.floor(x / 0.42) * 12.9898 + shift) * 437.585, 1.0)
    wood = _PLANK * (0.72 + 0.3 * shade + 0.26 * noise(x * 3, y * 0.3, 30, shift))[..., None]
    return _blend(wood, _JOINT, (np.mod(x, 0.42) < 0.022).astype(np.float32))


_GROUNDS = {"grass": _grass, "beach": _beach, "snow": _snow, "street": _street, "room": _floor}


def _hedge(x: Plane, z: Plane, shift: int, shade: Plane) -> tuple[Plane, NDArray[np.bool_]]:
    top = 0.75 + 0.55 * noise(x, z * 0, 14, shift) + 0.25 * np.abs(np.sin(x * 1.7 + shift))
    leaf = _LEAF * (0.55 + 0.9 * noise(x, z, 26, shift))[..., None]
    return leaf * shade, z < top


def _pines(x: Plane, z: Plane, shift: int, shade: Plane) -> tuple[Plane, NDArray[np.bool_]]:
    step = np.float32(0.85)
    luck = np.mod(np.sin(np.floor(x / step) * 39.42 + shift) * 57.21, 1.0)
    height = 1.3 + 0.9 * luck
    middle = np.abs(np.mod(x, step) / step - 0.5) * 2
    rest = 1 - z / height
    tier = np.mod(rest * 4.0, 1.0)  # 0 at the top of each tier of boughs, 1 at its lower edge
    tree = (middle < 0.08 + rest * 0.72 + (tier - 0.6) * 0.22) & (z < height)
    frost = np.clip(2.6 * noise(x, z, 34, shift) - 1.1 + 0.7 * (1 - tier), 0, 0.9)
    bank = z < 0.25 + 0.16 * noise(x, z * 0, 12, shift)
    colour = _mix(_NEEDLE, _DRIFT, np.where(bank, 0.95, frost).astype(np.float32)) * shade
    return colour, tree | bank


def _houses(
    x: Plane, z: Plane, light: Light, shift: int, shade: Plane
) -> tuple[Plane, NDArray[np.bool_]]:
    house = np.floor(x / 1.5)
    height = 1.5 + 1.3 * np.mod(np.sin(house * 78.233 + shift) * 43.758, 1.0)
    warm = np.mod(np.sin(house * 12.98 + shift) * 43.75, 1.0)[..., None]
    front = linear(0.62, 0.38, 0.30) * warm + linear(0.66, 0.64, 0.60) * (1 - warm)
    u, v = np.mod(x, 0.5), np.mod(z, 0.62)
    pane = (u > 0.14) & (u < 0.36) & (v > 0.2) & (v < 0.48) & (z < height - 0.12)
    colour = np.where(pane[..., None], front * shade * np.float32(0.28), front * shade)
    if light.sky in ("dusk", "stars"):  # in the evening people are at home
        awake = noise(np.floor(x / 0.5), np.floor(z / 0.62), 11, shift) > 0.47
        colour = np.where((pane & awake)[..., None], _LIT_WINDOW, colour)
    return colour, z < height


def _wall(x: Plane, z: Plane, light: Light, shift: int, wall: Plane, shade: Plane) -> Plane:
    """A papered wall with a skirting board, and a window that tells day from night."""
    stripe = np.where(np.mod(x, 0.5) < 0.25, np.float32(1.0), np.float32(0.93))
    colour = np.broadcast_to(wall * shade * stripe[..., None], (*np.broadcast(x, z).shape, 3))
    left = np.float32(-1.35 if shift % 2 else 0.45)
    u, v = (x - left) / np.float32(0.9), (z - np.float32(0.72)) / np.float32(0.95)
    inside = (u > 0) & (u < 1) & (v > 0) & (v < 1)
    frame = (np.abs(u - 0.5) > 0.43) | (np.abs(v - 0.5) > 0.43) | (np.abs(u - 0.5) < 0.035)
    night = light.sky == "stars"
    moon = (((u - 0.7) * 0.9) ** 2 + ((v - 0.72) * 0.95) ** 2 < 0.006) & night
    view = linear(0.05, 0.07, 0.22) if night else linear(0.62, 0.83, 1.0)
    pane = np.where(moon[..., None], _MOON, view)
    pane = np.where(frame[..., None], _SKIRTING * shade, pane)
    colour = np.where(inside[..., None], pane, colour)
    return np.where((z < 0.15)[..., None], _SKIRTING * shade, colour)


def _disc(
    colour: Plane, dx: Plane, dz: Plane, at: tuple[float, float], radius: float, paint: Plane
) -> Plane:
    distance = np.sqrt((dx - np.float32(at[0])) ** 2 + (dz - np.float32(at[1])) ** 2)
    colour = _blend(colour, paint, np.float32(0.35) * np.exp(-distance / np.float32(radius * 1.6)))
    return np.where((distance < radius)[..., None], paint, colour)


def _mix(first: Plane, second: Plane, share: Plane) -> Plane:
    return np.asarray(first + (second - first) * share[..., None].astype(np.float32))


def _blend(base: Plane, paint: Plane, share: Plane) -> Plane:
    return np.asarray(base + (paint - base) * share[..., None].astype(np.float32))
