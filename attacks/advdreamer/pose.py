"""The pose Theta = (yaw, pitch, roll, dx, dy, scale): conventions, bounds, and bounds by name.

Conventions
-----------
Yaw, pitch and roll are Tait-Bryan angles in Z-Y-X order, R = Rz(yaw) Ry(pitch) Rx(roll), of a frame that
hangs on the camera: X towards the viewer, Y to the right, Z up in the picture. So yaw turns the object on
its turntable, pitch tilts it towards the viewer or away, roll turns it in the picture's plane. Positive
angles turn as the right-hand rule says. The object turns about the centre of its silhouette's box, at its
own depth. dx (to the right) and dy (up) are shares of the picture's longer side; scale is about the same
centre. "Up" is the camera's: seen from above, it is not quite the world's.

`Pose.rotation` gives the matrix in the axes that renderers use: x right, y up, z towards the viewer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from benchmark.errors import UserError
from benchmark.types import JSON

Floats = NDArray[np.float64]

DIMENSIONS = ("yaw_deg", "pitch_deg", "roll_deg", "dx", "dy", "scale")
"""The order of Theta and of z."""

POSE_DIGITS = 6
"""Poses are rounded to this many digits: what is recorded is exactly what was rendered."""

_CORNER = 0.97
"""How far towards its bound each dimension of a corner is: tanh never reaches the bound itself."""

_TO_CAMERA = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
"""(X, Y, Z) of the z-up frame -> (x, y, z) of the camera = (Y, Z, X)."""


@dataclass(frozen=True, slots=True)
class Pose:
    """Where and how an object is, relative to how it was seen. The default is the identity.

    Angles in degrees; `dx`, `dy` as shares of the picture's longer side; `scale` as a factor.
    """

    yaw_deg: float = 0.0
    pitch_deg: float = 0.0
    roll_deg: float = 0.0
    dx: float = 0.0
    dy: float = 0.0
    scale: float = 1.0

    @classmethod
    def of(cls, theta: Sequence[float] | Floats) -> Self:
        """The pose of a vector in the order of `DIMENSIONS`, rounded to `POSE_DIGITS`."""
        return cls(*(round(float(value), POSE_DIGITS) for value in theta))

    @classmethod
    def from_json(cls, data: Mapping[str, JSON]) -> Self:
        """Read what `to_json` wrote."""
        return cls(**{name: float(data[name]) for name in DIMENSIONS})  # type: ignore[arg-type]

    @property
    def theta(self) -> Floats:
        """As a vector of shape (6,)."""
        return np.array([getattr(self, name) for name in DIMENSIONS])

    @property
    def rotation(self) -> Floats:
        """R as a matrix of shape (3, 3) in camera axes: x right, y up, z towards the viewer."""
        a, b, c = np.radians([self.yaw_deg, self.pitch_deg, self.roll_deg])
        ca, cb, cc, sa, sb, sc = *np.cos([a, b, c]), *np.sin([a, b, c])
        yaw = np.array([[ca, -sa, 0], [sa, ca, 0], [0, 0, 1]])
        pitch = np.array([[cb, 0, sb], [0, 1, 0], [-sb, 0, cb]])
        roll = np.array([[1, 0, 0], [0, cc, -sc], [0, sc, cc]])
        turned: Floats = _TO_CAMERA @ yaw @ pitch @ roll @ _TO_CAMERA.T
        return turned

    def to_json(self) -> dict[str, JSON]:
        """Plain data for records."""
        return {name: getattr(self, name) for name in DIMENSIONS}


IDENTITY = Pose()


@dataclass(frozen=True, slots=True)
class Bounds:
    """The box [Theta_min, Theta_max] of poses, and the map from the search space into it."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def half(self) -> Floats:
        """A = (Theta_max - Theta_min) / 2 (eq. 8, which prints it with the sign turned round)."""
        return np.asarray((np.array(self.high) - np.array(self.low)) / 2)

    @property
    def middle(self) -> Floats:
        """B = (Theta_max + Theta_min) / 2 (eq. 8, which prints a second A)."""
        return np.asarray((np.array(self.high) + np.array(self.low)) / 2)

    def pose(self, z: Sequence[float] | Floats) -> Pose:
        """Theta = A tanh(z) + B (eq. 8)."""
        return Pose.of(self.half * np.tanh(np.asarray(z, dtype=np.float64)) + self.middle)

    def uniform(self, rng: np.random.Generator) -> Pose:
        """A pose drawn uniformly from the box, each dimension on its own."""
        return Pose.of(self.middle + self.half * rng.uniform(-1.0, 1.0, len(DIMENSIONS)))

    def corner(self, rng: np.random.Generator) -> Pose:
        """A random one of the 64 corners, 3 % inside the box."""
        signs = rng.integers(0, 2, len(DIMENSIONS)) * 2 - 1
        return Pose.of(self.middle + _CORNER * self.half * signs)


def _symmetric(yaw: float, pitch: float, roll: float, dx: float, dy: float) -> Bounds:
    high = (yaw, pitch, roll, dx, dy)
    return Bounds((*(-value for value in high), 0.7), (*high, 1.3))


PRESETS: dict[str, Bounds] = {
    "frontal": _symmetric(60, 30, 30, 0.15, 0.15),
    "full": _symmetric(180, 45, 30, 0.15, 0.15),
    "upright": Bounds((-60, -10, -10, -0.15, -0.1, 0.8), (60, 10, 10, 0.15, 0.1, 1.2)),
    "mild": Bounds((-40, -20, -15, -0.08, -0.08, 0.85), (40, 20, 15, 0.08, 0.08, 1.15)),
    "rotonly": Bounds((-60, -30, -30, 0, 0, 1), (60, 30, 30, 0, 0, 1)),
    "viewfool": Bounds((-180, -70, -30, -0.36, -0.36, 0.8), (180, 70, 30, 0.36, 0.36, 4 / 3)),
}
"""Bounds by name. The paper follows ViewFool and prints no numbers.

frontal: what a model made from one view can show, the default. full: all the way round. upright: an
object that stays on its feet. mild: less of everything. rotonly: turned, but neither moved nor scaled.
viewfool: the ranges in ViewFool's code, its shift of half a world unit as a share of the picture and its
camera distance of 3 to 5 as a scale.
"""


def bounds_named(name: str) -> Bounds:
    """A preset's bounds.

    Raises:
        UserError: There is no such preset.
    """
    if name not in PRESETS:
        raise UserError(f"bounds {name!r} are unknown: use {', '.join(PRESETS)}")
    return PRESETS[name]
