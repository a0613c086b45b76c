"""The models that attacks may ask, as a run asks them: without repeats, through the cache, in batches."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmark.cache import Cache, pixels_digest
from benchmark.errors import NoAnswerError, UserError
from benchmark.memo import PICTURE, REMEMBERED, TEXT, Counts, Memo, checked_texts
from benchmark.protocols import Adviser, LanguageModel, Painter
from benchmark.types import Pixels, Sampling


class Tool:
    """A model that attacks may ask, by name: through `Complete`, `Ask` or `Paint`."""

    def __init__(
        self,
        model: LanguageModel | Adviser | Painter,
        cache: Cache | None = None,
        batch_size: int = 64,
        *,
        remembered: int = REMEMBERED,
        journal: Cache | None = None,
    ) -> None:
        """Wrap `model`; `journal` keeps for this run alone what must not be cached for others.

        Raises:
            UserError: `model` can neither complete prompts, nor be asked, nor paint.
        """
        if not isinstance(model, LanguageModel | Adviser | Painter):
            raise UserError(
                f"{type(model).__name__} cannot be a tool: it needs `info` and complete"
                "(prompts, seeds, sampling), ask(items) or paint(texts, seeds)"
            )
        self.counts = Counts()
        self.info = model.info
        self._model = model
        self._batch_size = batch_size
        self._replies = Memo(
            model.info, cache, batch_size, remembered, self.counts, TEXT, journal=journal
        )
        # Pictures are large, and one is asked for again only when a run is resumed.
        self._pictures = Memo(
            model.info, cache, batch_size, batch_size, self.counts, PICTURE, journal=journal
        )

    def complete(
        self,
        prompts: Sequence[str],
        seeds: Sequence[int],
        sampling: Sampling,
        *,
        tolerant: bool = False,
    ) -> list[str]:
        """One reply for each prompt; the same (prompt, seed, sampling) gives the same reply.

        If `tolerant`, a prompt that the model refuses is replied to by an empty text.

        Raises:
            NoAnswerError: The model refused a prompt, unless `tolerant`.
            ValueError: The model completes no prompts, or returned something else than one text a
                prompt.
        """
        if not isinstance(self._model, LanguageModel):
            raise ValueError(f"tool {self.info.id} completes no prompts: yield Ask or Paint for it")
        if tolerant:
            return self._replies_or_nothing(prompts, seeds, sampling)
        model = self._model
        # Greedy decoding draws nothing: replies that differ in the seed only are the same reply.
        drawn = [0] * len(prompts) if sampling.temperature == 0 else list(seeds)

        def generate(rows: Sequence[int]) -> list[str]:
            replies = model.complete(
                [prompts[row] for row in rows], [drawn[row] for row in rows], sampling
            )
            return checked_texts(replies, len(rows), f"tool {self.info.id}: complete", "prompts")

        replies = self._replies.fetch(
            [
                self._replies.key("reply", prompt, seed, asdict(sampling))
                for prompt, seed in zip(prompts, drawn, strict=True)
            ],
            generate,
            "replies_generated",
        )
        self.counts.asked += len(prompts)
        return replies

    def _replies_or_nothing(
        self, prompts: Sequence[str], seeds: Sequence[int], sampling: Sampling
    ) -> list[str]:
        try:
            return self.complete(prompts, seeds, sampling)
        except NoAnswerError:
            replies = []
        for prompt, seed in zip(prompts, seeds, strict=True):
            try:
                replies += self.complete([prompt], [seed], sampling)
            except NoAnswerError:
                replies.append("")
        return replies

    def paint(self, texts: Sequence[str], seeds: Sequence[int]) -> list[Pixels | None]:
        """One picture of each text, None where the painter declines; the same input, the same picture.

        Raises:
            ValueError: The model does not paint, or returned something else than one 8-bit RGB
                picture, or None, a text.
        """
        if not isinstance(self._model, Painter):
            raise ValueError(f"tool {self.info.id} does not paint: yield Complete or Ask for it")
        model = self._model

        def draw(rows: Sequence[int]) -> list[Pixels | None]:
            # Pictures do not depend on the batch's shape, and cost too much to be drawn as padding.
            wanted = list(dict.fromkeys(rows))
            painted = list(model.paint([texts[n] for n in wanted], [seeds[n] for n in wanted]))
            if len(painted) != len(wanted):
                raise ValueError(
                    f"tool {self.info.id}: paint returned {len(painted)} pictures for "
                    f"{len(wanted)} texts, expected one for each"
                )
            for pixels in painted:
                if pixels is not None:
                    pixels_digest(pixels)
            drawn = dict(zip(wanted, painted, strict=True))
            return [drawn[row] for row in rows]

        pictures = self._pictures.fetch(
            [
                self._pictures.key("picture", text, seed)
                for text, seed in zip(texts, seeds, strict=True)
            ],
            draw,
            "pictures_painted",
        )
        self.counts.asked += len(texts)
        return pictures

    def ask(self, items: Sequence[Any]) -> list[Any]:
        """One answer for each item, neither remembered nor padded: that is left to the model.

        Raises:
            ValueError: The model takes no items, or returned another number of answers.
        """
        if not isinstance(self._model, Adviser):
            raise ValueError(
                f"tool {self.info.id} has no ask(items): yield Complete or Paint for it"
            )
        answers: list[Any] = []
        for start in range(0, len(items), self._batch_size):
            batch = list(items[start : start + self._batch_size])
            given = list(self._model.ask(batch))
            if len(given) != len(batch):
                raise ValueError(
                    f"tool {self.info.id}: ask returned {len(given)} answers for "
                    f"{len(batch)} items, expected one for each"
                )
            self.counts.replies_generated += len(batch)
            answers += given
        self.counts.asked += len(items)
        return answers
