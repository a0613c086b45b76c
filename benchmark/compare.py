"""Did a model get less robust? Two runs, or two folders of runs, become one verdict.

`docs/ci.md` says what is tested and how well; the tests themselves are in `benchmark.gate`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from benchmark.config import Execution
from benchmark.errors import UserError
from benchmark.events import OnEvent
from benchmark.gate import comparable, seen
from benchmark.gate import scores as fitness
from benchmark.gate.comparable import Difference, RunData
from benchmark.gate.flips import Flip, flips
from benchmark.gate.verdict import Answer, Question, Verdict, decide, overall
from benchmark.gate.waivers import Waiver

EXIT_CODES = {"PASS": 0, "REGRESSION": 10, "INCONCLUSIVE": 11, "NOT COMPARABLE": 12}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A verdict and everything that it rests on.

    `refused` are differences that make the runs incomparable: then there are no answers. `applied`,
    `expired` and `unused` are the waivers. `verdict_unwaived` is the verdict without any of them, None
    where none was applied.
    """

    baseline: Path
    new: Path
    margin: float
    alpha: float
    verdict: Literal["PASS", "REGRESSION", "INCONCLUSIVE", "NOT COMPARABLE"]
    answers: tuple[Answer, ...] = ()
    scores: tuple[fitness.Change, ...] = ()
    flips: tuple[Flip, ...] = ()
    refused: tuple[tuple[str, Difference], ...] = ()
    allowed: tuple[tuple[str, Difference], ...] = ()
    applied: tuple[Waiver, ...] = ()
    expired: tuple[Waiver, ...] = ()
    unused: tuple[Waiver, ...] = ()
    verdict_unwaived: Verdict | None = None
    skipped: int = 0
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 PASS, 10 REGRESSION, 11 INCONCLUSIVE, 12 not comparable."""
        return EXIT_CODES[self.verdict]

    @property
    def broken(self) -> list[Flip]:
        """Samples that held before and do not now, and are not waived."""
        return [flip for flip in self.flips if flip.direction == "broken" and flip.waiver is None]


def compare(
    baseline: Path,
    new: Path,
    *,
    margin: float = 0.02,
    alpha: float = 0.05,
    score_margin: float | None = None,
    replay: bool = False,
    allow: Collection[str] = (),
    waivers: Sequence[Waiver] = (),
    today: date | None = None,
    execution: Execution = Execution(),  # noqa: B008 - frozen
    on_event: OnEvent = lambda event: None,
) -> Comparison:
    """Compare the run folder `new` with `baseline`, or the runs of two folders, paired by attack.

    Args:
        baseline: The run that says how robust the model was.
        new: The run of the model in question.
        margin: The drop of accuracy that is put up with, as a share.
        alpha: How often a verdict may be wrong, at most.
        score_margin: The rise of mean fitness that is put up with; None tests no fitness.
        replay: Show the baseline's adversarial examples to the new run's target as well, which is
            loaded for it.
        allow: Keys of differences that are put up with.
        waivers: Samples that are known to be fooled; they are left out until they expire.
        today: The day that waivers are judged by.
        execution: How a replay is run.
        on_event: Is told of a replay's progress.

    Raises:
        UserError: A folder holds no run, or the numbers cannot be used.
    """
    if not 0 <= margin < 1:
        raise UserError(f"margin {margin:g} cannot be used: give a share such as 0.02")
    if not 0 < alpha < 0.5:
        raise UserError(f"alpha {alpha:g} cannot be used: give a probability such as 0.05")
    pairs, found = comparable.paired(baseline, new)
    differing = [("", difference) for difference in found]
    for before, now in pairs:
        attack = now.config.attack if len(pairs) > 1 else ""
        differing += [(attack, one) for one in comparable.differences(before, now)]
    refused = [one for one in differing if not one[1].is_allowed(allow)]
    allowed = tuple(one for one in differing if one[1].is_allowed(allow))
    notes = tuple(dict.fromkeys(note for pair in pairs for note in comparable.notes(*pair)))
    if refused or not pairs:
        return Comparison(
            baseline,
            new,
            margin,
            alpha,
            "NOT COMPARABLE",
            refused=tuple(refused),
            allowed=allowed,
            notes=notes,
        )

    day = date.today() if today is None else today
    valid = [one for one in waivers if one.expires >= day]
    expired = tuple(one for one in waivers if one.expires < day)
    questions: list[tuple[Question, Question]] = []
    changes: list[fitness.Scores] = []
    flipped: list[Flip] = []
    skipped = 0
    for before, now in pairs:
        attack = now.config.attack
        looks, left_out = seen.attacked(before, now)
        skipped += left_out
        if replay:
            looks += seen.replayed(before, now, execution, on_event)
        for look in (*looks, *seen.clean(before, now)):
            covered = {one.sample for one in valid if one.covers(attack, one.sample)}
            if look.mode == seen.CLEAN:  # no adversarial example, so no exception to one
                covered = set()
            kept = [one for one in look.outcomes if one.id not in covered]
            questions.append(
                (
                    Question(attack, look.mode, tuple(kept)),
                    Question(attack, look.mode, tuple(look.outcomes)),
                )
            )
            changes.append(fitness.Scores(attack, look.mode, fitness.by_group(look.changes)))
            if look.records:
                flipped += flips(before, now, look.mode, look.outcomes, look.records, valid)
    answers = decide([kept for kept, _ in questions], margin, alpha)
    rises = fitness.decide(changes, score_margin, alpha)
    verdicts = [one.verdict for one in answers]
    verdicts += [one.verdict for one in rises if one.verdict is not None]
    applied = _used(valid, pairs)
    unwaived = None
    if applied:
        whole = decide([all_of for _, all_of in questions], margin, alpha)
        unwaived = overall(
            [one.verdict for one in whole] + verdicts[len(answers) :],
        )
    return Comparison(
        baseline=baseline,
        new=new,
        margin=margin,
        alpha=alpha,
        verdict=overall(verdicts),
        answers=tuple(answers),
        scores=tuple(rises),
        flips=tuple(flipped),
        allowed=allowed,
        applied=applied,
        expired=expired,
        unused=tuple(one for one in valid if one not in applied),
        verdict_unwaived=unwaived,
        skipped=skipped,
        notes=notes,
    )


def _used(
    waivers: Sequence[Waiver], pairs: Sequence[tuple[RunData, RunData]]
) -> tuple[Waiver, ...]:
    """Those that are about a sample of the comparison."""
    return tuple(
        one
        for one in waivers
        if any(
            one.attack in ("", now.config.attack) and one.sample in now.records for _, now in pairs
        )
    )
