"""The searches by name: evolution, and what it is compared with at the same budget of evaluations."""

from attacks.evolution.engine import Engine, Found, Search
from attacks.evolution.evolution import evolution
from attacks.evolution.lance import lance
from attacks.evolution.nl_adv import nl_adv
from attacks.evolution.random_search import random_search

__all__ = ["SEARCHES", "Engine", "Found", "Search"]

SEARCHES: dict[str, Search] = {
    "evolution": evolution,
    "random_search": random_search,
    "lance": lance,
    "nl_adv": nl_adv,
}
