"""TripoSR's configuration: the published numbers, and a strict reader of files with the same keys."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmark.errors import UserError

PUBLISHED: Mapping[str, Any] = {
    "cond_image_size": 512,
    "image_tokenizer_cls": "tsr.models.tokenizers.image.DINOSingleImageTokenizer",
    "image_tokenizer": {"pretrained_model_name_or_path": "facebook/dino-vitb16"},
    "tokenizer_cls": "tsr.models.tokenizers.triplane.Triplane1DTokenizer",
    "tokenizer": {"plane_size": 32, "num_channels": 1024},
    "backbone_cls": "tsr.models.transformer.transformer_1d.Transformer1D",
    "backbone": {
        "in_channels": "${tokenizer.num_channels}",
        "num_attention_heads": 16,
        "attention_head_dim": 64,
        "num_layers": 16,
        "cross_attention_dim": 768,
    },
    "post_processor_cls": "tsr.models.network_utils.TriplaneUpsampleNetwork",
    "post_processor": {"in_channels": 1024, "out_channels": 40},
    "decoder_cls": "tsr.models.network_utils.NeRFMLP",
    "decoder": {
        "in_channels": 120,
        "n_neurons": 64,
        "n_hidden_layers": 9,
        "activation": "silu",
    },
    "renderer_cls": "tsr.models.nerf_renderer.TriplaneNeRFRenderer",
    "renderer": {
        "radius": 0.87,
        "feature_reduction": "concat",
        "density_activation": "exp",
        "density_bias": -1.0,
        "num_samples_per_ray": 128,
    },
}
"""The published `config.yaml`."""

_VITS: Mapping[str, Mapping[str, Any]] = {
    "facebook/dino-vitb16": {
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "image_size": 224,
        "patch_size": 16,
        "layer_norm_eps": 1e-12,
    }
}
"""Vision transformers that a configuration may name; only their sizes matter, the weights are ours."""

_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "image_tokenizer": (),
    "tokenizer": ("plane_size", "num_channels"),
    "backbone": (
        "in_channels",
        "num_attention_heads",
        "attention_head_dim",
        "num_layers",
        "cross_attention_dim",
    ),
    "post_processor": ("in_channels", "out_channels"),
    "decoder": ("in_channels", "n_neurons", "n_hidden_layers"),
    "renderer": ("radius", "density_bias", "num_samples_per_ray"),
}
"""What each section must say. `radius`, `density_bias` are real; the others are positive integers."""

_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "backbone": {"norm_num_groups": 32},
}

_FIXED: Mapping[str, Mapping[str, Any]] = {
    "backbone": {
        "dropout": 0.0,
        "attention_bias": False,
        "activation_fn": "geglu",
        "norm_type": "layer_norm",
    },
    "decoder": {"activation": "silu", "bias": True},
    "renderer": {
        "feature_reduction": "concat",
        "density_activation": "exp",
        "color_activation": "sigmoid",
        "randomized": False,
    },
}
"""What a section may say, and the only value that is implemented."""

_FIXED_VIT = {"hidden_act": "gelu", "num_channels": 3, "qkv_bias": True}
_REAL = {"radius", "density_bias"}
_REFERENCE = re.compile(r"\$\{([\w.]+)\}")


@dataclass(frozen=True, slots=True)
class VitConfig:
    """Sizes of the vision transformer; names are those of its published `config.json`."""

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    image_size: int
    """Side in pixels of the pictures that the position table was learnt for."""
    patch_size: int
    layer_norm_eps: float


@dataclass(frozen=True, slots=True)
class TripoConfig:
    """Sizes of all parts of TripoSR."""

    image_size: int
    """Side in pixels of the conditioning picture."""
    vit: VitConfig
    plane_size: int
    """Side of the learnt planes, in tokens."""
    channels: int
    """Of a triplane token."""
    groups: int
    """Of the normalisation before the backbone."""
    heads: int
    head_dim: int
    layers: int
    plane_channels: int
    """Of the upsampled planes, the scene code."""
    neurons: int
    hidden_layers: int
    radius: float
    """Half the side of the box that holds the object, in world units."""
    density_bias: float
    ray_samples: int

    @classmethod
    def from_dict(
        cls, config: Mapping[str, Any], vit_config: Mapping[str, Any] | None = None
    ) -> "TripoConfig":
        """Reads a configuration with the keys and the nesting of the published one.

        Args:
            config: The published `config.yaml` as a dictionary; `${section.key}` is looked up.
            vit_config: The vision transformer's `config.json`. Without it, `image_tokenizer` may hold it
                under `vit_config`, else `pretrained_model_name_or_path` must be a known name.

        Raises:
            UserError: A key is missing, unknown or has a value that is not implemented, or sizes that
                must agree do not.
        """
        known = {"cond_image_size", *_NUMBERS, *(f"{name}_cls" for name in _NUMBERS)}
        _refuse_unknown("the configuration", config, known)
        sections = {name: _section(config, name) for name in _NUMBERS}
        vit = _vit(sections["image_tokenizer"], vit_config)
        tokenizer, backbone = sections["tokenizer"], sections["backbone"]
        post, decoder, renderer = (sections[n] for n in ("post_processor", "decoder", "renderer"))
        channels = tokenizer["num_channels"]
        size = _positive("cond_image_size", config.get("cond_image_size"))
        for what, value, expected in (
            ("backbone.in_channels", backbone["in_channels"], channels),
            ("post_processor.in_channels", post["in_channels"], channels),
            ("backbone.cross_attention_dim", backbone["cross_attention_dim"], vit.hidden_size),
            ("decoder.in_channels", decoder["in_channels"], 3 * post["out_channels"]),
            ("cond_image_size modulo the patch size", size % vit.patch_size, 0),
            ("num_channels modulo norm_num_groups", channels % backbone["norm_num_groups"], 0),
        ):
            if value != expected:
                raise UserError(f"{what} is {value}, the other parts need {expected}: correct one")
        return cls(
            image_size=size,
            vit=vit,
            plane_size=tokenizer["plane_size"],
            channels=channels,
            groups=backbone["norm_num_groups"],
            heads=backbone["num_attention_heads"],
            head_dim=backbone["attention_head_dim"],
            layers=backbone["num_layers"],
            plane_channels=post["out_channels"],
            neurons=decoder["n_neurons"],
            hidden_layers=decoder["n_hidden_layers"],
            radius=renderer["radius"],
            density_bias=renderer["density_bias"],
            ray_samples=renderer["num_samples_per_ray"],
        )


def _section(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """One section, checked, with its defaults and with references looked up."""
    given = config.get(name)
    if not isinstance(given, Mapping):
        raise UserError(f"the configuration lacks the section {name!r}: give TripoSR's config.yaml")
    published = str(PUBLISHED[f"{name}_cls"]).rpartition(".")[2]
    said = str(config.get(f"{name}_cls", published)).rpartition(".")[2]
    if said != published:
        raise UserError(f"{name}_cls is {said!r}, only {published!r} is implemented")
    if name == "image_tokenizer":
        _refuse_unknown(name, given, {"pretrained_model_name_or_path", "vit_config"})
        return dict(given)
    fixed, defaults = _FIXED.get(name, {}), _DEFAULTS.get(name, {})
    _refuse_unknown(name, given, {*_NUMBERS[name], *fixed, *defaults})
    section = {**defaults, **{key: _resolved(config, value) for key, value in given.items()}}
    for key, value in fixed.items():
        if section.setdefault(key, value) != value:
            raise UserError(f"{name}.{key} is {section[key]!r}, only {value!r} is implemented")
    for key in (*_NUMBERS[name], *defaults):
        section[key] = (_real if key in _REAL else _positive)(f"{name}.{key}", section.get(key))
    return section


def _vit(section: Mapping[str, Any], vit_config: Mapping[str, Any] | None) -> VitConfig:
    name = section.get("pretrained_model_name_or_path")
    given = vit_config or section.get("vit_config") or _VITS.get(str(name))
    if given is None:
        raise UserError(
            f"image_tokenizer names the unknown vision transformer {name!r}: give its config.json as"
            f" vit_config (known: {', '.join(_VITS)})"
        )
    for key, value in _FIXED_VIT.items():
        if given.get(key, value) != value:
            raise UserError(f"vit_config.{key} is {given[key]!r}, only {value!r} is implemented")
    whole = [key for key in VitConfig.__slots__ if key != "layer_norm_eps"]
    sizes = {key: _positive(f"vit_config.{key}", given.get(key)) for key in whole}
    for key, by in (("hidden_size", "num_attention_heads"), ("image_size", "patch_size")):
        if sizes[key] % sizes[by]:
            raise UserError(
                f"vit_config.{key} is {sizes[key]}, which {by} {sizes[by]} does not divide"
            )
    eps = _real("vit_config.layer_norm_eps", given.get("layer_norm_eps"))
    return VitConfig(**sizes, layer_norm_eps=eps)


def _resolved(config: Mapping[str, Any], value: Any) -> Any:
    """The value, or what it refers to as `${section.key}`."""
    found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    place: Any = config
    for key in found[1].split("."):
        place = place.get(key) if isinstance(place, Mapping) else None
    if place is None or isinstance(place, str):
        raise UserError(f"{value} does not lead to a number: write the number instead")
    return place


def _refuse_unknown(where: str, given: Mapping[str, Any], known: set[str]) -> None:
    if unknown := sorted(set(given) - known):
        raise UserError(
            f"{where} has the unknown key {unknown[0]!r}: one of {', '.join(sorted(known))}"
        )


def _positive(what: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UserError(f"{what} is {value!r}, it must be a positive integer")
    return value


def _real(what: str, value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise UserError(f"{what} is {value!r}, it must be a number")
    return float(value)
