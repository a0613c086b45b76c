"""Everything that can be added to Trident, on one screen. No base classes: fit the shape and register.

Registry tables and entry points (`registry.py`) map names to factories. A factory of a model or a data
set is called as `factory(argument, settings)`: `open_clip:ViT-B-32/openai` calls the entry `open_clip`
with the argument "ViT-B-32/openai"; without a colon the argument is "".
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from benchmark.types import (
    JSON,
    Measure,
    ModelInfo,
    Pixels,
    Record,
    Reply,
    Request,
    Role,
    Sample,
    Sampling,
    Submission,
    Trial,
)

Embeddings = npt.NDArray[np.float32]
"""Unit vectors, shape (n, width)."""

Search = Generator[Request, Reply, Submission | int | None]
"""Yields requests, receives replies; returns the index of the candidate submitted, or None for the
harness's own pick: the fittest success, or else the fittest candidate. A `Submission` says more."""


class Attack(Protocol):
    """A procedure that perturbs one sample. It never sees a model: it asks, and the scheduler answers.

    Built as `factory(run)` from a `RunContext`. May also have:

    - `tools`, the settings that name its tools;
    - `sees_scene = True`, without which a sample's `scene` is None for it;
    - `describe()`, plain data about it for run.json;
    - `options(sample) -> Sequence[str]`: the texts that each picture of this sample is compared
      with, the true one first. Its score is the first one's (`Trial.option_scores` has all);
    - `question(sample) -> str | None`: what a target that is an `Answerer` is asked about each
      picture (`Trial.output`), with the `Sampling` in `answering` if there is one;
    - `needs_answers = True`: only a target that is an `Answerer` will do;
    - `tolerant = True`: a question or prompt that gets no answer (`NoAnswerError`) costs that
      answer only (`Feedback.refusal`, an empty reply), instead of the sample;
    - `report(sample, found, rng) -> Search`: runs after the search and measures what it found
      (`Submission.found`). It sees the scene, scores with the purpose "report" only, submits no
      candidate; its `found` and `pictures` are added to the search's;
    - `replay(sample, record, picked, picture) -> Search`: shows a target once more what a run left,
      in place of the search (transfer, gate, leaderboard). `record` is the run's, `picked` its
      candidate with text, picture and perturbation, `picture(name)` loads an artefact. It yields
      `Score((picked,))` first (with its `question` put back, where candidates have their own), may
      then have other kept pictures scored with the purpose "report", and returns a `Submission(0)`
      with what `found` still says and the pictures. Without it the picked candidate is scored.
    """

    name: str
    version: str

    def search(self, sample: Sample, rng: np.random.Generator) -> Search:
        """Attack one sample. All randomness comes from `rng`, which depends on seed and id only."""
        ...

    def fitness(self, trial: Trial) -> float | None:
        """How adversarial a candidate is, from its scores: higher = more. None if they are missing."""
        ...


@runtime_checkable
class DualEncoder(Protocol):
    """A target in the manner of CLIP: a text matches an image by the cosine of two embeddings."""

    info: ModelInfo

    def encode_images(self, images: Sequence[Pixels]) -> Embeddings:
        """Embed pictures of any size."""
        ...

    def encode_texts(self, texts: Sequence[str]) -> Embeddings:
        """Embed texts; too long ones are cut as the published model cuts them."""
        ...


