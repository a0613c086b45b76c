"""CAPTURE of captions that somebody else wrote: lines of pairs in, scores and a summary out."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmark.errors import UserError
from benchmark.stats import mean_interval
from benchmark.types import JSON
from metrics.capture.graph import Graph
from metrics.capture.metric import Capture, Setup
from metrics.capture.resources import TextResources
from metrics.capture.scoring import Scores, average
from metrics.pair_files import (
    checked_text,
    entries,
    json_lines,
    read_utf8,
    shown,
    write_files,
)

CHUNK = 100
"""Pairs between two calls of the progress function; their texts are parsed together."""
KEYS = ("id", "reference", "candidate")
SIDES = ("reference", "candidate")
SEED = 0
"""Of the interval's bootstrap."""

Side = tuple[str | Graph, ...]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Pair:
    """What is compared: each side one or more texts or graphs."""

    id: str | int
    reference: Side
    candidate: Side


def score_captions(
    path: str | os.PathLike[str],
    options: Mapping[str, str],
    settings: Mapping[str, JSON],
    out: str | os.PathLike[str],
    progress: Progress | None = None,
    *,
    resources: TextResources | None = None,
) -> dict[str, Any]:
    """Score the pairs of a file and write scores.jsonl and summary.json into the folder `out`.

    Args:
        path: JSON lines {"id", "reference", "candidate"}. A side is a text, a graph (see
            `Graph.from_json`), or a list of these: several captions of one picture. Every reference is
            compared with every candidate, and each number is the mean; what the parser cannot read is
            left out and marked in the line.
        options: See `metric.Setup.of`. The parser is needed only if there are texts.
        settings: For the models: "device", "batch_size".
        out: Folder, made if need be. Files of an earlier scoring are replaced when all is done.
        progress: Called with (pairs done, pairs in all).
        resources: Synonyms, nltk's by default.

    Returns:
        The content of summary.json. n counts lines; scored those that have a score; a line has none if
        one side holds no text that the parser can read, or if the reference holds no fact and
        empty = "renormalise". The mean and its interval (95%, bootstrap over lines) are of the lines
        that have a score. What is malformed or empty is counted beside it.

    Raises:
        UserError: A line cannot be used (it is named), the file holds no pair, or an option is wrong.
        OSError: The file cannot be read or the results cannot be written.
    """
    capture = Capture(Setup.of(options), settings, resources=resources)
    content = read_utf8(path)
    pairs = read_pairs(path, content)
    lines: list[dict[str, Any]] = []
    empty = dict.fromkeys(SIDES, 0)
    for start in range(0, len(pairs), CHUNK):
        lines += _score(pairs[start : start + CHUNK], capture, empty)
        if progress is not None:
            progress(len(lines), len(pairs))
    summary = {**_summary(lines, empty), **capture.report(), **_provenance(capture, content)}
    write_files(
        Path(out),
        {
            "scores.jsonl": json_lines(lines),
            "summary.json": json.dumps(summary, indent=2, ensure_ascii=False) + "\n",
        },
    )
    return summary


def read_pairs(path: str | os.PathLike[str], content: str) -> list[Pair]:
    """The pairs of a file's content; `path` is what errors call it.

    Raises:
        UserError: See `score_captions`.
    """
    pairs: list[Pair] = []
    seen: dict[str, str] = {}
    for where, entry in entries(path, content, KEYS):
        first = seen.setdefault(str(entry["id"]), where)
        if first is not where:
            raise UserError(f"{where}: id {entry['id']!r} is taken by {first}: ids must be unique")
        reference, candidate = (_side(where, name, entry[name]) for name in SIDES)
        pairs.append(Pair(entry["id"], reference, candidate))
    if not pairs:
        raise UserError(f"{path} holds no pairs: expected lines with {', '.join(KEYS)}")
    return pairs


def _side(where: str, name: str, value: Any) -> Side:
    if not isinstance(value, list):
        return (_one(where, name, value),)
    if not value:
        raise UserError(f"{where}: {name} is an empty list: give at least one text or graph")
    return tuple(_one(where, f"{name} {i}", one) for i, one in enumerate(value, start=1))


def _one(where: str, name: str, value: Any) -> str | Graph:
    if isinstance(value, str):
        # A caption that says nothing is a bad candidate; a reference that says nothing is a mistake.
        return checked_text(where, name, value, empty=name.startswith("candidate"))
    if not isinstance(value, Mapping):
        raise UserError(f"{where}: {name} is {shown(value)}: expected a text, a graph, or a list")
    try:
        return Graph.from_json(value)
    except ValueError as error:
        raise UserError(f"{where}: {name}: {error}") from error


def _score(
    pairs: Sequence[Pair], capture: Capture, empty: dict[str, int]
) -> Iterator[dict[str, Any]]:
    texts = [one for pair in pairs for side in _sides(pair) for one in side if isinstance(one, str)]
    graph_of = dict(zip(texts, capture.graphs(texts), strict=True))
    read = [
        [[graph_of[one] if isinstance(one, str) else one for one in side] for side in _sides(pair)]
        for pair in pairs
    ]
    readable = [[[g for g in side if g is not None] for side in sides] for sides in read]
    scores = iter(
        capture.scores([two for sides in readable for two in product(sides[0], sides[1])])
    )
    for pair, sides, (references, candidates) in zip(pairs, read, readable, strict=True):
        found = [next(scores) for _ in range(len(references) * len(candidates))]
        numbers = average(found).as_json() if found else dict.fromkeys(Scores.KEYS)
        malformed = {f"malformed_{n}": None in side for n, side in zip(SIDES, sides, strict=True)}
        for name, side in zip(SIDES, (references, candidates), strict=True):
            empty[name] += bool(side) and all(graph.is_empty for graph in side)
        yield {"id": pair.id, **numbers, **malformed}


def _sides(pair: Pair) -> tuple[Side, Side]:
    return pair.reference, pair.candidate


def _summary(lines: Sequence[Mapping[str, Any]], empty: Mapping[str, int]) -> dict[str, Any]:
    scored = {str(line["id"]): [line["capture"]] for line in lines if line["capture"] is not None}
    interval = mean_interval(scored, SEED)
    summary: dict[str, Any] = {
        "n": len(lines),
        "scored": len(scored),
        "capture": fmean(one for (one,) in scored.values()) if scored else None,
        "capture_low": None if interval is None else interval.low,
        "capture_high": None if interval is None else interval.high,
    }
    for key in Scores.KEYS[1:]:
        values = [line[key] for line in lines if line[key] is not None]
        summary[key] = fmean(values) if values else None
    for name in SIDES:
        summary[f"malformed_{name}"] = sum(line[f"malformed_{name}"] for line in lines)
        summary[f"empty_{name}"] = empty[name]
    return summary


def _provenance(capture: Capture, content: str) -> dict[str, Any]:
    described = capture.describe()
    settings = json.dumps(described, sort_keys=True).encode()
    return {
        "settings": described,
        "settings_sha256": hashlib.sha256(settings).hexdigest(),
        "pairs_sha256": hashlib.sha256(content.encode()).hexdigest(),
    }
