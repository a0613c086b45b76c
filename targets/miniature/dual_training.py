"""How the miniature dual encoders are trained: contrastive, sigmoid, or with hard negatives.

Sources: CLIP (Radford et al. 2021, softmax over the batch), SigLIP (Zhai et al. 2023, a sigmoid for each
pair, bias -10), NegCLIP (Yuksekgonul et al. 2022: a trained CLIP goes on, with altered captions as
further negatives for each picture).

Deviations: a caption that stands twice in a batch is no negative for its twin; half of the batches hold
scenes of one place and light only, so that objects, not backgrounds, must tell captions apart; NegCLIP
here has no hard alternative pictures.

Every batch is drawn from (seed, step) alone, so a training that was killed goes on as if it had not been.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from open_clip.model import CustomTextCLIP
from torch import Tensor

import targets.miniature.tower  # noqa: F401  (registers the picture tower with timm)
from benchmark.toybox.captions import brief_caption, full_caption, natural_caption
from benchmark.toybox.grammar import generate, parse, tokens
from benchmark.toybox.operations import edit
from benchmark.toybox.scene import Scene
from benchmark.toybox.truth import true_of
from benchmark.types import Pixels
from targets.miniature.checkpoints import Sitting
from targets.miniature.vocabulary import CONTEXT_LENGTH, caption_tokenizer

MEAN, STD = (0.48, 0.46, 0.41), (0.27, 0.26, 0.28)
CAPTIONS_A_SCENE = 5
"""One full, two natural, two brief ones."""
NEGATIVE_FAMILIES = (
    "object-swap", "attribute-swap", "relation-replace", "object-replace", "attribute-replace",
    "count-replace",
)  # fmt: skip
SHIFT_PX = 4


@dataclass(frozen=True, slots=True)
class DualRecipe:
    """What makes one dual encoder different from another."""

    loss: str
    scenes: int
    steps: int
    batch: int = 256
    learning_rate: float = 1e-3
    warmup: int = 100
    weight_decay: float = 0.1
    grouped: float = 0.5
    start_from: str | None = None
    seed: int = 0


def model_config(recipe: DualRecipe) -> dict[str, Any]:
    """open_clip's `model_cfg`."""
    config: dict[str, Any] = {
        "embed_dim": 128,
        "custom_text": True,
        "vision_cfg": {
            "image_size": 64,
            "timm_model_name": "trident_resnet",
            "timm_model_pretrained": False,
            "timm_pool": "avg",
            "timm_proj": "linear",
        },
        "text_cfg": {
            "context_length": CONTEXT_LENGTH,
            "vocab_size": len(caption_tokenizer()),
            "hf_tokenizer_name": "local",
            "width": 128,
            "heads": 4,
            "layers": 2,
            "pad_id": 0,
            "eos_id": 2,
            "pool_type": "eos",
        },
    }
    if recipe.loss == "sigmoid":
        config |= {"init_logit_scale": math.log(10), "init_logit_bias": -10}
    return config


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Pictures (n, 64, 64, 3); token ids of captions and of their altered twins (n, 5, 32)."""

    pictures: Pixels
    captions: npt.NDArray[np.int16]
    negatives: npt.NDArray[np.int16] | None
    groups: list[npt.NDArray[np.int64]]


def training_set(pictures: Pixels, scenes: Sequence[Scene], recipe: DualRecipe) -> TrainingSet:
    """Draw the captions of every scene, each from (seed, scene), and index scenes by place and light."""
    vocabulary = caption_tokenizer().get_vocab()
    wanted = recipe.loss == "hard-negatives"
    shape = (len(scenes), CAPTIONS_A_SCENE, CONTEXT_LENGTH)
    captions = np.zeros(shape, np.int16)
    negatives = np.zeros(shape, np.int16) if wanted else None
    groups: dict[tuple[str, str], list[int]] = {}
    for i, scene in enumerate(scenes):
        rng = np.random.default_rng([recipe.seed, scene.seed])
        groups.setdefault((scene.place, scene.light), []).append(i)
        texts = [full_caption(scene)]
        texts += [natural_caption(scene, rng) for _ in range(2)]
        texts += [brief_caption(scene, rng) for _ in range(2)]
        for k, text in enumerate(texts):
            _encode(text, vocabulary, captions[i, k])
            if negatives is not None:
                _encode(_altered(text, scene, rng), vocabulary, negatives[i, k])
    return TrainingSet(
        pictures, captions, negatives, [np.asarray(g) for _, g in sorted(groups.items())]
    )


def _encode(text: str, vocabulary: dict[str, int], row: npt.NDArray[np.int16]) -> None:
    ids = [1, *(vocabulary[word] for word in tokens(text)), 2]
    row[: len(ids)] = ids


def _altered(text: str, scene: Scene, rng: np.random.Generator) -> str:
    """An edit of the caption that is false of the scene; the caption itself if eight tries find none."""
    facts = parse(text)
    assert facts is not None, text
    for _ in range(8):
        found = edit(facts, rng, str(rng.choice(NEGATIVE_FAMILIES)))
        if found is not None and not true_of(found[1], scene):
            return generate(found[1])
    return text


def train(
    model: CustomTextCLIP,
    data: TrainingSet,
    recipe: DualRecipe,
    checkpoint: Path,
    validate: Callable[[int], None],
    report: Callable[[str], None] = print,
) -> float:
    """Train in place from the checkpoint, if there is one. Returns the seconds spent, all sittings."""
    model.to(memory_format=torch.channels_last)
    decayed = [p for p in model.parameters() if p.ndim >= 2]
    others = [p for p in model.parameters() if p.ndim < 2]
    optimizer = torch.optim.AdamW(
        [
            {"params": decayed, "weight_decay": recipe.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ],
        lr=recipe.learning_rate,
        betas=(0.9, 0.98),
    )
    sitting = Sitting(checkpoint, model, optimizer, report)
    losses: list[float] = []
    for step in range(sitting.first, recipe.steps):
        for group in optimizer.param_groups:
            group["lr"] = recipe.learning_rate * _schedule(step, recipe)
        loss = _loss(model, *_batch(data, recipe, step), recipe)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            model.logit_scale.clamp_(0, math.log(100))
        losses.append(loss.item())
        done = step + 1
        if done % 100 == 0:
            mean = float(np.mean(losses[-100:]))
            rate = sitting.rate(done, recipe.batch)
            report(f"step {done}/{recipe.steps} loss {mean:.3f} {rate:.0f} pairs/s")
        sitting.keep(done, last=done == recipe.steps)
        if done % 1000 == 0 and done < recipe.steps:
            validate(done)
    return sitting.seconds


def _schedule(step: int, recipe: DualRecipe) -> float:
    """Linear warm-up, then a half cosine to zero."""
    warm = min(1.0, (step + 1) / recipe.warmup)
    return warm * 0.5 * (1 + math.cos(math.pi * step / recipe.steps))


def _batch(
    data: TrainingSet, recipe: DualRecipe, step: int
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Pictures (B, 3, 64, 64), caption ids (B, L), altered ids (B, L); L is the longest row's."""
    rng = np.random.default_rng([recipe.seed, step])
    pool = np.arange(len(data.pictures))
    if rng.random() < recipe.grouped:
        group = data.groups[rng.integers(len(data.groups))]
        pool = group if len(group) >= recipe.batch else pool
    rows = rng.choice(pool, recipe.batch, replace=False)
    columns = rng.integers(CAPTIONS_A_SCENE, size=recipe.batch)
    ids = torch.from_numpy(data.captions[rows, columns].astype(np.int64))
    altered = None
    if data.negatives is not None:
        altered = torch.from_numpy(data.negatives[rows, columns].astype(np.int64))
    both = ids if altered is None else torch.cat([ids, altered])
    longest = int((both != 0).sum(1).max())
    ids = ids[:, :longest]
    altered = None if altered is None else altered[:, :longest]
    return _augment(data.pictures[rows], rng), ids, altered


