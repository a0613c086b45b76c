"""The words of the embedded world: what can be in a scene, and how it is said."""

CLASSES = (
    "ball", "gift", "mug", "bottle", "chair", "table", "lamp", "umbrella", "house", "tree",
    "cactus", "mushroom", "snowman", "car", "bus", "airplane", "boat", "rocket", "duck", "dog",
)  # fmt: skip
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "white", "black")
SIZES = ("small", "large")
MATERIALS = ("matte", "shiny")
RELATIONS = ("left of", "right of", "in front of", "behind")
COUNTS = {"two": 2, "three": 3}

PLACES = {
    "grass": "on the grass",
    "beach": "on the beach",
    "snow": "in the snow",
    "street": "on the street",
    "room": "in a room",
}
LIGHTS = {
    "day": "in daylight",
    "night": "at night",
    "sunset": "at sunset",
    "fog": "in the fog",
}

PLURALS = {name: "buses" if name == "bus" else name + "s" for name in CLASSES}
PLURALS |= {"snowman": "snowmen", "cactus": "cactuses"}
SINGULARS = {plural: name for name, plural in PLURALS.items()}

OPPOSITE = {
    "left of": "right of",
    "right of": "left of",
    "in front of": "behind",
    "behind": "in front of",
}

INDOOR_LIGHTS = ("day", "night")
"""A room has no sky, so sunset and fog cannot be seen in it."""
