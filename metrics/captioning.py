"""BLEU, CIDEr and CIDEr-D of captions, computed as pycocoevalcap does, without Java; SPICE through it.

Sources: BLEU (Papineni et al. 2002), CIDEr and CIDEr-D (Vedantam et al. 2015, arXiv 1411.5726), SPICE
(Anderson et al. 2016). What pycocoevalcap and most papers print as "CIDEr" is CIDEr-D: `cider_d` here.

All functions take one caption a picture and its references, as plain text; see `caption_tokens` for words.
"""

import math
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from typing import Any

import numpy as np

from benchmark.errors import UserError
from metrics.caption_tokens import tokens

ORDER = 4
"""Word sequences of one to four words count."""

SIGMA = 6.0
"""CIDEr-D: width of the Gaussian penalty on a difference in length, in words."""

_SMALL, _TINY = 1e-9, 1e-15
"""pycocoevalcap's guards against 0 / 0, kept so that its numbers are met to the last digit."""

Grams = Counter[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class BleuCounts:
    """What one caption adds to a corpus's BLEU: for n = 1..4 words that match and that there are.

    `reference_length` is that of the reference closest in length, the shorter one of a tie.
    """

    correct: tuple[int, ...]
    guess: tuple[int, ...]
    length: int
    reference_length: int


def bleu(captions: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[float, ...] | None:
    """BLEU-1 to BLEU-4 of a corpus, 0..1; None if there are no captions.

    Raises:
        ValueError: Captions and references differ in number, or a caption has no reference.

    >>> [round(value, 4) for value in bleu(["a cat on a mat"], [["a cat on the mat"]])]
    [0.8, 0.6325, 0.5109, 0.0001]
    """
    return bleu_of(bleu_counts(captions, references))


def bleu_counts(captions: Sequence[str], references: Sequence[Sequence[str]]) -> list[BleuCounts]:
    """The counts of each caption, which `bleu_of` sums up.

    Raises:
        ValueError: Captions and references differ in number, or a caption has no reference.
    """
    _check(captions, references)
    return [
        _counts(tokens(caption), [tokens(reference) for reference in known])
        for caption, known in zip(captions, references, strict=True)
    ]


def bleu_of(counts: Sequence[BleuCounts]) -> tuple[float, ...] | None:
    """BLEU-1 to BLEU-4 of the captions with these counts; None if there are none."""
    if not counts:
        return None
    length = sum(one.length for one in counts)
    reference_length = sum(one.reference_length for one in counts)
    ratio = (length + _TINY) / (reference_length + _SMALL)
    brevity = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    product, values = 1.0, []
    for n in range(ORDER):
        correct, guess = sum(one.correct[n] for one in counts), sum(one.guess[n] for one in counts)
        product *= (correct + _TINY) / (guess + _SMALL)
        values.append(product ** (1 / (n + 1)) * brevity)
    return tuple(values)


def cider_d(
    captions: Sequence[str],
    references: Sequence[Sequence[str]],
    pictures: Sequence[str] | None = None,
) -> list[float]:
    """CIDEr-D of each caption, 0..10; the corpus's is their mean. pycocoevalcap calls it CIDEr.

    Words weigh by how few pictures' references hold them, so one picture alone, or pictures that all
    have the same references, come out as 0 whatever the captions say. Where a picture has several
    captions, `pictures` says whose each one is; otherwise each has its own.

    Raises:
        ValueError: Captions and references differ in number, or a caption has no reference.
    """
    return _cider(captions, references, pictures, clips=True)


def cider(
    captions: Sequence[str],
    references: Sequence[Sequence[str]],
    pictures: Sequence[str] | None = None,
) -> list[float]:
    """CIDEr of each caption as first published, 0..10: no clipping, no penalty on length, no stemming.

    Raises:
        ValueError: Captions and references differ in number, or a caption has no reference.
    """
    return _cider(captions, references, pictures, clips=False)


def spice(captions: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """SPICE's F of each caption, 0..1, NaN where it has no propositions, by pycocoevalcap's program.

    Its first call loads Stanford's parser from the network, some 400 MB.

    Raises:
        UserError: pycocoevalcap or Java is missing, or the program fails.
        ValueError: Captions and references differ in number, or a caption has no reference.
    """
    _check(captions, references)
    if not captions:
        return []
    if shutil.which("java") is None:
        raise UserError("SPICE runs in Java, which is not on the PATH: install a JRE of version 8")
    try:
        module = import_module("pycocoevalcap.spice.spice")
    except ImportError as error:
        raise UserError("SPICE needs pycocoevalcap: pip install pycocoevalcap") from error
    known = {index: list(texts) for index, texts in enumerate(references)}
    said = {index: [text] for index, text in enumerate(captions)}
    try:
        _, scores = module.Spice().compute_score(known, said)
    except Exception as error:  # whatever its program, or the loading of the parser, comes to
        reason = " ".join(str(error).split())
        raise UserError(
            f"SPICE failed ({reason:.200}): it needs Java 8, 8 GB of memory and at first the network"
        ) from error
    rows: list[Mapping[str, Any]] = list(scores)
    return [float(row["All"]["f"]) for row in rows]


def _check(captions: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    if len(captions) != len(references):
        raise ValueError(
            f"{len(captions)} captions and {len(references)} lists of references: give one for each"
        )
    for index, known in enumerate(references):
        if isinstance(known, str) or not known:
            raise ValueError(
                f"caption {index} ({captions[index]!r:.60}) has the references {known!r:.60}:"
                " give a list of at least one text"
            )


def _grams(words: Sequence[str]) -> Grams:
    return Counter(
        tuple(words[start : start + n])
        for n in range(1, ORDER + 1)
        for start in range(len(words) - n + 1)
    )


def _counts(words: Sequence[str], references: Sequence[Sequence[str]]) -> BleuCounts:
    most: Grams = Counter()
    for reference in references:
        most |= _grams(reference)
    correct = [0] * ORDER
    for gram, count in (_grams(words) & most).items():
        correct[len(gram) - 1] += count
    length = len(words)
    _, closest = min((abs(len(known) - length), len(known)) for known in references)
    guess = tuple(max(0, length - n) for n in range(ORDER))
    return BleuCounts(tuple(correct), guess, length, closest)


def _cider(
    captions: Sequence[str],
    references: Sequence[Sequence[str]],
    pictures: Sequence[str] | None,
    *,
    clips: bool,
) -> list[float]:
    _check(captions, references)
    said = [_grams(tokens(caption)) for caption in captions]
    known = [[_grams(tokens(text)) for text in texts] for texts in references]
    once = dict(zip(range(len(known)) if pictures is None else pictures, known, strict=True))
    pictures_with = Counter(
        gram for texts in once.values() for gram in set(chain.from_iterable(texts))
    )
    log_n = math.log(len(once)) if once else 0.0
    rarity = {gram: log_n - math.log(count) for gram, count in pictures_with.items()}
    return [
        10 * float(np.mean([_similarity(grams, one, rarity, log_n, clips) for one in texts]))
        for grams, texts in zip(said, known, strict=True)
    ]


def _similarity(
    said: Grams, known: Grams, rarity: Mapping[tuple[str, ...], float], log_n: float, clips: bool
) -> float:
    """Mean over n = 1..4 of the cosine of two captions' TF-IDF vectors (eq. 2 and 3; clipped: eq. 5).

    A gram that no reference holds weighs as much as one that a single picture's do.
    """
    dot, left, right = np.zeros(ORDER), np.zeros(ORDER), np.zeros(ORDER)
    for gram, count in known.items():
        right[len(gram) - 1] += (count * rarity[gram]) ** 2
    for gram, count in said.items():
        weight = rarity.get(gram, log_n)
        left[len(gram) - 1] += (count * weight) ** 2
        theirs = known[gram]
        dot[len(gram) - 1] += (min(count, theirs) if clips else count) * theirs * weight**2
    norms = np.sqrt(left * right)
    cosines = np.divide(dot, norms, out=np.zeros(ORDER), where=norms > 0)
    if clips:
        # pycocoevalcap takes the number of word pairs for the length: one less than the words.
        gap = sum(c for g, c in said.items() if len(g) == 2) - sum(
            c for g, c in known.items() if len(g) == 2
        )
        cosines *= math.exp(-(gap**2) / (2 * SIGMA**2))
    return float(cosines.mean())
