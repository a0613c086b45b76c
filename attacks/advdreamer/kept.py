"""The pictures that a run kept, shown to a target once more: transfer as in AdvDreamer sec. 4.3."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from attacks.advdreamer.conditions import TRUE, answer_of, pairs
from attacks.advdreamer.pose import Pose
from attacks.advdreamer.selection import Asking
from benchmark.album import PICKED
from benchmark.types import JSON, Candidate, Feedback, Pixels, Record, Score, Submission

_STAGES = ("mask", "background")
"""Kept pictures that no target is shown."""

_OF_THE_PICTURES = ("distribution", "center", "best", "poses", "naturalness")
"""What was found that holds whichever target looks."""


def show_again(
    record: Record, picked: Candidate, picture: Callable[[str], Pixels], labels: Sequence[str]
) -> Asking[Submission]:
    """Have the picked candidate scored, and then all kept pictures for the report.

    A condition is measured again if all of its pictures were kept (`pictures = "all"`). `labels` belong
    to the attack's options, the true one first.
    """
    yield Score((picked,))
    pictures = {name: picture(name) for name in record.artifacts if name != PICKED}
    names = [name for name in pictures if name not in _STAGES]
    complete = _complete(record, names)
    candidates = [
        Candidate(image=pictures[name], perturbation=_perturbation(record, name, complete))
        for name in names
    ]
    feedback = cast("list[Feedback]", (yield Score(tuple(candidates), "report")))
    seen = dict(zip(names, feedback, strict=True))
    found: dict[str, JSON] = {
        key: record.found[key] for key in _OF_THE_PICTURES if key in record.found
    }
    found["answers"] = {name: answer_of(said, labels) for name, said in seen.items()}
    found["reproduced"] = {
        name: pairs(_of(name, seen), _of(TRUE + name, seen))
        for name in sorted(complete)
        if TRUE + name in complete
    }
    return Submission(0, found, pictures)


def _complete(record: Record, names: Sequence[str]) -> set[str]:
    """The conditions all of whose pictures are there."""
    counts: dict[str, int] = {}
    for name in names:
        counts[_condition(name)] = counts.get(_condition(name), 0) + 1
    return {
        condition
        for condition, count in counts.items()
        if record.conditions.get(condition, {}).get("n") == count
    }


def _condition(name: str) -> str:
    """The condition of the picture "random/3"; "true/center" is one as it is."""
    base, _, number = name.rpartition("/")
    return base if number.isdecimal() else name


def _perturbation(record: Record, name: str, complete: set[str]) -> dict[str, JSON]:
    condition = _condition(name)
    poses = cast("Mapping[str, Any]", record.found.get("poses", {}))
    group = poses.get(condition.removeprefix(TRUE), [])
    index = int(name.removeprefix(f"{condition}/") or 0) if name != condition else 0
    pose = Pose.of(group[index]).to_json() if index < len(group) else {}
    return {**({"condition": condition} if condition in complete else {}), "picture": name, **pose}


def _of(condition: str, seen: Mapping[str, Feedback]) -> list[Feedback]:
    return [said for name, said in seen.items() if _condition(name) == condition]
