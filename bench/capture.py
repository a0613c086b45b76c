"""CAPTURE's matching: how many times as fast as the published package's own code, and whether it agrees.

Aim: at least 5 times with all stages, equal to 1e-6. Times are of the processor, so that a busy machine
does not matter.

    pip install --no-deps capture-metric==0.1.13
    python bench/capture.py

Both score the same made-up graph pairs in the same order. The package is not imported, because importing
it downloads data and loads a parser: its file is read, and its functions that match and score are run as
they are. They need WordNet (see the README); nothing else of the package is used.

Two encoders: "free" gives stored vectors at once, so that what is measured is matching alone; a name of
`list encoders` (--encoder miniature:clip-mini) is a model, which the package asks again for every pair.
"""

import argparse
import ast
import contextlib
import io
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmark import registry
from benchmark.types import ModelInfo
from metrics.capture.encoders import PhraseVectors
from metrics.capture.graph import Graph
from metrics.capture.matching import Synonyms
from metrics.capture.resources import NltkResources
from metrics.capture.scoring import Rules, score_graphs

AIM, TOLERANCE = 5.0, 1e-6

OBJECTS = """man woman child dog cat horse sheep car automobile truck bus train bicycle bike boat airplane
street road building tower house bridge window door table chair sofa couch bed lamp clock cup bottle plate
bowl fork knife tree flower grass bush hill mountain river sea ocean beach sky cloud sun moon umbrella bag
hat shirt jacket shoe ball kite bench sign fence wall floor television tv computer phone book picture image
fire_truck traffic_light wine_glass baseball_bat""".split()
ATTRIBUTES = """red crimson orange yellow green blue purple pink white black brown grey big large small little
tall high short long old ancient new young wooden metal metallic plastic shiny bright dark wet dry open
closed empty full round square modern""".split()
PREDICATES = (
    "on,in,under,near,next to,behind,in front of,wear,hold,carry,ride,look at,stand on,sit on"
)


class FreeEncoder:
    """A fixed made-up vector for each phrase, looked up."""

    def __init__(self) -> None:
        self.info = ModelInfo("free")
        self._known: dict[str, npt.NDArray[np.float32]] = {}

    def encode(self, phrases: Sequence[str]) -> npt.NDArray[np.float32]:
        """Shape (n, 64)."""
        return np.stack([self._vector(phrase) for phrase in phrases])

    def _vector(self, phrase: str) -> npt.NDArray[np.float32]:
        if phrase not in self._known:
            rng = np.random.default_rng(list(phrase.encode()))
            self._known[phrase] = rng.normal(0.3, 1, 64).astype(np.float32)
        return self._known[phrase]


def graph_pairs(n: int, seed: int) -> list[tuple[Graph, Graph]]:
    """References, and candidates that keep about half of them; of the size of detailed captions."""
    rng = np.random.default_rng(seed)
    objects = [word.replace("_", " ") for word in OBJECTS]
    predicates = PREDICATES.split(",")

    def some(words: Sequence[str], low: int, high: int) -> list[str]:
        return [words[i] for i in rng.permutation(len(words))[: rng.integers(low, high)]]

    def graph(names: list[str]) -> Graph:
        attributes = {name: tuple(some(ATTRIBUTES, 1, 4)) for name in names[: len(names) // 2]}
        triples = {
            (str(rng.choice(names)), str(rng.choice(predicates)), str(rng.choice(names)))
            for _ in range(rng.integers(3, 9))
        }
        return Graph(tuple(names), attributes, tuple(sorted(triples)))

    def changed(one: Graph) -> Graph:
        other = graph(some(objects, 5, 12))
        names = dict.fromkeys((*one.objects[::2], *other.objects[::2]))
        attributes = dict(list(other.attributes.items())[::2] + list(one.attributes.items())[::2])
        return Graph(tuple(names), attributes, (*one.relations[::2], *other.relations[::2]))

    references = [graph(some(objects, 5, 12)) for _ in range(n)]
    return [(reference, changed(reference)) for reference in references]


def published(stages: Sequence[str], encoder: Any, wordnet: Any) -> Callable[[Graph, Graph], float]:
    """The package's score of two graphs, by its own functions.

    Raises:
        SystemExit: The package is not installed.
    """
    spec = find_spec("capture_metric")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("needs the published code: pip install --no-deps capture-metric==0.1.13")
    source = (Path(spec.submodule_search_locations[0]) / "capture.py").read_text("utf-8")
    wanted = {"get_synonyms", "compute_synonyms_score", "compute_match", "compute_f_score"}
    functions: list[ast.stmt] = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name in wanted
    ]
    names: dict[str, Any] = {
        "wordnet": wordnet,
        "np": np,
        "io": io,
        "contextlib": contextlib,
        "encode_phrases": _encode_phrases,
    }
    exec(compile(ast.Module(functions, []), "capture.py", "exec"), names)
    metric = SimpleNamespace(
        alpha=0.5,
        beta=0.5,
        gamma=0.2,
        eps=1e-6,
        synonym_matching="synonym" in stages,
        soft_matching="soft" in stages,
        text_encoder=encoder,
    )
    for name in wanted - {"get_synonyms"}:
        setattr(metric, name, names[name].__get__(metric))

    def score(reference: Graph, candidate: Graph) -> float:
        sides = [(g.objects, g.attributes, g.relations) for g in (reference, candidate)]
        return float(metric.compute_f_score(*sides)[0])

    return score


def _encode_phrases(
    encoder: Any, candidates: list[str], references: list[str], batch_size: int
) -> list[npt.NDArray[np.float32]]:
    """What the package's parser library does: encode both lists anew and bring rows to unit length."""
    del batch_size
    vectors = np.asarray(encoder.encode(candidates + references))
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.split(vectors, [len(candidates)])


def main() -> None:
    """Print a line for each choice of stages; exit with 1 if the default stages miss aim or tolerance."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=2000, help="pairs (%(default)s)")
    parser.add_argument("--encoder", default="free", help="free, or a name (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    pairs = graph_pairs(options.n, options.seed)
    resources = NltkResources()
    print(f"{options.n} pairs, {resources.version}, encoder {options.encoder}")
    from nltk.corpus import wordnet

    missed = False
    for stages in (("exact",), ("exact", "synonym"), ("exact", "synonym", "soft")):
        encoder: Any = (
            FreeEncoder()
            if options.encoder == "free"
            else registry.create("encoders", options.encoder)
        )
        encoder.encode(["warm"])
        score = published(stages, encoder, wordnet)
        start = time.process_time()
        theirs = [score(reference, candidate) for reference, candidate in pairs]
        their_seconds = time.process_time() - start
        start = time.process_time()
        rules = Rules(matching=stages, order="given")
        same, similarity = Synonyms(resources.lemma_names), PhraseVectors(encoder)
        ours = [s.capture for s in score_graphs(pairs, rules, same=same, similarity=similarity)]
        our_seconds = time.process_time() - start
        worst = float(np.abs(np.subtract(np.array(ours, float), theirs)).max())
        ratio = their_seconds / our_seconds
        missed = ratio < AIM or worst > TOLERANCE
        print(
            f"{'+'.join(stages):20} package {their_seconds:8.3f} s  ours {our_seconds:7.3f} s"
            f"  {ratio:6.1f} x  largest difference {worst:.1e}"
        )
    sys.exit(int(missed))


if __name__ == "__main__":
    main()
