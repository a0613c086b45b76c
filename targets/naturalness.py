"""How natural a picture is: AdvDreamer's Naturalness Reward Model (sec. 3.2.2), as a tool.

A frozen backbone turns a picture into features; two independent two-layer perceptrons f_R and f_P turn
these into visual fidelity and physical plausibility, each from 1 to 5, higher = more natural (eq. 3).

No weights of it are public, so a folder is needed that `python -m targets.naturalness_training` wrote.

Deviations (the paper's appendix, which has the sizes, is not public):

- Features are DINOv2's class token and the mean of its patch tokens, side by side, standardised.
- Pictures are squeezed to the backbone's size, not cropped: what leaves the frame must be seen to.
- Hidden layers have 512 units with GELU; the loss is Huber's.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AutoImageProcessor, AutoModel

from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Pixels
from targets.options import Options
from targets.pretrained import loading, placed, transformers_weights
from targets.weights import sha256_of

DINOV2, DINOV2_REVISION = "facebook/dinov2-base", "f9e44c814b77203eaa57a6bdbbd535f21ede1415"
CONFIG, WEIGHTS = "naturalness.json", "heads.safetensors"
LEAST, MOST = 1.0, 5.0
DIGITS = 4

_BATCH = 16
"""Every call of the backbone has this many rows: the last digits of its kernels depend on it."""


class Scores(NamedTuple):
    """Each from 1 to 5, higher is better."""

    fidelity: float
    plausibility: float


class Backbone(Protocol):
    """A frozen model of pictures. `info.weights` says which one heads were trained on."""

    info: ModelInfo
    width: int

    def features(self, images: Sequence[Pixels]) -> Tensor:
        """Shape (n, width), float32, on the CPU, for n pictures of any size."""
        ...


class Heads(nn.Module):
    """f_R and f_P: (n, width) -> (n, 2), fidelity and plausibility, not yet limited to 1..5."""

    centre: Tensor
    spread: Tensor

    def __init__(self, width: int, hidden: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("centre", torch.zeros(width))
        self.register_buffer("spread", torch.ones(width))
        self.fidelity = _perceptron(width, hidden, dropout)
        self.plausibility = _perceptron(width, hidden, dropout)

    def forward(self, features: Tensor) -> Tensor:
        """Scores of features, which are standardised as the training's were."""
        x = (features - self.centre) / self.spread
        return torch.cat([self.fidelity(x), self.plausibility(x)], dim=1)


class Naturalness:
    """Pictures in, `Scores` out; the same picture has the same scores in any company."""

    def __init__(self, backbone: Backbone, heads: Heads, info: ModelInfo) -> None:
        self._backbone = backbone
        self._heads = heads.float().eval()
        self.info = info

    def ask(self, items: Sequence[Pixels]) -> list[Scores]:
        """The scores of each picture, to `DIGITS` digits."""
        if not items:
            return []
        with torch.inference_mode():
            parts = [self._heads(part) for part in _batches(features_of(self._backbone, items))]
        rows = torch.cat(parts)[: len(items)].clamp(LEAST, MOST).tolist()
        return [
            Scores(round(fidelity, DIGITS), round(plausible, DIGITS))
            for fidelity, plausible in rows
        ]


class Dinov2:
    """DINOv2 of transformers, with or without registers.

    Raises:
        UserError: It is another kind of model, or cannot be loaded.
    """

    def __init__(self, argument: str, options: Options) -> None:
        self._options = options
        load: dict[str, Any] = {"revision": options.revision, "trust_remote_code": False}
        with loading(argument):
            model = AutoModel.from_pretrained(argument, dtype=options.dtype, **load)
            images: Any = AutoImageProcessor
            self._processor: Any = images.from_pretrained(argument, backend="pil", **load)
        if not str(model.config.model_type).startswith("dinov2"):
            raise UserError(
                f"{argument} is a {model.config.model_type!r} model, no DINOv2: give {DINOV2}"
            )
        self._model = placed(model, options)
        self._registers = int(getattr(model.config, "num_register_tokens", 0))
        side = int(self._processor.crop_size["height"])
        self._sizing = {"size": {"height": side, "width": side}, "do_center_crop": False}
        self.width = 2 * int(model.config.hidden_size)
        self.info = ModelInfo(
            id=f"transformers:{argument}",
            revision=getattr(model.config, "_commit_hash", None) or "",
            weights=sha256_of(transformers_weights(argument, options.revision)),
            dtype=options.dtype_name,
            preprocessing=json.dumps(
                {**json.loads(self._processor.to_json_string()), **self._sizing}, sort_keys=True
            ),
        )

    def features(self, images: Sequence[Pixels]) -> Tensor:
        """The class token and the mean of the patch tokens, shape (n, 2 * hidden size)."""
        inputs = self._processor(images=list(images), return_tensors="pt", **self._sizing)
        pixels = inputs["pixel_values"].to(self._options.device, self._options.dtype)
        with torch.inference_mode():
            tokens: Tensor = self._model(pixel_values=pixels).last_hidden_state
        patches = tokens[:, 1 + self._registers :].mean(dim=1)
        return torch.cat([tokens[:, 0], patches], dim=1).float().cpu()


