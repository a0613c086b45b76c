"""The data that passes between the parts. Frozen; no behaviour beyond checks.

Words are used as in the glossary of the README: a *candidate* is a perturbed input not yet chosen, a
*verdict* is one criterion's boolean, a *query* is one candidate scored for a sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

JSON: TypeAlias = bool | int | float | str | list["JSON"] | dict[str, "JSON"] | None
Pixels: TypeAlias = npt.NDArray[np.uint8]
"""An RGB picture, shape (height, width, 3), 0..255."""

Access = Literal["decision", "score", "output"]
"""What an attack sees of the target: fooled or not | also scores and verdicts | also what it said."""

Role = Literal["criterion", "constraint", "observation"]
"""criterion: the target is fooled. constraint: the perturbation is valid. observation: only reported."""

Status = Literal["success", "failure", "skipped", "error"]

Purpose = Literal["search", "report"]
"""search: counts as a query and may be picked. report: measured and judged only, beside the budget."""

SCORE_EPSILON = 1e-6
"""Scores closer than this are a tie: float kernels give last digits that depend on a batch's shape."""
SCORE_DIGITS = 6


class ImageSource(Protocol):
    """A picture that is decoded when it is needed."""

    @property
    def name(self) -> str:
        """What people call it: a path, or the seed of a scene."""
        ...

    def load(self) -> Pixels:
        """Decode or render it. Raises OSError or ValueError, naming the file, if that fails."""
        ...


@dataclass(frozen=True, slots=True)
class Sample:
    """One unperturbed input.

    `group` is what belongs together in a bootstrap (all captions of one image). `scene` is the exact
    truth behind a picture of the embedded world, None for photographs.
    """

    id: str
    text: str
    image: ImageSource | None = None
    group: str = ""
    scene: Any = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A perturbed input: None where a side is left as it is. `perturbation` says what changed.

    `question` is what a target that answers is asked about it, None for the attack's own question.
    """

    text: str | None = None
    image: Pixels | None = None
    perturbation: Mapping[str, JSON] = field(default_factory=dict)
    question: str | None = None

    def __post_init__(self) -> None:
        if self.text is None and self.image is None:
            raise ValueError("a candidate must change the text, the image, or both")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a language model draws its reply. Temperature 0 is greedy."""

    temperature: float = 0.7
    top_p: float = 0.9
    max_new_tokens: int = 40


@dataclass(frozen=True, slots=True)
class Complete:
    """Ask the tool `tool` for one reply to each prompt. Seeds fix the draws, one for each prompt."""

    tool: str
    prompts: tuple[str, ...]
    seeds: tuple[int, ...]
    sampling: Sampling = field(default_factory=Sampling)

    def __post_init__(self) -> None:
        if len(self.prompts) != len(self.seeds):
            raise ValueError(
                f"{len(self.prompts)} prompts need as many seeds, not {len(self.seeds)}"
            )


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the tool `tool` about items of its own kind: one answer for each. Costs no query."""

    tool: str
    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Paint:
    """Have the tool `tool` paint one picture of each text. Seeds fix the draws. Costs no query."""

    tool: str
    texts: tuple[str, ...]
    seeds: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.seeds):
            raise ValueError(f"{len(self.texts)} texts need as many seeds, not {len(self.seeds)}")


@dataclass(frozen=True, slots=True)
class Note:
    """Tell whoever watches how the search stands, in a line. The reply is empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Score:
    """Ask the target about candidates.

    With the purpose "search" each one counts as a query, however many texts it is compared with.
    With "report" candidates are scored and judged all the same, but they cost nothing, are never
    cut by the budget and never picked. A search that has asked for a report may only ask for more
    of it: what comes free must not steer what is counted.
    """

    candidates: tuple[Candidate, ...]
    purpose: Purpose = "search"

    def __post_init__(self) -> None:
        if self.purpose not in get_args(Purpose):
            raise ValueError(f"purpose {self.purpose!r} is unknown: give 'search' or 'report'")


Request: TypeAlias = Complete | Ask | Paint | Note | Score


@dataclass(frozen=True, slots=True)
class Feedback:
    """What an attack is told of one candidate; None is what the threat model hides.

    `index` counts the sample's candidates from 0, over all its Score requests. `option_scores` are
    the scores of the attack's options, empty if it offers none or they are hidden. `refusal` says
    why the target gave no answer, to attacks that are `tolerant`; it is "" if it gave one.
    """

    index: int
    success: bool
    score: float | None = None
    fitness: float | None = None
    verdicts: Mapping[str, bool | None] | None = None
    output: str | None = None
    option_scores: tuple[float, ...] = ()
    refusal: str = ""


