"""Paints: display (sRGB) values in 0..1. `PRIMARY` is the paint that takes the object's colour."""

from typing import TypeAlias

from benchmark.toybox.solids import Soup

RGB: TypeAlias = tuple[float, float, float]
Part: TypeAlias = tuple[Soup, RGB | None]

PRIMARY = None
GLOW: RGB = (1.0, 0.90, 0.45)
"""The paint of bulbs and windows: it shines by itself at night."""

INK: RGB = (0.10, 0.10, 0.11)
WOOD: RGB = (0.50, 0.31, 0.15)
IRON: RGB = (0.28, 0.29, 0.32)
GLASS: RGB = (0.15, 0.22, 0.32)
CHALK: RGB = (0.95, 0.95, 0.95)
SILVER: RGB = (0.60, 0.63, 0.68)
STEEL: RGB = (0.66, 0.67, 0.70)
BEAK: RGB = (0.98, 0.50, 0.05)
BRICK: RGB = (0.52, 0.22, 0.16)
CLAY: RGB = (0.74, 0.42, 0.26)
TAIL: RGB = (0.85, 0.08, 0.08)

PAINTS: dict[str, RGB] = {
    "red": (0.86, 0.05, 0.07),
    "orange": (1.00, 0.48, 0.02),
    "yellow": (0.99, 0.88, 0.08),
    "green": (0.07, 0.60, 0.17),
    "blue": (0.08, 0.27, 0.90),
    "purple": (0.47, 0.13, 0.70),
    "pink": (1.00, 0.54, 0.76),
    "white": (0.96, 0.96, 0.96),
    "black": (0.10, 0.10, 0.11),
}
"""What each colour word looks like in full light, as display (sRGB) values in 0..1."""
