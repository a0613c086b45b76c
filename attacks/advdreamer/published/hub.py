"""What all published models share: how one is named and set, loaded, pinned and recorded."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

import torch
from huggingface_hub import try_to_load_from_cache
from huggingface_hub.errors import HFValidationError

from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PINNED = {
    "IDEA-Research/grounding-dino-base": "12bdfa3120f3e7ec7b434d90674b3396eccf88eb",
    "IDEA-Research/grounding-dino-tiny": "a2bb814dd30d776dcf7e30523b00659f4f141c71",
    "black-forest-labs/FLUX.1-dev": "0ef5fff789c832c5c7f4e127f94c8b54bbcced44",
    "black-forest-labs/FLUX.1-Kontext-dev": "af58063aa431f4d2bbc11ae46f57451d4416a170",
    "diffusers/stable-diffusion-xl-1.0-inpainting-0.1": "115134f363124c53c7d878647567d04daf26e41e",
    "facebook/sam-vit-base": "70c1a07f894ebb5b307fd9eaaee97b9dfc16068f",
    "facebook/sam2.1-hiera-large": "665f8e2ad61cf5f53d65644ff27c8ee525124610",
    "facebook/sam2.1-hiera-tiny": "de431c4043854a71d8101e17995dfe596bf101a5",
    "facebook/sam3": "3c879f39826c281e95690f02c7821c4de09afae7",
    "stabilityai/stable-diffusion-3.5-large": "ceddf0a7fdf2064ea28e2213e3b84e4afa170a0f",
    "stabilityai/TripoSR": "5b521936b01fbe1890f6f9baed0254ab6351c04a",
    "stable-diffusion-v1-5/stable-diffusion-inpainting": "8a4288a76071f7280aedbdb3253bdb9e9d5d84bb",
    "stable-diffusion-v1-5/stable-diffusion-v1-5": "451f4fe16113bff5a5d2269ed5ad43b0592e9a14",
    "timbrooks/instruct-pix2pix": "31519b5cb02a7fd89b906d88731cd4d6a7bbf88d",
}
"""Repository -> commit in general use. The paper names none. Others are taken as new as they are."""

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_CHUNK = 1 << 20
_UNHASHED = (".fp16.", ".fp32.", ".non_ema.", ".bf16.", "flax_", "openvino_")
"""Parts of names of weight files that are kept beside those that are loaded."""


_Settings = TypeVar("_Settings", bound="DataclassInstance")
"""Settings of one model: a frozen dataclass with a default for every field, `model` among them."""


def read(kind: type[_Settings], argument: str, settings: Mapping[str, JSON]) -> _Settings:
    """Settings from `MODEL[@REVISION][,key=value...]`, or else from `settings`, or else the default.

    The argument may leave out the model ("steps=30") or everything (""). Of `settings`, keys that this
    kind does not have are passed over: they are for others.

    Raises:
        UserError: A key is unknown, or its value is of another type.
    """
    types = get_type_hints(kind)
    words = [word.strip() for word in argument.split(",") if word.strip()]
    given: dict[str, JSON] = {key: value for key, value in settings.items() if key in types}
    if words and "=" not in words[0]:
        model, _, revision = words.pop(0).partition("@")
        given |= {"model": model} | ({"revision": revision} if revision else {})
    for word in words:
        key, separator, value = (part.strip() for part in word.partition("="))
        if not separator or key not in types:
            known = ", ".join(field.name for field in fields(kind))
            raise UserError(f"{word!r} is no setting of {argument!r}: use key=value with {known}")
        given[key] = value
    return kind(**{key: _typed(key, value, types[key]) for key, value in given.items()})


def _typed(key: str, value: JSON, wanted: Any) -> Any:
    """`value` as a str, bool, int or float, whichever `wanted` is or holds beside None."""
    kinds = [kind for kind in get_args(wanted) or (wanted,) if kind is not type(None)]
    kind = kinds[0]
    if value is None and len(kinds) < len(get_args(wanted)):
        return None
    try:
        if kind is bool and not isinstance(value, bool):
            return {"true": True, "false": False}[str(value).lower()]
        if kind is int and isinstance(value, float):
            raise ValueError
        return kind(value)
    except (KeyError, TypeError, ValueError):
        expected = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}
        raise UserError(f"{key} = {value!r} cannot be used: give {expected[kind]}") from None


def pinned(model: str, revision: str) -> str | None:
    """The revision to load: the one given, or the pinned one; None for a folder, or for the newest."""
    if Path(model).is_dir():
        return None
    return revision or PINNED.get(model)


@contextmanager
def loading(library: str, model: str) -> Iterator[None]:
    """Around `from_pretrained`: errors in one line, with the remedy.

    Raises:
        UserError: What the library refuses, or what is neither on this machine nor within reach.
    """
    try:
        yield
    except (OSError, ValueError, KeyError, HFValidationError) as error:
        if isinstance(error, UserError):
            raise
        reason = str(error).strip().splitlines()[0].rstrip(".:") if str(error).strip() else "empty"
        raise UserError(
            f"{library} cannot load {model!r} ({reason}): {_remedy(model, error)}"
        ) from error


def _remedy(model: str, error: Exception) -> str:
    if Path(model).is_dir():
        return "the folder must be one that save_pretrained wrote, for a model of this kind"
    if "gated" in str(error).lower():
        return "accept its licence on the hub and log in, or name another model"
    return "check the name, give a local folder, or connect to the network"


def device_of(name: str) -> torch.device:
    """The device of that name.

    Raises:
        UserError: It is not there.
    """
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"device {name!r} cannot be used ({reason}): try --device cpu") from error
    return device


def dtype_of(name: str, device: torch.device) -> torch.dtype:
    """The precision of that name; "auto" is float16 on an accelerator and float32 on a CPU.

    Raises:
        UserError: The name is unknown.
    """
    if name == "auto":
        return torch.float32 if device.type == "cpu" else torch.float16
    if name not in _DTYPES:
        raise UserError(f"dtype {name!r} is unknown: use auto, {', '.join(_DTYPES)}")
    return _DTYPES[name]


def info_of(
    adapter: str,
    model: str,
    settings: "DataclassInstance",
    marker: str,
    revision: str | None,
    dtype: torch.dtype,
) -> ModelInfo:
    """Which model it is: its id, the commit that was loaded, its weights, all settings.

    Args:
        adapter: The name in the registry.
        model: The repository or the folder.
        settings: All of them.
        marker: A file that every such model has, such as "config.json".
        revision: What was asked of the hub.
        dtype: Of the weights.
    """
    folder = _folder(model, marker, revision)
    return ModelInfo(
        id=f"{adapter}:{model}",
        revision="" if folder is None or Path(model).is_dir() else folder.name,
        weights="" if folder is None else weights_digest(folder),
        dtype=str(dtype).removeprefix("torch."),
        preprocessing=described(settings),
    )


def described(settings: "DataclassInstance") -> str:
    """Settings as text, without the device: where a model runs is no part of what it is."""
    return json.dumps({**asdict(settings), "device": ""}, sort_keys=True)


def _folder(model: str, marker: str, revision: str | None) -> Path | None:
    if Path(model).is_dir():
        return Path(model)
    cached = try_to_load_from_cache(model, marker, revision=revision)
    return Path(cached).parent if isinstance(cached, str) else None


def weights_digest(folder: Path) -> str:
    """sha256 of the "path digest" lines of the weight files in a folder and in its subfolders.

    Where a folder has safetensors files, its .bin files are not what is loaded.
    """
    lines = []
    for part in sorted({folder, *(path for path in folder.iterdir() if path.is_dir())}):
        files = [path for path in sorted(part.iterdir()) if path.suffix in (".safetensors", ".bin")]
        files = [path for path in files if not any(word in path.name for word in _UNHASHED)]
        safe = [path for path in files if path.suffix == ".safetensors"]
        lines += [f"{path.relative_to(folder)} {_sha256(path)}\n" for path in safe or files]
    return hashlib.sha256("".join(lines).encode()).hexdigest() if lines else ""


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
