"""Trains a naturalness model: `python -m targets.naturalness_training rated/ratings.csv --out DIR`.

The file has the columns image (a path, relative to the file's folder), fidelity and plausibility (1 to 5),
and perhaps group: pictures of one group (of one object, say) are trained on or held out together. Rows
without scores are left out. `python -m attacks.advdreamer.naturalness_data` makes such a file, and
`python -m attacks.advdreamer.naturalness_annotator` fills one in.

The backbone is frozen, so its features are computed once, in blocks that are kept; a training that is
killed goes on from its last checkpoint when the same command is typed again.
"""

import argparse
import csv
import hashlib
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from PIL import Image
from scipy.stats import rankdata
from torch import Tensor

from benchmark.errors import UserError
from benchmark.types import Pixels
from targets.miniature.checkpoints import Sitting
from targets.naturalness import (
    DINOV2,
    DINOV2_REVISION,
    LEAST,
    MOST,
    WEIGHTS,
    Backbone,
    Dinov2,
    Heads,
    features_of,
    load_heads,
    save_heads,
)
from targets.options import Options
from targets.weights import sha256_of

Floats = npt.NDArray[np.float64]
Report = Callable[[str], None]

HEADS = ("fidelity", "plausibility")
BLOCK = 256
HELD_OUT = 0.1
"""Share of the groups that is measured and not trained on."""


@dataclass(frozen=True, slots=True)
class HeadsRecipe:
    """Size and schedule of the heads. AdamW, half a cosine down to zero, Huber loss."""

    steps: int = 4_000
    batch: int = 256
    hidden: int = 512
    learning_rate: float = 1e-3
    weight_decay: float = 0.05
    dropout: float = 0.2
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Rated:
    """Pictures with their scores, shape (n, 2), and the group of each."""

    images: tuple[Path, ...]
    scores: Floats
    groups: tuple[str, ...]
    rows: tuple[dict[str, str], ...]

    def part(self, keep: Sequence[bool] | npt.NDArray[np.bool_]) -> "Rated":
        """Those for which `keep` is true."""
        chosen = np.flatnonzero(keep)
        images, groups, rows = (
            tuple(values[i] for i in chosen) for values in (self.images, self.groups, self.rows)
        )
        return Rated(images, self.scores[chosen], groups, rows)  # type: ignore[arg-type]

    def load(self, start: int, stop: int) -> list[Pixels]:
        """Some of the pictures."""
        return [np.asarray(Image.open(path).convert("RGB")) for path in self.images[start:stop]]


def read_ratings(path: Path) -> Rated:
    """Read a file of ratings; rows without scores are left out.

    Raises:
        UserError: It is missing, lacks a column, or has a score that is no number from 1 to 5.
    """
    if not path.is_file():
        raise UserError(f"no file {str(path)!r}: give a CSV with image,fidelity,plausibility")
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        missing = {"image", *HEADS} - set(reader.fieldnames or ())
        if missing:
            raise UserError(f"{path} lacks the column(s) {', '.join(sorted(missing))}: add them")
        rows = [row for row in reader if row["fidelity"] and row["plausibility"]]
    if not rows:
        raise UserError(f"{path} holds no rated picture: rate some of its rows first")
    scores = [[_score(path, row, head) for head in HEADS] for row in rows]
    return Rated(
        tuple(path.parent / row["image"] for row in rows),
        np.array(scores),
        tuple(row.get("group") or row["image"] for row in rows),
        tuple(rows),
    )


def extract(backbone: Backbone, rated: Rated, work: Path, report: Report = print) -> Tensor:
    """The features of all pictures, shape (n, width), in float32.

    Blocks are kept in `work` by what they are computed from: the backbone and the pictures themselves.
    """
    work.mkdir(parents=True, exist_ok=True)
    parts = []
    for start in range(0, len(rated.images), BLOCK):
        images = rated.load(start, start + BLOCK)
        digest = hashlib.sha256(f"{backbone.info.weights} {backbone.info.preprocessing}".encode())
        for image in images:
            digest.update(repr(image.shape).encode() + image.tobytes())
        path = work / f"features-{digest.hexdigest()[:32]}.npy"
        if not path.exists():
            partial = path.with_suffix(".partial")
            with partial.open("wb") as file:
                np.save(file, features_of(backbone, images).numpy())
            partial.replace(path)
            report(f"features of {start + len(images)} of {len(rated.images)} pictures")
        parts.append(torch.from_numpy(np.load(path)))
    return torch.cat(parts)


