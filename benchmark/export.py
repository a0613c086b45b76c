"""Runs in other formats: the pictures that an attack found, as questions that any model can be asked."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from benchmark.album import PICKED
from benchmark.errors import UserError
from benchmark.records import ARTIFACTS, read_header, read_records
from benchmark.types import JSON, Record

FILE = "mm3dtbench.jsonl"
IMAGES = "images"
QUESTION = "What is the main object in this picture?"
CONDITIONS = ("center", "distribution")

DIGITAL, REPRODUCED = "digital", "reproduced"
"""`source`: a picture that the attack composed, or the true object of the embedded world in that pose."""

_TRUE = "true/"
_SLIGHT_DEG = 15.0
_FAR_DEG = 135.0
_POSE = ("yaw_deg", "pitch_deg", "roll_deg", "dx", "dy", "scale")


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of a run: its name among the record's artefacts, what it shows and in which pose.

    `fooled` is whether the target took it for something else, `taken_for` for what, if that is known.
    """

    record: Record
    name: str
    condition: str
    theta: tuple[float, ...]
    fooled: bool | None
    taken_for: str | None

    @property
    def digest(self) -> str:
        """What names its file."""
        return self.record.artifacts[self.name]


def export_mm3dtbench(
    run: Path,
    out: Path,
    *,
    conditions: Sequence[str] = CONDITIONS,
    choices: int = 4,
    question: str = QUESTION,
    only_fooled: bool = False,
    seed: int = 0,
) -> dict[str, int]:
    """Write the pictures of a run of advdreamer as MM3DTBench-style questions into the folder `out`.

    Args:
        run: Folder of the run.
        out: Folder to make, with mm3dtbench.jsonl and images/.
        conditions: Whose pictures: "center", "distribution", "random", "identity", "picked" (the best
            query of the search), and the same with "true/" before it for the true object.
        choices: How many there are: the label, what the target took the picture for, and others of
            the run's labels drawn by `seed` and the question's id.
        question: What is asked.
        only_fooled: Leave out pictures that the run's target recognised.
        seed: Of the choices and their order.

    Returns:
        How many questions there are of each condition.

    Raises:
        UserError: It is no such run, has no such pictures, or `out` is not empty.
    """
    header = read_header(run)
    attack = header.get("config", {}).get("attack")
    if attack != "advdreamer":
        raise UserError(f"{run} holds a run of {attack}: export mm3dtbench needs one of advdreamer")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"--out {out} is not an empty folder: name another one")
    records = read_records(run)
    pictures = [picture for record in records for picture in _pictures(record)]
    wanted = [picture for picture in pictures if picture.condition in conditions]
    if missing := [name for name in conditions if name not in {p.condition for p in wanted}]:
        there = ", ".join(sorted({picture.condition for picture in pictures})) or "none at all"
        raise UserError(
            f"{run} keeps no pictures of {', '.join(missing)}, only of {there}: choose among these"
            " with --conditions, or run again with --set pictures=all"
        )
    if only_fooled:
        wanted = [picture for picture in wanted if picture.fooled]
        if not wanted:
            raise UserError(f"{run}: no picture of {', '.join(conditions)} fooled: drop --fooled")
    labels = header.get("attack_details", {}).get("labels") or sorted({r.text for r in records})
    lines = [_line(picture, labels, choices, question, seed) for picture in wanted]
    (out / IMAGES).mkdir(parents=True, exist_ok=True)
    for digest in {picture.digest for picture in wanted}:
        source = run / ARTIFACTS / f"{digest}.png"
        try:
            shutil.copyfile(source, out / IMAGES / source.name)
        except FileNotFoundError as error:
            raise UserError(f"{source} is gone: export needs the run's artifacts folder") from error
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (out / FILE).write_text(text, encoding="utf-8")
    return dict(Counter(picture.condition for picture in wanted))


