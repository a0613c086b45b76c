"""What every target and every tool must keep to. A new one needs a row in TARGETS or TOOLS."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark import registry
from benchmark.datasets.toybox import ToyboxDataset
from benchmark.protocols import Answerer, DualEncoder, LanguageModel, Painter
from benchmark.types import Pixels, Sampling
from tests import tiny_models

TARGETS: dict[str, Callable[[Path], str]] = {
    "miniature:clip-mini": lambda folder: "miniature:clip-mini",
    "miniature:negclip-mini": lambda folder: "miniature:negclip-mini",
    "miniature:siglip-mini": lambda folder: "miniature:siglip-mini",
    "open_clip": lambda folder: f"open_clip:{tiny_models.save_open_clip(folder)}",
    "transformers:clip": lambda folder: f"transformers:{tiny_models.save_clip(folder)}",
    "transformers:siglip": lambda folder: f"transformers:{tiny_models.save_siglip(folder)}",
}
TOOLS: dict[str, Callable[[Path], str]] = {
    "grammar": lambda folder: "grammar",
    "miniature:writer-mini": lambda folder: "miniature:writer-mini",
    "transformers": lambda folder: f"transformers:{tiny_models.save_language_model(folder)}",
}

ADVISERS = {"annotator", "capture", "naturalness", "similarity", "text_to_image"}
"""Tools that are no language models; each has tests of its own."""

PAINTERS = {"toybox"}
"""Tools that paint and need no server and no pipeline."""

ANSWERERS = ("miniature:lvlm-mini", "miniature:lvlm-planted-mini")
OTHER_ANSWERERS = {"openai", "transformers_lvlm"}
"""Targets that score nothing; tests/unit has a server on this machine, and small models."""

TEXTS = [sample.text for sample in ToyboxDataset("", {"n": 9})]
SAMPLING = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=10)
GREEDY = Sampling(temperature=0.0, top_p=1.0, max_new_tokens=48)


@cache
def pictures() -> tuple[Pixels, ...]:
    """Some of the embedded world, and noise of other shapes; none can be written to."""
    rng = np.random.default_rng(0)
    world = [sample.image.load() for sample in ToyboxDataset("", {"n": 6}) if sample.image]
    shapes = [(64, 64), (31, 70), (90, 40)]
    noise = [rng.integers(0, 256, (*shape, 3), dtype=np.uint8) for shape in shapes]
    for image in (*world, *noise):
        image.flags.writeable = False
    return (*world, *noise)


@pytest.fixture(scope="module", params=TARGETS)
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return registry.create("targets", TARGETS[request.param](tmp_path_factory.mktemp("target")))


@pytest.fixture(scope="module", params=TOOLS)
def tool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return registry.create("tools", TOOLS[request.param](tmp_path_factory.mktemp("tool")))


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("targets", {*TARGETS, *ANSWERERS, *OTHER_ANSWERERS}),
        ("tools", {*TOOLS, *ADVISERS, *PAINTERS, "openai"}),
    ],
)
def test_every_entry_is_tested(kind: str, rows: set[str]) -> None:
    own = {name for name, e in registry.entries(kind).items() if e.origin == registry.OWN}
    assert own == {registry.split(row)[0] for row in rows}


def test_a_target_is_a_dual_encoder_that_says_which_it_is(target: Any) -> None:
    assert isinstance(target, DualEncoder)
    assert len(target.info.weights) == 64
    assert target.info.id
    assert target.info.dtype
    assert target.info.preprocessing


def test_embeddings_are_unit_vectors_of_one_width(target: Any) -> None:
    images, texts = target.encode_images(pictures()), target.encode_texts(TEXTS)
    for embeddings in (images, texts):
        assert embeddings.dtype == np.float32
        assert embeddings.shape == (9, images.shape[1])
        np.testing.assert_allclose(np.linalg.norm(embeddings, axis=1), 1, atol=1e-5)
        assert np.abs(embeddings[0] - embeddings[1]).max() > 1e-4


def test_one_at_a_time_is_the_same_as_many(target: Any) -> None:
    for encode, items in ((target.encode_images, pictures()), (target.encode_texts, TEXTS)):
        many = encode(items)
        np.testing.assert_allclose(np.concatenate([encode([x]) for x in items]), many, atol=1e-5)


def test_order_and_company_do_not_matter(target: Any) -> None:
    for encode, items in ((target.encode_images, pictures()), (target.encode_texts, TEXTS)):
        np.testing.assert_allclose(encode(items[::-1])[::-1], encode(items), atol=1e-5)
        np.testing.assert_array_equal(encode(items), encode(items))


def test_nothing_gives_nothing(target: Any) -> None:
    width = target.encode_texts(["a"]).shape[1]
    assert target.encode_texts([]).shape == target.encode_images([]).shape == (0, width)


def test_a_tool_is_a_language_model_that_says_which_it_is(tool: Any) -> None:
    assert isinstance(tool, LanguageModel)
    assert tool.info.id
    assert tool.info.weights or tool.info.revision


def test_a_reply_follows_from_prompt_and_seed(tool: Any) -> None:
    prompts, seeds = TEXTS * 3, [7**i % 2**63 for i in range(27)]
    replies = tool.complete(prompts, seeds, SAMPLING)
    assert all(isinstance(reply, str) for reply in replies)
    assert tool.complete(prompts, seeds, SAMPLING) == replies
    assert tool.complete(prompts[::-1], seeds[::-1], SAMPLING)[::-1] == replies
    apart = [tool.complete([p], [s], SAMPLING)[0] for p, s in zip(prompts, seeds, strict=True)]
    assert apart == replies


def test_another_seed_gives_another_reply(tool: Any) -> None:
    assert len(set(tool.complete(TEXTS[:1] * 20, range(20), SAMPLING))) > 3


def test_large_seeds_are_seeds(tool: Any) -> None:
    assert len(tool.complete(TEXTS[:2], [0, 2**63 - 1], SAMPLING)) == 2


def test_no_prompts_no_replies(tool: Any) -> None:
    assert tool.complete([], [], SAMPLING) == []


@pytest.fixture(scope="module", params=ANSWERERS)
def answerer(request: pytest.FixtureRequest) -> Any:
    return registry.create("targets", request.param)


def test_an_answer_follows_from_picture_and_question_whatever_the_company(answerer: Any) -> None:
    assert isinstance(answerer, Answerer)
    assert len(answerer.info.weights) == 64
    images = list(pictures()[:6]) * 2
    prompts = ["Describe this image in detail."] * 6 + [
        "What is the main subject of the image?"
    ] * 6
    answers = answerer.answer(images, prompts, GREEDY)
    assert all(isinstance(answer, str) and answer for answer in answers)
    assert len(set(answers)) > 3
    assert answerer.answer(images[::-1], prompts[::-1], GREEDY)[::-1] == answers
    assert [
        answerer.answer([i], [p], GREEDY)[0] for i, p in zip(images, prompts, strict=True)
    ] == answers
    assert answerer.answer([], [], GREEDY) == []


@pytest.fixture(scope="module", params=sorted(PAINTERS))
def painter(request: pytest.FixtureRequest) -> Any:
    return registry.create("tools", request.param)


def test_a_picture_follows_from_text_and_seed(painter: Any) -> None:
    assert isinstance(painter, Painter)
    assert painter.info.weights
    texts, seeds = TEXTS[:3] + TEXTS[:1], [1, 2, 3, 4]
    painted: list[Any] = painter.paint(texts, seeds)
    again = painter.paint(texts[::-1], seeds[::-1])[::-1]
    for one, other in zip(painted, again, strict=True):
        assert one.dtype == np.uint8
        np.testing.assert_array_equal(one, other)
    assert np.any(painted[0] != painted[3])
    assert painter.paint([], []) == []
