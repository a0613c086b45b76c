"""No test reaches the network, the home folder or more than one thread of torch.

A server that a test runs on this very machine is no network.
"""

import os
import random
import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest_plugins = ("tests.browser",)

os.environ |= {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "HF_HOME"):
        monkeypatch.setenv(name, str(home))


@pytest.fixture(autouse=True)
def _no_sockets(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("network"):
        return

    def refuse(self: socket.socket, address: Any) -> None:
        # Unix sockets stay on this machine: worker processes talk over them.
        if self.family != socket.AF_UNIX and address[0] != "127.0.0.1":
            raise RuntimeError(f"a test tried to reach {address}: mark it `network` or use a fake")
        plain_connect(self, address)

    plain_connect = socket.socket.connect
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    random.seed(0)
    np.random.seed(0)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    # Torch reads OMP_NUM_THREADS when it is imported; a plugin may have imported it before us.
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where a run may be written."""
    return tmp_path / "run"
