"""Model calls as a run makes them: without repeats, through the cache, in batches of one fixed shape.

Float kernels give last digits that depend on a batch's shape, so every batch of a run is filled up to
exactly `batch_size` rows by repeating its last one, and scores are rounded to `SCORE_DIGITS`.
"""

import struct
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from benchmark.cache import Cache, call_key, is_identified, pixels_digest
from benchmark.errors import UserError
from benchmark.protocols import DualEncoder, LanguageModel, PairScorer
from benchmark.types import JSON, SCORE_DIGITS, ModelInfo, Pixels, Sampling

REMEMBERED = 16384
"""Values kept in memory for each kind of call; older ones are left to the cache on disk."""

UNIT_TOLERANCE = 1e-2
"""How far an embedding's length may be from 1: wide enough for half precision."""

V = TypeVar("V")
T = TypeVar("T")
Vector = npt.NDArray[np.float32]


@dataclass(slots=True)
class Counts:
    """Calls of one model: logical ones and physical ones.

    `asked` are the scores or replies that were wanted; the others are what was really computed and
    what the cache on disk had.
    """

    asked: int = 0
    images_encoded: int = 0
    texts_encoded: int = 0
    pairs_scored: int = 0
    replies_generated: int = 0
    cache_hits: int = 0

    def to_json(self) -> dict[str, int]:
        """Plain data for run.json."""
        return asdict(self)


class Target:
    """The model that a result is about, asked for matching scores of (picture, text) pairs."""

    def __init__(
        self,
        model: object,
        cache: Cache | None = None,
        batch_size: int = 64,
        *,
        remembered: int = REMEMBERED,
    ) -> None:
        """Wrap `model`, a `DualEncoder` or a `PairScorer`.

        Raises:
            UserError: `model` is neither.
        """
        self.counts = Counts()
        self.info: ModelInfo
        self._score: Callable[[Sequence[tuple[Pixels, str]]], npt.NDArray[np.float64]]
        if isinstance(model, DualEncoder):
            self.info = model.info
            self._images: _Memo[Vector] = _Memo(
                model.info, cache, batch_size, remembered, self.counts, _VECTOR
            )
            self._texts: _Memo[Vector] = _Memo(
                model.info, cache, batch_size, remembered, self.counts, _VECTOR
            )
            self._encoder = model
            self._score = self._cosines
        elif isinstance(model, PairScorer):
            self.info = model.info
            self._pairs: _Memo[float] = _Memo(
                model.info, cache, batch_size, remembered, self.counts, _NUMBER
            )
            self._matcher = model
            self._score = self._matches
        else:
            raise UserError(
                f"{type(model).__name__} cannot be a target: it needs `info` and either "
                "encode_images and encode_texts (DualEncoder) or match (PairScorer)"
            )

    def score(self, pairs: Sequence[tuple[Pixels, str]]) -> list[float]:
        """How well each text matches its picture, higher = better, to `SCORE_DIGITS` digits.

        Raises:
            ValueError: A picture is not 8-bit RGB, or the model returned what is not a score.
        """
        if not pairs:
            return []
        scores = self._score(pairs)
        self.counts.asked += len(pairs)
        return [round(float(score), SCORE_DIGITS) for score in scores]

    def _cosines(self, pairs: Sequence[tuple[Pixels, str]]) -> npt.NDArray[np.float64]:
        images = self._images.fetch(
            [self._images.key("image", digest) for digest in _digests(pairs)],
            lambda rows: self._embed_images([pairs[row][0] for row in rows]),
            "images_encoded",
        )
        texts = self._texts.fetch(
            [self._texts.key("text", text) for _, text in pairs],
            lambda rows: self._embed_texts([pairs[row][1] for row in rows]),
            "texts_encoded",
        )
        left, right = np.stack(images).astype(np.float64), np.stack(texts).astype(np.float64)
        return np.asarray(np.einsum("ij,ij->i", left, right))

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


