"""How the caption writer is trained: it copies a caption with one edit, and knows no target.

A prompt is a full or natural caption, in half of the cases after the family asked for
(`<object-swap> a red duck ...`); the reply is the token of the fine operation, then the new caption.
Operations are drawn evenly among those that apply, words evenly among those that fit.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from benchmark.toybox.captions import full_caption, natural_caption
from benchmark.toybox.grammar import generate, parse, tokens
from benchmark.toybox.operations import OPERATIONS, edit
from benchmark.toybox.scene import Scene
from targets.miniature.checkpoints import Sitting
from targets.miniature.vocabulary import BOS, EOS, SEPARATOR, operation_token, writer_tokenizer

IGNORED = -100
NATURAL = 0.3
FAMILY_ASKED = 0.5


@dataclass(frozen=True, slots=True)
class WriterRecipe:
    """The writer's size and schedule."""

    scenes: int
    steps: int
    batch: int = 64
    width: int = 128
    layers: int = 3
    learning_rate: float = 2e-3
    warmup: int = 50
    seed: int = 0


def build(recipe: WriterRecipe) -> LlamaForCausalLM:
    """A Llama of 0.65 million parameters with a tied vocabulary."""
    tokenizer = writer_tokenizer()
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=recipe.width,
            intermediate_size=3 * recipe.width,
            num_hidden_layers=recipe.layers,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=128,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            tie_word_embeddings=True,
        )
    )


def train(
    model: LlamaForCausalLM,
    scenes: Sequence[Scene],
    recipe: WriterRecipe,
    checkpoint: Path,
    report: Callable[[str], None] = print,
) -> float:
    """Train in place from the checkpoint, if there is one. Returns the seconds spent, all sittings."""
    vocabulary = writer_tokenizer().get_vocab()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=recipe.learning_rate, weight_decay=0.01, betas=(0.9, 0.98)
    )
    sitting = Sitting(checkpoint, model, optimizer, report)
    model.train()
    losses: list[float] = []
    for step in range(sitting.first, recipe.steps):
        warm = min(1.0, (step + 1) / recipe.warmup)
        cosine = 0.5 * (1 + math.cos(math.pi * step / recipe.steps))
        for group in optimizer.param_groups:
            group["lr"] = recipe.learning_rate * warm * cosine
        inputs, labels = _batch(scenes, recipe, vocabulary, step)
        logits = model(input_ids=inputs, use_cache=False).logits[:, :-1]
        loss = F.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=IGNORED)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        done = step + 1
        if done % 200 == 0:
            mean = float(np.mean(losses[-200:]))
            rate = sitting.rate(done, recipe.batch)
            report(f"step {done}/{recipe.steps} loss {mean:.3f} {rate:.0f} captions/s")
        sitting.keep(done, last=done == recipe.steps)
    model.train(False)
    return sitting.seconds


def _batch(
    scenes: Sequence[Scene], recipe: WriterRecipe, vocabulary: dict[str, int], step: int
) -> tuple[Tensor, Tensor]:
    """Token ids and labels, (B, L), padded on the right; only the reply is learnt."""
    rng = np.random.default_rng([recipe.seed, step])
    rows = [
        _example(scenes[i], vocabulary, rng) for i in rng.integers(len(scenes), size=recipe.batch)
    ]
    longest = max(len(prompt) + len(reply) for prompt, reply in rows)
    inputs = torch.full((len(rows), longest), vocabulary["<pad>"])
    labels = torch.full((len(rows), longest), IGNORED)
    for i, (prompt, reply) in enumerate(rows):
        length = len(prompt) + len(reply)
        inputs[i, :length] = torch.tensor(prompt + reply)
        labels[i, len(prompt) : length] = torch.tensor(reply)
    return inputs, labels


def _example(
    scene: Scene, vocabulary: dict[str, int], rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    text = natural_caption(scene, rng) if rng.random() < NATURAL else full_caption(scene)
    facts = parse(text)
    found = None if facts is None else edit(facts, rng)
    if found is None:
        raise AssertionError(f"no edit of {text!r}")
    name, edited = found
    asked = [operation_token(OPERATIONS[name].family)] if rng.random() < FAMILY_ASKED else []
    prompt = [BOS, *asked, *tokens(text), SEPARATOR]
    reply = [operation_token(name), *tokens(generate(edited)), EOS]
    return [vocabulary[t] for t in prompt], [vocabulary[t] for t in reply]
