"""The searches by name: evolution, and what it is compared with at the same budget of evaluations."""

from attacks.evolution.engine import Engine, Found, Search
from attacks.evolution.evolution import evolution

__all__ = ["SEARCHES", "Engine", "Found", "Search"]

SEARCHES: dict[str, Search] = {"evolution": evolution}
