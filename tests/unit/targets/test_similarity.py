from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from benchmark import registry
from benchmark.errors import UserError
from targets.similarity import Similarity
from tests.fakes import FakeEncoder, FakeTarget, picture


@dataclass
class Made:
    """Stands in for the registry's `create`."""

    model: Any
    asked: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, kind: str, spec: str, settings: Any = None) -> Any:
        self.asked.append((kind, spec))
        return self.model


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> FakeEncoder:
    model = FakeEncoder()
    monkeypatch.setattr(registry, "create", Made(model))
    return model


def test_cosines_of_pictures_texts_and_both(encoder: FakeEncoder) -> None:
    tool = Similarity("fake:encoder", {})
    a, b = picture(1), picture(2)
    same, images, texts, mixed = tool.ask([(a, a), (a, b), ("x", "y"), (a, "x")])
    va, vb = encoder.encode_images([a, b])
    vx, vy = encoder.encode_texts(["x", "y"])
    assert same == 1.0
    assert images == pytest.approx(float(va @ vb), abs=2e-6)
    assert texts == pytest.approx(float(vx @ vy), abs=2e-6)
    assert mixed == pytest.approx(float(va @ vx), abs=2e-6)
    assert tool.info.id == "similarity:fake-encoder"


def test_company_changes_nothing_and_repeats_are_embedded_once(encoder: FakeEncoder) -> None:
    tool = Similarity("fake:encoder", {})
    pairs = [(picture(i), picture(0)) for i in range(40)]
    together = tool.ask(pairs)
    assert encoder.images == [32, 32]  # 40 pictures in calls of one size
    assert [tool.ask([pair])[0] for pair in pairs] == together
    assert tool.ask([]) == []


def test_a_target_is_needed_that_embeds(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="needs a target: similarity:miniature:clip-mini"):
        Similarity("", {})
    monkeypatch.setattr(registry, "create", Made(FakeTarget()))
    with pytest.raises(UserError, match="target fake:pairs embeds nothing: name a dual encoder"):
        Similarity("fake:pairs", {})


def test_pictures_are_not_changed(encoder: FakeEncoder) -> None:
    a = picture(3)
    before = a.copy()
    Similarity("fake:encoder", {}).ask([(a, a)])
    np.testing.assert_array_equal(a, before)
