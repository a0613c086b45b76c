"""PASS, REGRESSION or INCONCLUSIVE: paired outcomes, several questions at once, unknown outcomes.

For each question (an attack, searched anew or replayed; the clean inputs of one) the new model

- PASSes if its drop in accuracy is shown to be below the margin: `p_no_worse` <= alpha;
- is a REGRESSION if its drop is shown to exceed the margin: `p_worse` <= alpha after Holm's correction
  over all questions;
- is INCONCLUSIVE otherwise: there are too few samples to tell.

Together they PASS if all do (each at level alpha: an intersection-union test needs no correction), and
are a REGRESSION if one is. So a model that lost no more than the margin is called a REGRESSION, and one
that lost the margin or more on some question is PASSed, in at most alpha of comparisons each.

An outcome is whether the model held, or the share of several tries in which it held (pictures drawn from
what an attack found). The former are tested exactly, the latter by a paired bootstrap of whole groups.

Samples whose outcome is unknown on a side (errors) are filled in both ways, against the new model and
for it; a verdict that depends on it is INCONCLUSIVE.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchmark.gate import shares
from benchmark.gate.exact import Pairs, interval, p_no_worse, p_worse, score
from benchmark.gate.power import MOST, Needed, detectable, needed

Verdict = Literal["PASS", "REGRESSION", "INCONCLUSIVE"]

_ENOUGH = 10
"""So many discordant pairs say how alike the pairs of one group are; below, quite alike is assumed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a model held on a sample, or in which share of tries, before and now; None is unknown."""

    id: str
    group: str
    before: float | None
    now: float | None

    @property
    def is_known(self) -> bool:
        """Whether both sides are known."""
        return self.before is not None and self.now is not None

    @property
    def change(self) -> float:
        """How much less it holds now; of known outcomes."""
        return float(self.before or 0) - float(self.now or 0)

    def filled(self, *, for_new: bool) -> "Outcome":
        """What is unknown, taken to speak for the new model or against it."""
        before = float(not for_new) if self.before is None else self.before
        now = float(for_new) if self.now is None else self.now
        return Outcome(self.id, self.group, before, now)


@dataclass(frozen=True, slots=True)
class Question:
    """One comparison: what was attacked how, and the outcome of each sample.

    Modes: "adaptive", each model attacked anew; "replay", the baseline's adversarial examples shown to
    the new model; "clean", unperturbed inputs; others are conditions that both runs measured.
    """

    attack: str
    mode: str
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The verdict on one question and what it rests on.

    Of the `n` samples of known outcomes, `before` and `now` are the accuracies, None of no samples, and
    `broken` and `mended` count those that got worse and better. `p_no_worse` and `p_worse` (after
    Holm) are the larger ones of both ways to fill in the `unknown` outcomes. `interval` of the drop has
    two-sided confidence 1 - 2 alpha. `inflation` is the factor by which alike samples of one group
    widen it, 1 where each is its own.
    """

    question: Question
    verdict: Verdict
    reason: str
    n: int
    before: float | None
    now: float | None
    broken: int
    mended: int
    unknown: int
    p_no_worse: float
    p_worse: float
    interval: tuple[float, float] | None
    inflation: float
    detectable: float | None
    needed: Needed | None

    @property
    def drop(self) -> float | None:
        """Accuracy before less accuracy now."""
        return None if self.before is None or self.now is None else self.before - self.now


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the known outcomes of a question say, whatever the verdict."""

    interval: tuple[float, float] | None
    inflation: float
    detectable: float | None
    needed: Needed | None


@dataclass(frozen=True, slots=True)
class _Scenario:
    """One way to fill in what is unknown: the tests of every question, corrected."""

    no_worse: list[float]
    worse: list[float]

    def verdict(self, index: int, alpha: float) -> Verdict:
        if self.worse[index] <= alpha:
            return "REGRESSION"
        return "PASS" if self.no_worse[index] <= alpha else "INCONCLUSIVE"


def decide(questions: Sequence[Question], margin: float, alpha: float) -> list[Answer]:
    """Answer all questions together, in their order.

    Raises:
        ValueError: `margin` or `alpha` cannot be used.
    """
    if not 0 < alpha < 0.5:
        raise ValueError(f"alpha {alpha} cannot be used: give a probability from 0 to below 0.5")
    against, favouring = (
        _scenario([[one.filled(for_new=for_new) for one in q.outcomes] for q in questions], margin)
        for for_new in (False, True)
    )
    answers = []
    for index, question in enumerate(questions):
        known = [one for one in question.outcomes if one.is_known]
        worst, best = against.verdict(index, alpha), favouring.verdict(index, alpha)
        verdict: Verdict = worst if worst == best else "INCONCLUSIVE"
        facts = _facts(known, margin, alpha, is_open=verdict == "INCONCLUSIVE")
        unknown = len(question.outcomes) - len(known)
        if worst != best:
            reason = (
                f"{unknown} of {len(question.outcomes)} outcomes are unknown (errors): {worst} if they"
                f" speak against the new model, {best} if for it"
            )
        else:
            reason = _reason(verdict, len(known), margin, facts)
        answers.append(
            Answer(
                question=question,
                verdict=verdict,
                reason=reason,
                n=len(known),
                before=_mean([one.before for one in known]),
                now=_mean([one.now for one in known]),
                broken=sum(one.change > 0 for one in known),
                mended=sum(one.change < 0 for one in known),
                unknown=unknown,
                p_no_worse=max(against.no_worse[index], favouring.no_worse[index]),
                p_worse=max(against.worse[index], favouring.worse[index]),
                interval=facts.interval,
                inflation=facts.inflation,
                detectable=facts.detectable,
                needed=facts.needed,
            )
        )
    return answers


def overall(verdicts: Iterable[Verdict]) -> Verdict:
    """REGRESSION if one is, PASS if all are, else (or of none) INCONCLUSIVE."""
    found = set(verdicts)
    if "REGRESSION" in found:
        return "REGRESSION"
    return "PASS" if found == {"PASS"} else "INCONCLUSIVE"


def holm(raw: Sequence[float]) -> list[float]:
    """Adjusted p-values in the given order (Holm 1979): the k-th smallest of m times m - k + 1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(raw)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(raw)), key=raw.__getitem__)):
        largest = max(largest, min(1.0, (len(raw) - rank) * raw[index]))
        adjusted[index] = largest
    return adjusted


