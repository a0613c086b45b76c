"""Does the gate keep its promises? Simulated comparisons, 2,000 of each kind (seed 0).

1. False alarms. At a true drop of exactly the margin, where both verdicts are wrong most often: how
   often REGRESSION and PASS are said. Aim: at most alpha = 5 %, up to three standard errors of the
   simulation. Then the same with captions that share images, where an outcome is the share of ten
   pictures, and with three attacks at once.
2. Power. At the drop that `compare` prints as found: how often it is. Aim: 80 %.
3. Sample sizes. With the number that `compare` says would decide: how often it does. Aim: 80 %.

Prints Markdown tables; exit code 1 if an aim is missed.
"""

import sys
from collections.abc import Iterator
from math import sqrt

import numpy as np
import numpy.typing as npt

from benchmark.gate import shares
from benchmark.gate.exact import Pairs, rejection
from benchmark.gate.power import POWER, detectable, needed
from benchmark.gate.verdict import Outcome, holm, p_values

RUNS = 2000
ALPHA = 0.05
LIMIT = ALPHA + 3 * sqrt(ALPHA * (1 - ALPHA) / RUNS)
SHORT = POWER - 3 * sqrt(POWER * (1 - POWER) / RUNS)

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def main() -> int:
    """Simulate and print."""
    rng = np.random.default_rng(0)
    missed = 0
    for title, heading, lines in (
        (
            "False alarms at the margin",
            ("n", "margin", "mended", "REGRESSION", "PASS"),
            alarms(rng),
        ),
        ("Groups", ("n", "in a group", "alike", "REGRESSION", "PASS"), grouped(rng)),
        ("Shares of ten pictures", ("n", "changes", "-", "REGRESSION", "PASS"), shared(rng)),
        ("Several attacks", ("attacks", "n", "one REGRESSION", "all PASS", "-"), several(rng)),
        ("Power", ("n", "margin", "mended", "drop", "REGRESSION"), powers(rng)),
        ("Sample sizes", ("n", "broken, mended", "margin", "needed", "decided"), sizes(rng)),
    ):
        print(f"\n{title}\n\n| {' | '.join(heading)} |\n|{'---:|' * len(heading)}")
        for cells, is_kept in lines:
            missed += not is_kept
            print(f"| {' | '.join(cells)} |{'' if is_kept else '  <- missed'}", flush=True)
    print(f"\n{missed} aims missed")
    return 1 if missed else 0


def alarms(rng: np.random.Generator) -> Iterator[tuple[list[str], bool]]:
    """At the margin, over sizes, margins and shares of mended pairs."""
    for n in (20, 60, 240, 1000):
        for margin in (0.0, 0.02, 0.05):
            for mended in (0.0, 0.02, 0.1, 0.3):
                broken, healed = drawn(rng, n, mended + margin, mended)
                worse = share(says(broken, healed, n, margin, "REGRESSION"))
                fine = share(says(broken, healed, n, margin, "PASS"))
                cells = [str(n), f"{margin:g}", f"{mended:g}", percent(worse), percent(fine)]
                yield cells, max(worse, fine) <= LIMIT


def grouped(rng: np.random.Generator) -> Iterator[tuple[list[str], bool]]:
    """At the margin, where all samples of a group share one outcome with some probability."""
    margin, mended, size = 0.02, 0.05, 5
    for groups in (40, 100):
        for alike in (0.0, 0.3, 1.0):
            worse = fine = 0
            for _ in range(RUNS):
                p_fine, p_worse = p_values(
                    outcomes(rng, groups, size, alike, mended + margin, mended), margin
                )
                worse += p_worse <= ALPHA
                fine += p_fine <= ALPHA
            cells = [str(groups * size), str(size), f"{alike:g}", percent(worse / RUNS)]
            yield [*cells, percent(fine / RUNS)], max(worse, fine) / RUNS <= LIMIT


def shared(rng: np.random.Generator) -> Iterator[tuple[list[str], bool]]:
    """At the margin, where an outcome is a share: by chance, by rare breaks, against rare mends."""
    margin = 0.02

    def by_chance(n: int) -> Floats:
        held = rng.uniform(0.1, 0.9, n)
        return (rng.binomial(10, held) - rng.binomial(10, held - margin)) / 10

    def rare_breaks(n: int) -> Floats:
        return np.where(rng.random(n) < margin, 1.0, rng.choice([-0.1, 0.1], n))

    def rare_mends(n: int) -> Floats:
        return np.where(rng.random(n) < 0.01, -1.0, (margin + 0.01) / 0.99)

    for n in (60, 240):
        for name, draw in (
            ("by chance", by_chance),
            ("rare breaks", rare_breaks),
            ("rare mends", rare_mends),
        ):
            worse = fine = 0
            for _ in range(RUNS):
                changes = {str(index): [change] for index, change in enumerate(draw(n).tolist())}
                p_fine, p_worse = shares.p_values(changes, margin, count=999)
                worse += p_worse <= ALPHA
                fine += p_fine <= ALPHA
            cells = [str(n), name, "", percent(worse / RUNS), percent(fine / RUNS)]
            yield cells, max(worse, fine) / RUNS <= LIMIT


