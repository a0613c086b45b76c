from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmark.errors import UserError
from benchmark.types import Sampling
from targets.transformers_lm import GumbelNoise, TransformersLM
from tests import tiny_models

PROMPTS = ["a red ball", "a blue dog and a cat on grass .", "cat", "a"] * 16
SEEDS = [1000 + 7 * i for i in range(64)]
FREE = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.save_language_model(tmp_path_factory.mktemp("lm"))


@pytest.fixture(scope="module")
def model(folder: Path) -> TransformersLM:
    return TransformersLM(str(folder), {"dtype": "float64"})


@pytest.mark.parametrize("sampling", [FREE, Sampling(0.7, 0.9, 12), Sampling(0.0, 1.0, 12)])
def test_replies_do_not_depend_on_the_batch(folder: Path, sampling: Sampling) -> None:
    def replies(size: int) -> list[str]:
        model = TransformersLM(str(folder), {"dtype": "float64", "batch_size": size})
        return model.complete(PROMPTS, SEEDS, sampling)

    whole = replies(64)
    assert replies(1) == replies(7) == whole
    assert len(set(whole)) > 3


def test_replies_do_not_depend_on_the_order(model: TransformersLM) -> None:
    forward = model.complete(PROMPTS, SEEDS, FREE)
    assert model.complete(PROMPTS[::-1], SEEDS[::-1], FREE)[::-1] == forward


def test_a_longer_neighbour_pads_without_effect(model: TransformersLM) -> None:
    (alone,) = model.complete(["cat"], [5], FREE)
    assert model.complete(["cat", "a dog on grass . " * 6], [5, 6], FREE)[0] == alone


def test_the_seed_decides(model: TransformersLM) -> None:
    replies = model.complete(["a red ball"] * 40, range(40), FREE)
    assert replies == model.complete(["a red ball"] * 40, range(40), FREE)
    assert len(set(replies)) > 10


def test_temperature_zero_is_greedy(model: TransformersLM) -> None:
    greedy = Sampling(0.0, 1.0, 6)
    assert len(set(model.complete(["a red ball"] * 5, range(5), greedy))) == 1


def chi_square(counts: Counter[str], expected: dict[str, float]) -> float:
    return sum((counts[word] - n) ** 2 / n for word, n in expected.items())


def first_words(model: TransformersLM, n: int, sampling: Sampling) -> Counter[str]:
    return Counter(model.complete(["a"] * n, range(n), sampling))


@pytest.fixture(scope="module")
def five_words(tmp_path_factory: pytest.TempPathFactory) -> TransformersLM:
    words = ("a", "b", "c", "d", "e")
    folder = tiny_models.save_language_model(tmp_path_factory.mktemp("five"), words=words)
    return TransformersLM(str(folder), {"dtype": "float64", "batch_size": 500})


def probabilities(model: TransformersLM, temperature: float) -> dict[str, float]:
    """Of the first word after "a"; every special token decodes to ""."""
    ids = torch.tensor([[1, 5, 4]])  # <bos> a <sep>
    with torch.inference_mode():
        logits = model._model(input_ids=ids).logits[0, -1]
    p = torch.softmax(logits / temperature, -1).tolist()
    return {"": sum(p[:5]), **dict(zip("abcde", p[5:], strict=True))}


def test_words_are_drawn_from_the_softmax(five_words: TransformersLM) -> None:
    n = 4000
    for temperature in (1.0, 0.6):
        counts = first_words(five_words, n, Sampling(temperature, 1.0, 1))
        expected = {word: n * p for word, p in probabilities(five_words, temperature).items()}
        # 6 cells, 5 degrees of freedom: chance exceeds 20.5 once in a thousand.
        assert chi_square(counts, expected) < 20.5


def test_the_nucleus_is_the_fewest_words_that_reach_top_p(five_words: TransformersLM) -> None:
    ids = torch.tensor([[1, 5, 4]])
    with torch.inference_mode():
        p = torch.softmax(five_words._model(input_ids=ids).logits[0, -1], -1)
    ranked = p.sort(descending=True)
    kept = int((ranked.values.cumsum(-1) < 0.6).sum()) + 1
    allowed = {five_words._tokenizer.decode([i], skip_special_tokens=True)
               for i in ranked.indices[:kept].tolist()}  # fmt: skip
    assert set(first_words(five_words, 1000, Sampling(1.0, 0.6, 1))) == allowed


def test_top_k_limits_the_words(folder: Path) -> None:
    model = TransformersLM(str(folder), {"dtype": "float64", "top_k": 1})
    assert model.complete(["a"] * 20, range(20), FREE) == model.complete(
        ["a"] * 20, [0] * 20, Sampling(0.0, 1.0, 12)
    )


def test_noise_belongs_to_the_row() -> None:
    def noise(seeds: Sequence[int]) -> torch.Tensor:
        return GumbelNoise(seeds, torch.device("cpu"))(
            torch.empty(0), torch.zeros(len(seeds), 9, dtype=torch.float64)
        )

    three = noise([1, 2, 3])
    torch.testing.assert_close(three[1:], noise([2, 3]), rtol=0, atol=0)
    assert not torch.equal(three[0], three[1])


def test_the_chat_template_brings_the_only_bos(
    model: TransformersLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    generate = model._model.generate

    def watched(**arguments: Any) -> Any:
        seen.append(arguments["input_ids"].tolist())
        return generate(**arguments)

    monkeypatch.setattr(model._model, "generate", watched)
    model.complete(["a cat", "cat"], [1, 2], FREE)
    # <bos> a cat <sep>, and <pad> on the left of the shorter one
    assert seen[0] == [[0, 1, 11, 4], [1, 5, 11, 4]]


def test_without_a_template_or_a_pad_token_it_works_too(tmp_path: Path) -> None:
    folder = tiny_models.save_language_model(tmp_path, chat=False, pad=False)
    alone = TransformersLM(str(folder), {"dtype": "float64", "batch_size": 1})
    together = TransformersLM(str(folder), {"dtype": "float64"})
    assert alone.complete(PROMPTS[:9], SEEDS[:9], FREE) == together.complete(
        PROMPTS[:9], SEEDS[:9], FREE
    )


def test_nothing_is_asked_of_no_prompts(model: TransformersLM) -> None:
    assert model.complete([], [], FREE) == []


def test_prompts_need_as_many_seeds(model: TransformersLM) -> None:
    with pytest.raises(ValueError, match="2 prompts need as many seeds, not 1"):
        model.complete(["a", "b"], [1], FREE)


def test_info_says_which_template_and_precision(folder: Path, model: TransformersLM) -> None:
    assert model.info.dtype == "float64"
    assert "top_k 0" in model.info.preprocessing
    assert len(model.info.weights) == 64


def test_what_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot load 'no/such' \(.*connect to the network"):
        TransformersLM("no/such", {})
    with pytest.raises(UserError, match=r"save_pretrained wrote"):
        TransformersLM(str(tmp_path), {})
    with pytest.raises(UserError, match="top_k -1 cannot be used"):
        TransformersLM(str(tmp_path), {"top_k": -1})