def count(outcomes: Iterable[Outcome]) -> Pairs:
    """Counts of outcomes that are all known, and each held or not."""
    cells: dict[tuple[bool, bool], int] = defaultdict(int)
    for one in outcomes:
        cells[bool(one.before), bool(one.now)] += 1
    return Pairs(
        kept=cells[True, True],
        lost=cells[False, False],
        broken=cells[True, False],
        mended=cells[False, True],
    )


def _scenario(filled: Sequence[Sequence[Outcome]], margin: float) -> _Scenario:
    tests = [p_values(outcomes, margin) for outcomes in filled]
    return _Scenario([one[0] for one in tests], holm([one[1] for one in tests]))


def p_values(outcomes: Sequence[Outcome], margin: float) -> tuple[float, float]:
    """(p_no_worse, p_worse) of known outcomes.

    Where each held or not, they are the larger ones of the exact test and one of groups: the score test
    with its variance inflated, and Student's distribution with as many degrees of freedom as there are
    groups less one. Shares are bootstrapped.
    """
    from scipy.special import stdtr

    if not _all_or_nothing(outcomes):
        return shares.p_values(_by_group(outcomes), margin)
    pairs, inflation = count(outcomes), _inflation(outcomes)
    no_worse, worse = p_no_worse(pairs, margin), p_worse(pairs, margin)
    if inflation == 1.0 or pairs.n == 0:
        return no_worse, worse
    z = float(score(pairs.broken, pairs.mended, pairs.n, margin)) / np.sqrt(inflation)
    groups = len({one.group or one.id for one in outcomes})
    if groups < 2:
        return 1.0, 1.0
    return max(no_worse, float(stdtr(groups - 1, z))), max(worse, float(stdtr(groups - 1, -z)))


