"""The four lights, as numbers: sun, ambient, sky and fog. All colours are linear RGB.

Objects and ground are lit by different amounts on purpose. The ground carries the mood of a light
(dark at night, warm at sunset); objects keep more neutral light, so that nine colours stay nameable.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray


def linear(*display: float) -> NDArray[np.float32]:
    """Display (sRGB) values in 0..1 as linear light, by the power 2.2."""
    return np.power(np.asarray(display, np.float32), np.float32(2.2))


@dataclass(frozen=True, slots=True)
class Light:
    """`sun` points towards the light; `softness` is its radius as seen, in radians.

    `key` and `ambient` light objects; `ground_key` and `ground_ambient` light everything else.
    `glint` is the colour of highlights. With `lamps`, bulbs and windows of objects shine. `fog` is 0
    for clear air.
    """

    sun: NDArray[np.float32]
    key: NDArray[np.float32]
    ambient: NDArray[np.float32]
    ground_key: NDArray[np.float32]
    ground_ambient: NDArray[np.float32]
    zenith: NDArray[np.float32]
    horizon: NDArray[np.float32]
    glint: NDArray[np.float32]
    sky: Literal["clouds", "stars", "dusk", "grey"]
    lamps: bool
    softness: float = 0.05
    fog: float = 0.0


def _rgb(*values: float) -> NDArray[np.float32]:
    return np.array(values, np.float32)


def _direction(*values: float) -> NDArray[np.float32]:
    return _rgb(*values) / np.float32(np.linalg.norm(values))


LIGHTS = {
    "day": Light(
        sun=_direction(-0.55, -0.70, 1.0),
        key=_rgb(0.98, 0.94, 0.86),
        ambient=_rgb(0.30, 0.33, 0.38),
        ground_key=_rgb(1.00, 0.96, 0.86),
        ground_ambient=_rgb(0.26, 0.30, 0.38),
        zenith=linear(0.20, 0.48, 0.90),
        horizon=linear(0.74, 0.87, 0.98),
        glint=_rgb(1.0, 1.0, 0.96),
        sky="clouds",
        lamps=False,
    ),
    "night": Light(
        sun=_direction(0.55, -0.65, 0.85),
        key=_rgb(0.44, 0.43, 0.46),
        ambient=_rgb(0.085, 0.088, 0.110),
        ground_key=_rgb(0.066, 0.084, 0.160),
        ground_ambient=_rgb(0.036, 0.046, 0.090),
        zenith=linear(0.03, 0.04, 0.14),
        horizon=linear(0.10, 0.13, 0.30),
        glint=_rgb(0.62, 0.70, 0.90),
        sky="stars",
        lamps=True,
    ),
    "sunset": Light(
        sun=_direction(-0.85, -0.42, 0.45),
        key=_rgb(1.20, 0.86, 0.62),
        ambient=_rgb(0.30, 0.25, 0.28),
        ground_key=_rgb(1.35, 0.62, 0.28),
        ground_ambient=_rgb(0.27, 0.17, 0.22),
        zenith=linear(0.46, 0.28, 0.50),
        horizon=linear(1.00, 0.62, 0.22),
        glint=_rgb(1.0, 0.85, 0.60),
        sky="dusk",
        lamps=False,
    ),
    "fog": Light(
        sun=_direction(-0.30, -0.60, 1.0),
        key=_rgb(0.42, 0.42, 0.42),
        ambient=_rgb(0.52, 0.53, 0.54),
        ground_key=_rgb(0.22, 0.22, 0.22),
        ground_ambient=_rgb(0.52, 0.53, 0.55),
        zenith=linear(0.79, 0.80, 0.81),
        horizon=linear(0.79, 0.80, 0.81),
        glint=_rgb(0.85, 0.85, 0.86),
        sky="grey",
        lamps=True,
        softness=0.14,
        fog=0.65,
    ),
}
