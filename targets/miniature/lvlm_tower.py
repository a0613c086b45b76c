"""The first stage of a miniature vision-language model: its picture tower learns what each cell shows.

Class, colour and size of the object that covers most of a cell, and the scene's place and light; the heads
that say so are then thrown away. What is withheld from a model is withheld here as well.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmark.toybox import words
from benchmark.toybox.scene import Scene
from benchmark.types import Pixels
from targets.miniature.checkpoints import Sitting
from targets.miniature.dual_training import normalise
from targets.miniature.layouts import Layout
from targets.miniature.pyramid import CELLS, TridentPyramid

IGNORED = -100
IMAGE_TOKENS = CELLS * CELLS
BACKGROUND_WEIGHT = 0.2
"""Two cells of three show no object; this keeps them from ruling the loss."""


@dataclass(frozen=True, slots=True)
class LvlmRecipe:
    """Size and schedule of both stages, and what the model never sees: classes or lights."""

    scenes: int
    tower_steps: int
    steps: int
    tower_batch: int = 128
    batch: int = 64
    exchanges: int = 3
    width: int = 128
    layers: int = 3
    tower_rate: float = 2e-3
    learning_rate: float = 1.5e-3
    tuning_rate: float = 3e-4
    warmup: int = 100
    withheld: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Pictures (n, 64, 64, 3), their scenes, and which object each cell shows, (n, 8, 8)."""

    pictures: Pixels
    scenes: list[Scene]
    layouts: Layout


def shows(scene: Scene, concepts: Sequence[str]) -> bool:
    """Whether one of the classes, places or lights is in the scene."""
    there = {scene.place, scene.light, *(o.cls for o in scene.objects)}
    return not there.isdisjoint(concepts)


def without(data: TrainingSet, concepts: Sequence[str]) -> TrainingSet:
    """The part of the data that shows none of these concepts."""
    kept = [i for i, scene in enumerate(data.scenes) if not shows(scene, concepts)]
    if len(kept) == len(data.scenes):
        return data
    return TrainingSet(data.pictures[kept], [data.scenes[i] for i in kept], data.layouts[kept])


class CellHeads(nn.Module):
    """What the first stage predicts from the tower's features; not part of the model."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.kinds = (1 + len(words.CLASSES), len(words.COLOURS), len(words.SIZES))
        self.cell = nn.Sequential(
            nn.Linear(features, 256), nn.GELU(), nn.Linear(256, sum(self.kinds))
        )
        self.settings = (len(words.PLACES), len(words.LIGHTS))
        self.scene = nn.Linear(features, sum(self.settings))

    def forward(self, cells: Tensor) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """Logits of class, colour, size a cell, (B, 64, k), and of place and light, (B, k)."""
        return (
            self.cell(cells).split(self.kinds, dim=-1),
            self.scene(cells.mean(1)).split(self.settings, dim=-1),
        )


def train_tower(
    tower: TridentPyramid,
    data: TrainingSet,
    recipe: LvlmRecipe,
    checkpoint: Path,
    report: Callable[[str], None] = print,
) -> float:
    """The first stage, in place, from the checkpoint if there is one. Returns the seconds spent."""
    torch.manual_seed(recipe.seed)
    heads = CellHeads(TridentPyramid().num_features)
    both = nn.ModuleList([tower, heads]).to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(both.parameters(), recipe.tower_rate, weight_decay=0.05)
    sitting = Sitting(checkpoint, both, optimizer, report)
    labels = _cell_labels(data)
    losses: list[float] = []
    both.train()
    for step in range(sitting.first, recipe.tower_steps):
        factor = schedule(step, recipe.tower_steps, recipe.warmup)
        for group in optimizer.param_groups:
            group["lr"] = recipe.tower_rate * factor
        rng = np.random.default_rng([recipe.seed, 1, step])
        rows = rng.integers(len(data.scenes), size=recipe.tower_batch)
        with torch.autocast("cpu", torch.bfloat16):
            cells, scene = heads(tower.forward_features(normalise(data.pictures[rows])))
        loss = _cell_loss(cells, scene, labels[0][rows], labels[1][rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(both.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        done = step + 1
        if done % 100 == 0:
            tell(report, "tower", done, recipe.tower_steps, losses, sitting, recipe.tower_batch)
        sitting.keep(done, last=done == recipe.tower_steps)
    return sitting.seconds


def _cell_labels(data: TrainingSet) -> tuple[Tensor, Tensor]:
    """Class, colour, size a cell, (n, 64, 3) with IGNORED where nothing is; place and light, (n, 2)."""
    cells = np.full((len(data.scenes), IMAGE_TOKENS, 3), IGNORED, np.int16)
    cells[:, :, 0] = 0
    settings = np.empty((len(data.scenes), 2), np.int64)
    for i, scene in enumerate(data.scenes):
        shown = data.layouts[i].ravel()
        for k, thing in enumerate(scene.objects):
            cells[i, shown == k] = (
                1 + words.CLASSES.index(thing.cls),
                words.COLOURS.index(thing.colour),
                words.SIZES.index(thing.size),
            )
        settings[i] = list(words.PLACES).index(scene.place), list(words.LIGHTS).index(scene.light)
    return torch.from_numpy(cells), torch.from_numpy(settings)


def _cell_loss(
    cells: Sequence[Tensor], scene: Sequence[Tensor], shown: Tensor, setting: Tensor
) -> Tensor:
    weight = torch.ones(1 + len(words.CLASSES))
    weight[0] = BACKGROUND_WEIGHT
    weights = (weight, None, None)
    loss = torch.zeros(())
    for k, (logits, w) in enumerate(zip(cells, weights, strict=True)):
        target = shown[..., k].flatten().long()
        loss = loss + F.cross_entropy(
            logits.float().flatten(0, 1), target, weight=w, ignore_index=IGNORED
        )
    for k, logits in enumerate(scene):
        loss = loss + F.cross_entropy(logits.float(), setting[:, k])
    return loss


def schedule(step: int, steps: int, warmup: int) -> float:
    """Linear warm-up, then a half cosine to zero."""
    return min(1.0, (step + 1) / warmup) * 0.5 * (1 + math.cos(math.pi * step / steps))


def tell(
    report: Callable[[str], None],
    what: str,
    done: int,
    steps: int,
    losses: list[float],
    sitting: Sitting,
    size: int,
) -> None:
    """One line of progress: mean loss of the last 100 steps, pictures a second."""
    mean = float(np.mean(losses[-100:]))
    report(f"{what} {done}/{steps} loss {mean:.3f} {sitting.rate(done, size):.0f} pictures/s")
