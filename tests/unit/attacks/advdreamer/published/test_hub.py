import hashlib
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from attacks.advdreamer.published.hub import (
    PINNED,
    described,
    device_of,
    dtype_of,
    info_of,
    loading,
    pinned,
    read,
    weights_digest,
)
from benchmark.errors import UserError
from benchmark.types import JSON


@dataclass(frozen=True, slots=True)
class Settings:
    model: str = "org/default"
    revision: str = ""
    steps: int | None = None
    strength: float = 0.5
    soft: bool = False
    device: str = "cpu"


def test_a_model_with_its_revision_and_settings() -> None:
    chosen = read(Settings, "org/name@abc,steps=30, strength=0.25,soft=true", {})
    assert chosen == Settings("org/name", "abc", 30, 0.25, True)


def test_the_argument_wins_over_settings_and_these_over_defaults() -> None:
    given: dict[str, JSON] = {
        "model": "org/other",
        "strength": 1,
        "device": "meta",
        "unrelated": "x",
    }
    assert read(Settings, "", given) == Settings("org/other", strength=1.0, device="meta")
    assert read(Settings, "org/name", given).model == "org/name"
    assert read(Settings, "steps=3", given).steps == 3
    assert read(Settings, "steps=3", given).model == "org/other"
    assert read(Settings, "", {"steps": None}).steps is None


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (
            "org/name,stepz=3",
            r"'stepz=3' is no setting of .*: use key=value with model, revision, st",
        ),
        ("org/name,steps", r"'steps' is no setting"),
        ("steps=many", r"steps = 'many' cannot be used: give a whole number"),
        ("strength=half", r"strength = 'half' cannot be used: give a number"),
        ("soft=maybe", r"soft = 'maybe' cannot be used: give true or false"),
    ],
)
def test_wrong_settings_are_named(argument: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(Settings, argument, {})


def test_half_a_step_is_no_whole_number() -> None:
    with pytest.raises(UserError, match=r"steps = 1.5 cannot be used"):
        read(Settings, "", {"steps": 1.5})


def test_known_models_are_pinned_to_whole_commits(tmp_path: Path) -> None:
    assert all(len(commit) == 40 and int(commit, 16) for commit in PINNED.values())
    assert pinned("facebook/sam3", "") == PINNED["facebook/sam3"]
    assert pinned("facebook/sam3", "main") == "main"
    assert pinned("org/unknown", "") is None
    assert pinned(str(tmp_path), "main") is None


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (OSError("Access to model org/x is gated.\nAsk."), r"org/x is gated\): accept its licence"),
        (OSError("offline"), r"cannot load 'org/x' \(offline\): check the name, give a local"),
        (ValueError(""), r"\(empty\)"),
    ],
)
def test_what_cannot_be_loaded_has_a_remedy(error: Exception, remedy: str) -> None:
    with pytest.raises(UserError, match=remedy), loading("transformers", "org/x"):
        raise error


def test_a_folder_has_another_remedy(tmp_path: Path) -> None:
    with (
        pytest.raises(UserError, match=r"must be one that save_pretrained wrote"),
        loading("diffusers", str(tmp_path)),
    ):
        raise OSError("no file")
    with pytest.raises(UserError, match=r"^mine$"), loading("diffusers", str(tmp_path)):
        raise UserError("mine")


def test_devices_and_precisions() -> None:
    cpu = device_of("cpu")
    assert dtype_of("auto", cpu) is torch.float32
    assert dtype_of("auto", torch.device("meta")) is torch.float16
    assert dtype_of("bfloat16", cpu) is torch.bfloat16
    with pytest.raises(UserError, match=r"dtype 'int8' is unknown: use auto, float32"):
        dtype_of("int8", cpu)
    with pytest.raises(UserError, match=r"device 'gpu' cannot be used .*try --device cpu"):
        device_of("gpu")


def test_weights_are_hashed_with_their_paths(tmp_path: Path) -> None:
    (tmp_path / "unet").mkdir()
    for name, text in {
        "model.bin": "a",
        "unet/model.safetensors": "b",
        "unet/model.fp16.safetensors": "c",
        "unet/model.bin": "d",
        "config.json": "e",
    }.items():
        (tmp_path / name).write_text(text)
    a, b = (hashlib.sha256(text).hexdigest() for text in (b"a", b"b"))
    lines = f"model.bin {a}\nunet/model.safetensors {b}\n"
    assert weights_digest(tmp_path) == hashlib.sha256(lines.encode()).hexdigest()
    assert weights_digest(tmp_path / "unet") != weights_digest(tmp_path)


def test_info_says_what_was_loaded(tmp_path: Path) -> None:
    chosen = Settings(str(tmp_path), device="cuda:1")
    info = info_of("adapter", chosen.model, chosen, "config.json", None, torch.float16)
    assert (info.id, info.revision, info.weights) == (f"adapter:{tmp_path}", "", "")
    assert info.dtype == "float16"
    assert info.preprocessing == described(Settings(str(tmp_path)))
    assert '"strength": 0.5' in info.preprocessing


def test_a_model_of_the_hub_has_the_commit_that_was_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = tmp_path / "snapshots" / "0123abcd"
    snapshot.mkdir(parents=True)
    (snapshot / "model.safetensors").write_text("a")

    def cached(model: str, marker: str, revision: str | None) -> str | None:
        return str(snapshot / marker) if (model, revision) == ("org/name", "main") else None

    monkeypatch.setattr("attacks.advdreamer.published.hub.try_to_load_from_cache", cached)
    info = info_of("adapter", "org/name", Settings(), "config.json", "main", torch.float32)
    assert info.revision == "0123abcd"
    assert info.weights == weights_digest(snapshot)
