"""The steps around FACTUAL's flan-T5, with a random T5 of its class and a real tokenizer."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from benchmark.errors import UserError
from metrics.capture.parser_factual import MAX_INPUT, PREFIX, FactualParser
from tests.unit.metrics.capture.capture_fakes import GOLDEN, FakeResources

TEXTS = ["A red car is parked.", "Trees surround the street.", "A dog sits on a sofa."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 of two layers, a byte-level BPE that is trained here, both saved as the libraries do."""
    path = tmp_path_factory.mktemp("factual")
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator([PREFIX, *TEXTS, "( car , is , red )"], trainer)
    inner.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=inner, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    tokenizer.save_pretrained(str(path))
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        pad_token_id=0,
        eos_token_id=1,
    )
    T5ForConditionalGeneration(config).save_pretrained(str(path))
    return path


@pytest.fixture
def parser(folder: Path) -> FactualParser:
    return FactualParser(str(folder), {"batch_size": 2}, resources=FakeResources())


@pytest.fixture
def scripted(parser: FactualParser, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The same parser, whose model writes what it is told; returns it and the batches asked for."""

    def script(written: dict[str, str], resources: FakeResources) -> tuple[Any, list[list[str]]]:
        batches: list[list[str]] = []

        def write(sentences: list[str]) -> list[str]:
            batches.append(list(sentences))
            return [written[sentence] for sentence in sentences]

        monkeypatch.setattr(parser, "_write", write)
        monkeypatch.setattr(parser, "_resources", resources)
        return parser, batches

    return script


def test_the_model_writes_what_its_own_generate_does(parser: FactualParser) -> None:
    """Beams, prefix and lengths against the call that the published code makes, one at a time."""
    for text in TEXTS:
        inputs = parser._tokenizer([PREFIX + text], return_tensors="pt")
        with torch.inference_mode():
            ids = parser._model.generate(
                inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                decoder_start_token_id=0,
                num_beams=5,
                max_length=128,
                early_stopping=True,
            )
        expected = parser._tokenizer.decode(
            ids[0], skip_special_tokens=True, clean_up_tokenization_spaces=True
        )
        assert parser._write([text]) == [expected.strip()]


def test_company_changes_nothing(parser: FactualParser) -> None:
    assert parser._write(TEXTS) == [parser._write([text])[0] for text in TEXTS]


def test_texts_are_parsed_from_end_to_end(parser: FactualParser) -> None:
    graphs = parser.parse(TEXTS)
    assert all(set(graph or {}) == {"objects", "attributes", "relations"} for graph in graphs)
    assert parser.parse(TEXTS[::-1]) == graphs[::-1]
    assert parser.report() == {"sentences": 3, "sentences_cut": 0}


def test_long_sentences_are_cut_and_counted(parser: FactualParser) -> None:
    text = "dog " * 80
    parser.parse([text, TEXTS[0]])
    assert parser.report() == {"sentences": 2, "sentences_cut": 1}
    ids = parser._tokenizer(PREFIX + text)["input_ids"]
    assert len(ids) > MAX_INPUT
    first = parser._tokenizer.decode(ids[: MAX_INPUT - 1], skip_special_tokens=True)
    assert parser._write([text]) == parser._write([first.removeprefix(PREFIX)])


def test_every_sentence_is_parsed_once(scripted: Callable[..., Any]) -> None:
    resources = FakeResources(split={"x": ["a.", "b."], "y": ["b.", "c."]})
    parser, batches = scripted(dict.fromkeys(["a.", "b.", "c."], "( dog , is , red )"), resources)
    parser.parse(["x", "y", "x"])
    parser.parse(["y"])
    assert batches == [["a.", "b."], ["c."]]


@pytest.mark.parametrize("case", GOLDEN["text_pipeline"], ids=lambda c: c["text"][:20])
def test_from_sentences_to_the_filtered_graph(
    case: dict[str, Any], scripted: Callable[..., Any]
) -> None:
    """The published package's cases with its graphs of the sentences; the stop list is ours."""
    nouns = {"trees": "tree", "glasses": "glass", "dogs": "dog"}
    resources = FakeResources(
        split={case["text"]: case["sentences"]},
        tags={case["text"]: [(token, tag) for token, tag in case["tagged"]]},
        nouns=nouns,
    )
    parser, _ = scripted(case["stub_graphs"], resources)
    (graph,) = parser.parse([case["text"]])
    assert sorted(graph["objects"]) == case["objects"]
    assert {k: sorted(v) for k, v in graph["attributes"].items()} == case["attributes"]
    assert sorted(graph["relations"]) == case["relations"]


def test_it_says_which_it_is(parser: FactualParser, folder: Path) -> None:
    info = parser.info
    assert info.id == str(folder)
    assert len(info.weights) == 64
    assert "5 beams" in info.preprocessing
    assert "stop words trident" in info.preprocessing
    other = FactualParser(str(folder), {"stop_words": "none"}, resources=FakeResources())
    assert other.info.preprocessing != info.preprocessing


def test_no_such_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "t5"}))
    with pytest.raises(UserError, match=r"cannot be loaded: fetch it with `hf download"):
        FactualParser(str(tmp_path), resources=FakeResources())
