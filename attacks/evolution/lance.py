"""LANCE (Prabhu et al., NeurIPS 2023), adapted to captions: one aspect of each is rewritten at a time.

There it perturbs photographs: a caption of each is rewritten by a language model, in one aspect of a fixed
list, and the picture is edited accordingly. Here the captions are given, so the walk begins at captions of
the pool, and their pictures are painted. Rounds rewrite one random aspect of every caption.

Deviations: pictures are painted anew instead of being edited by inversion, as no pixels are given that
were to be kept. Filters on the edit (image and direction similarity) go with it; what is kept of them is
that the words that changed must be in one place, else the rewrite is tried again twice. LANCE does
not search: with `lance_accept = "always"` every rewrite replaces its caption (a random walk). The default
"greedy" keeps a rewrite only if the target describes it worse. It goes on until the budget is spent; with
`selection = "robust"` every caption is shown once more in each round, and compared by shrunk means.
In the embedded world the aspects are kinds of facts (see `GrammarOperators.rewrite`).
"""

from collections.abc import Sequence
from difflib import SequenceMatcher

from attacks.evolution.contest import Contest
from attacks.evolution.engine import Engine, Found
from attacks.evolution.evolution import schedule_of
from attacks.evolution.individuals import Asking, Entrant
from attacks.evolution.operators import ASPECTS
from benchmark.answer_guards import words_of

_TRIES = 3
_FRUITLESS = 3
"""So many rounds in a row without one usable rewrite end the walk."""


def lance(engine: Engine) -> Asking[Found]:
    """Walk from as many captions of the pool as evolution's islands hold; returns the best ones seen."""
    contest = Contest(engine)
    schedule = schedule_of(engine.settings)
    greedy = engine.settings["lance_accept"] == "greedy"
    drawn = engine.rng.permutation(len(contest.entrants))[: schedule.islands * schedule.sizes[0]]
    walkers = [contest.entrants[index] for index in sorted(drawn.tolist())]
    fruitless = number = accepted = rewritten = 0
    while walkers and contest.left and fruitless < _FRUITLESS and not engine.operators.exhausted:
        number += 1
        texts = yield from _rewritten(engine, contest, walkers)
        rows = [row for row, text in enumerate(texts) if text is not None]
        born = [
            engine.born(str(texts[row]), "rewrite", (walkers[row].individual.id,), number)
            for row in rows
        ]
        entered = yield from contest.enter(born)
        fruitless = 0 if any(entered) else fruitless + 1
        for row, entrant in zip(rows, entered, strict=True):
            if entrant is None:
                continue
            rewritten += 1
            if not greedy or contest.value(entrant) < contest.value(walkers[row]):
                accepted += 1
                walkers[row] = entrant
        if contest.robust:
            yield from contest.show_again(walkers)
        contest.row(contest.best(contest.finals))
        yield from contest.tell()
    mean = sum(map(contest.value, walkers)) / len(walkers) if walkers else None
    return contest.found(rewritten=rewritten, accepted=accepted, walkers_mean=mean)


def one_place(before: str, after: str) -> bool:
    """Whether the words that changed stand side by side.

    >>> one_place("a red duck on the grass", "an orange duck on the grass")
    True
    >>> one_place("a red duck on the grass", "a blue duck on the beach")
    False
    """
    matcher = SequenceMatcher(a=words_of(before), b=words_of(after), autojunk=False)
    return sum(tag != "equal" for tag, *_ in matcher.get_opcodes()) == 1


def _rewritten(
    engine: Engine, contest: Contest, walkers: Sequence[Entrant]
) -> Asking[list[str | None]]:
    """A new caption for each walker, None where none came that is new and changed in one place."""
    texts: list[str | None] = [None] * len(walkers)
    for _ in range(_TRIES):
        open_ = [row for row, text in enumerate(texts) if text is None]
        if not open_ or engine.operators.exhausted:
            break
        before = [walkers[row].text for row in open_]
        aspects = [ASPECTS[int(engine.rng.integers(len(ASPECTS)))] for _ in open_]
        after = yield from engine.operators.rewrite(before, aspects, engine.rng)
        for row, old, new in zip(open_, before, after, strict=True):
            if new is not None and one_place(old, new) and contest.is_new(new):
                texts[row] = new
    return texts
