"""Did a model get less robust? Two runs, or two folders of runs, become one verdict.

`docs/ci.md` says what is tested and how well; the tests themselves are in `benchmark.gate`.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from benchmark.config import Execution
from benchmark.errors import UserError
from benchmark.events import OnEvent
from benchmark.gate import comparable
from benchmark.gate import scores as fitness
from benchmark.gate.comparable import Difference, RunData
from benchmark.gate.flips import Flip, flips
from benchmark.gate.verdict import Answer, Mode, Outcome, Question, Verdict, decide, overall
from benchmark.gate.waivers import Waiver
from benchmark.types import Record

EXIT_CODES = {"PASS": 0, "REGRESSION": 10, "INCONCLUSIVE": 11, "NOT COMPARABLE": 12}
CLEAN = "clean"


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


@dataclass(frozen=True, slots=True)
class _Seen:
    """A mode of one pair of runs: outcomes, records of the new model, changes of fitness."""

    mode: Mode
    outcomes: list[Outcome]
    records: dict[str, Record]
    changes: list[tuple[str, float]]


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
        seen, left_out = _adaptive(before, now)
        skipped += left_out
        parts = [seen]
        if replay:
            parts.append(_replayed(before, now, execution, on_event))
        for part in parts:
            kept = [
                one for one in part.outcomes if not any(w.covers(attack, one.id) for w in valid)
            ]
            questions.append(
                (
                    Question(attack, part.mode, tuple(kept)),
                    Question(attack, part.mode, tuple(part.outcomes)),
                )
            )
            changes.append(fitness.Scores(attack, part.mode, fitness.by_group(part.changes)))
            flipped += flips(before, now, part.mode, part.outcomes, part.records, valid)
        if clean := _clean(before, now):
            question = Question(attack, "clean", tuple(clean))
            questions.append((question, question))
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


def _adaptive(before: RunData, now: RunData) -> tuple[_Seen, int]:
    """Both runs as they are, and how many samples both of them skipped."""
    common = [(one, now.records[id]) for id, one in before.records.items() if id in now.records]
    attacked = [pair for pair in common if {one.status for one in pair} != {"skipped"}]
    return (
        _Seen(
            mode="adaptive",
            outcomes=_outcomes(attacked, _held),
            records=dict(now.records),
            changes=_changes(attacked),
        ),
        len(common) - len(attacked),
    )


def _replayed(before: RunData, now: RunData, execution: Execution, on_event: OnEvent) -> _Seen:
    """The baseline's adversarial examples, shown to the target of the new run."""
    # It drives models: not loaded where nothing is replayed.
    from benchmark.replay import replay

    shown = replay(
        before.path,
        target=now.config.target,
        target_settings=now.config.target_settings,
        execution=execution,
        on_event=on_event,
    )
    pairs = [(one.baseline, one.record) for one in shown]
    return _Seen(
        mode="replay",
        outcomes=_outcomes(pairs, _held),
        records={one.id: one.record for one in shown},
        changes=_changes(pairs),
    )


def _clean(before: RunData, now: RunData) -> list[Outcome]:
    """Unperturbed inputs; none where the attack has no such verdict."""
    pairs = [(one, now.records[id]) for id, one in before.records.items() if id in now.records]
    if not all(any(CLEAN in pair[side].conditions for pair in pairs) for side in (0, 1)):
        return []
    return _outcomes(pairs, _held_clean)


def _outcomes(
    pairs: Iterable[tuple[Record, Record]], held: Callable[[Record], bool | None]
) -> list[Outcome]:
    return [Outcome(one.id, one.group or one.id, held(one), held(now)) for one, now in pairs]


def _held(record: Record) -> bool | None:
    return {"failure": True, "success": False}.get(record.status)


def _held_clean(record: Record) -> bool | None:
    clean = record.conditions.get(CLEAN)
    return None if clean is None or record.status == "error" else clean.get("fooled") == 0


def _changes(pairs: Iterable[tuple[Record, Record]]) -> list[tuple[str, float]]:
    return [
        (one.group or one.id, now.fitness - one.fitness)
        for one, now in pairs
        if one.fitness is not None and now.fitness is not None
    ]


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