def _augment(pictures: Pixels, rng: np.random.Generator) -> Tensor:
    """Contrast, brightness, and one shift of the whole batch. No mirroring: it would swap left, right."""
    x = normalise(pictures)
    n = len(pictures)
    contrast = torch.from_numpy(rng.normal(1, 0.1, (n, 1, 1, 1)).astype(np.float32))
    brightness = torch.from_numpy(rng.normal(0, 0.1, (n, 1, 1, 1)).astype(np.float32))
    dx, dy = (int(v) for v in rng.integers(0, 2 * SHIFT_PX + 1, 2))
    x = F.pad(x * contrast + brightness, (SHIFT_PX,) * 4, mode="replicate")
    x = x[:, :, dy : dy + pictures.shape[1], dx : dx + pictures.shape[2]]
    return x.contiguous(memory_format=torch.channels_last)


def normalise(pictures: Pixels) -> Tensor:
    """What open_clip's preprocessing makes of 64 px pictures: (B, 3, 64, 64) float32."""
    x = torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 255
    mean, std = (torch.tensor(v).view(3, 1, 1) for v in (MEAN, STD))
    return ((x - mean) / std).contiguous(memory_format=torch.channels_last)


def _encode_short(model: CustomTextCLIP, ids: Tensor) -> Tensor:
    """(B, L) ids with L below the context length: a causal tower gives the same up to the end token."""
    full = model.text.attn_mask
    model.text.attn_mask = full[: ids.shape[1], : ids.shape[1]]
    try:
        features: Tensor = model.encode_text(ids)
    finally:
        model.text.attn_mask = full
    return features


def _loss(
    model: CustomTextCLIP,
    pictures: Tensor,
    ids: Tensor,
    altered: Tensor | None,
    recipe: DualRecipe,
) -> Tensor:
    texts = ids if altered is None else torch.cat([ids, altered])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        image = model.encode_image(pictures)
        text = _encode_short(model, texts)
    image = F.normalize(image.float(), dim=-1)
    text = F.normalize(text.float(), dim=-1)
    logits = model.logit_scale.exp() * image @ text.T
    n = len(ids)
    twin = (texts[None] == ids[:, None]).all(-1)
    twin[torch.arange(n), torch.arange(n)] = False
    if recipe.loss == "sigmoid":
        labels = 2 * torch.eye(n) - 1
        each = -F.logsigmoid(labels * (logits + model.logit_bias))
        return each.masked_fill(twin, 0).sum() / n
    target = torch.arange(n)
    by_image = F.cross_entropy(logits.masked_fill(twin, -torch.inf), target)
    by_text = F.cross_entropy(logits[:, :n].T.masked_fill(twin[:, :n], -torch.inf), target)
    return (by_image + by_text) / 2
