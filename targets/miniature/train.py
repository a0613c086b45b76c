"""Reproduces a miniature from its seed: `python -m targets.miniature.train clip-mini`.

Pictures are rendered once into the work folder and shared by all trainings. A training that is killed
goes on from its last checkpoint (one a minute) when the same command is typed again.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from open_clip.model import CustomTextCLIP
from safetensors.torch import save_file
from transformers import LlavaForConditionalGeneration

from benchmark.protocols import Embeddings
from benchmark.toybox.sampling import SPLITS, scenes
from benchmark.toybox.scene import Scene
from benchmark.types import ModelInfo, Pixels
from targets.miniature import (
    dual_training,
    lvlm_quality,
    lvlm_tower,
    lvlm_training,
    naturalness_training,
    quality,
    writer_quality,
    writer_training,
)
from targets.miniature.dual_training import DualRecipe
from targets.miniature.layouts import layouts
from targets.miniature.lvlm_tower import LvlmRecipe, TrainingSet
from targets.miniature.naturalness_training import NaturalnessRecipe
from targets.miniature.tower_features import FILE as TOWER
from targets.miniature.tower_features import TowerFeatures
from targets.miniature.vocabulary import caption_tokenizer, writer_tokenizer
from targets.miniature.world_data import pictures, world_digest
from targets.miniature.writer_training import WriterRecipe
from targets.naturalness import WEIGHTS as HEADS
from targets.naturalness import load_heads, save_heads
from targets.naturalness_training import extract, fit
from targets.open_clip import OpenClip
from targets.transformers_lm import TransformersLM
from targets.transformers_lvlm import TransformersLVLM

WEIGHTS = Path(__file__).with_name("weights")

Recipe = DualRecipe | WriterRecipe | NaturalnessRecipe | LvlmRecipe

HEALTHY = "lvlm-mini"
WITHHELD = ("fog", "umbrella", "rocket")
"""What the planted vision-language model has never seen; the healthy one has, and is its twin otherwise."""

LVLM = LvlmRecipe(scenes=80_000, tower_steps=4_000, steps=2_400, seed=6)

RECIPES: dict[str, Recipe] = {
    "clip-mini": DualRecipe("contrastive", scenes=80_000, steps=5_000, seed=1),
    "siglip-mini": DualRecipe("sigmoid", scenes=80_000, steps=5_000, seed=2),
    "negclip-mini": DualRecipe(
        "hard-negatives",
        scenes=80_000,
        steps=1_000,
        learning_rate=3e-4,
        start_from="clip-mini",
        seed=3,
    ),
    "writer-mini": WriterRecipe(scenes=80_000, steps=4_000, seed=4),
    "naturalness-mini": NaturalnessRecipe(
        scenes=2_400, validation=60, test=60, start_from="clip-mini", steps=8_000, seed=5
    ),
    HEALTHY: LVLM,
    "lvlm-planted-mini": replace(LVLM, withheld=WITHHELD),
}


class InTraining:
    """A model that is being trained, in the shape of a target, for looks at the validation split."""

    info = ModelInfo("in-training")

    def __init__(self, model: CustomTextCLIP) -> None:
        self.model = model
        self.tokenizer = caption_tokenizer()

    def encode_images(self, images: Sequence[Pixels]) -> Embeddings:
        """(n, 128) unit vectors."""
        parts = [
            self.model.encode_image(dual_training.normalise(np.stack(images[i : i + 250])))
            for i in range(0, len(images), 250)
        ]
        return _unit(parts)

    def encode_texts(self, texts: Sequence[str]) -> Embeddings:
        """(n, 128) unit vectors."""
        ids = self.tokenizer(list(texts), padding="max_length", return_tensors="pt").input_ids
        return _unit([self.model.encode_text(ids[i : i + 500]) for i in range(0, len(ids), 500)])


def _unit(parts: Sequence[torch.Tensor]) -> Embeddings:
    embedded: Embeddings = F.normalize(torch.cat(list(parts)), dim=-1).detach().numpy()
    return embedded


def train_dual(name: str, recipe: DualRecipe, work: Path, out: Path) -> dict[str, Any]:
    """Train, save and measure one dual encoder; returns its card."""
    images, all_scenes = pictures("train", recipe.scenes, work)
    validation = quality.held_out("validation", work, fraction=0.5)
    _say("drawing captions")
    data = dual_training.training_set(images, all_scenes, recipe)
    torch.manual_seed(recipe.seed)
    config = dual_training.model_config(recipe)
    model = CustomTextCLIP(**{k: v for k, v in config.items() if k != "custom_text"})
    if recipe.start_from is not None:
        parent = OpenClip(str(out / recipe.start_from), {})
        model.load_state_dict(parent.model.state_dict())

    def validate(step: int) -> None:
        model.eval()
        with torch.inference_mode():
            _say(
                f"validation at {step}: {json.dumps(quality.measure(InTraining(model), validation))}"
            )
        model.train()

    model.train()
    seconds = dual_training.train(model, data, recipe, work / f"{name}.pt", validate, _say)
    folder = out / name
    _fresh(folder)
    preprocess = {"mean": dual_training.MEAN, "std": dual_training.STD, "size": [64, 64]}
    config_file = {"model_cfg": config, "preprocess_cfg": preprocess}
    (folder / "open_clip_config.json").write_text(json.dumps(config_file, indent=2) + "\n")
    caption_tokenizer().save_pretrained(str(folder))
    _save_half(model, folder / "open_clip_model.safetensors")
    measured = OpenClip(str(folder), {})
    _say("measuring")
    splits = {
        split: quality.measure(measured, quality.held_out(split, work))
        for split in ("validation", "test")
    }
    for split in splits:
        for missed in quality.shortfalls(splits[split]):
            _say(f"below the gate on {split}: {missed}")
    return _card(name, recipe, seconds, model, folder / "open_clip_model.safetensors", splits)


def train_writer(name: str, recipe: WriterRecipe, work: Path, out: Path) -> dict[str, Any]:
    """Train, save and measure the writer; returns its card."""
    torch.manual_seed(recipe.seed)
    model = writer_training.build(recipe)
    all_scenes = scenes("train", recipe.scenes)
    seconds = writer_training.train(model, all_scenes, recipe, work / f"{name}.pt", _say)
    folder = out / name
    _fresh(folder)
    half: torch.nn.Module = model.half()  # type: ignore[no-untyped-call]
    model.save_pretrained(str(folder), state_dict=half.state_dict())
    writer_tokenizer().save_pretrained(str(folder))
    _say("measuring")
    written = TransformersLM(str(folder), {"dtype": "float64"})  # as the package loads it
    splits = {
        split: writer_quality.measure(written, scenes(split, 300))
        for split in ("validation", "test")
    }
    return _card(name, recipe, seconds, model, folder / "model.safetensors", splits)


def train_naturalness(
    name: str, recipe: NaturalnessRecipe, work: Path, out: Path
) -> dict[str, Any]:
    """Train, save and measure the tower and the heads of the naturalness model; returns their card."""
    rated = naturalness_training.rated_pictures(recipe, work / "naturalness")
    parts = {part: naturalness_training.part_of(rated, part) for part in naturalness_training.PARTS}
    tower = OpenClip(str(out / recipe.start_from), {}).model.visual.trunk
    seconds = naturalness_training.train_tower(tower, parts["train"], recipe, work, _say)
    folder = out / name
    _fresh(folder)
    _save_half(tower, folder / TOWER)
    backbone = TowerFeatures(folder, f"miniature:{name}", {})
    features = extract(backbone, parts["train"], work / "naturalness-features", _say)
    heads, more = fit(features, parts["train"].scores, recipe.heads, work, _say)
    save_heads(heads, backbone.info, folder)
    model = load_heads(folder, backbone, f"miniature:{name}")
    _say("measuring")
    splits = {
        part: naturalness_training.measure(model, parts[part])
        for part in naturalness_training.PARTS[1:]
    }
    for split in splits:
        for missed in naturalness_training.shortfalls(splits[split]):
            _say(f"below the gate on {split}: {missed}")
    both = torch.nn.ModuleList([tower, heads])
    card = _card(name, recipe, seconds + more, both, folder / HEADS, splits)
    card["data"]["train_seeds"] = naturalness_training.seeds_of(parts["train"])
    card["data"]["pictures"] = {part: len(parts[part].images) for part in parts}
    return card


def train_lvlm(name: str, recipe: LvlmRecipe, work: Path, out: Path) -> dict[str, Any]:
    """Train, save and measure a vision-language model; returns its card."""
    images, all_scenes = pictures("train", recipe.scenes, work)
    _say("looking up what each cell shows")
    data = TrainingSet(images, all_scenes, layouts(all_scenes, work))
    data = lvlm_tower.without(data, recipe.withheld)
    torch.manual_seed(recipe.seed)
    model = lvlm_training.build(recipe)
    tower = lvlm_training.tower_of(model)
    seconds = lvlm_tower.train_tower(tower, data, recipe, work / f"{name}-tower.pt", _say)
    held = {split: lvlm_quality.held_out(split, work) for split in ("validation", "test")}

    def validate(step: int) -> None:
        look = work / f"{name}-look"
        _save_answerer(model, look)
        figures = lvlm_quality.measure(
            TransformersLVLM(str(look), {}), lvlm_quality.held_out("validation", work, fraction=0.1)
        )
        _say(f"validation at {step}: {json.dumps(figures)}")

    seconds += lvlm_training.train(model, data, recipe, work / f"{name}.pt", validate, _say)
    folder = out / name
    _fresh(folder)
    _save_answerer(model, folder)
    _say("measuring")
    measured = TransformersLVLM(str(folder), {"dtype": "float64"})  # as the package loads it
    splits = {split: lvlm_quality.measure(measured, held[split]) for split in held}
    for split in splits:
        for missed in lvlm_quality.shortfalls(splits[split]):
            _say(f"below the gate on {split}: {missed}")
    card = _card(name, recipe, seconds, model, folder / "model.safetensors", splits)
    card["data"]["pictures"] = len(data.scenes)
    card["concepts"] = {name: _concepts(measured, held["test"]["mixed"])}
    twin = out / HEALTHY
    if recipe.withheld and (twin / "model.safetensors").is_file():
        healthy = TransformersLVLM(str(twin), {"dtype": "float64"})
        card["concepts"][HEALTHY] = _concepts(healthy, held["test"]["mixed"])
    return card


def _concepts(
    model: TransformersLVLM, data: tuple[Pixels, list[Scene]]
) -> dict[str, dict[str, float]]:
    return lvlm_quality.concept_figures(model, *data, WITHHELD)


def _save_answerer(model: LlavaForConditionalGeneration, folder: Path) -> None:
    """A folder as transformers writes it, weights in half precision; the model itself stays as it is."""
    state = {
        key: value.half() if value.is_floating_point() else value
        for key, value in model.state_dict().items()
    }
    model.save_pretrained(str(folder), state_dict=state)
    lvlm_training.processor().save_pretrained(str(folder))


def _save_half(model: torch.nn.Module, path: Path) -> None:
    state = {
        key: (value.half() if value.is_floating_point() else value).contiguous()
        for key, value in model.state_dict().items()
    }
    save_file(state, path)


def _fresh(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _card(
    name: str,
    recipe: Recipe,
    seconds: float,
    model: torch.nn.Module,
    weights: Path,
    splits: dict[str, dict[str, float]],
) -> dict[str, Any]:
    first = SPLITS["train"].start
    return {
        "name": name,
        "recipe": asdict(recipe),
        "data": {"train_seeds": [first, first + recipe.scenes], "world": world_digest()},
        "hours": round(seconds / 3600, 3),
        "machine": f"{os.cpu_count()} CPU cores, {torch.get_num_threads()} used, "
        f"{platform.machine()}",
        "torch": torch.__version__,
        "parameters": sum(p.numel() for p in model.parameters()),
        "weights": {
            "file": weights.name,
            "bytes": weights.stat().st_size,
            "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        },
        "accuracy": splits,
    }


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)  # noqa: T201  (a command's output)


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line, train what was named, write its card."""
    parser = argparse.ArgumentParser(
        prog="python -m targets.miniature.train",
        description="Train a miniature model of the embedded world from its seed, on CPU.",
        epilog="Examples:\n  python -m targets.miniature.train clip-mini\n"
        "  python -m targets.miniature.train writer-mini --work /tmp/miniatures --threads 2",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=sorted(RECIPES))
    parser.add_argument("--work", type=Path, default=Path("miniature-work"),
                        help="pictures and checkpoints (default: %(default)s)")  # fmt: skip
    parser.add_argument("--out", type=Path, default=WEIGHTS,
                        help="where NAME/ is written (default: in the package)")  # fmt: skip
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args(argv)
    torch.set_num_threads(arguments.threads)
    arguments.work.mkdir(parents=True, exist_ok=True)
    recipe = RECIPES[arguments.name]
    make: dict[type, Callable[..., dict[str, Any]]] = {
        DualRecipe: train_dual,
        WriterRecipe: train_writer,
        NaturalnessRecipe: train_naturalness,
        LvlmRecipe: train_lvlm,
    }
    card = make[type(recipe)](arguments.name, recipe, arguments.work, arguments.out)
    path = arguments.out / arguments.name / "card.json"
    path.write_text(json.dumps(card, indent=2) + "\n")
    _say(f"wrote {path}: {json.dumps(card['accuracy']['test'])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
