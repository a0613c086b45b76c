"""Finding, checking and reading a checkpoint of TripoSR."""

import hashlib
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from huggingface_hub import hf_hub_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from torch.overrides import TorchFunctionMode

from benchmark.errors import UserError

PUBLISHED_REPOSITORY = "stabilityai/TripoSR"
PUBLISHED_SHA256 = "429e2c6b22a0923967459de24d67f05962b235f79cde6b032aa7ed2ffcd970ee"
"""Of the published `model.ckpt`: 549 float32 tensors, 419,275,628 numbers, 1,677,246,742 bytes."""

_FILES = ("model.ckpt", "model.safetensors")


class Checkpoint(NamedTuple):
    """A file's tensors by name, and its hash."""

    file: Path
    sha256: str
    state: dict[str, Tensor]


@contextmanager
def without_weights() -> Iterator[None]:
    """Modules made inside have names and shapes but no memory."""
    with torch.device("meta"), _Unfilled():
        yield


class _Unfilled(TorchFunctionMode):
    """Leaves out what fills tensors: it would have no effect, but load torch's compiler for seconds."""

    _FILLS = (Tensor.normal_, Tensor.uniform_, Tensor.fill_, Tensor.zero_)

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        if func in self._FILLS or getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else given["tensor"]
        return func(*args, **given)


def read_checkpoint(path: str | Path, revision: str | None = None) -> Checkpoint:
    """The tensors of a file, of a folder with model.ckpt or model.safetensors, or of a hub repository.

    Raises:
        UserError: There is no such file, it is no checkpoint, a revision is given for a file, or the
            published repository's checkpoint is not the published one.
        ConnectionError: The weights are not on this machine and cannot be fetched.
    """
    file = _local(Path(path))
    if file is not None and revision is not None:
        raise UserError(f"{file} is a local file: leave out the revision {revision!r}")
    if file is None:
        file = _fetched(str(path), revision)
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if str(path) == PUBLISHED_REPOSITORY and digest != PUBLISHED_SHA256:
        raise UserError(
            f"{file} has sha256 {digest}, the published checkpoint {PUBLISHED_SHA256}:"
            " delete the file to fetch it again, or give it as a path to use it as it is"
        )
    return Checkpoint(file, digest, _state(file))


def _local(path: Path) -> Path | None:
    """The checkpoint at a path, or nothing if the path can only be a name on the hub."""
    if path.is_dir():
        found = [path / name for name in _FILES if (path / name).is_file()]
        if not found:
            raise UserError(f"no TripoSR checkpoint in {path}: looked for {' or '.join(_FILES)}")
        return found[0]
    if path.is_file():
        return path
    if len(path.parts) == 2 and not path.suffix:
        return None
    raise UserError(f"no checkpoint {path}: give a file, a folder or a name on the hub (ORG/NAME)")


def _fetched(name: str, revision: str | None) -> Path:
    try:
        return Path(hf_hub_download(name, _FILES[0], revision=revision))
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ConnectionError(
            f"weights of {name} are not on this machine and cannot be fetched ({reason}):"
            " connect to the network, or give a local checkpoint"
        ) from error


def _state(file: Path) -> dict[str, Tensor]:
    """A checkpoint's tensors; no code in the file is run."""
    try:
        if file.suffix == ".safetensors":
            return load_file(file)
        state = torch.load(file, map_location="cpu", weights_only=True)
    except (SafetensorError, pickle.UnpicklingError, RuntimeError, EOFError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "it is empty"
        raise UserError(
            f"{file} is no checkpoint ({reason}): give TripoSR's model.ckpt or a .safetensors copy"
        ) from error
    if not isinstance(state, dict) or not all(isinstance(v, Tensor) for v in state.values()):
        raise UserError(f"{file} is no flat dictionary of tensors: give TripoSR's model.ckpt")
    return state
