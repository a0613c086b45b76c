"""The map of captions: where those that the searches ended with lie among those that they began with."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from attacks.evolution.concepts import words_in
from attacks.evolution.plots import found_by_search, table_of, title_of
from attacks.evolution.svg import Picture
from attacks.evolution.tsne import embedded
from benchmark import registry
from benchmark.records import read_header
from benchmark.types import Record, Sample

Array = npt.NDArray[np.float64]

_MOST = 400
"""Initial captions that are drawn; more would hide each other."""
_LABELS = 5
_NEAR = 4
"""A place is dense where so many others that hold a concept are near."""
_CLEAR = (80, 17)
"""Between two labels, across and down."""
_SIZE = (760, 620)
_LEFT, _RIGHT, _TOP, _BOTTOM = 24, 736, 100, 600


def write_map(path: Path, title: str, records: Iterable[Record], samples: Iterable[Sample]) -> bool:
    """Draw the captions by t-SNE; False if there are too few.

    They are embedded by the run's `encoder`, or else compared by their words. The first repeat is shown.
    """
    del samples
    found = {name: repeats[0] for name, repeats in found_by_search(records).items()}
    if not found:
        return False
    pool = _thinned([str(text) for text, _ in next(iter(found.values()))["pool"]["captions"]])
    finals = {name: [str(final["text"]) for final in one["finals"]] for name, one in found.items()}
    texts = [*pool, *(text for one in finals.values() for text in one)]
    if len(texts) < 4:
        return False
    encoder = _encoder_of(path.parent.parent)
    places = _framed(embedded(vectors_of(texts, encoder)))
    names = list(finals)
    said = ", ".join(f"{len(one)} of {title_of(name)}" for name, one in finals.items())
    how = "bags of words" if encoder == "none" else f"embeddings by {encoder}"
    picture = Picture(
        _SIZE,
        "Captions, those alike side by side",
        title,
        f"t-SNE of {how}: {len(pool)} initial captions, and the final ones: {said}.",
        names,
    )
    _legend(picture, len(pool), finals, how)
    for text, (x, y) in zip(pool, places, strict=False):
        picture.hint(picture.add("circle", class_="usual", cx=x, cy=y, r=2.5), text)
    start = len(pool)
    for number, (name, one) in enumerate(finals.items()):
        for text, (x, y) in zip(one, places[start:], strict=False):
            dot = picture.add("circle", class_=f"fill-{number}", cx=x, cy=y, r=5)
            dot.set("fill-opacity", "0.8")
            picture.hint(dot, f"{title_of(name)}: {text}")
        start += len(one)
    shown = "evolution" if "evolution" in finals else names[0]
    begin = len(pool) + sum(len(finals[name]) for name in names[: names.index(shown)])
    concepts = list(table_of(path, "concept"))[:_LABELS]
    _labels(picture, concepts, finals[shown], places[begin:])
    picture.write(path)
    return True


def vectors_of(texts: Sequence[str], encoder: str) -> Array:
    """A vector for each text, none of them 0: by an encoder, or by the words that it holds ("none")."""
    if encoder != "none":
        model = registry.create("encoders", encoder, {})
        return np.asarray(model.encode(list(texts)), dtype=np.float64)
    bags = [words_in(text) for text in texts]
    known = {word: n for n, word in enumerate(sorted(set().union(*bags)))}
    # One more column, so that a text without any word is no zero.
    vectors = np.zeros((len(texts), len(known) + 1))
    vectors[:, -1] = 0.1
    for row, bag in enumerate(bags):
        vectors[row, [known[word] for word in bag]] = 1
    return vectors


def _encoder_of(run: Path) -> str:
    config = cast("Mapping[str, Any]", read_header(run).get("config", {}))
    return str(config.get("settings", {}).get("encoder", "none"))


def _thinned(texts: Sequence[str]) -> list[str]:
    step = max(1, -(-len(texts) // _MOST))
    return list(texts[::step])


def _framed(places: Array) -> Array:
    low, high = places.min(axis=0), places.max(axis=0)
    share = (places - low) / np.where(high > low, high - low, 1.0)
    margin = 14
    width, height = _RIGHT - _LEFT - 2 * margin, _BOTTOM - _TOP - 2 * margin
    framed: Array = np.array([_LEFT + margin, _TOP + margin]) + share * np.array([width, height])
    return framed


def _legend(picture: Picture, pool: int, finals: Mapping[str, Sequence[str]], how: str) -> None:
    x = 24.0
    entries = [("usual", f"initial ({pool})")]
    entries += [
        (f"fill-{n}", f"{title_of(name)} ({len(one)})")
        for n, (name, one) in enumerate(finals.items())
    ]
    for class_, text in entries:
        picture.add("circle", class_=class_, cx=x + 5, cy=72, r=5)
        picture.add("text", text, x=x + 15, y=76)
        x += 34 + 6.2 * len(text)
    picture.add("text", f"t-SNE of {how}", class_="small", x=24, y=94)


def _labels(picture: Picture, concepts: Sequence[str], texts: Sequence[str], places: Array) -> None:
    """Each concept where the captions that hold it lie most densely, and no other label is."""
    taken: list[tuple[float, float]] = []
    for concept in concepts:
        rows = [row for row, text in enumerate(texts) if concept in text.casefold()]
        of = places[rows]
        apart = np.sort(np.linalg.norm(of[:, None] - of[None], axis=2), axis=1)
        for index in apart[:, : _NEAR + 1].sum(axis=1).argsort().tolist():
            x = min(max(float(of[index, 0]), _LEFT + 40), _RIGHT - 40)
            y = float(of[index, 1]) - 9
            if not any(abs(x - a) < _CLEAR[0] and abs(y - b) < _CLEAR[1] for a, b in taken):
                taken.append((x, y))
                picture.add("text", concept, class_="word", anchor="middle", x=x, y=y)
                break
