"""MAC's measures of captions that somebody else rewrote: no picture and no target is needed.

Reads JSON lines or RoCOCO's layout; writes `scores.jsonl` (a line a pair) and `summary.json`.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmark.errors import UserError
from benchmark.protocols import Tagger
from metrics.auxiliary import OPERATIONS, auxiliary_ok
from metrics.distance import PUBLISHED_LIMITS, within, word_distances, word_limit
from metrics.diversity import (
    distinct_1,
    edit_tokens,
    entropy,
    is_open_class,
    normalized_entropy,
)
from metrics.pair_files import (
    checked_text,
    entries,
    json_lines,
    parsed,
    read_utf8,
    shown,
    write_files,
)

DATASET_NAMES = (*PUBLISHED_LIMITS, "auto")

CHUNK = 1000
"""Pairs between two calls of the progress function."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Pair:
    """A caption and its rewrite. `operation` is what was asked for, None if nothing special."""

    id: str | int
    text: str
    adversarial: str
    operation: str | None = None


def score_pairs(
    path: str | os.PathLike[str],
    dataset_name: str,
    tagger: Tagger,
    out: str | os.PathLike[str],
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Score the pairs of a file and write the results into the folder `out`.

    Args:
        path: JSON lines with "id", "text", "adversarial" and perhaps "operation" (one of
            `metrics.auxiliary.OPERATIONS`), or RoCOCO's JSON: a list of {"image", "caption"}, whose
            captions are n originals and then their n rewrites. Of an odd number n is the half,
            rounded down: ten images of the published files have an original too many, and the
            published numbers take the first ten captions of these, too.
        dataset_name: Whose published distance limit holds: one of `DATASET_NAMES`; "auto" takes it
            from the mean length of the file's own captions.
        tagger: Lemmas and parts of speech for the edit tokens.
        out: Folder, made if need be. Files of an earlier scoring are replaced when all is done.
        progress: Called with (pairs done, pairs in all).

    Returns:
        The content of summary.json: n, distance_rate, auxiliary_rate, and entropy,
        normalized_entropy, distinct_1, tokens and unique_tokens of the open-class edit tokens of
        the pairs within the distance limit.

    Raises:
        UserError: A line cannot be used (it is named), the file holds no pair, or the data set's
            name is unknown.
        OSError: The file cannot be read or the results cannot be written.
    """
    if dataset_name not in DATASET_NAMES:
        raise UserError(f"unknown data set {dataset_name!r}: expected {', '.join(DATASET_NAMES)}")
    pairs = read_pairs(path)
    limit = PUBLISHED_LIMITS.get(dataset_name) or _own_limit(pairs)
    lines: list[dict[str, Any]] = []
    for start in range(0, len(pairs), CHUNK):
        lines += _score(pairs[start : start + CHUNK], limit, tagger)
        if progress is not None:
            progress(len(lines), len(pairs))
    summary = _summary(lines)
    write_files(
        Path(out),
        {
            "scores.jsonl": json_lines(lines),
            "summary.json": json.dumps(summary, indent=2) + "\n",
        },
    )
    return summary


def read_pairs(path: str | os.PathLike[str]) -> list[Pair]:
    """The pairs of a file in either layout, which its first character tells.

    Raises:
        UserError: See `score_pairs`.
        OSError: The file cannot be read.
    """
    content = read_utf8(path)
    is_rococo = content.lstrip().startswith("[")
    pairs: list[Pair] = []
    seen: dict[str, str] = {}
    for where, pair in _rococo(path, content) if is_rococo else _json_lines(path, content):
        first = seen.setdefault(str(pair.id), where)
        if first is not where:
            raise UserError(f"{where}: id {pair.id!r} is taken by {first}: ids must be unique")
        pairs.append(pair)
    if not pairs:
        raise UserError(f"{path} holds no pairs: expected lines with id, text and adversarial")
    return pairs


def _json_lines(path: str | os.PathLike[str], content: str) -> Iterator[tuple[str, Pair]]:
    for where, entry in entries(path, content, ("id", "text", "adversarial")):
        operation = entry.get("operation")
        if operation is not None and operation not in OPERATIONS:
            raise UserError(
                f"{where}: operation is {shown(operation)}: expected one of {', '.join(OPERATIONS)}"
            )
        text, adversarial = _text(where, entry, "text"), _text(where, entry, "adversarial")
        yield where, Pair(entry["id"], text, adversarial, operation)


def _rococo(path: str | os.PathLike[str], content: str) -> Iterator[tuple[str, Pair]]:
    for index, entry in enumerate(parsed(str(path), content)):
        where = f"{path}, entry {index + 1}"
        captions = entry.get("caption") if isinstance(entry, dict) else None
        if not isinstance(captions, list) or len(captions) < 2:
            raise UserError(
                f'{where}: expected "image" and "caption", n originals and then n rewrites'
            )
        image = _text(where, entry, "image")
        n = len(captions) // 2
        for i in range(n):
            # One caption at a time in the shape of a line, so that it is checked like one.
            pair = {"text": captions[i], "adversarial": captions[n + i]}
            what = f"{where}, caption {i + 1}"
            text, adversarial = _text(what, pair, "text"), _text(what, pair, "adversarial")
            yield what, Pair(f"{image}#{i}", text, adversarial)


def _text(where: str, entry: Mapping[str, Any], key: str) -> str:
    return checked_text(where, key, entry.get(key), empty=key == "adversarial")


def _own_limit(pairs: Sequence[Pair]) -> int:
    return word_limit(fmean(len(pair.text.split()) for pair in pairs))


def _score(pairs: Sequence[Pair], limit: int, tagger: Tagger) -> list[dict[str, Any]]:
    texts = [(pair.text, pair.adversarial) for pair in pairs]
    tags = iter(tagger.tag([text for two in texts for text in two]))
    return [
        {
            "id": pair.id,
            "distance": distance,
            "distance_ok": within(distance, limit),
            "auxiliary_ok": auxiliary_ok(pair.text, pair.adversarial, pair.operation),
            "edit_tokens": edit_tokens(next(tags), next(tags)),
        }
        for pair, distance in zip(pairs, word_distances(texts), strict=True)
    ]


def _summary(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    near = (line["edit_tokens"] for line in lines if line["distance_ok"])
    tokens = Counter(token for edit in near for token in edit if is_open_class(token))
    counts = list(tokens.values())
    return {
        "n": len(lines),
        "distance_rate": fmean(line["distance_ok"] for line in lines),
        "auxiliary_rate": fmean(line["auxiliary_ok"] for line in lines),
        "entropy": entropy(counts),
        "normalized_entropy": normalized_entropy(counts),
        "distinct_1": distinct_1(counts),
        "tokens": sum(counts),
        "unique_tokens": len(counts),
    }
