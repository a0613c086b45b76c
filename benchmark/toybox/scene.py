"""One scene of the embedded world, as data: what stands where, seen from which camera.

Lengths are world units (an object of scale 1 is one unit at its longest side); angles are radians.
The frame is the camera's: x grows to the right of the picture, y grows away from the camera, z up.
"""

from dataclasses import dataclass

from benchmark.toybox.facts import Facts, Thing


@dataclass(frozen=True, slots=True)
class SceneObject:
    """A thing with all its attributes and its pose. It stands on the ground at (x, y)."""

    cls: str
    colour: str
    size: str
    material: str
    x: float
    y: float
    scale: float
    yaw: float
    pitch: float = 0.0
    roll: float = 0.0

    @property
    def thing(self) -> Thing:
        """All that a caption can say of it."""
        return Thing(self.cls, self.colour, self.size, self.material)


@dataclass(frozen=True, slots=True)
class Camera:
    """It looks at (0, 0, height) from `distance`, `elevation` above the ground plane."""

    elevation: float
    distance: float
    height: float = 0.4
    fov_deg: float = 38.0


@dataclass(frozen=True, slots=True)
class Scene:
    """`counted` scenes hold two or three equal objects; otherwise all classes differ.

    `relation` is the one that the placement was made for ("left of", ...), None for one or three
    objects and for counted scenes. `wall` is the colour (linear RGB, 0..1) of a room's back wall.
    """

    objects: tuple[SceneObject, ...]
    place: str
    light: str
    camera: Camera
    seed: int
    counted: bool = False
    relation: str | None = None
    wall: tuple[float, float, float] = (0.85, 0.80, 0.70)

    @property
    def facts(self) -> Facts:
        """Everything that is so: the fullest caption's content (material, size and colour of all)."""
        things = tuple(o.thing for o in self.objects)
        if self.counted:
            return Facts(things[:1], len(things), None, self.place, self.light)
        return Facts(things, 1, self.relation, self.place, self.light)
