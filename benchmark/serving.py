"""Model calls as a run makes them: without repeats, through the cache, in batches of one fixed shape.

Float kernels give last digits that depend on a batch's shape, so every batch of a run is filled up to
exactly `batch_size` rows by repeating its last one, and scores are rounded to `SCORE_DIGITS`.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from benchmark.cache import Cache, pixels_digest
from benchmark.errors import NoAnswerError, UserError
from benchmark.memo import (
    NUMBER,
    REMEMBERED,
    TEXT,
    VECTOR,
    Codec,
    Counts,
    Memo,
    Vector,
    checked_texts,
)
from benchmark.protocols import Answerer, DualEncoder, PairScorer
from benchmark.sights import Sight, View
from benchmark.types import SCORE_DIGITS, ModelInfo, Pixels, Sampling

UNIT_TOLERANCE = 1e-2
"""How far an embedding's length may be from 1: wide enough for half precision."""

ANSWERING = Sampling(temperature=0.0, top_p=1.0, max_new_tokens=64)
"""How a target answers where the attack does not say: greedily, as no seed is given."""

T = TypeVar("T")

LOST = 3
"""Answers in a row that a server may fail to give a tolerant attack before it counts as gone."""

_PAIRS_A_PRODUCT = 4096
"""Bounds the memory that cosines of many pictures with many options take."""


