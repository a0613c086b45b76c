"""A vision-language model that rates naturalness, reasoning in writing before it scores (sec. 3.2.2).

The paper has GPT-4o annotate the reward model's training pictures with chain-of-thought prompts, and people
correct them. Here any target that answers questions can do the first part:

    python -m attacks.advdreamer.naturalness_annotator rated --model openai:gpt-4o

fills in the scores of rated/ratings.csv that are empty, and keeps what was said in rated/replies.jsonl for
those who check it. As a tool (`annotator:TARGET`) the same model rates pictures during an attack; the paper
found that slower and less steady than a reward model.

The prompts are in our own words: the paper's are in its appendix, which is not public.
"""

import argparse
import csv
import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmark import registry
from benchmark.errors import UserError
from benchmark.protocols import Answerer
from benchmark.types import JSON, Pixels, Sampling

LEAST, MOST = 1.0, 5.0
PROMPTS = Path(__file__).parent / "prompts" / "naturalness"
BATCH = 8

_SHOWN = 400
"""How many characters of an answer that could not be read are shown again."""

_NUMBER = r"(\d+(?:[.,]\d+)?)(?:\s*/\s*(\d+)|\s*(?:out\s+)?of\s+(\d+))?"
_RANGE = r"(?:on a scale )?(?:from |of )?\b1\s*(?:-|–|to)\s*5\b"  # noqa: RUF001
_BETWEEN = r"[^\n\d]{0,40}?"
_HEADS = {"fidelity": r"fidelity|realism", "plausibility": r"plausib\w+"}


@dataclass(frozen=True, slots=True)
class Rating:
    """Both scores, 1 to 5, and the answer that they were read from."""

    fidelity: float
    plausibility: float
    reply: str = ""


