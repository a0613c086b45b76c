"""Settings that all adapters of torch models share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

from benchmark.errors import UserError
from benchmark.types import JSON

_T = TypeVar("_T")

DTYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


@dataclass(frozen=True, slots=True)
class Options:
    """Where and how a model runs.

    `revision` is a commit, tag or branch of a hub repository; None is the newest. `batch_size` is the
    most rows of one forward pass.
    """

    device: torch.device
    dtype_name: str
    batch_size: int
    revision: str | None

    @property
    def dtype(self) -> torch.dtype:
        """The precision of weights and activations."""
        return DTYPES[self.dtype_name]

    @classmethod
    def of(cls, settings: Mapping[str, JSON], dtype: str = "float32") -> "Options":
        """Read device, dtype, batch_size and revision; `dtype` is the default one.

        Raises:
            UserError: One of them cannot be used, or the device is not there.
        """
        name = settings.get("dtype", dtype)
        if not isinstance(name, str) or name not in DTYPES:
            raise UserError(f"dtype {name!r} is unknown: use {', '.join(DTYPES)}")
        size = settings.get("batch_size", 64)
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise UserError(f"batch_size {size!r} cannot be used: give a whole number of 1 or more")
        revision = settings.get("revision")
        return cls(_device(settings.get("device", "cpu")), name, size, str(revision or "") or None)

    def batches(self, items: Sequence[_T]) -> Iterator[Sequence[_T]]:
        """Slices of at most `batch_size` items, in order."""
        for start in range(0, len(items), self.batch_size):
            yield items[start : start + self.batch_size]


def _device(name: JSON) -> torch.device:
    try:
        device = torch.device(str(name))
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"device {name!r} cannot be used ({reason}): try --device cpu") from error
    return device
