"""Tiny random models of the real classes, saved and loaded as the published ones are."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BartConfig,
    BartForSequenceClassification,
    DebertaConfig,
    DebertaForSequenceClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)

from benchmark.errors import UserError
from metrics.entailment_mnli import MNLIEnsemble

WORDS = ("a", "red", "blue", "dog", "cat", "on", "the", "grass", "A")
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
PUBLISHED_ORDER = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
OTHER_ORDER = ("entailment", "contradiction", "neutral")
PAIRS = [("a red dog", "a blue dog"), ("a cat on the grass", "a dog"), ("a", "A")]


def _tokenizer(second_segment: int) -> PreTrainedTokenizerFast:
    vocabulary = {word: index for index, word in enumerate([*SPECIAL, *WORDS])}
    inner: Any = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair=f"<s> $A </s> $B:{second_segment} </s>:{second_segment}",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    names = ["input_ids", "attention_mask"] + ["token_type_ids"] * second_segment
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=inner,
        bos_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        model_max_length=24,
        model_input_names=names,
    )


def _save(folder: Path, kind: str, labels: tuple[str, ...], seed: int) -> Path:
    torch.manual_seed(seed)
    shared: dict[str, Any] = {
        "vocab_size": len(SPECIAL) + len(WORDS),
        "bos_token_id": 0,
        "pad_token_id": 1,
        "eos_token_id": 2,
        "id2label": dict(enumerate(labels)),
        "label2id": {label: index for index, label in enumerate(labels)},
    }
    size: dict[str, Any] = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "max_position_embeddings": 32,
        "initializer_range": 0.5,
    }
    model: Any
    if kind == "roberta":
        model = RobertaForSequenceClassification(RobertaConfig(**shared, **size, type_vocab_size=1))
    elif kind == "deberta":
        model = DebertaForSequenceClassification(DebertaConfig(**shared, **size, type_vocab_size=2))
    else:
        model = BartForSequenceClassification(
            BartConfig(
                **shared,
                d_model=16,
                encoder_layers=1,
                decoder_layers=1,
                encoder_attention_heads=2,
                decoder_attention_heads=2,
                encoder_ffn_dim=16,
                decoder_ffn_dim=16,
                max_position_embeddings=32,
                init_std=0.5,
                decoder_start_token_id=2,
                forced_eos_token_id=2,
            )
        )
    model.save_pretrained(folder)
    _tokenizer(second_segment=int(kind == "deberta")).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    root = tmp_path_factory.mktemp("mnli")
    return [
        str(_save(root / "roberta", "roberta", PUBLISHED_ORDER, 1)),
        str(_save(root / "deberta", "deberta", OTHER_ORDER, 2)),
        str(_save(root / "bart", "bart", ("neutral", "entailment", "contradiction"), 3)),
    ]


@pytest.fixture
def judge(folders: list[str]) -> MNLIEnsemble:
    return MNLIEnsemble(", ".join(folders), {"batch_size": 2})


def test_shape_and_sum(judge: MNLIEnsemble) -> None:
    result = judge.judge(PAIRS)
    assert result.shape == (3, 3, 3)
    np.testing.assert_allclose(result.sum(axis=2), 1, atol=1e-6)
    # Random, but not indifferent: columns in the wrong order could be told from the right one.
    assert result.std(axis=2).min() > 0.01
    assert judge.judge([]).shape == (0, 3, 3)


def test_batches_change_nothing(folders: list[str], judge: MNLIEnsemble) -> None:
    together = judge.judge([*PAIRS, PAIRS[0]])
    alone = MNLIEnsemble(",".join(folders), {"batch_size": 1})
    for row, pair in zip(together, [*PAIRS, PAIRS[0]], strict=True):
        np.testing.assert_allclose(row, alone.judge([pair])[0], atol=1e-6)


def test_direction_and_case_matter(judge: MNLIEnsemble) -> None:
    there, back = judge.judge([("a red dog", "a cat"), ("a cat", "a red dog")])
    assert np.abs(there - back).max() > 1e-3
    lower, upper = judge.judge([("a dog", "a cat"), ("A dog", "a cat")])
    assert np.abs(lower - upper).max() > 1e-3


def test_columns_follow_the_names_of_the_labels(tmp_path: Path, folders: list[str]) -> None:
    """The same weights with renamed labels give the same numbers in other columns."""
    folder = _save(tmp_path / "renamed", "roberta", OTHER_ORDER, 1)
    published = MNLIEnsemble(folders[0]).judge(PAIRS)[:, 0]
    renamed = MNLIEnsemble(str(folder)).judge(PAIRS)[:, 0]
    # Native columns 0, 1, 2 are (contradiction, neutral, entailment) and (entailment,
    # contradiction, neutral): the published entailment is native column 2, renamed "neutral".
    np.testing.assert_allclose(renamed[:, 1], published[:, 0], atol=1e-7)
    np.testing.assert_allclose(renamed[:, 0], published[:, 2], atol=1e-7)
    np.testing.assert_allclose(renamed[:, 2], published[:, 1], atol=1e-7)


def test_a_pair_is_judged_once(judge: MNLIEnsemble, monkeypatch: pytest.MonkeyPatch) -> None:
    first = judge.judge(PAIRS)
    for model in judge._models:
        monkeypatch.setattr(model, "probabilities", None)
    np.testing.assert_array_equal(judge.judge(PAIRS[::-1]), first[::-1])


def test_long_pairs_are_cut(judge: MNLIEnsemble) -> None:
    assert np.isfinite(judge.judge([("a red dog " * 40, "a cat " * 40)])).all()


def test_info_tells_the_models_apart(folders: list[str], judge: MNLIEnsemble) -> None:
    assert judge.info.id == ",".join(folders)
    weights = judge.info.weights.split(",")
    assert len(set(weights)) == 3
    assert {len(one) for one in weights} == {64}


def test_foreign_labels_are_refused(tmp_path: Path) -> None:
    folder = _save(tmp_path / "model", "roberta", PUBLISHED_ORDER, 1)
    config = json.loads((folder / "config.json").read_text())
    config["id2label"] = {"0": "no", "1": "maybe", "2": "yes"}
    config["label2id"] = {"no": 0, "maybe": 1, "yes": 2}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="has the labels no, maybe, yes: a judge needs a model"):
        MNLIEnsemble(str(folder))


def test_missing_model(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be loaded: fetch it with `hf download .*nowhere`"):
        MNLIEnsemble(str(tmp_path / "nowhere") + "@v1")


def test_no_model_named() -> None:
    with pytest.raises(UserError, match="names no model"):
        MNLIEnsemble(" , ")