def _inflation(outcomes: Sequence[Outcome]) -> float:
    """How much more the number of broken less mended pairs varies because groups belong together.

    Variance between whole groups over that of as many independent pairs, at least 1 (a design effect).
    With few discordant pairs it cannot be told: then all pairs of a group count as one.
    """
    sums = _by_group(outcomes)
    sizes = np.array([len(changes) for changes in sums.values()], np.float64)
    if not len(sizes) or sizes.max() == 1:
        return 1.0
    n = sizes.sum()
    changes = np.concatenate([np.array(values, np.float64) for values in sums.values()])
    if np.abs(changes).sum() < _ENOUGH or len(sizes) < 2:
        return float((sizes**2).sum() / n)
    mean = changes.mean()
    totals = np.array([sum(values) for values in sums.values()], np.float64)
    between = ((totals - mean * sizes) ** 2).sum() * len(sizes) / (len(sizes) - 1)
    within = ((changes - mean) ** 2).sum()
    return max(1.0, float(between / within)) if within > 0 else float((sizes**2).sum() / n)


def _facts(known: Sequence[Outcome], margin: float, alpha: float, *, is_open: bool) -> _Facts:
    """`needed` only where the verdict is open."""
    if not _all_or_nothing(known):
        found = shares.facts(_by_group(known), margin, alpha)
        return _Facts(found.interval, 1.0, found.detectable, found.needed if is_open else None)
    pairs, inflation = count(known), _inflation(known)
    return _Facts(
        interval=_widened(pairs, interval(pairs, alpha), inflation),
        inflation=inflation,
        detectable=detectable(_effective(pairs, inflation), margin, alpha),
        needed=needed(pairs, margin, alpha) if is_open else None,
    )


def _all_or_nothing(outcomes: Iterable[Outcome]) -> bool:
    return all(one.before in (0, 1) and one.now in (0, 1) for one in outcomes)


def _by_group(outcomes: Iterable[Outcome]) -> dict[str, list[float]]:
    """Changes of the outcomes that belong together."""
    changes: dict[str, list[float]] = defaultdict(list)
    for one in outcomes:
        changes[one.group or one.id].append(one.change)
    return dict(changes)


def _mean(values: Sequence[float | None]) -> float | None:
    return float(np.mean([float(value or 0) for value in values])) if values else None


def _effective(pairs: Pairs, inflation: float) -> Pairs:
    """As few independent pairs as these are worth."""
    if inflation == 1.0:
        return pairs
    return Pairs(
        *(int(one / inflation) for one in (pairs.kept, pairs.lost, pairs.broken, pairs.mended))
    )


def _widened(
    pairs: Pairs, bounds: tuple[float, float] | None, inflation: float
) -> tuple[float, float] | None:
    if bounds is None or pairs.drop is None:
        return None
    wider = np.sqrt(inflation)
    low, high = (pairs.drop + wider * (bound - pairs.drop) for bound in bounds)
    return max(float(low), -1.0), min(float(high), 1.0)


def _reason(verdict: Verdict, n: int, margin: float, facts: _Facts) -> str:
    limit = f"{100 * margin:g} points"
    if n == 0:
        return "no sample has an outcome on both sides"
    if verdict != "INCONCLUSIVE":
        return f"the drop {'is below' if verdict == 'PASS' else 'exceeds'} {limit}"
    wanted, inflation = facts.needed, facts.inflation
    if wanted is None:
        return f"{n} samples are too few, and so are {MOST:,} if they go on like this"
    turns = "PASS" if wanted.side == "no worse" else "REGRESSION"
    # A sample of a group that is quite alike brings less than one of its own.
    samples = max(wanted.samples * inflation, n + 1)
    about = "" if wanted.exactly and inflation == 1.0 else "about "
    return f"{n} samples are too few: {about}{samples:,.0f} would decide ({turns}), if they go on like these"
