from typing import Any

import pytest
import torch

from benchmark.errors import UserError
from targets.options import Options


def test_defaults() -> None:
    options = Options.of({})
    assert (options.device.type, options.dtype, options.batch_size) == ("cpu", torch.float32, 64)
    assert options.revision is None
    assert Options.of({}, dtype="float64").dtype is torch.float64
    assert Options.of({"revision": ""}).revision is None  # presets write "" for the newest


def test_batches_keep_the_order() -> None:
    options = Options.of({"batch_size": 3})
    assert [list(batch) for batch in options.batches(range(7))] == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(options.batches([])) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dtype": "int8"}, "dtype 'int8' is unknown: use float64, float32"),
        ({"batch_size": 0}, "batch_size 0 cannot be used: give a whole number of 1 or more"),
        ({"batch_size": True}, "batch_size True cannot be used"),
        ({"device": "abacus"}, r"device 'abacus' cannot be used \(.*\): try --device cpu"),
    ],
)
def test_what_cannot_be_used_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Options.of(settings)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is such a device here")
def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match="device 'cuda' cannot be used"):
        Options.of({"device": "cuda"})