Reply: TypeAlias = list[str] | list[Feedback] | list[Any]
"""list[str] answers a Complete (one text a prompt), list[Feedback] a Score (one a candidate), a list
of whatever the tool gives an Ask (one answer an item), list[Pixels | None] a Paint (None where the
painter would not, or could not, paint the text).

A Score that exceeds the query budget is cut: fewer feedbacks than candidates come back.
"""


@dataclass(frozen=True, slots=True)
class Submission:
    """What a search ends with, where an index alone says too little.

    `index` is the candidate submitted, None for the harness's own pick. `found` is what was found
    beyond one candidate (the distribution it was drawn from), kept in the record. `pictures` are
    kept as artefacts under their names; "image" is the name of the picked candidate's picture.
    """

    index: int | None = None
    found: Mapping[str, JSON] = field(default_factory=dict)
    pictures: Mapping[str, Pixels] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ThreatModel:
    """What the attacker may do. `query_budget` caps the queries of each sample; None is no cap."""

    access: Access = "score"
    query_budget: int | None = None

    def __post_init__(self) -> None:
        if self.query_budget is not None and self.query_budget < 0:
            raise ValueError(f"query budget {self.query_budget} is negative: give 0 or more")


@dataclass(frozen=True, slots=True)
class Trial:
    """One candidate as criteria see it: the sample, what was tried, and what the target made of it.

    Where the attack offers options, `option_scores` hold the score of each, the true one first, and
    `score` is the first of them; else they are empty. `output` is what the target said, None if it
    was not asked or gave no answer; then `refusal` says why. All that begins with `clean_` is the
    same of the unperturbed sample.
    """

    sample: Sample
    candidate: Candidate
    clean_score: float | None
    score: float | None
    clean_option_scores: tuple[float, ...] = ()
    option_scores: tuple[float, ...] = ()
    clean_output: str | None = None
    output: str | None = None
    refusal: str = ""

    @property
    def text(self) -> str:
        """The text in force: the candidate's, or the sample's where it was not changed."""
        return self.sample.text if self.candidate.text is None else self.candidate.text


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Which model it was, exactly. Goes into run.json and into every cache key.

    `weights` is the sha256 of the weight file(s); `preprocessing` describes all that happens to a
    picture or a text before the first layer.
    """

    id: str
    revision: str = ""
    weights: str = ""
    dtype: str = "float32"
    preprocessing: str = ""
    license: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a table. A value that cannot be had is None, never 0.

    `slice` names a part of the samples ("operation=swap-objects"), "" for all of them.
    """

    metric: str
    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    unit: str = ""
    slice: str = ""
    flags: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One sample's line in records.jsonl.

    `verdicts`, `fitness`, `score`, `output` and `perturbation` are those of the candidate that was
    picked; all are None or empty when the sample was skipped or ended in an error.
    `queries_to_success` counts up to and including the first success.

    `artifacts` name pictures by digest: "image" is the picked candidate's, others are the attack's.
    `found` is what the attack found beyond one candidate. `conditions` sum up the candidates by
    their perturbation's "condition": "n" of them, how many "fooled" the target (criteria only), how
    many of these are "valid" (constraints too), mean "score" and "fitness", None if unknown. The
    condition "clean" is the unperturbed picture.
    """

    id: str
    group: str
    status: Status
    text: str
    adversarial_text: str | None = None
    image: str = ""
    image_sha256: str = ""
    perturbation: Mapping[str, JSON] = field(default_factory=dict)
    verdicts: Mapping[str, bool | None] = field(default_factory=dict)
    clean_score: float | None = None
    score: float | None = None
    fitness: float | None = None
    picked: int | None = None
    queries: int = 0
    queries_to_success: int | None = None
    artifacts: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    error: str | None = None
    clean_output: str | None = None
    output: str | None = None
    found: Mapping[str, JSON] = field(default_factory=dict)
    conditions: Mapping[str, Mapping[str, JSON]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One line of trace.jsonl: a candidate, in the order in which it was tried.

    Those of the purpose "report" are not among the record's queries.
    """

    id: str
    index: int
    text: str | None
    perturbation: Mapping[str, JSON]
    verdicts: Mapping[str, bool | None]
    score: float | None
    success: bool
    purpose: Purpose = "search"
    option_scores: Sequence[float] = field(default_factory=list)
    output: str | None = None
    refusal: str = ""
