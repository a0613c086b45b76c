"""What is wrong with a manipulated picture of the embedded world, exactly, and the scores that follow.

The rule: every fault has a severity s in 0..1, known because the fault was made or because the object
behind the picture is known. It leaves a share 1 - s of the naturalness; shares multiply:

    fidelity     = 1 + 4 (1 - out_of_frame) (1 - seam) (1 - stretched)
    plausibility = 1 + 4 (1 - turned) (1 - toppling) (1 - floating)

==============  =========================================================================================
out_of_frame    twice the share of the object that is outside the picture
seam            mean change of the pixels that a halo, a patch or jagged edge spoils, 1 at `SEAM_LEVELS`
stretched       share of the object whose look is spoilt by a line of pixels drawn out, and half the share
                that is made up otherwise, as the photograph does not show it
turned          angle between where the object's top points and where it belongs, 1 when upside down
toppling        angle that it would fall through until it rests, 1 at `TOPPLING_DEG`
floating        gap between the object and its shadow, 1 at half the object's height
==============  =========================================================================================

A ball is never turned or toppling: all its sides are alike. An object rests as it stands in the world, or
on a face of its convex hull that its centre of mass is above.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from benchmark.toybox.objects import template
from benchmark.toybox.render_geometry import Mesh, View
from benchmark.toybox.scene import Scene, SceneObject

Floats = NDArray[np.float64]

SEAM_LEVELS, TEXTURE_LEVELS = 128.0, 32.0
"""Changes of the mean colour, of 255, that spoil an edge or a surface wholly."""
TOPPLING_DEG = 60.0
ROUND = ("ball",)
"""Classes without an upper side."""

_UP = np.array([0.0, 0.0, 1.0])
_WIDER = 3
"""How many times as wide as the picture the view is in which objects outside it are seen."""
_PX = 64
_CLOSE = 2e-2
"""Two points on an object this near each other, as a share of the way from the eye, are one."""


@dataclass(frozen=True, slots=True)
class Faults:
    """Severities, 0 (none) to 1 (nothing natural is left)."""

    out_of_frame: float = 0.0
    seam: float = 0.0
    stretched: float = 0.0
    turned: float = 0.0
    toppling: float = 0.0
    floating: float = 0.0

    def __post_init__(self) -> None:
        for name, value in zip(names(), astuple(self), strict=True):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} = {value}: a severity is from 0 to 1")

    @property
    def fidelity(self) -> float:
        """How real the picture looks, 1 to 5."""
        return _score(self.out_of_frame, self.seam, self.stretched)

    @property
    def plausibility(self) -> float:
        """How well the object could stand there like this, 1 to 5."""
        return _score(self.turned, self.toppling, self.floating)


def names() -> tuple[str, ...]:
    """The faults, in order."""
    return tuple(field.name for field in fields(Faults))


def faults_of(scene: Scene, clean: Scene | None = None) -> Faults:
    """The faults of a picture of `scene`, which has one object.

    With `clean`, the picture was made from a photograph of that scene by turning its object: what this
    photograph does not show is made up.
    """
    (thing,) = scene.objects
    made_up = 0.0 if clean is None else unseen_share(scene, clean) / 2
    return Faults(
        out_of_frame=min(1.0, 2 * outside_share(scene)),
        stretched=made_up,
        turned=turned_deg(thing) / 180,
        toppling=min(1.0, toppling_deg(thing) / TOPPLING_DEG),
    )


def seam_severity(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> float:
    """Of what a spoilt edge changes: the mean over the pixels that changed by 4 levels or more."""
    change = np.abs(after.astype(np.float64) - before).mean(axis=2)
    spoilt = change[change >= 4]
    return min(1.0, float(spoilt.mean()) / SEAM_LEVELS) if spoilt.size else 0.0


def texture_severity(
    before: NDArray[np.uint8], after: NDArray[np.uint8], silhouette: NDArray[np.bool_]
) -> float:
    """Of a texture that was drawn out: what it changes, over all of the object. Plain paint stays plain."""
    if not silhouette.any():
        return 0.0
    change = np.abs(after.astype(np.float64) - before).mean(axis=2)[silhouette]
    return float(np.minimum(change / TEXTURE_LEVELS, 1).mean())


def turned_deg(thing: SceneObject) -> float:
    """The angle between where the object's top points and straight up."""
    if thing.cls in ROUND:
        return 0.0
    return _angle_deg(orientation(thing) @ _UP, _UP)


def toppling_deg(thing: SceneObject) -> float:
    """The smallest turn that brings the object to rest."""
    if thing.cls in ROUND:
        return 0.0
    down = -_UP @ orientation(thing)  # in the object's own axes
    return min(_angle_deg(down, rest) for rest in resting(thing.cls))


