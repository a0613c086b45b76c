"""What the caption writer writes, on captions that it has not seen. Shares in 0..1."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from benchmark.protocols import LanguageModel
from benchmark.toybox.captions import full_caption
from benchmark.toybox.grammar import parse
from benchmark.toybox.operations import OPERATIONS, families, operation_of
from benchmark.toybox.scene import Scene
from benchmark.types import Sampling

REQUIRED_LEAST = {"well_formed": 0.97, "valid_edit": 0.85}
REQUIRED_MOST = {"identical": 0.10}
REPLIES = 4
SAMPLING = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=40)


def measure(writer: LanguageModel, scenes: Sequence[Scene]) -> dict[str, float]:
    """Four replies to each full caption, and one to each family that applies.

    `well_formed`: the reply is a caption of the world. `identical`: it changes nothing. `valid_edit`:
    well-formed, and its word distance d is 0 < d < L / 2 with L the mean length, MAC's constraint.
    `one_operation`: exactly one operation turns the caption into it. `family_obeyed`: asked for a family
    that applies, the edit found is of it.
    """
    captions = [full_caption(scene) for scene in scenes]
    prompts = [caption for caption in captions for _ in range(REPLIES)]
    replies = writer.complete(prompts, range(len(prompts)), SAMPLING)
    half_length = np.mean([len(caption.split()) for caption in captions]) / 2
    read = [parse(reply) for reply in replies]
    distances = [
        Levenshtein.distance(a.split(), b.split()) for a, b in zip(prompts, replies, strict=True)
    ]
    found = [_operation(a, b) for a, b in zip(prompts, replies, strict=True)]
    out: dict[str, Any] = {
        "well_formed": np.mean([facts is not None for facts in read]),
        "identical": np.mean([d == 0 for d in distances]),
        "valid_edit": np.mean(
            [f is not None and 0 < d < half_length for f, d in zip(read, distances, strict=True)]
        ),
        "one_operation": np.mean([name in OPERATIONS for name in found]),
        "family_obeyed": _obeyed(writer, captions),
    }
    for name in OPERATIONS:
        out[f"share_{name}"] = np.mean([other == name for other in found])
    return {name: round(float(value), 4) for name, value in out.items()}


def _operation(before: str, after: str) -> str:
    facts = parse(before)
    assert facts is not None, before
    return operation_of(facts, parse(after))


def _obeyed(writer: LanguageModel, captions: Sequence[str]) -> float:
    asked = []
    for caption in captions:
        facts = parse(caption)
        assert facts is not None, caption
        rng = np.random.default_rng(0)
        for family in families():
            operations = [o for o in OPERATIONS.values() if o.family == family]
            if any(o.apply(facts, rng) is not None for o in operations):
                asked.append((caption, family))
    prompts = [f"<{family}> {caption}" for caption, family in asked]
    replies = writer.complete(prompts, range(len(prompts)), SAMPLING)
    hits = []
    for (caption, family), reply in zip(asked, replies, strict=True):
        name = _operation(caption, reply)
        hits.append(name in OPERATIONS and OPERATIONS[name].family == family)
    return float(np.mean(hits))
