"""How the miniature vision-language models are trained: a LLaVA in small, from nothing, in two stages.

First the picture tower learns what each cell shows (`lvlm_tower`). Then the whole LLaVA learns to caption
and to answer: one row holds a picture and several exchanges about it, which cannot see each other, so that
a picture's 64 tokens are read once for all of them.

A planted model is trained in the same way, both stages, on the same pictures without those that show what
is withheld.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import (
    CLIPImageProcessorPil,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    TimmWrapperConfig,
)

from benchmark.toybox.grammar import generate
from benchmark.toybox.questions import DESCRIBE, SETTING, SUBJECT, canonical, questions
from benchmark.toybox.scene import Scene
from targets.miniature.checkpoints import Sitting
from targets.miniature.dual_training import MEAN, STD, normalise
from targets.miniature.lvlm_tower import (
    IGNORED,
    IMAGE_TOKENS,
    LvlmRecipe,
    TrainingSet,
    schedule,
    tell,
)
from targets.miniature.pyramid import CELLS, TridentPyramid
from targets.miniature.vocabulary import (
    ANSWERER_LENGTH,
    BOS,
    EOS,
    IMAGE,
    SEPARATOR,
    answerer_tokenizer,
)
from targets.miniature.world_data import PICTURE_PX

OTHER_WORDING = 0.25
DESCRIBING = (
    "Describe the image.", "Describe the scene.", "What is in the image?", "What do you see?",
    "What is in this picture?", "Describe this picture.",
)  # fmt: skip
"""What is asked instead of `DESCRIBE` in `OTHER_WORDING` of the cases."""
REWORDED = {
    SUBJECT: ("What is this?", "What object is this?", "What is the main object in the image?"),
    SETTING: ("Where is this?", "Describe the setting.", "What is the environment like?"),
}


def build(recipe: LvlmRecipe) -> LlavaForConditionalGeneration:
    """The LLaVA: a residual tower, a projector of two layers, a Llama with a tied vocabulary."""
    tokenizer = answerer_tokenizer()
    tower = TridentPyramid()
    more: dict[str, Any] = {"hidden_size": tower.num_features, "num_labels": 0, "label_names": []}
    vision = TimmWrapperConfig(architecture="trident_pyramid", do_pooling=False, **more)
    text = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=recipe.width,
        intermediate_size=2 * recipe.width,
        num_hidden_layers=recipe.layers,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=ANSWERER_LENGTH,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=True,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_token_index=tokenizer.get_vocab()[IMAGE],
        image_seq_length=IMAGE_TOKENS,
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
        tie_word_embeddings=True,
    )
    return LlavaForConditionalGeneration(config)


def processor() -> LlavaProcessor:
    """Pictures to 64 px by Pillow, the chat template, 64 image tokens a picture."""
    images = CLIPImageProcessorPil(
        size={"height": PICTURE_PX, "width": PICTURE_PX},
        do_center_crop=False,
        image_mean=list(MEAN),
        image_std=list(STD),
    )
    tokenizer = answerer_tokenizer()
    return LlavaProcessor(  # type: ignore[no-untyped-call]
        image_processor=images,
        tokenizer=tokenizer,
        patch_size=PICTURE_PX // CELLS,
        vision_feature_select_strategy="full",
        chat_template=tokenizer.chat_template,
        image_token=IMAGE,
    )


def tower_of(model: LlavaForConditionalGeneration) -> TridentPyramid:
    """The picture tower inside the LLaVA."""
    tower: TridentPyramid = model.model.vision_tower.timm_model
    return tower


def train(
    model: LlavaForConditionalGeneration,
    data: TrainingSet,
    recipe: LvlmRecipe,
    checkpoint: Path,
    validate: Callable[[int], None],
    report: Callable[[str], None] = print,
) -> float:
    """The second stage, in place, from the checkpoint if there is one. Returns the seconds spent."""
    vocabulary = answerer_tokenizer().get_vocab()
    inside = {id(p) for p in tower_of(model).parameters()}
    optimizer = torch.optim.AdamW(
        [
            {
                "params": [p for p in model.parameters() if id(p) in inside],
                "rate": recipe.tuning_rate,
            },
            {
                "params": [p for p in model.parameters() if id(p) not in inside],
                "rate": recipe.learning_rate,
            },
        ],
        weight_decay=0.05,
        betas=(0.9, 0.98),
    )
    sitting = Sitting(checkpoint, model, optimizer, report)
    model.train()
    losses: list[float] = []
    for step in range(sitting.first, recipe.steps):
        factor = schedule(step, recipe.steps, recipe.warmup)
        for group in optimizer.param_groups:
            group["lr"] = group["rate"] * factor
        inputs, labels = batch(data, recipe, vocabulary, step)
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(**inputs, use_cache=False).logits[:, IMAGE_TOKENS:-1]
        loss = F.cross_entropy(
            logits.float().flatten(0, 1),
            labels[:, IMAGE_TOKENS + 1 :].flatten(),
            ignore_index=IGNORED,
        )
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        done = step + 1
        if done % 50 == 0:
            tell(report, "step", done, recipe.steps, losses, sitting, recipe.batch)
        sitting.keep(done, last=done == recipe.steps)
        if done % 500 == 0 and done < recipe.steps:
            validate(done)
    model.train(False)
    return sitting.seconds


def batch(
    data: TrainingSet, recipe: LvlmRecipe, vocabulary: dict[str, int], step: int
) -> tuple[dict[str, Any], Tensor]:
    """Inputs of the model for one step, and labels (B, L) that are IGNORED outside answers.

    A row is <bos>, the picture's tokens, then exchanges that each see only the picture and themselves, at
    the positions that they would have alone.
    """
    rng = np.random.default_rng([recipe.seed, 2, step])
    rows = rng.integers(len(data.scenes), size=recipe.batch)
    spoken = [exchanges(data.scenes[i], recipe, rng) for i in rows]
    encoded = [[(_ids(q, vocabulary), _ids(a, vocabulary)) for q, a in row] for row in spoken]
    start = 1 + IMAGE_TOKENS
    longest = start + max(sum(len(q) + len(a) + 2 for q, a in row) for row in encoded)
    ids = np.full((len(rows), longest), vocabulary["<pad>"], np.int64)
    ids[:, 0], ids[:, 1:start] = vocabulary[BOS], vocabulary[IMAGE]
    labels = np.full_like(ids, IGNORED)
    positions = np.zeros_like(ids)
    positions[:, :start] = np.arange(start)
    part = np.full_like(ids, -1)
    part[:, :start] = 0
    for r, row in enumerate(encoded):
        at = start
        for k, (question, answer) in enumerate(row):
            said = [*question, vocabulary[SEPARATOR], *answer, vocabulary[EOS]]
            end = at + len(said)
            ids[r, at:end], part[r, at:end] = said, k + 1
            positions[r, at:end] = np.arange(start, start + len(said))
            first = at + len(question) + 1
            labels[r, first:end] = ids[r, first:end]
            at = end
    inputs = {
        "input_ids": torch.from_numpy(ids),
        "pixel_values": normalise(data.pictures[rows]),
        "attention_mask": torch.from_numpy(_visible(part))[:, None],
        "position_ids": torch.from_numpy(positions),
    }
    return inputs, torch.from_numpy(labels)


def _visible(part: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """(B, L, L): which token (row) sees which (column). Padding sees itself, or softmax has no row."""
    same = part[:, :, None] == part[:, None, :]
    picture = (part[:, None, :] == 0) & (part[:, :, None] >= 0)
    earlier = np.tri(part.shape[1], dtype=np.bool_)
    seen: npt.NDArray[np.bool_] = (same | picture) & earlier
    return seen


def exchanges(scene: Scene, recipe: LvlmRecipe, rng: np.random.Generator) -> list[tuple[str, str]]:
    """The caption, asked for in one way or another, and questions of different kinds.

    No question names what is withheld, not even to be answered with no.
    """
    facts = canonical(scene)
    asked = [q for q in questions(facts, rng) if not _names(q.answer, recipe.withheld)]
    kinds = list(dict.fromkeys(question.kind for question in asked))
    out = [(_worded(DESCRIBE, DESCRIBING, rng), generate(facts))]
    for kind in rng.permutation(len(kinds))[: recipe.exchanges - 1]:
        options = [question for question in asked if question.kind == kinds[kind]]
        chosen = options[int(rng.integers(len(options)))]
        out.append((_worded(chosen.text, REWORDED.get(chosen.text, ()), rng), chosen.answer))
    return out


def _worded(text: str, others: Sequence[str], rng: np.random.Generator) -> str:
    if others and rng.random() < OTHER_WORDING:
        return others[int(rng.integers(len(others)))]
    return text


def _names(text: str, concepts: Sequence[str]) -> bool:
    return not set(text.replace(",", "").split()).isdisjoint(concepts)


_MARKS = str.maketrans({mark: f" {mark} " for mark in ".,?"})


def _ids(text: str, vocabulary: dict[str, int]) -> list[int]:
    return [vocabulary[word] for word in text.lower().translate(_MARKS).split()]