class Target:
    """The model that a result is about, asked for matching scores and for answers."""

    def __init__(
        self,
        model: object,
        cache: Cache | None = None,
        batch_size: int = 64,
        *,
        remembered: int = REMEMBERED,
        journal: Cache | None = None,
    ) -> None:
        """Wrap `model`, a `DualEncoder`, a `PairScorer` or an `Answerer`, which may also be a scorer.

        `journal` keeps for this run alone what a model says that must not be cached for others.

        Raises:
            UserError: `model` is none of them.
        """
        self.counts = Counts()
        self.info: ModelInfo
        self._score: Callable[[Sequence[tuple[Pixels, str]]], npt.NDArray[np.float64]] | None = None
        self._answerer = model if isinstance(model, Answerer) else None

        def memo(info: ModelInfo, codec: Codec[T]) -> Memo[T]:
            return Memo(info, cache, batch_size, remembered, self.counts, codec, journal=journal)

        if isinstance(model, DualEncoder):
            self.info = model.info
            self._images: Memo[Vector] = memo(model.info, VECTOR)
            self._texts: Memo[Vector] = memo(model.info, VECTOR)
            self._encoder = model
            self._score = self._cosines
        elif isinstance(model, PairScorer):
            self.info = model.info
            self._pairs: Memo[float] = memo(model.info, NUMBER)
            self._matcher = model
            self._score = self._matches
        elif self._answerer is None:
            raise UserError(
                f"{type(model).__name__} cannot be a target: it needs `info` and "
                "encode_images and encode_texts (DualEncoder), match (PairScorer) "
                "or answer (Answerer)"
            )
        if self._answerer is not None:
            self.info = self._answerer.info
            self._answers: Memo[str] = memo(self.info, TEXT)

    @property
    def gives_scores(self) -> bool:
        """Whether it scores pictures and texts."""
        return self._score is not None

    @property
    def answers(self) -> bool:
        """Whether it can be asked questions."""
        return self._answerer is not None

    def look(
        self, views: Sequence[View], answering: Sampling = ANSWERING, *, tolerant: bool = False
    ) -> list[Sight]:
        """Score and answer all `views`; what the model cannot give is left out.

        If `tolerant`, a question that gets no answer costs only that answer: its sight says why.

        Raises:
            ValueError: A picture is not 8-bit RGB, or the model returned what is no score or answer.
            NoAnswerError: The model refused a question, unless `tolerant`.
        """
        outputs: dict[int, tuple[str | None, str]] = {}
        if self.answers:
            asked = [(n, view) for n, view in enumerate(views) if view.question is not None]
            questions = [(view.pixels, view.question or "") for _, view in asked]
            answers = self._answers_or_refusals(questions, answering, tolerant)
            outputs = {n: answer for (n, _), answer in zip(asked, answers, strict=True)}
        scores: list[float] = []
        if self.gives_scores:
            scores = self.score([(view.pixels, text) for view in views for text in view.texts])
        rest = iter(scores)
        return [
            Sight(tuple(islice(rest, len(view.texts))), *outputs.get(n, (None, "")))
            for n, view in enumerate(views)
        ]

    def score(self, pairs: Sequence[tuple[Pixels, str]]) -> list[float]:
        """How well each text matches its picture, higher = better, to `SCORE_DIGITS` digits.

        Raises:
            ValueError: A picture is not 8-bit RGB, or the model gives no scores or returned what is
                no score.
        """
        if not pairs:
            return []
        if self._score is None:
            raise ValueError(f"target {self.info.id} only answers questions: it gives no scores")
        scores = self._score(pairs)
        self.counts.asked += len(pairs)
        return [round(float(score), SCORE_DIGITS) for score in scores]

    def answer(
        self, questions: Sequence[tuple[Pixels, str]], sampling: Sampling = ANSWERING
    ) -> list[str]:
        """What the model says to each question about a picture.

        Raises:
            ValueError: A picture is not 8-bit RGB, or the model gives no answers or returned
                something else than one text a question.
        """
        if not questions:
            return []
        if self._answerer is None:
            raise ValueError(f"target {self.info.id} gives scores: it cannot answer questions")
        answers = self._answers.fetch(
            [
                self._answers.key("answer", digest, question, asdict(sampling))
                for digest, (_, question) in zip(_digests(questions), questions, strict=True)
            ],
            lambda rows: self._say([questions[row] for row in rows], sampling),
            "replies_generated",
        )
        self.counts.asked += len(questions)
        return answers

    def _answers_or_refusals(
        self, questions: Sequence[tuple[Pixels, str]], sampling: Sampling, tolerant: bool
    ) -> list[tuple[str | None, str]]:
        """(answer, "") or (None, why there is none) for each question."""
        try:
            return [(answer, "") for answer in self.answer(questions, sampling)]
        except (NoAnswerError, ConnectionError):
            if not tolerant:
                raise
        said: list[tuple[str | None, str]] = []
        lost = 0
        for question in questions:
            try:
                said.append((self.answer([question], sampling)[0], ""))
                lost = 0
            except NoAnswerError as error:
                said.append((None, f"{error.reason}: {error}"))
                lost = 0
            except ConnectionError as error:
                lost += 1
                if lost == LOST:
                    raise
                said.append((None, f"error: {error}"))
        return said

    def _cosines(self, pairs: Sequence[tuple[Pixels, str]]) -> npt.NDArray[np.float64]:
        # Options compare every picture with the same few texts: each of both is looked up once.
        digests = _digests(pairs)
        pictures = {digest: pixels for digest, (pixels, _) in zip(digests, pairs, strict=True)}
        shown = list(pictures.values())
        texts = list(dict.fromkeys(text for _, text in pairs))
        images = self._images.fetch(
            [self._images.key("image", digest) for digest in pictures],
            lambda rows: self._embed_images([shown[row] for row in rows]),
            "images_encoded",
        )
        words = self._texts.fetch(
            [self._texts.key("text", text) for text in texts],
            lambda rows: self._embed_texts([texts[row] for row in rows]),
            "texts_encoded",
        )
        image_row = {digest: row for row, digest in enumerate(pictures)}
        text_row = {text: row for row, text in enumerate(texts)}
        left, right = np.stack(images).astype(np.float64), np.stack(words).astype(np.float64)
        rows = np.array([image_row[digest] for digest in digests])
        columns = np.array([text_row[text] for _, text in pairs])
        cosines = np.empty(len(pairs))
        for start in range(0, len(pairs), _PAIRS_A_PRODUCT):
            part = slice(start, start + _PAIRS_A_PRODUCT)
            cosines[part] = np.einsum("ij,ij->i", left[rows[part]], right[columns[part]])
        return cosines

    def _matches(self, pairs: Sequence[tuple[Pixels, str]]) -> npt.NDArray[np.float64]:
        scores = self._pairs.fetch(
            [
                self._pairs.key("pair", digest, text)
                for digest, (_, text) in zip(_digests(pairs), pairs, strict=True)
            ],
            lambda rows: self._match([pairs[row] for row in rows]),
            "pairs_scored",
        )
        return np.array(scores)

    def _embed_images(self, images: Sequence[Pixels]) -> list[Vector]:
        return self._checked(self._encoder.encode_images(images), len(images), "encode_images")

    def _embed_texts(self, texts: Sequence[str]) -> list[Vector]:
        return self._checked(self._encoder.encode_texts(texts), len(texts), "encode_texts")

    def _checked(self, vectors: npt.ArrayLike, n: int, method: str) -> list[Vector]:
        embeddings = np.asarray(vectors, dtype=np.float32)
        if embeddings.ndim != 2 or len(embeddings) != n:
            raise ValueError(
                f"target {self.info.id}: {method} returned shape {embeddings.shape} "
                f"for {n} inputs, expected ({n}, width)"
            )
        lengths = np.linalg.norm(embeddings, axis=1)
        if not np.all(np.abs(lengths - 1) <= UNIT_TOLERANCE):  # also true of NaN
            worst = lengths[np.argmax(np.abs(lengths - 1))]
            raise ValueError(
                f"target {self.info.id}: {method} returned a vector of length {worst:.4g}, "
                "expected 1: normalise the embeddings"
            )
        return list(embeddings)

    def _match(self, pairs: Sequence[tuple[Pixels, str]]) -> list[float]:
        images, texts = [image for image, _ in pairs], [text for _, text in pairs]
        scores = np.asarray(self._matcher.match(images, texts), dtype=np.float64)
        if scores.shape != (len(pairs),):
            raise ValueError(
                f"target {self.info.id}: match returned shape {scores.shape} "
                f"for {len(pairs)} pairs, expected ({len(pairs)},)"
            )
        if not np.all(np.isfinite(scores)):
            row = int(np.flatnonzero(~np.isfinite(scores))[0])
            raise ValueError(
                f"target {self.info.id}: match returned {scores[row]} for the text {texts[row]!r}"
            )
        # What the cache gives back must not differ from what was computed.
        return [float(np.float32(score)) for score in scores]

    def _say(self, questions: Sequence[tuple[Pixels, str]], sampling: Sampling) -> list[str]:
        assert self._answerer is not None
        images, prompts = [image for image, _ in questions], [prompt for _, prompt in questions]
        answers = self._answerer.answer(images, prompts, sampling)
        return checked_texts(answers, len(prompts), f"target {self.info.id}: answer", "questions")


def _digests(pairs: Sequence[tuple[Pixels, str]]) -> list[str]:
    """Digest of each pair's picture; one that is used many times is hashed once."""
    known: dict[int, str] = {}
    for image, _ in pairs:
        if id(image) not in known:
            known[id(image)] = pixels_digest(image)
    return [known[id(image)] for image, _ in pairs]