def fit(
    features: Tensor, scores: Floats, recipe: HeadsRecipe, work: Path, report: Report = print
) -> tuple[Heads, float]:
    """Train heads on features (n, width) and scores (n, 2).

    A batch is drawn from (seed, step) alone, so a training that was killed goes on as if it had not
    been; its checkpoint in `work` is named after data and recipe. Also returns the seconds spent.
    """
    torch.manual_seed(recipe.seed)
    heads = Heads(features.shape[1], recipe.hidden, recipe.dropout)
    heads.centre.copy_(features.mean(dim=0))
    heads.spread.copy_(features.std(dim=0).clamp(min=1e-3))
    for head, mean in zip((heads.fidelity, heads.plausibility), scores.mean(axis=0), strict=True):
        torch.nn.init.constant_(cast("torch.nn.Linear", head[-1]).bias, float(mean))
    optimizer = torch.optim.AdamW(
        heads.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    wanted = torch.from_numpy(scores).float()
    heads.train()
    checkpoint = work / f"heads-{key_of(recipe, features.numpy(), scores)}.pt"
    sitting = Sitting(checkpoint, heads, optimizer, report)
    for step in range(sitting.first, recipe.steps):
        for group in optimizer.param_groups:
            progress = step / recipe.steps
            group["lr"] = recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * progress))
        rows = np.random.default_rng([recipe.seed, step]).integers(len(wanted), size=recipe.batch)
        torch.manual_seed(recipe.seed * 1_000_003 + step)  # dropout, also after a resumption
        loss = F.huber_loss(heads(features[rows]), wanted[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        sitting.keep(step + 1, last=step + 1 == recipe.steps)
        if (step + 1) % 1_000 == 0:
            report(f"step {step + 1}/{recipe.steps} loss {loss.item():.3f}")
    return heads.eval(), sitting.seconds


def key_of(recipe: object, *data: npt.NDArray[Any]) -> str:
    """A name for a training of a recipe on data: another one's checkpoint is left aside."""
    digest = hashlib.sha256(repr(recipe).encode())
    for one in data:
        digest.update(np.ascontiguousarray(one).data)
    return digest.hexdigest()[:16]


def predict(heads: Heads, features: Tensor) -> Floats:
    """Scores of features, shape (n, 2), limited to 1..5."""
    with torch.inference_mode():
        scores: Floats = heads(features).clamp(LEAST, MOST).double().numpy()
    return scores


def agreement(predicted: Floats, scores: Floats) -> dict[str, float]:
    """Spearman's correlation and mean absolute error of each head."""
    out = {}
    for column, head in enumerate(HEADS):
        a, b = predicted[:, column], scores[:, column]
        out[f"{head}_spearman"] = round(spearman(a, b), 4)
        out[f"{head}_mae"] = round(float(np.abs(a - b).mean()), 4)
    return out


def spearman(a: Sequence[float] | Floats, b: Sequence[float] | Floats) -> float:
    """The correlation of ranks, ties sharing their mean rank; NaN if one side is all the same.

    >>> round(spearman([1, 2, 3, 4], [10, 20, 40, 30]), 3)
    0.8
    """
    ranks: list[Floats] = [rankdata(side) for side in (a, b)]
    if any(np.ptp(side) == 0 for side in ranks):
        return math.nan
    x, y = (side - side.mean() for side in ranks)
    return float((x @ y) / np.sqrt((x @ x) * (y @ y)))


def is_held_out(group: str, share: float = HELD_OUT) -> bool:
    """Whether a group is measured instead of trained on: by the hash of its name."""
    return int.from_bytes(hashlib.sha256(group.encode()).digest()[:6], "big") < share * 2**48


def _score(path: Path, row: dict[str, str], head: str) -> float:
    try:
        value = float(row[head])
    except ValueError:
        value = math.nan
    if not LEAST <= value <= MOST:
        raise UserError(
            f"{path}: {head} {row[head]!r} of {row['image']} is no score: give 1 to 5, or nothing"
        )
    return value


def _card(
    recipe: HeadsRecipe, out: Path, backbone: Backbone, seconds: float, splits: dict[str, Any]
) -> dict[str, Any]:
    return {
        "recipe": asdict(recipe),
        "backbone": backbone.info.id,
        "seconds": round(seconds, 1),
        "weights": {"file": WEIGHTS, "sha256": sha256_of([out / WEIGHTS])},
        "pictures": splits.pop("pictures"),
        "accuracy": splits,
    }


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)  # noqa: T201  (a command's output)


def _pairs() -> Iterator[tuple[str, Any]]:
    defaults = HeadsRecipe()
    for name in ("steps", "batch", "hidden", "learning_rate", "weight_decay", "dropout", "seed"):
        yield name, getattr(defaults, name)


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line, train, write heads and card."""
    parser = argparse.ArgumentParser(
        prog="python -m targets.naturalness_training",
        description="Train a naturalness model on rated pictures, on a frozen DINOv2.",
        epilog="Example:\n  python -m targets.naturalness_training rated/ratings.csv --out nrm\n"
        "  python -m benchmark run --attack advdreamer --target clip --preset paper"
        " --set naturalness=naturalness:nrm",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("ratings", type=Path, help="CSV with image,fidelity,plausibility[,group]")
    parser.add_argument("--out", type=Path, required=True, help="folder for heads and card")
    parser.add_argument("--backbone", default=DINOV2, help="a DINOv2 (default: %(default)s)")
    parser.add_argument("--revision", help="its commit (default: one that is pinned)")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--work", type=Path, help="features, checkpoint (default: OUT/work)")
    for name, default in _pairs():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    given = parser.parse_args(argv)
    recipe = HeadsRecipe(**{name: getattr(given, name) for name, _ in _pairs()})
    revision = given.revision or (DINOV2_REVISION if given.backbone == DINOV2 else None)
    try:
        rated = read_ratings(given.ratings)
        backbone = Dinov2(
            given.backbone, Options.of({"device": given.device, "revision": revision})
        )
    except UserError as error:
        parser.exit(2, f"error: {error}\n")
    work = given.work or given.out / "work"
    features = extract(backbone, rated, work, _say)
    held = np.array([is_held_out(group) for group in rated.groups])
    if held.all() or not held.any():
        parser.exit(2, f"error: {given.ratings} holds too few groups to hold some out: add rows\n")
    heads, seconds = fit(features[~held], rated.scores[~held], recipe, work, _say)
    save_heads(heads, backbone.info, given.out)
    written = load_heads(given.out, backbone, str(given.out))
    asked = written.ask(rated.part(held).load(0, int(held.sum())))
    card = _card(recipe, given.out, backbone, seconds, {
        "pictures": {"trained_on": int((~held).sum()), "held_out": int(held.sum())},
        "held_out": agreement(np.array(asked), rated.scores[held]),
    })  # fmt: skip
    (given.out / "card.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    _say(f"wrote {given.out}: {json.dumps(card['accuracy'])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
