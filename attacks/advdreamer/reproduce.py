"""The true object at a pose: the paper's physical experiment, in a world whose objects are known.

The object behind the picture is turned, moved and scaled as the recovered one is: about the same pivot,
the centre of the mask's box at the object's depth, in the camera's axes. Then everything is scaled about
the eye until the object stands on the floor. Seen from that eye it looks the same, and yet it stands where
it seems to stand, with its true shadow and light.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attacks.advdreamer.pose import Pose
from benchmark.toybox.objects import template
from benchmark.toybox.scene import Camera, Scene, SceneObject

Floats = NDArray[np.float64]

_NEAREST = 0.25
"""A pose above the horizon cannot be brought to the floor: it comes four times as far at most."""


class Frame(NamedTuple):
    """Where a camera is and its axes: right, up and forward, unit vectors in the world."""

    eye: Floats
    right: Floats
    up: Floats
    forward: Floats

    @classmethod
    def of(cls, camera: Camera) -> "Frame":
        """The frame of a scene's camera, which looks along +y and down."""
        cos, sin = np.cos(camera.elevation), np.sin(camera.elevation)
        return cls(
            np.array([0.0, -camera.distance * cos, camera.height + camera.distance * sin]),
            np.array([1.0, 0.0, 0.0]),
            np.array([0.0, sin, cos]),
            np.array([0.0, cos, -sin]),
        )


def can_reproduce(scene: object) -> bool:
    """Whether there is one object whose shape is known."""
    return isinstance(scene, Scene) and len(scene.objects) == 1


def reproduced(scene: Scene, pose: Pose, pivot: tuple[float, float]) -> Scene:
    """The scene with its one object in `pose`, standing on the floor.

    Args:
        scene: A scene of one object.
        pose: Relative to how the object stands in `scene`.
        pivot: What the pose turns about, as (x, y) shares of the picture from its top left corner.
    """
    (thing,) = scene.objects
    frame, corners = Frame.of(scene.camera), _corners(thing)
    slope = 2 * np.tan(np.radians(scene.camera.fov_deg) / 2)  # picture's width at depth 1
    first = corners @ _turn(thing).T * thing.scale
    foot = np.array([thing.x, thing.y, -first[:, 2].min()])
    placed = first + foot
    depth = ((placed.min(axis=0) + placed.max(axis=0)) / 2 - frame.eye) @ frame.forward
    across = slope * np.array([pivot[0] - 0.5, 0.5 - pivot[1]])
    centre = frame.eye + depth * (frame.forward + across[0] * frame.right + across[1] * frame.up)
    axes = np.stack([frame.right, frame.up, -frame.forward])  # world -> x right, y up, z to viewer
    turn = axes.T @ pose.rotation @ axes
    moved = centre + depth * slope * (pose.dx * frame.right + pose.dy * frame.up)
    origin = moved + pose.scale * turn @ (foot - centre)  # where the template's origin goes
    lowest = (origin + pose.scale * first @ turn.T)[:, 2].min()
    # Scaling about the eye by this factor brings the lowest point to the floor, z = 0.
    factor = frame.eye[2] / max(frame.eye[2] - lowest, _NEAREST * frame.eye[2])
    x, y, _ = frame.eye + factor * (origin - frame.eye)
    roll, pitch, yaw = _angles(turn @ _turn(thing))
    posed = replace(
        thing,
        x=float(x),
        y=float(y),
        scale=float(thing.scale * pose.scale * factor),
        roll=roll,
        pitch=pitch,
        yaw=yaw,
    )
    return replace(scene, objects=(posed,))


def _corners(thing: SceneObject) -> Floats:
    return template(thing.cls).corners.reshape(-1, 3).astype(np.float64)


def _turn(thing: SceneObject) -> Floats:
    """An object's orientation: roll about x, then pitch about y, then yaw about z."""
    (cr, cp, cy), (sr, sp, sy) = (f([thing.roll, thing.pitch, thing.yaw]) for f in (np.cos, np.sin))
    roll = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    pitch = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    yaw = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return np.asarray(yaw @ pitch @ roll)


def _angles(turn: Floats) -> tuple[float, float, float]:
    """(roll, pitch, yaw) in radians, the inverse of `_turn`."""
    pitch = np.arcsin(np.clip(-turn[2, 0], -1.0, 1.0))
    if abs(turn[2, 0]) > 1 - 1e-9:  # straight up or down: roll and yaw turn about one axis
        return float(np.arctan2(-turn[1, 2], turn[1, 1])), float(pitch), 0.0
    roll = np.arctan2(turn[2, 1], turn[2, 2])
    return float(roll), float(pitch), float(np.arctan2(turn[1, 0], turn[0, 0]))