def orientation(theta: Sequence[float]) -> str:
    """How an object is turned, in words: where its front points now, and where its top.

    `theta` begins with yaw, pitch and roll in degrees, R = Rz(yaw) Ry(pitch) Rx(roll) in a frame with
    X towards the viewer, Y to the right and Z up. Left and right are the viewer's.

    >>> orientation((20, -30, 0)), orientation((0, 5, 30)), orientation((170, 0, 0))
    ('turned right, tilted away', 'leaning left', 'seen from behind')
    """
    a, b, c = np.radians(theta[:3])
    ca, cb, cc, sa, sb, sc = *np.cos([a, b, c]), *np.sin([a, b, c])
    front = (ca * cb, sa * cb)
    top = (ca * sb * cc + sa * sc, sa * sb * cc - ca * sc, cb * cc)  # the third column of R
    turn = np.degrees(np.arctan2(front[1], front[0]))
    if np.degrees(np.arccos(np.clip(top[2], -1, 1))) >= _FAR_DEG:
        return "upside down"
    tilt, lean = (float(np.degrees(np.arctan2(side, abs(top[2])))) for side in top[:2])
    parts = []
    if abs(turn) >= _FAR_DEG:
        parts.append("seen from behind")
    elif abs(turn) >= _SLIGHT_DEG:
        parts.append("turned right" if turn > 0 else "turned left")
    if abs(tilt) >= _SLIGHT_DEG:
        parts.append("tilted towards the viewer" if tilt > 0 else "tilted away")
    if abs(lean) >= _SLIGHT_DEG:
        parts.append("leaning right" if lean > 0 else "leaning left")
    return ", ".join(parts) or "as photographed"


def _pictures(record: Record) -> Iterator[Picture]:
    """The pictures of a record whose pose is known, in the order of their names."""
    poses: Mapping[str, Any] = record.found.get("poses") or {}  # type: ignore[assignment]
    answers: Mapping[str, Any] = record.found.get("answers") or {}  # type: ignore[assignment]
    for name in sorted(record.artifacts, key=_in_order):
        if name == PICKED:
            theta = [record.perturbation.get(key) for key in _POSE]
            if all(isinstance(value, int | float) for value in theta):
                fooled = record.status == "success"
                yield Picture(record, name, "picked", _numbers(theta), fooled, None)
            continue
        true = _TRUE if name.startswith(_TRUE) else ""
        base, _, number = name.removeprefix(_TRUE).partition("/")
        group = poses.get(base) or []
        index = int(number) if number.isdecimal() else 0
        if index < len(group):
            said = answers.get(name) or {}
            yield Picture(
                record,
                name,
                true + base,
                _numbers(group[index]),
                said.get("fooled"),
                said.get("answer"),
            )


def _line(
    picture: Picture, labels: Sequence[str], choices: int, question: str, seed: int
) -> dict[str, JSON]:
    record = picture.record
    identifier = f"{record.id}/{'picked' if picture.name == PICKED else picture.name}"
    digest = sha256(f"{seed}/{identifier}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    others = [label for label in labels if label not in (record.text, picture.taken_for)]
    rng.shuffle(others)
    if picture.taken_for not in (None, record.text):
        others.insert(0, str(picture.taken_for))
    offered = [record.text, *others[: choices - 1]]
    rng.shuffle(offered)
    return {
        "id": identifier,
        "image": f"{IMAGES}/{picture.digest}.png",
        "group": record.group or record.id,
        "label": record.text,
        "question": question,
        "choices": list(offered),
        "answer": record.text,
        "orientation": orientation(picture.theta),
        "source": REPRODUCED if picture.condition.startswith(_TRUE) else DIGITAL,
        "theta": list(picture.theta),
    }


def _in_order(name: str) -> tuple[str, int]:
    stem, _, number = name.rpartition("/")
    return (stem, int(number)) if number.isdecimal() else (name, 0)


def _numbers(theta: Sequence[Any]) -> tuple[float, ...]:
    return tuple(float(value) for value in theta)
