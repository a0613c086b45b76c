"""How the embedded naturalness model is trained: on pictures whose faults are known.

The pictures come from the very pipeline of the attack. It belongs to the attacks, which targets do not
import, so it is run as the command that it is; what passes between them is a folder with ratings.csv.

First the picture tower of another miniature goes on with these pictures and learns which faults each has
(six severities, so that it is told not only that a picture is bad, but why); a tower that was trained on
captions alone does not see them. Then it is frozen, and two heads learn fidelity and plausibility from its
features, as they would from DINOv2's. `NEW_CLASSES` are kept out of both, to measure on.
"""

import math
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmark.protocols import Adviser
from benchmark.types import Pixels
from targets.miniature.checkpoints import Sitting
from targets.miniature.dual_training import normalise
from targets.miniature.tower import TridentResNet
from targets.miniature.tower_features import squeezed
from targets.naturalness_training import (
    HEADS,
    Floats,
    HeadsRecipe,
    Rated,
    agreement,
    key_of,
    read_ratings,
)

Report = Callable[[str], None]
Mask = npt.NDArray[np.bool_]

MAKER = "attacks.advdreamer.naturalness_data"
FAULTS = ("out_of_frame", "seam", "stretched", "turned", "toppling", "floating")
_WEIGHTS = (2.0, 2.0, 2.0, 1.0, 1.0, 1.0)
"""Of the faults in the loss: those of fidelity are the rarer ones, and the harder to see."""

NEW_CLASSES = ("mug", "mushroom", "bus", "dog")
"""One of each sort of thing: household, outdoors, vehicles, animals."""

REQUIRED = {f"{head}_spearman": 0.7 for head in HEADS}
"""Gates, on objects that were not trained on."""

OVERTURNED = ("upside_down", "true upside_down")
NO_TOP = ("ball",)
PARTS = ("train", "validation", "test", "new_classes")


_HEADS = HeadsRecipe(steps=3_000, hidden=128)


@dataclass(frozen=True, slots=True)
class NaturalnessRecipe:
    """`scenes`, `validation` and `test` count the objects of each split; `steps` the tower's."""

    scenes: int
    validation: int
    test: int
    start_from: str
    steps: int
    batch: int = 64
    learning_rate: float = 1e-3
    warmup: int = 100
    weight_decay: float = 0.05
    dropout: float = 0.2
    heads: HeadsRecipe = _HEADS
    seed: int = 0


def rated_pictures(recipe: NaturalnessRecipe, folder: Path) -> Rated:
    """The objects of all splits, manipulated and rated; made where they are not there yet.

    Raises:
        RuntimeError: The pictures could not be made.
    """
    counts = {"train": recipe.scenes, "validation": recipe.validation, "test": recipe.test}
    command = [sys.executable, "-m", MAKER, str(folder), "--split", *counts]
    command += ["--objects", *map(str, counts.values())]
    done = subprocess.run(command, check=False)
    if done.returncode:
        raise RuntimeError(f"`{' '.join(command[1:])}` failed with code {done.returncode}")
    return read_ratings(folder / "ratings.csv")


def part_of(rated: Rated, name: str) -> Rated:
    """One of `PARTS`: a split without the new classes, or the new classes of all splits."""
    is_new = np.array([row["label"] in NEW_CLASSES for row in rated.rows])
    if name == "new_classes":
        return rated.part(is_new)
    return rated.part(~is_new & column_is(rated, "split", name))


