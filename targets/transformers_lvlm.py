"""Vision-language models of transformers that answer: LLaVA, Qwen2-VL, Idefics, Llama 3.2 and others.

A picture and a prompt are one user message in the processor's own chat template; none is written by hand.
An answer must not depend on the questions that share its batch, so only pictures of one size with prompts
of one length are asked together: no row is padded. Above temperature 0 each row draws with a seed made
from its picture and its prompt. No code from a model's repository is run.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import torch
from PIL import Image
from transformers import (
    AutoImageProcessor,
    AutoModelForImageTextToText,
    AutoProcessor,
    GenerationConfig,
)

from benchmark.errors import UserError
from benchmark.types import JSON, ModelInfo, Pixels, Sampling
from targets.options import Options
from targets.pretrained import loading, pinned, placed, transformers_weights
from targets.transformers_lm import TEMPLATE_DATE, drawing
from targets.weights import sha256_of


class TransformersLVLM:
    """A vision-language model of transformers, in evaluation mode.

    The argument is a repository on the hub (`llava-hf/llava-1.5-7b-hf`, with `@COMMIT` pinned) or a
    local folder.

    Settings:
        revision: Commit, tag or branch on the hub.
        dtype: float32 by default; float64 makes answers independent of batches to the last token.
        device, batch_size: See `targets.options`.

    Raises:
        UserError: The model does not exist, is of another kind, has no chat template, or is not on this
            machine and the network is not there.
    """

    def __init__(self, argument: str, settings: Mapping[str, JSON]) -> None:
        self._options = Options.of(settings)
        argument, revision = pinned(argument, self._options.revision)
        load: dict[str, Any] = {"revision": revision, "trust_remote_code": False}
        with loading(argument):
            processors: Any = AutoProcessor
            processor = processors.from_pretrained(argument, **load)
            # PIL resizes as the published numbers were made; torchvision's antialiasing differs. Asked of
            # the whole processor, this would fail for those that read videos too.
            pictures: Any = AutoImageProcessor
            processor.image_processor = pictures.from_pretrained(argument, backend="pil", **load)
            model = AutoModelForImageTextToText.from_pretrained(
                argument, dtype=self._options.dtype, **load
            )
        template = getattr(processor, "chat_template", None)
        if not template:
            raise UserError(
                f"{argument} has no chat template, so it cannot be asked:"
                " give a model tuned on instructions, such as llava-hf/llava-1.5-7b-hf"
            )
        self._processor = processor
        self._processor.tokenizer.padding_side = "left"
        # A processor refuses what its template does not read.
        dated = "date_string" in json.dumps(template)
        self._template_settings = {"date_string": TEMPLATE_DATE} if dated else {}
        self._model = placed(model, self._options)
        self.info = ModelInfo(
            id=f"transformers_lvlm:{argument}",
            revision=getattr(model.config, "_commit_hash", None) or "",
            weights=sha256_of(transformers_weights(argument, revision)),
            dtype=self._options.dtype_name,
            preprocessing=self._preprocessing(),
        )

    def answer(
        self, images: Sequence[Pixels], prompts: Sequence[str], sampling: Sampling
    ) -> list[str]:
        """One answer for each (picture, prompt); special tokens are left out. Temperature 0 is greedy.

        Raises:
            ValueError: Pictures and prompts differ in number.
        """
        if len(images) != len(prompts):
            raise ValueError(f"{len(images)} pictures need as many prompts, not {len(prompts)}")
        answers = [""] * len(images)
        for rows in self._alike(images, prompts):
            for some in self._options.batches(rows):
                written = self._write(
                    [images[r] for r in some], [prompts[r] for r in some], sampling
                )
                for row, text in zip(some, written, strict=True):
                    answers[row] = text
        return answers

    def _alike(self, images: Sequence[Pixels], prompts: Sequence[str]) -> Iterator[list[int]]:
        """Rows whose pictures have one size and whose prompts have one length in tokens."""
        tokenizer = self._processor.tokenizer
        lengths = {prompt: len(tokenizer(prompt)["input_ids"]) for prompt in dict.fromkeys(prompts)}

        def kind(row: int) -> tuple[int, ...]:
            return (*images[row].shape[:2], lengths[prompts[row]])

        for _, rows in groupby(sorted(range(len(images)), key=kind), key=kind):
            yield list(rows)

    def _write(
        self, images: Sequence[Pixels], prompts: Sequence[str], sampling: Sampling
    ) -> list[str]:
        messages = [
            [{"role": "user", "content": [_picture(image), {"type": "text", "text": prompt}]}]
            for image, prompt in zip(images, prompts, strict=True)
        ]
        inputs = self._processor.apply_chat_template(
            messages,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            processor_kwargs={"padding": True, "return_tensors": "pt"},
            **self._template_settings,
        ).to(self._options.device, self._options.dtype)
        seeds = [_seed(image, prompt) for image, prompt in zip(images, prompts, strict=True)]
        config = GenerationConfig(  # type: ignore[no-untyped-call]
            do_sample=False,
            max_new_tokens=sampling.max_new_tokens,
            pad_token_id=self._padding(),
            eos_token_id=self._ends(),
        )
        with torch.inference_mode():
            ids = self._model.generate(
                **inputs,
                generation_config=config,
                logits_processor=drawing(seeds, sampling, self._options.device),
            )
        new = ids[:, inputs["input_ids"].shape[1] :]
        answers = self._processor.tokenizer.batch_decode(new, skip_special_tokens=True)
        return [answer.strip() for answer in answers]

    def _ends(self) -> int | list[int] | None:
        """Where answers end: the model's own list before the tokenizer's."""
        ends: int | list[int] | None = self._model.generation_config.eos_token_id
        return self._processor.tokenizer.eos_token_id if ends is None else ends

    def _padding(self) -> int | None:
        """What fills finished rows; it is cut off again."""
        padding: int | None = self._processor.tokenizer.pad_token_id
        if padding is None:
            padding = self._processor.tokenizer.eos_token_id
        return padding

    def _preprocessing(self) -> str:
        """Everything between the picture and the prompt and the first layer, as text."""
        template = json.dumps(self._processor.chat_template, sort_keys=True)
        described = {
            "image": json.loads(self._processor.image_processor.to_json_string()),
            "image_processor": type(self._processor.image_processor).__name__,
            "processor": type(self._processor).__name__,
            "tokenizer": type(self._processor.tokenizer).__name__,
            "chat_template": hashlib.sha256(template.encode()).hexdigest()[:16],
        }
        return json.dumps(described, sort_keys=True)


def _picture(image: Pixels) -> dict[str, Any]:
    return {"type": "image", "image": Image.fromarray(image)}


def _seed(image: Pixels, prompt: str) -> int:
    digest = hashlib.sha256(f"{image.shape}".encode())
    digest.update(image.tobytes())
    digest.update(prompt.encode())
    return int.from_bytes(digest.digest()[:7], "big")