class Annotator:
    """`annotator:TARGET` rates pictures by asking a target that answers.

    The argument is a target as one types it outright, such as `openai:gpt-4o`. An answer that cannot be
    read is asked for again, with a prompt that says why, as the same question would get the same answer.

    Settings:
        tries: How often a picture is asked about, 3 by default.
        prompts: A folder with one's own rate.txt and again.txt.
        max_new_tokens: Room for the reasoning, 600 by default.
        All others are the target's.

    Raises:
        UserError: There is no such target, it does not answer, or a prompt is missing or cannot be filled.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        own = {"tries": 3, "prompts": str(PROMPTS), "max_new_tokens": 600, **settings}
        tries, tokens, folder = (own.pop(key) for key in ("tries", "max_new_tokens", "prompts"))
        if not isinstance(tries, int) or tries < 1:
            raise UserError(f"tries {tries!r} cannot be used: give a whole number of 1 or more")
        if not argument:
            raise UserError("tool 'annotator' needs a target that answers: annotator:openai:gpt-4o")
        model = registry.create("targets", argument, own)
        if not isinstance(model, Answerer):
            raise UserError(
                f"target {argument} answers no questions: name a generative model, such as openai:gpt-4o"
            )
        self._model = model
        self._tries = tries
        self._sampling = Sampling(temperature=0.0, top_p=1.0, max_new_tokens=int(str(tokens)))
        self._rate = _prompt(Path(str(folder)) / "rate.txt", ())
        self._again = _prompt(Path(str(folder)) / "again.txt", ("prompt", "reason", "reply"))
        prompts = sha256(f"{self._rate}\0{self._again}".encode()).hexdigest()
        self.info = replace(
            model.info,
            id=f"annotator:{model.info.id}",
            preprocessing=f"prompts {prompts[:16]}, tries {tries}; {model.info.preprocessing}",
        )

    def rate(self, images: Sequence[Pixels]) -> list[Rating | None]:
        """The ratings of pictures; None where no try gave an answer that can be read."""
        ratings: list[Rating | None] = [None] * len(images)
        prompts = [self._rate] * len(images)
        for _ in range(self._tries):
            open_ones = [i for i, rating in enumerate(ratings) if rating is None]
            if not open_ones:
                break
            replies = self._model.answer(
                [images[i] for i in open_ones], [prompts[i] for i in open_ones], self._sampling
            )
            for i, reply in zip(open_ones, replies, strict=True):
                try:
                    ratings[i] = read(reply)
                except ValueError as error:
                    prompts[i] = self._asking_again(reply, str(error))
        return ratings

    def ask(self, items: Sequence[Pixels]) -> list[tuple[float, float]]:
        """(fidelity, plausibility) of each picture; NaN, which ranks last, where it cannot be read."""
        return [
            (math.nan, math.nan) if one is None else (one.fidelity, one.plausibility)
            for one in self.rate(items)
        ]

    def _asking_again(self, reply: str, reason: str) -> str:
        values = {"prompt": self._rate, "reason": reason, "reply": reply.strip()[-_SHOWN:]}
        return re.sub(r"\{(prompt|reason|reply)\}", lambda found: values[found[1]], self._again)


def read(reply: str) -> Rating:
    """The last score of each kind in an answer, whatever is around it.

    Understands "Fidelity: 4", "**Visual fidelity** (1-5): 3.5/5", "plausibility = 2 out of 5" and JSON; a
    score out of ten or a hundred is scaled down.

    Raises:
        ValueError: A score is missing or not from 1 to 5; the message goes into the next prompt.

    >>> read("It leans. Fidelity: 4/5. Plausibility: 2,5").plausibility
    2.5
    """
    values = {}
    text = re.sub(_RANGE, "", reply, flags=re.IGNORECASE)
    for head, words in _HEADS.items():
        found = re.findall(rf"(?:{words}){_BETWEEN}{_NUMBER}", text, re.IGNORECASE)
        if not found:
            raise ValueError(f"it gave no number for {head}")
        number, slash, out_of = found[-1]
        value = float(number.replace(",", "."))
        scale = float(slash or out_of or MOST)
        if scale in (10.0, 100.0):
            value = LEAST + (value / scale) * (MOST - LEAST)
        if not LEAST <= value <= MOST:
            raise ValueError(f"{head} {number} is not from 1 to 5")
        values[head] = value
    return Rating(values["fidelity"], values["plausibility"], reply)


def annotate(
    folder: Path, annotator: Annotator, report: Callable[[str], None] = print
) -> tuple[int, int]:
    """Fill in the scores of a folder's ratings.csv that are empty.

    The file is written after every batch, so a run that was killed goes on where it was. Returns how
    many were rated, and how many could not be.
    """
    path = folder / "ratings.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        columns = list(reader.fieldnames or ())
        rows = list(reader)
    todo = [row for row in rows if not (row.get("fidelity") and row.get("plausibility"))]
    rated = 0
    for start in range(0, len(todo), BATCH):
        batch = todo[start : start + BATCH]
        images = [np.asarray(Image.open(folder / row["image"]).convert("RGB")) for row in batch]
        ratings = annotator.rate(images)
        with (folder / "replies.jsonl").open("a", encoding="utf-8") as replies:
            for row, rating in zip(batch, ratings, strict=True):
                if rating is None:
                    report(f"{row['image']}: no answer could be read")
                    continue
                rated += 1
                row |= {
                    "fidelity": f"{rating.fidelity:g}",
                    "plausibility": f"{rating.plausibility:g}",
                }
                said = {"image": row["image"], "model": annotator.info.id, "reply": rating.reply}
                replies.write(json.dumps(said) + "\n")
        _write(path, columns, rows)
        report(f"{start + len(batch)} of {len(todo)} pictures")
    return rated, len(todo) - rated


def _write(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    partial.replace(path)


def _prompt(path: Path, required: Sequence[str]) -> str:
    if not path.is_file():
        raise UserError(f"no prompt {path}: a folder of prompts needs rate.txt and again.txt")
    text = path.read_text(encoding="utf-8").strip()
    for name in required:
        if f"{{{name}}}" not in text:
            raise UserError(f"prompt {path} lacks {{{name}}}: put it where it belongs")
    return text


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line, fill in a folder's scores."""
    parser = argparse.ArgumentParser(
        prog="python -m attacks.advdreamer.naturalness_annotator",
        description="Have a vision-language model rate the pictures of a folder's ratings.csv.",
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", required=True, help="a target that answers, as for --target")
    parser.add_argument("--prompts", type=Path, default=PROMPTS, help="folder (default: our own)")
    parser.add_argument("--tries", type=int, default=3, help="(default: %(default)s)")
    parser.add_argument("--device", default="cpu", help="(default: %(default)s)")
    given = parser.parse_args(argv)
    settings: dict[str, JSON] = {
        "prompts": str(given.prompts),
        "tries": given.tries,
        "device": given.device,
    }
    try:
        if not (given.folder / "ratings.csv").is_file():
            raise UserError(
                f"no ratings.csv in {str(given.folder)!r}: make one with"
                " `python -m attacks.advdreamer.naturalness_data`"
            )
        rated, failed = annotate(given.folder, Annotator(given.model, settings), _say)
    except UserError as error:
        parser.exit(2, f"error: {error}\n")
    _say(f"rated {rated} pictures, {failed} could not be")
    return 0


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201  (a command's output)


if __name__ == "__main__":
    sys.exit(main())