@cache
def resting(cls: str) -> tuple[Floats, ...]:
    """Directions, in the object's axes, that point down while it rests: unit vectors of shape (3,)."""
    points = template(cls).corners.reshape(-1, 3).astype(np.float64)
    hull = ConvexHull(points)
    centre = _centre_of_mass(points[hull.simplices])
    faces = zip(points[hull.simplices], hull.equations[:, :3], strict=True)
    below = [normal for face, normal in faces if _is_above(centre, face, normal)]
    return (-_UP, *(normal for normal in below if _angle_deg(normal, -_UP) > 1e-3))


def outside_share(scene: Scene) -> float:
    """The share of the object's silhouette that is outside the picture."""
    slope = _WIDER * np.tan(np.radians(scene.camera.fov_deg) / 2)
    camera = replace(scene.camera, fov_deg=float(np.degrees(2 * np.arctan(slope))))
    side = _WIDER * _PX // 2
    hit = _hits(scene, View.of(camera, side, 1))["primID"].reshape(side, side) >= 0
    first = (side - side // _WIDER) // 2
    inside = hit[first : side - first, first : side - first].sum()
    return 1.0 if not hit.any() else float(1 - inside / hit.sum())


def unseen_share(scene: Scene, clean: Scene) -> float:
    """The share of what is seen of the object in `scene` that is not seen of it in `clean`."""
    view = View.of(scene.camera, _PX, 1)
    origins, directions = view.rays()
    hit = _hits(scene, view)
    seen = np.flatnonzero(hit["primID"] >= 0)
    if not seen.size:
        return 1.0
    points = origins[seen] + directions[seen] * hit["tfar"][seen, None]
    (now,), (then,) = scene.objects, clean.objects
    own = (points - foot(now)) @ orientation(now) / now.scale
    before = own @ orientation(then).T * then.scale + foot(then)
    eye = View.of(clean.camera, _PX, 1).eye
    towards = np.ascontiguousarray(before - eye, np.float32)
    from_eye = np.ascontiguousarray(np.broadcast_to(eye, towards.shape), np.float32)
    reached = _mesh(clean).caster.run(from_eye, towards, output=True)
    hidden = (reached["primID"] >= 0) & (reached["tfar"] < 1 - _CLOSE)
    return float(hidden.mean())


def orientation(thing: SceneObject) -> Floats:
    """Its turn as a matrix (3, 3): roll about x, then pitch about y, then yaw about z."""
    turn: Floats = Rotation.from_euler("xyz", [thing.roll, thing.pitch, thing.yaw]).as_matrix()
    return turn


def foot(thing: SceneObject) -> Floats:
    """Where the object's own origin is in the world: high enough that its lowest point is at z = 0."""
    corners = template(thing.cls).corners.reshape(-1, 3)
    lowest = (corners @ orientation(thing)[2]).min() * thing.scale
    return np.array([thing.x, thing.y, -lowest])


def _score(*severities: float) -> float:
    return float(1 + 4 * np.prod([1 - severity for severity in severities]))


@lru_cache(maxsize=4)  # one scene is looked at several times, and compared with its photograph
def _mesh(scene: Scene) -> Mesh:
    return Mesh.of(scene)


def _hits(scene: Scene, view: View) -> dict[str, NDArray[np.float32]]:
    hits: dict[str, NDArray[np.float32]] = _mesh(scene).caster.run(*view.rays(), output=True)
    return hits


def _angle_deg(a: Floats, b: Floats) -> float:
    return float(np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)))


def _centre_of_mass(faces: Floats) -> Floats:
    """Of the solid inside a convex surface of triangles (n, 3, 3)."""
    inside = faces.reshape(-1, 3).mean(axis=0)
    legs = faces - inside
    volumes = np.abs(np.linalg.det(legs))
    return np.asarray(
        inside + (legs.sum(axis=1) / 4 * volumes[:, None]).sum(axis=0) / volumes.sum()
    )


def _is_above(point: Floats, face: Floats, normal: Floats) -> bool:
    """Whether a point inside the hull is straight above a triangle, seen along its outward normal."""
    return all(
        (np.cross(b - a, point - a) @ normal) * (np.cross(b - a, c - a) @ normal) >= 0
        for a, b, c in _corners_in_turn(face)
    )


def _corners_in_turn(face: Floats) -> Sequence[tuple[Floats, Floats, Floats]]:
    a, b, c = face
    return ((a, b, c), (b, c, a), (c, a, b))
