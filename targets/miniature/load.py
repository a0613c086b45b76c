"""The embedded models, loaded through the very adapters that load published ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import targets.miniature.pyramid  # noqa: F401  (registers the answerers' picture tower with timm)
from benchmark.errors import UserError
from benchmark.registry import unknown
from benchmark.types import JSON
from targets.miniature import tower  # registers the dual encoders' one
from targets.miniature.tower_features import TowerFeatures
from targets.naturalness import Naturalness, load_heads
from targets.open_clip import OpenClip
from targets.transformers_lm import TransformersLM
from targets.transformers_lvlm import TransformersLVLM

TARGETS = ("clip-mini", "lvlm-mini", "lvlm-planted-mini", "negclip-mini", "siglip-mini")
ANSWERERS = ("lvlm-mini", "lvlm-planted-mini")
TOOLS = ("naturalness-mini", "writer-mini")
WEIGHTS = Path(tower.__file__).with_name("weights")
LICENSE = "Apache-2.0"


def target(argument: str, settings: Mapping[str, JSON]) -> OpenClip | TransformersLVLM:
    """A dual encoder or a vision-language model of the embedded world: `miniature:clip-mini`.

    A path such as `miniature:./mine` names the folder of a dual encoder of one's own, made like these.

    Vision-language models run in float64: rounding then never decides between two words, so an answer is
    the same in any batch.

    Raises:
        UserError: There is no such miniature, or its weights are not in the package.
    """
    own = "/" in argument and Path(argument).is_dir()
    folder = argument if own else str(_folder(argument, TARGETS, "targets"))
    model: OpenClip | TransformersLVLM
    if argument in ANSWERERS:
        model = TransformersLVLM(folder, {"dtype": "float64", **settings})
    else:
        model = OpenClip(folder, settings)
    model.info = replace(model.info, id=f"miniature:{argument}", license="" if own else LICENSE)
    return model


def tool(argument: str, settings: Mapping[str, JSON]) -> TransformersLM | Naturalness:
    """The caption writer, `miniature:writer-mini`, or the naturalness model, `miniature:naturalness-mini`.

    The writer runs in float64, which costs a model of its size nothing: rounding then never decides
    between two words, so its replies are the same for any batch size.

    Raises:
        UserError: There is no such miniature, or its weights are not in the package.
    """
    folder = _folder(argument, TOOLS, "tools")
    if argument == "naturalness-mini":
        tower = TowerFeatures(folder, f"miniature:{argument}", settings)
        rater = load_heads(folder, tower, f"miniature:{argument}")
        rater.info = replace(rater.info, license=LICENSE)
        return rater
    model = TransformersLM(str(folder), {"dtype": "float64", **settings})
    model.info = replace(model.info, id=f"miniature:{argument}", license=LICENSE)
    return model


def _folder(name: str, known: Sequence[str], kind: str) -> Path:
    if name not in known:
        raise UserError(unknown("miniature", name, known, f"list {kind}"))
    folder = WEIGHTS / name
    if not folder.is_dir():
        raise UserError(
            f"miniature {name} has no weights in {folder}:"
            f" train it with `python -m targets.miniature.train {name}`"
        )
    return folder
