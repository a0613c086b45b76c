"""FACTUAL's scene-graph parser (Li et al., ACL Findings 2023), a flan-T5, with all steps up to the filter.

Tokenising, generation and decoding are our own: the package FactualSceneGraph needs a tokenizer method
that transformers 5 no longer has.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, GenerationConfig

from benchmark.errors import UserError
from benchmark.types import JSON
from metrics.capture.factual_strings import SentenceGraph, facts, sentence_graph
from metrics.capture.filtering import keep_said, noun_lemmas
from metrics.capture.graph import Graph
from metrics.capture.merging import merge
from metrics.capture.resources import NltkResources, TextResources
from metrics.capture.stop_words import stop_words
from metrics.hub import hub_info, pinned

PUBLISHED = "lizhuang144/flan-t5-base-VG-factual-sg"
PREFIX = "Generate Scene Graph: "
MAX_INPUT = 64
"""Tokens that are read of a sentence, prefix and end included; the rest is cut and reported."""
MAX_OUTPUT = 128
BEAMS = 5
BATCH = 32


class FactualParser:
    """Splits a text into sentences, parses each and merges and filters their graphs (a `GraphParser`).

    `argument` is a model id, "id@revision", or a folder; the published parser by default. Settings:
    "device" ("cpu"), "batch_size" (32), "stop_words" ("trident"). A sentence is parsed once.

    Raises:
        UserError: The model cannot be loaded, or nltk or its data are missing.
    """

    def __init__(
        self,
        argument: str = "",
        settings: Mapping[str, JSON] | None = None,
        *,
        resources: TextResources | None = None,
    ) -> None:
        settings = settings or {}
        self._resources = resources or NltkResources()
        self._resources.tagged(self._resources.sentences("A cat sat.")[0])  # fails now, if at all
        self._stop_words = stop_words(str(settings.get("stop_words", "trident")))
        self._device = torch.device(str(settings.get("device", "cpu")))
        self._batch = int(str(settings.get("batch_size", BATCH)))
        self._tokenizer, self._model = _load(argument or PUBLISHED)
        self._model.to(self._device).eval()
        name, revision = pinned(argument or PUBLISHED)
        self.info = hub_info(
            name,
            revision,
            self._model.config,
            f"{BEAMS} beams, {MAX_INPUT} tokens in, {MAX_OUTPUT} out, {self._resources.version},"
            f" stop words {self._stop_words.name} {self._stop_words.sha256[:16]}",
        )
        self._sentences: dict[str, SentenceGraph] = {}
        self._texts: dict[str, Graph] = {}
        self._long: set[str] = set()

    def parse(self, texts: Sequence[str]) -> list[dict[str, JSON] | None]:
        """The merged and filtered graph of each text, as plain data."""
        new = [text for text in dict.fromkeys(texts) if text not in self._texts]
        split = {text: self._resources.sentences(text) for text in new}
        self._learn([sentence for sentences in split.values() for sentence in sentences])
        for text, sentences in split.items():
            graphs = [self._sentences[sentence] for sentence in sentences]
            merged = merge(graphs, self._resources.noun, self._resources.adjective)
            nouns = noun_lemmas(self._resources.tagged(text), self._resources.noun)
            self._texts[text] = keep_said(merged, nouns, self._stop_words.words)
        return [self._texts[text].as_json() for text in texts]

    def report(self) -> dict[str, JSON]:
        """How many sentences have been read, and how many were longer than the parser's limit."""
        return {"sentences": len(self._sentences), "sentences_cut": len(self._long)}

    def _learn(self, sentences: Sequence[str]) -> None:
        new = [s for s in dict.fromkeys(sentences) if s not in self._sentences]
        new.sort(key=len)  # sentences of similar length share a batch, so that little is padding
        for start in range(0, len(new), self._batch):
            batch = new[start : start + self._batch]
            for sentence, written in zip(batch, self._write(batch), strict=True):
                self._sentences[sentence] = sentence_graph(facts(written))

    def _write(self, sentences: Sequence[str]) -> list[str]:
        """What the model writes about each sentence."""
        prompts = [PREFIX + sentence.strip() for sentence in sentences]
        lengths = [len(ids) for ids in self._tokenizer(prompts)["input_ids"]]
        self._long |= {s for s, n in zip(sentences, lengths, strict=True) if n > MAX_INPUT}
        inputs = self._tokenizer(
            prompts, max_length=MAX_INPUT, truncation=True, padding="longest", return_tensors="pt"
        ).to(self._device)
        config = GenerationConfig(  # type: ignore[no-untyped-call]
            num_beams=BEAMS,
            early_stopping=True,
            max_length=MAX_OUTPUT,
            do_sample=False,
            decoder_start_token_id=self._tokenizer.pad_token_id,
            pad_token_id=self._tokenizer.pad_token_id,
            eos_token_id=self._tokenizer.eos_token_id,
        )
        with torch.inference_mode():
            ids = self._model.generate(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                generation_config=config,
            )
        written: list[str] = self._tokenizer.batch_decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=True
        )
        return [text.replace(PREFIX.strip(), "").strip() for text in written]


def _load(spec: str) -> tuple[Any, Any]:
    name, revision = pinned(spec)
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, revision=revision or "main")
        model = AutoModelForSeq2SeqLM.from_pretrained(
            name, revision=revision or "main", dtype=torch.float32
        )
    except (OSError, ValueError) as error:
        raise UserError(
            f"the parser {spec!r} cannot be loaded: fetch it with `hf download {name}`, give a folder"
            " that holds it, or choose another parser"
        ) from error
    return tokenizer, model