@runtime_checkable
class PairScorer(Protocol):
    """A target that reads image and text together and gives one matching score, higher = better."""

    info: ModelInfo

    def match(self, images: Sequence[Pixels], texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Score pairs; both sequences have length n, so has the result."""
        ...


@runtime_checkable
class Answerer(Protocol):
    """A target that is asked about a picture and answers in words. It may be a scorer as well."""

    info: ModelInfo

    def answer(
        self, images: Sequence[Pixels], prompts: Sequence[str], sampling: Sampling
    ) -> list[str]:
        """One answer for each (picture, prompt). The same question gets the same answer."""
        ...


@runtime_checkable
class LanguageModel(Protocol):
    """A tool that answers prompts. The same (prompt, seed, sampling) gives the same reply."""

    info: ModelInfo

    def complete(
        self, prompts: Sequence[str], seeds: Sequence[int], sampling: Sampling
    ) -> list[str]:
        """One reply for each prompt."""
        ...


@runtime_checkable
class Adviser(Protocol):
    """A tool of any other kind, such as a model of naturalness, or one that paints from a text."""

    info: ModelInfo

    def ask(self, items: Sequence[Any]) -> list[Any]:
        """One answer for each item, which must not depend on the company it is asked in.

        Any number of items may come at once; the harness neither fills batches up nor caches.
        """
        ...


@runtime_checkable
class Painter(Protocol):
    """A tool that paints pictures from texts. The same (text, seed) gives the same picture."""

    info: ModelInfo

    def paint(self, texts: Sequence[str], seeds: Sequence[int]) -> list[Pixels | None]:
        """One picture of each text, None where it declines (a safety filter) or cannot."""
        ...


class EntailmentJudge(Protocol):
    """Does the second text follow from the first, contradict it, or neither?"""

    info: ModelInfo

    def judge(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """Judge (premise, hypothesis) pairs by every model of the ensemble.

        Returns probabilities, shape (n, models, 3): entailment, neutral, contradiction. NaN where
        the text cannot be read.
        """
        ...


class Tagger(Protocol):
    """Splits a text into (lemma, universal part of speech) pairs."""

    info: ModelInfo

    def tag(self, texts: Sequence[str]) -> list[list[tuple[str, str]]]:
        """One list of (lemma, UPOS) for each text."""
        ...


class GraphParser(Protocol):
    """Reads a caption's scene graph. May have `report()`: plain data on what it has read so far."""

    info: ModelInfo

    def parse(self, texts: Sequence[str]) -> Sequence[Mapping[str, JSON] | None]:
        """One graph for each text, None for a text that it cannot read.

        A graph is {"objects": [...], "attributes": {object: [...]}, "relations": [[s, p, o], ...]}.
        """
        ...


class PhraseEncoder(Protocol):
    """Embeds phrases of a few words, so that the alike are near."""

    info: ModelInfo

    def encode(self, phrases: Sequence[str]) -> Embeddings:
        """One vector for each phrase, shape (n, width)."""
        ...


class Criterion(Protocol):
    """Gives one verdict a candidate, by name. Built as `factory(run)` from a `RunContext`."""

    name: str
    role: Role

    def verdicts(self, trials: Sequence[Trial]) -> list[bool | None]:
        """One verdict for each trial; None where it cannot be decided."""
        ...


class Dataset(Protocol):
    """Where samples come from. `info` says which data it is (id, revision, hash as `weights`).

    May also have a length, and `load_many(samples)`, which decodes the pictures of several at once.
    """

    info: ModelInfo

    def __iter__(self) -> Iterator[Sample]: ...

    @property
    def mean_words(self) -> float:
        """Mean number of words of its captions: MAC's L_D, which sets the distance limit."""
        ...


class Metric(Protocol):
    """Turns the records of a run into numbers. Built as `factory(run)` from a `RunContext`."""

    def measures(self, records: Sequence[Record]) -> list[Measure]:
        """Numbers with intervals. No records -> value None and n = 0, never 0."""
        ...


class RunContext(Protocol):
    """What an attack, a criterion or a metric is built from."""

    settings: Mapping[str, Any]
    """The attack's settings after presets and --set, e.g. settings["candidates"]."""
    dataset: Dataset
    seed: int

    def model(self, kind: str, spec: str) -> Any:
        """Create (once a run) the `kind` ("judges", "taggers", "tools") named by `spec`."""
        ...


Factory = Callable[[str, Mapping[str, JSON]], Any]
"""How models and data sets are made: `factory(argument, settings)`."""