def tool(argument: str, settings: Mapping[str, JSON]) -> Naturalness:
    """`naturalness:FOLDER`, heads on the DINOv2 that FOLDER names.

    Settings:
        dtype, device: See `targets.options`.

    Raises:
        UserError: The folder has no heads, or the backbone is not the one they were trained on.
    """
    stated = read_config(Path(argument))
    options = Options.of({"revision": stated["revision"] or None, **settings})
    return load_heads(
        Path(argument), Dinov2(stated["backbone"], options), f"naturalness:{argument}"
    )


def features_of(backbone: Backbone, images: Sequence[Pixels]) -> Tensor:
    """Features of any number of pictures, shape (n, width), in calls of one shape."""
    parts = []
    for start in range(0, len(images), _BATCH):
        batch = list(images[start : start + _BATCH])
        filled = batch + [batch[-1]] * (_BATCH - len(batch))
        parts.append(backbone.features(filled)[: len(batch)])
    return torch.cat(parts) if parts else torch.empty(0, backbone.width)


def save_heads(heads: Heads, backbone: ModelInfo, folder: Path) -> None:
    """Write heads in half precision, and which backbone they belong to."""
    folder.mkdir(parents=True, exist_ok=True)
    state = {key: value.half().contiguous() for key, value in heads.state_dict().items()}
    save_file(state, folder / WEIGHTS)
    stated = {
        "backbone": backbone.id.removeprefix("transformers:"),
        "revision": backbone.revision,
        "backbone_weights": backbone.weights,
        "width": len(heads.centre),
        "hidden": len(state["fidelity.0.bias"]),
    }
    (folder / CONFIG).write_text(json.dumps(stated, indent=2) + "\n", encoding="utf-8")


def load_heads(folder: Path, backbone: Backbone, name: str) -> Naturalness:
    """Put the heads in a folder on a backbone.

    Raises:
        UserError: There are none, or the backbone is not the one they were trained on.
    """
    stated = read_config(folder)
    if backbone.info.weights != stated["backbone_weights"]:
        raise UserError(
            f"{name} was trained on another {stated['backbone']} (weights"
            f" {stated['backbone_weights'][:12]}, not {backbone.info.weights[:12]}):"
            " use that one, or train the heads again"
        )
    heads = Heads(int(stated["width"]), int(stated["hidden"]))
    heads.load_state_dict({k: v.float() for k, v in load_file(folder / WEIGHTS).items()})
    info = ModelInfo(
        id=name,
        revision=backbone.info.revision,
        weights=sha256_of([folder / WEIGHTS]),
        dtype=backbone.info.dtype,
        preprocessing=f"{backbone.info.id} {backbone.info.weights}: {backbone.info.preprocessing}",
    )
    return Naturalness(backbone, heads, info)


def read_config(folder: Path) -> dict[str, Any]:
    """What `save_heads` wrote about the backbone.

    Raises:
        UserError: There are no heads in the folder.
    """
    for name in (CONFIG, WEIGHTS):
        if not (folder / name).is_file():
            raise UserError(
                f"no naturalness model in {str(folder)!r}: it lacks {name};"
                " train one with `python -m targets.naturalness_training`"
            )
    stated: dict[str, Any] = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    return stated


def _perceptron(width: int, hidden: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(width, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, 1)
    )


def _batches(features: Tensor) -> list[Tensor]:
    """Rows in parts of one shape, the last filled up with zeros."""
    missing = -len(features) % _BATCH
    filled = torch.cat([features, features.new_zeros(missing, features.shape[1])])
    return [filled[start : start + _BATCH] for start in range(0, len(filled), _BATCH)]
