"""Random search: as many random captions as evolution has evaluations, the best of them found by halving.

The harder baseline: it says whether crossover and mutation are worth more than looking at more captions.
With `selection = "robust"` it shows as many captions again as evolution does, in successive halving by the
shrunk mean; with "paper" all of the budget goes into new captions, one picture each.
"""

from attacks.evolution.contest import Contest, rounds_of
from attacks.evolution.engine import Engine, Found
from attacks.evolution.individuals import Asking

_AT_ONCE = 325
"""Captions that are asked for at a time, so that whoever watches sees something."""
_FRUITLESS = 3
"""So often in a row nothing new may come before the captions count as exhausted."""


def random_search(engine: Engine) -> Asking[Found]:
    """Draw captions as the pool was drawn until the budget is spent; returns the best."""
    contest = Contest(engine)
    sizes = rounds_of(engine.settings, contest.left) if contest.robust else []
    reserve = sum(sizes)
    fruitless = 0
    while contest.left > reserve and fruitless < _FRUITLESS and not engine.operators.exhausted:
        wanted = min(_AT_ONCE, contest.left - reserve)
        texts = yield from engine.operators.initial(wanted, engine.rng)
        new = [text for text in texts if contest.is_new(text)][:wanted]
        fruitless = 0 if new else fruitless + 1
        yield from contest.enter([engine.born(text, "initial") for text in new])
        contest.row(contest.best(sizes[0] if sizes else contest.finals))
        yield from contest.tell()
    yield from contest.halve(sizes)
    return contest.found()
