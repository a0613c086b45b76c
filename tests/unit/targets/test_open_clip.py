import json
import warnings
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from benchmark.errors import UserError
from benchmark.types import Pixels
from targets import open_clip as adapter
from targets.open_clip import OpenClip
from targets.weights import sha256_of
from tests import tiny_models


def pictures(n: int = 6) -> list[Pixels]:
    """Noise of several shapes, some smaller than the model's input."""
    rng = np.random.default_rng(0)
    shapes = [(32, 32), (20, 50), (64, 33)]
    return [rng.integers(0, 256, (*shapes[i % 3], 3), dtype=np.uint8) for i in range(n)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.save_open_clip(tmp_path_factory.mktemp("open_clip"))


@pytest.fixture(scope="module")
def model(folder: Path) -> OpenClip:
    return OpenClip(str(folder), {})


def test_embeddings_are_those_of_open_clip_itself(folder: Path, model: OpenClip) -> None:
    theirs, transform = open_clip.create_model_from_pretrained(f"local-dir:{folder}")
    tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
    theirs.eval()
    image = pictures(2)[1]
    with torch.inference_mode():
        pixels = theirs.encode_image(transform(Image.fromarray(image))[None], normalize=True)
        words = theirs.encode_text(tokenizer(["a red ball"]), normalize=True)
    np.testing.assert_allclose(model.encode_images([image]), pixels.numpy(), atol=1e-6)
    np.testing.assert_allclose(model.encode_texts(["a red ball"]), words.numpy(), atol=1e-6)


def test_a_folder_may_be_named_as_open_clip_names_it(folder: Path, model: OpenClip) -> None:
    named = OpenClip(f"local-dir:{folder}", {})
    np.testing.assert_array_equal(named.encode_texts(["x"]), model.encode_texts(["x"]))


def test_info_identifies_weights_and_preprocessing(folder: Path, model: OpenClip) -> None:
    assert model.info.weights == sha256_of([folder / "open_clip_pytorch_model.bin"])
    assert model.info.dtype == "float32"
    described = json.loads(model.info.preprocessing)
    assert described["image"]["interpolation"] == "bicubic"
    assert described["image"]["size"] == [32, 32]
    assert described["context_length"] == 20


def test_other_weights_have_another_hash(tmp_path: Path, model: OpenClip) -> None:
    other = OpenClip(str(tiny_models.save_open_clip(tmp_path, seed=5)), {})
    assert other.info.weights != model.info.weights
    assert np.abs(other.encode_texts(["x"]) - model.encode_texts(["x"])).max() > 1e-3


def test_all_weight_files_of_a_folder_are_hashed(tmp_path: Path) -> None:
    folder = tiny_models.save_open_clip(tmp_path)
    save_file({"unused": torch.zeros(1)}, folder / "unused.safetensors")
    files = [folder / "open_clip_pytorch_model.bin", folder / "unused.safetensors"]
    assert OpenClip(str(folder), {}).info.weights == sha256_of(files)


@pytest.fixture
def registered(tmp_path: Path) -> str:
    """The tiny architecture, under a name of open_clip's own table."""
    (tmp_path / "Tiny-32.json").write_text(json.dumps(tiny_models.OPEN_CLIP_CONFIG))
    open_clip.add_model_config(tmp_path / "Tiny-32.json")
    return "Tiny-32"


@pytest.mark.parametrize("form", [".pt", ".safetensors", "nested.pt"])
def test_a_checkpoint_on_disk_is_loaded_into_a_named_model(
    tmp_path: Path, registered: str, model: OpenClip, form: str
) -> None:
    path = tmp_path / f"checkpoint{form}"
    state = {key: value.contiguous() for key, value in model.model.state_dict().items()}
    if form == ".safetensors":
        save_file(state, path)
    else:  # training scripts of open_clip nest the weights and prefix their names
        prefixed = {f"module.{key}": value for key, value in state.items()}
        torch.save({"epoch": 3, "state_dict": prefixed} if "nested" in form else state, path)
    loaded = OpenClip(f"{registered}/{path}", {})
    np.testing.assert_array_equal(loaded.encode_texts(["x"]), model.encode_texts(["x"]))
    assert loaded.info.weights == sha256_of([path])


def test_a_checkpoint_cannot_run_code(tmp_path: Path, registered: str) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (Path(tmp_path / "touched"),))  # type: ignore[return-value]

    torch.save({"weights": Evil()}, tmp_path / "evil.pt")
    with pytest.raises(UserError, match="is no checkpoint of weights alone"):
        OpenClip(f"{registered}/{tmp_path / 'evil.pt'}", {})
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize("name", ["cut.pt", "cut.safetensors"])
def test_a_damaged_checkpoint_is_named(tmp_path: Path, registered: str, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 not much of a checkpoint")
    with pytest.raises(UserError, match=rf"cannot load .*{name}"):
        OpenClip(f"{registered}/{tmp_path / name}", {})


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path, registered: str) -> None:
    torch.save({"visual.proj": torch.zeros(3, 3)}, tmp_path / "other.pt")
    with pytest.raises(UserError, match=r"cannot load .* check that weights and model match"):
        OpenClip(f"{registered}/{tmp_path / 'other.pt'}", {})


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("ViT-B-23/openai", r"unknown open_clip model 'ViT-B-23': did you mean .*ViT-B-32"),
        ("ViT-B-32/openia", r"unknown weights 'openia' of .* ViT-B-32: did you mean openai"),
        ("ViT-B-32", r"open_clip:ViT-B-32 lacks weights: use ViT-B-32/PRETRAINED \(openai, "),
        ("ViT-B-32/gone.pt", r"no checkpoint 'gone.pt': correct the path after ViT-B-32/"),
        ("local-dir:gone", r"no open_clip model in 'gone': it lacks open_clip_config.json"),
    ],
)
def test_what_does_not_exist_is_named(argument: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        OpenClip(argument, {})


def test_a_folder_without_weights_is_named(tmp_path: Path) -> None:
    (tmp_path / "open_clip_config.json").write_text("{}")
    with pytest.raises(UserError, match=r"no weights in .*: looked for \*.pt, \*.pth"):
        OpenClip(str(tmp_path), {})


@pytest.mark.parametrize("argument", ["ViT-B-32/laion2b_s34b_b79k", "hf-hub:laion/no-such-model"])
def test_without_a_network_the_remedy_is_named(argument: str) -> None:
    with pytest.raises(ConnectionError, match=r"are not on this machine .* local checkpoint"):
        OpenClip(argument, {})


def test_a_tokenizer_that_is_not_here_is_named(tmp_path: Path, registered: str) -> None:
    config = json.loads(json.dumps(tiny_models.OPEN_CLIP_CONFIG))
    config["text_cfg"]["hf_tokenizer_name"] = "no/such-tokenizer"
    (tmp_path / "Tiny-hf.json").write_text(json.dumps(config))
    open_clip.add_model_config(tmp_path / "Tiny-hf.json")
    torch.save(open_clip.create_model("Tiny-hf").state_dict(), tmp_path / "w.pt")
    with pytest.raises(ConnectionError, match=r"lacks a file of .*: connect to the network"):
        OpenClip(f"Tiny-hf/{tmp_path / 'w.pt'}", {})


def test_a_published_tag_brings_its_preprocessing_and_activation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, registered: str
) -> None:
    """With a stand-in for the download: what the tag says must reach the model."""
    checkpoint = tmp_path / "weights.pt"
    torch.save(open_clip.create_model(registered).state_dict(), checkpoint)
    tag = {
        "hf_hub": "somebody/model/",
        "mean": (0.5, 0.5, 0.5),
        "std": (0.25, 0.25, 0.25),
        "interpolation": "bilinear",
        "resize_mode": "squash",
        "quick_gelu": True,
    }
    monkeypatch.setattr(open_clip, "is_pretrained_cfg", lambda model, name: name == "published")
    monkeypatch.setattr(open_clip, "get_pretrained_cfg", lambda model, name: tag)
    asked = []

    def download(repository: str, filename: str | None, revision: str | None) -> str:
        asked.append((repository, filename, revision))
        return str(checkpoint)

    monkeypatch.setattr(adapter, "download_pretrained_from_hf", download)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = OpenClip(f"{registered}/published", {"revision": "abc"})
    assert asked == [("somebody/model", None, "abc")]
    described = json.loads(loaded.info.preprocessing)["image"]
    assert (described["interpolation"], described["resize_mode"]) == ("bilinear", "squash")
    assert described["mean"] == [0.5, 0.5, 0.5]
    assert "QuickGELU" in repr(loaded.model)