def train_tower(
    tower: TridentResNet,
    rated: Rated,
    recipe: NaturalnessRecipe,
    work: Path,
    report: Report = print,
) -> float:
    """Train a tower in place to tell faults, from the checkpoint in `work` if there is one.

    Batches are drawn from (seed, step) alone. Returns the seconds spent, all sittings.
    """
    pictures = squeezed_all(rated)
    severities = torch.tensor([[float(row[fault]) for fault in FAULTS] for row in rated.rows])
    weights = torch.tensor(_WEIGHTS)
    torch.manual_seed(recipe.seed)
    teller = nn.Sequential(nn.Dropout(recipe.dropout), nn.Linear(tower.num_features, len(FAULTS)))
    model = nn.Sequential(tower, teller).to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    checkpoint = work / f"tower-{key_of(recipe, pictures, severities.numpy())}.pt"
    sitting = Sitting(checkpoint, model, optimizer, report)
    model.train()
    losses: list[float] = []
    for step in range(sitting.first, recipe.steps):
        for group in optimizer.param_groups:
            group["lr"] = recipe.learning_rate * _schedule(step, recipe)
        rng = np.random.default_rng([recipe.seed, step])
        rows = rng.choice(len(pictures), recipe.batch, replace=recipe.batch > len(pictures))
        torch.manual_seed(recipe.seed * 1_000_003 + step)  # dropout, also after a resumption
        told = model(_augmented(pictures[rows], rng))
        each = F.binary_cross_entropy_with_logits(told, severities[rows], reduction="none")
        loss = (each * weights).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
        sitting.keep(step + 1, last=step + 1 == recipe.steps)
        if (step + 1) % 250 == 0:
            rate = sitting.rate(step + 1, recipe.batch)
            mean = float(np.mean(losses[-250:]))
            report(f"step {step + 1}/{recipe.steps} loss {mean:.3f} {rate:.0f} pictures/s")
    model.eval()
    return sitting.seconds


def squeezed_all(rated: Rated) -> Pixels:
    """All pictures in the tower's size, shape (n, 64, 64, 3)."""
    n, block = len(rated.images), 500
    return np.concatenate([squeezed(rated.load(i, i + block)) for i in range(0, n, block)])


def measure(model: Adviser, rated: Rated) -> dict[str, float]:
    """Agreement with the ratings, and how upside-down objects fare against upright ones.

    `upside_down_below_upright` is the share of upside-down pictures that are less plausible to the
    model than the photograph of the same object. Means are given for each kind of picture.
    """
    predicted = np.array(model.ask(rated.load(0, len(rated.images))))
    out = agreement(predicted, rated.scores)
    upright = {
        group: plausibility
        for group, plausibility, row in zip(rated.groups, predicted[:, 1], rated.rows, strict=True)
        if row["kind"] == "photograph"
    }
    over = [
        plausibility < upright[group]
        for group, plausibility, row in zip(rated.groups, predicted[:, 1], rated.rows, strict=True)
        if row["kind"] in OVERTURNED and row["label"] not in NO_TOP
    ]
    out["upside_down_below_upright"] = round(float(np.mean(over)), 4) if over else math.nan
    for kind in sorted({row["kind"] for row in rated.rows}):
        own = column_is(rated, "kind", kind)
        for column, head in enumerate(HEADS):
            out[f"{head} of {kind}"] = _mean(predicted[own, column])
    return out


def shortfalls(measured: Mapping[str, float]) -> list[str]:
    """The gates that were missed, in words."""
    return [
        f"{name} {measured[name]:.3f} < {least}"
        for name, least in REQUIRED.items()
        if not measured[name] >= least
    ]


def column_is(rated: Rated, column: str, value: str) -> Mask:
    """Which rows have that value, shape (n,)."""
    return np.array([row[column] == value for row in rated.rows])


def seeds_of(rated: Rated) -> tuple[int, int]:
    """The range of the scenes' seeds, its end excluded."""
    seeds = [int(group.rpartition("/")[2]) for group in rated.groups]
    return min(seeds), max(seeds) + 1


def _schedule(step: int, recipe: NaturalnessRecipe) -> float:
    """Linear warm-up, then a half cosine to zero."""
    warm = min(1.0, (step + 1) / recipe.warmup)
    return warm * 0.5 * (1 + math.cos(math.pi * step / recipe.steps))


def _augmented(pictures: Pixels, rng: np.random.Generator) -> Tensor:
    """Mirrored by chance; contrast, and the brightness of each colour. Nothing that moves or turns."""
    x = normalise(pictures)
    n = len(pictures)
    mirrored = torch.from_numpy(rng.random(n) < 0.5).view(n, 1, 1, 1)
    x = torch.where(mirrored, x.flip(3), x)
    contrast = torch.from_numpy(rng.normal(1, 0.15, (n, 3, 1, 1)).astype(np.float32))
    brightness = torch.from_numpy(rng.normal(0, 0.15, (n, 3, 1, 1)).astype(np.float32))
    return (x * contrast + brightness).contiguous(memory_format=torch.channels_last)


def _mean(values: Floats) -> float:
    return round(float(values.mean()), 4)
