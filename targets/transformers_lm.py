"""Language models of transformers as tools: the same prompt and seed give the same reply.

A reply must not depend on the prompts that share its batch. So a token is drawn by adding Gumbel noise
to its log-probability and taking the maximum (which draws from the softmax), and each row has a random
generator of its own. `generate` itself is greedy.

One prompt is one user message in the tokenizer's chat template, if it has one. The template writes its
own <bos>, so none is added. No code from a model's repository is run.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Sampling
from targets.options import Options
from targets.pretrained import loading, pinned, placed, transformers_weights
from targets.weights import sha256_of

TEMPLATE_DATE = "26 Jul 2024"
"""Llama's templates tell the model today's date: fixed, to Llama 3.1's own default, so that a prompt is
the same on any day. Other templates do not read it."""


class TransformersLM:
    """A causal language model of transformers.

    The argument is a repository on the hub (`meta-llama/Meta-Llama-3.1-8B-Instruct`, with `@COMMIT` pinned)
    or a local folder.

    Settings:
        revision: Commit, tag or branch on the hub.
        dtype: float32 by default; float64 makes replies independent of batches to the last token.
        device, batch_size: See `targets.options`.
        top_k: Draw only from the k most likely tokens; 0, the default, is no such limit.

    Raises:
        UserError: The model does not exist, or is not on this machine and the network is not there.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        self._options = Options.of(settings)
        self._top_k = _whole(settings, "top_k")
        argument, revision = pinned(argument, self._options.revision)
        load: dict[str, Any] = {"revision": revision, "trust_remote_code": False}
        with loading(argument):
            tokenizer = AutoTokenizer.from_pretrained(argument, **load)
            model = AutoModelForCausalLM.from_pretrained(
                argument, dtype=self._options.dtype, **load
            )
        tokenizer.padding_side = "left"
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        self._tokenizer: Any = tokenizer
        self._model = placed(model, self._options)
        template = str(tokenizer.chat_template or "")
        self.info = ModelInfo(
            id=f"transformers:{argument}",
            revision=getattr(model.config, "_commit_hash", None) or "",
            weights=sha256_of(transformers_weights(argument, revision)),
            dtype=self._options.dtype_name,
            preprocessing=f"chat template {hashlib.sha256(template.encode()).hexdigest()[:16]},"
            f" top_k {self._top_k}",
        )

    def complete(
        self, prompts: Sequence[str], seeds: Sequence[int], sampling: Sampling
    ) -> list[str]:
        """One reply for each prompt; special tokens are left out. Temperature 0 is greedy.

        Raises:
            ValueError: Prompts and seeds differ in number.
        """
        if len(prompts) != len(seeds):
            raise ValueError(f"{len(prompts)} prompts need as many seeds, not {len(seeds)}")
        texts = [self._rendered(prompt) for prompt in prompts]
        # Rows of about the same length share a batch, so that little of it is padding.
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        replies = [""] * len(texts)
        for rows in self._options.batches(order):
            written = self._write([texts[r] for r in rows], [seeds[r] for r in rows], sampling)
            for row, reply in zip(rows, written, strict=True):
                replies[row] = reply
        return replies

    def _rendered(self, prompt: str) -> str:
        if not self._tokenizer.chat_template:
            return prompt
        message = [{"role": "user", "content": prompt}]
        rendered: str = self._tokenizer.apply_chat_template(
            message, add_generation_prompt=True, tokenize=False, date_string=TEMPLATE_DATE
        )
        return rendered

    def _write(
        self, texts: Sequence[str], seeds: Sequence[int], sampling: Sampling
    ) -> Sequence[str]:
        inputs = self._tokenizer(
            list(texts),
            add_special_tokens=not self._tokenizer.chat_template,
            padding=True,
            return_attention_mask=True,
            return_tensors="pt",
        ).to(self._options.device)
        config = GenerationConfig(  # type: ignore[no-untyped-call]
            do_sample=False,
            max_new_tokens=sampling.max_new_tokens,
            pad_token_id=self._tokenizer.pad_token_id,
            eos_token_id=self._ends(),
        )
        with torch.inference_mode():
            ids = self._model.generate(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                generation_config=config,
                logits_processor=drawing(seeds, sampling, self._options.device, self._top_k),
            )
        new = ids[:, inputs["input_ids"].shape[1] :]
        replies: list[str] = self._tokenizer.batch_decode(new, skip_special_tokens=True)
        return replies

    def _ends(self) -> int | list[int] | None:
        """Where replies end: the model's own list, such as Llama's two, before the tokenizer's."""
        ends: int | list[int] | None = self._model.generation_config.eos_token_id
        return self._tokenizer.eos_token_id if ends is None else ends


def drawing(
    seeds: Sequence[int], sampling: Sampling, device: torch.device, top_k: int = 0
) -> LogitsProcessorList:
    """What makes greedy generation draw, one seed a row; nothing at temperature 0."""
    if sampling.temperature == 0:
        return LogitsProcessorList()
    chain: list[Any] = [_Widened(), TemperatureLogitsWarper(float(sampling.temperature))]
    if top_k:
        chain.append(TopKLogitsWarper(top_k))
    if 0 < sampling.top_p < 1:
        chain.append(TopPLogitsWarper(float(sampling.top_p)))
    return LogitsProcessorList([*chain, GumbelNoise(seeds, device)])


class _Widened(LogitsProcessor):
    """Logits in float64, so that dtypes differ in the model alone and not in the draw."""

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        del input_ids
        return scores.double()


class GumbelNoise(LogitsProcessor):
    """Adds to each row noise of its own generator; the maximum is then a draw from the softmax.

    With E exponentially distributed, -ln E follows the Gumbel distribution.
    """

    def __init__(self, seeds: Sequence[int], device: torch.device) -> None:
        # On CUDA the noise is drawn there: a vocabulary's worth a row and token is much to copy.
        self._device = device if device.type == "cuda" else torch.device("cpu")
        self._generators = [torch.Generator(self._device).manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores of shape (rows, vocabulary), one row a seed."""
        del input_ids
        noise = torch.empty(scores.shape, dtype=torch.float64, device=self._device)
        for row, generator in zip(noise, self._generators, strict=True):
            row.exponential_(generator=generator)
        return scores - noise.log().to(scores.device)


def _whole(settings: Mapping[str, JSON], key: str) -> int:
    value = settings.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UserError(f"{key} {value!r} cannot be used: give a whole number of 0 or more")
    return value
