"""Samples whose outcome flipped, each with the command that shows it again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmark.gate.comparable import RunData
from benchmark.gate.rerun import replay_command, run_words, sample_command
from benchmark.gate.verdict import Outcome
from benchmark.gate.waivers import Waiver
from benchmark.types import Record


@dataclass(frozen=True, slots=True)
class Flip:
    """One sample that held before and not now ("broken"), or the other way ("mended").

    `command` is "" where none makes it again. `line` is where its record stands, counted from 1, in
    records.jsonl of `run`: the new run's, for a replay the baseline's.
    """

    attack: str
    mode: str
    direction: Literal["broken", "mended"]
    id: str
    text: str
    adversarial_text: str | None
    command: str
    run: str
    line: int
    waiver: Waiver | None = None


def flips(
    baseline: RunData,
    new: RunData,
    mode: str,
    outcomes: Sequence[Outcome],
    records: Mapping[str, Record],
    waivers: Sequence[Waiver],
) -> list[Flip]:
    """The flips among `outcomes`, broken ones first; `records` are of the new model."""
    run = baseline if mode == "replay" else new
    words = None if mode == "replay" else run_words(new.config)
    lines = {id: number for number, id in enumerate(run.records, start=1)}
    found = []
    for outcome in outcomes:
        if not outcome.is_known or outcome.before == outcome.now:
            continue
        record = records[outcome.id]
        if mode == "replay":
            command = replay_command(
                str(baseline.path), new.config.target, new.config.target_settings, outcome.id
            )
        else:
            command = "" if words is None else sample_command(words, outcome.id)
        attack = new.config.attack
        found.append(
            Flip(
                attack=attack,
                mode=mode,
                direction="broken" if outcome.before else "mended",
                id=outcome.id,
                text=record.text,
                adversarial_text=record.adversarial_text,
                command=command,
                run=str(run.path),
                line=lines[outcome.id],
                waiver=next((one for one in waivers if one.covers(attack, outcome.id)), None),
            )
        )
    return sorted(found, key=lambda flip: flip.direction)