class Tool:
    """A language model that attacks may ask, by name, through `Complete`."""

    def __init__(
        self,
        model: LanguageModel,
        cache: Cache | None = None,
        batch_size: int = 64,
        *,
        remembered: int = REMEMBERED,
    ) -> None:
        """Wrap `model`.

        Raises:
            UserError: `model` cannot complete prompts.
        """
        if not isinstance(model, LanguageModel):
            raise UserError(
                f"{type(model).__name__} cannot be a tool: it needs `info` and complete"
                "(prompts, seeds, sampling)"
            )
        self.counts = Counts()
        self.info = model.info
        self._model = model
        self._replies: _Memo[str] = _Memo(
            model.info, cache, batch_size, remembered, self.counts, _TEXT
        )

    def complete(
        self, prompts: Sequence[str], seeds: Sequence[int], sampling: Sampling
    ) -> list[str]:
        """One reply for each prompt; the same (prompt, seed, sampling) gives the same reply.

        Raises:
            ValueError: The model returned something else than one text a prompt.
        """
        # Greedy decoding draws nothing: replies that differ in the seed only are the same reply.
        drawn = [0] * len(prompts) if sampling.temperature == 0 else list(seeds)
        replies = self._replies.fetch(
            [
                self._replies.key("reply", prompt, seed, asdict(sampling))
                for prompt, seed in zip(prompts, drawn, strict=True)
            ],
            lambda rows: self._ask(
                [prompts[row] for row in rows], [drawn[row] for row in rows], sampling
            ),
            "replies_generated",
        )
        self.counts.asked += len(prompts)
        return replies

    def _ask(self, prompts: Sequence[str], seeds: Sequence[int], sampling: Sampling) -> list[str]:
        replies = list(self._model.complete(prompts, seeds, sampling))
        if len(replies) != len(prompts) or not all(isinstance(reply, str) for reply in replies):
            raise ValueError(
                f"tool {self.info.id}: complete returned {len(replies)} replies for "
                f"{len(prompts)} prompts, expected one text for each"
            )
        return replies


@dataclass(frozen=True, slots=True)
class _Codec(Generic[T]):
    """How a value is stored in the cache."""

    encode: Callable[[T], bytes]
    decode: Callable[[bytes], T]


_VECTOR: _Codec[Vector] = _Codec(
    lambda vector: vector.astype("<f4").tobytes(),
    lambda blob: np.frombuffer(blob, dtype="<f4"),
)
_NUMBER: _Codec[float] = _Codec(
    lambda number: struct.pack("<f", number),
    lambda blob: float(struct.unpack("<f", blob)[0]),
)
_TEXT: _Codec[str] = _Codec(
    lambda text: text.encode("utf-8", "surrogatepass"),
    lambda blob: blob.decode("utf-8", "surrogatepass"),
)


class _Memo(Generic[V]):
    """One kind of call of one model: least recently used values in memory, the cache behind."""

    def __init__(
        self,
        info: ModelInfo,
        cache: Cache | None,
        batch_size: int,
        remembered: int,
        counts: Counts,
        codec: _Codec[V],
    ) -> None:
        if batch_size < 1:
            raise UserError(f"batch size {batch_size} is too small: give 1 or more")
        self._info = info
        self._cache = cache if is_identified(info) else None
        self._batch_size = batch_size
        self._remembered = remembered
        self._counts = counts
        self._codec = codec
        self._recent: OrderedDict[str, V] = OrderedDict()

    def key(self, kind: str, *parts: JSON) -> str:
        return call_key(kind, self._info, *parts)

    def fetch(
        self, keys: Sequence[str], compute: Callable[[Sequence[int]], list[V]], counted: str
    ) -> list[V]:
        """The value of each key. `compute` makes those of some positions, `batch_size` at a time.

        `counted` names the count to raise by what was computed, padding not included.
        """
        position = {key: index for index, key in reversed(list(enumerate(keys)))}
        found = {key: self._recent[key] for key in position if key in self._recent}
        missing = [key for key in position if key not in found]
        if self._cache is not None and missing:
            for key, blob in self._cache.get_many(missing).items():
                found[key] = self._codec.decode(blob)
                self._counts.cache_hits += 1
            missing = [key for key in missing if key not in found]
        missing.sort(key=position.__getitem__)
        for start in range(0, len(missing), self._batch_size):
            batch = missing[start : start + self._batch_size]
            rows = [position[key] for key in batch]
            padding = [rows[-1]] * (self._batch_size - len(rows))
            values = dict(zip(batch, compute(rows + padding), strict=False))
            setattr(self._counts, counted, getattr(self._counts, counted) + len(batch))
            if self._cache is not None:
                self._cache.put_many(
                    {key: self._codec.encode(value) for key, value in values.items()}
                )
            found.update(values)
        for key, value in found.items():
            self._recent[key] = value
            self._recent.move_to_end(key)
        while len(self._recent) > self._remembered:
            self._recent.popitem(last=False)
        return [found[key] for key in keys]


def _digests(pairs: Sequence[tuple[Pixels, str]]) -> list[str]:
    """Digest of each pair's picture; one that is used many times is hashed once."""
    known: dict[int, str] = {}
    for image, _ in pairs:
        if id(image) not in known:
            known[id(image)] = pixels_digest(image)
    return [known[id(image)] for image, _ in pairs]