def several(rng: np.random.Generator) -> Iterator[tuple[list[str], bool]]:
    """Three attacks, all at the margin: one false REGRESSION is enough for a false verdict."""
    attacks, n, margin, mended = 3, 60, 0.02, 0.05
    worse = fine = 0
    for _ in range(RUNS):
        tests = [
            p_values(outcomes(rng, n, 1, 0.0, mended + margin, mended), margin)
            for _ in range(attacks)
        ]
        worse += min(holm([one[1] for one in tests])) <= ALPHA
        fine += max(one[0] for one in tests) <= ALPHA
    cells = [str(attacks), str(n), percent(worse / RUNS), percent(fine / RUNS), ""]
    yield cells, max(worse, fine) / RUNS <= LIMIT


def powers(rng: np.random.Generator) -> Iterator[tuple[list[str], bool]]:
    """At the drop that is printed as found, if as many pairs mend as were seen to."""
    for n in (60, 240, 1000):
        for margin in (0.0, 0.02, 0.05):
            for mended in (0.0, 0.02, 0.1):
                count = round(mended * n)
                drop = detectable(Pairs(kept=n - count, mended=count), margin, ALPHA)
                if drop is None:
                    continue
                broken, healed = drawn(rng, n, count / n + drop, count / n)
                found = share(says(broken, healed, n, margin, "REGRESSION"))
                cells = [str(n), f"{margin:g}", f"{mended:g}", percent(drop), percent(found)]
                yield cells, found >= SHORT


def sizes(rng: np.random.Generator) -> Iterator[tuple[list[str], bool]]:
    """With as many samples as are said to decide, if pairs go on as they did."""
    for pairs, margin in (
        (Pairs(kept=20), 0.02),
        (Pairs(kept=54, broken=3, mended=3), 0.05),
        (Pairs(kept=230, broken=5, mended=5), 0.02),
        (Pairs(kept=16, broken=3, mended=1), 0.02),
        (Pairs(kept=210, broken=20, mended=10), 0.0),
        (Pairs(kept=210, broken=20, mended=10), 0.02),
    ):
        wanted = needed(pairs, margin, ALPHA)
        if wanted is None:
            continue
        broken, mended = drawn(rng, wanted.samples, pairs.broken / pairs.n, pairs.mended / pairs.n)
        verdict = "REGRESSION" if wanted.side == "worse" else "PASS"
        decided = share(says(broken, mended, wanted.samples, margin, verdict))
        cells = [str(pairs.n), f"{pairs.broken}, {pairs.mended}", f"{margin:g}"]
        yield [*cells, f"{wanted.samples} ({verdict})", percent(decided)], decided >= SHORT


def drawn(
    rng: np.random.Generator, n: int, q_broken: float, q_mended: float
) -> tuple[Counts, Counts]:
    """Numbers of broken and of mended pairs of RUNS comparisons, each of shape (RUNS,)."""
    counts = rng.multinomial(n, [q_broken, q_mended, 1 - q_broken - q_mended], size=RUNS)
    return counts[:, 0], counts[:, 1]


def says(
    broken: Counts, mended: Counts, n: int, margin: float, verdict: str
) -> npt.NDArray[np.bool_]:
    """Where the tests of independent pairs come to a verdict."""
    if verdict == "REGRESSION":
        return broken >= np.array(rejection(n, margin, ALPHA, "worse"))[mended]
    return broken <= np.array(rejection(n, margin, ALPHA, "no worse"))[mended]


def outcomes(
    rng: np.random.Generator, groups: int, size: int, alike: float, q_broken: float, q_mended: float
) -> list[Outcome]:
    """Samples in groups; with probability `alike` a sample takes its group's outcome."""
    chances = [q_broken, q_mended, 1 - q_broken - q_mended]
    common = rng.choice(3, size=(groups, 1), p=chances)
    own = rng.choice(3, size=(groups, size), p=chances)
    kinds = np.where(rng.random((groups, size)) < alike, common, own)
    sides = [(True, False), (False, True), (True, True)]
    return [
        Outcome(f"{group}.{one}", str(group), *sides[kind])
        for group, row in enumerate(kinds)
        for one, kind in enumerate(row)
    ]


def share(decided: npt.NDArray[np.bool_]) -> float:
    """Share of comparisons."""
    return float(decided.mean())


def percent(value: float) -> str:
    """For a table."""
    return f"{100 * value:.1f} %"


if __name__ == "__main__":
    sys.exit(main())
