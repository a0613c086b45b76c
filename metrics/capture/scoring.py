"""Matches to precision, recall, F1 and CAPTURE."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, ClassVar, Literal, NamedTuple

from benchmark.errors import UserError
from metrics.capture.graph import Graph, Relation
from metrics.capture.matching import (
    EPSILON,
    Matching,
    Same,
    Similarity,
    Stage,
    Substring,
    all_same,
    match,
    phrase,
    soft_gain,
)

TYPES = ("object", "attribute", "relation")
STAGES: tuple[Stage, ...] = ("exact", "synonym", "soft")

Variant = Literal["released", "paper"]
Empty = Literal["released", "renormalise"]
Order = Literal["sorted", "given"]


@dataclass(frozen=True, slots=True)
class Rules:
    """How two graphs are compared.

    Attributes:
        matching: The stages, some of `STAGES`.
        variant: "released": F1 = 2PR / (P + R), soft matches are summed. "paper" (arXiv 2505.15265,
            eqs. 9 and 10 as printed): F1 = PR / (P + R), so that equal captions score .5, and the
            mean of the soft matches is added once. The text of eq. 9 has soft matching for relations
            alone and eq. 7 for all types; both variants use it for all.
        empty: What becomes of a type of fact that one side lacks. "released": its F1 is 0 and keeps its
            weight. "renormalise": a type that the reference lacks is left out of the weighted mean, so
            that what the candidate adds there is not punished, and its numbers are None; a reference
            without any fact has no score.
        substring: See `matching.Synonyms`.
        order: "sorted" matches in lexicographic order, "given" in that of the graph; the first free
            reference is taken, so the order decides some matches.
        weights: Of objects, attributes and relations.
    """

    matching: tuple[Stage, ...] = STAGES
    variant: Variant = "released"
    empty: Empty = "released"
    substring: Substring = "released"
    order: Order = "sorted"
    weights: tuple[float, float, float] = (0.5, 0.5, 0.2)

    def __post_init__(self) -> None:
        if not self.matching or len({*self.matching}) != len(self.matching):
            raise UserError(
                f"matching {self.matching!r} needs stages, each once: {', '.join(STAGES)}"
            )
        _check("matching stage", self.matching, STAGES)
        _check("variant", (self.variant,), ("released", "paper"))
        _check("empty", (self.empty,), ("released", "renormalise"))
        _check("substring", (self.substring,), ("released", "token", "off"))
        _check("order", (self.order,), ("sorted", "given"))
        if min(self.weights) < 0 or sum(self.weights) <= 0:
            raise UserError(f"weights {self.weights} cannot be used: give three of 0 or more")


class Part(NamedTuple):
    """Agreement on one type of fact."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Scores:
    """Agreement of two graphs. None stands for what the rules leave out: a type, or the whole score."""

    KEYS: ClassVar[tuple[str, ...]] = (
        "capture",
        *(f"{k}_{t}" for t in TYPES for k in Part._fields),
    )
    """The keys of `as_json`."""

    capture: float | None
    object: Part | None
    attribute: Part | None
    relation: Part | None

    @property
    def parts(self) -> tuple[Part | None, ...]:
        """In the order of `TYPES`."""
        return self.object, self.attribute, self.relation

    def as_json(self) -> dict[str, float | None]:
        """{"capture", "precision_object", "recall_object", "f1_object", and so on}."""
        numbers = [n for part in self.parts for n in (part or (None, None, None))]
        return dict(zip(self.KEYS, (self.capture, *numbers), strict=True))


def average(scores: Sequence[Scores]) -> Scores:
    """The mean of every number, as of a caption against several references; what is None aside."""
    captures = [s.capture for s in scores if s.capture is not None]
    parts: list[Part | None] = []
    for of_type in zip(*(s.parts for s in scores), strict=True):
        known = [part for part in of_type if part is not None]
        parts.append(Part(*map(fmean, zip(*known, strict=True))) if known else None)
    return Scores(fmean(captures) if captures else None, *parts)


def score_graphs(
    pairs: Sequence[tuple[Graph, Graph]],
    rules: Rules,
    *,
    same: Same | None = None,
    similarity: Similarity | None = None,
) -> list[Scores]:
    """Compare each (reference, candidate). All phrases that soft matching needs are learnt at once.

    Args:
        pairs: References and candidates.
        rules: How.
        same: Whether two words are synonyms; needed if "synonym" is among the stages.
        similarity: Cosines of phrases; needed if "soft" is among the stages.

    Raises:
        ValueError: A stage lacks what it needs.
    """
    if "synonym" in rules.matching and same is None:
        raise ValueError("synonym matching needs `same`")
    if "soft" in rules.matching and similarity is None:
        raise ValueError("soft matching needs `similarity`")
    same = same if "synonym" in rules.matching else None
    similarity = similarity if "soft" in rules.matching else None
    matchings = [_match_graphs(reference, candidate, rules, same) for reference, candidate in pairs]
    if similarity is not None:
        left: dict[str, None] = {}
        for matching in (m for three in matchings for m in three if m.is_soft):
            for elements in (matching.candidates_left, matching.references_left):
                left |= dict.fromkeys(map(phrase, elements))
        similarity.learn(list(left))
    return [
        _scores([_part(m, rules, similarity) for m in three], three, rules) for three in matchings
    ]


AnyMatching = Matching[str] | Matching[Relation]


def _match_graphs(
    reference: Graph, candidate: Graph, rules: Rules, same: Same | None
) -> tuple[AnyMatching, ...]:
    exact = "exact" in rules.matching
    words = [
        (candidate.objects, reference.objects),
        (candidate.all_attributes, reference.all_attributes),
    ]
    triples = (candidate.relations, reference.relations)
    if rules.order == "sorted":
        words = [(tuple(sorted(a)), tuple(sorted(b))) for a, b in words]
        triples = (tuple(sorted(triples[0])), tuple(sorted(triples[1])))
    return (
        *(match(a, b, exact=exact, same=same) for a, b in words),
        match(*triples, exact=exact, same=None if same is None else all_same(same)),
    )


def _part(matching: AnyMatching, rules: Rules, similarity: Similarity | None) -> Part:
    """Precision, recall and F1 of one type (eqs. 8-10)."""
    said = known = float(matching.matched)
    if similarity is not None and matching.is_soft:
        rows = [phrase(element) for element in matching.candidates_left]
        columns = [phrase(element) for element in matching.references_left]
        cosines = similarity.cosines(rows, columns)
        gain = soft_gain(cosines, mean=rules.variant == "paper")
        said, known = said + gain[0], known + gain[1]
    precision = said / (matching.candidates + EPSILON)
    recall = known / (matching.references + EPSILON)
    f1 = precision * recall / (precision + recall + EPSILON)
    return Part(precision, recall, f1 if rules.variant == "paper" else 2 * f1)


def _scores(parts: Sequence[Part], matchings: Sequence[AnyMatching], rules: Rules) -> Scores:
    """The weighted mean of the F1 (eq. 10)."""
    counted = [
        part if rules.empty == "released" or matching.references > 0 else None
        for part, matching in zip(parts, matchings, strict=True)
    ]
    known = [(w, p.f1) for w, p in zip(rules.weights, counted, strict=True) if p is not None]
    total = sum(weight for weight, _ in known)
    weighted = sum(weight * f1 for weight, f1 in known)
    return Scores(weighted / total if total > 0 else None, *counted)


def settings_of(rules: Rules) -> dict[str, Any]:
    """The rules as plain data."""
    return {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(rules).items()}


def _check(what: str, values: Sequence[str], allowed: Sequence[str]) -> None:
    for value in values:
        if value not in allowed:
            raise UserError(f"unknown {what} {value!r}: expected one of {', '.join(allowed)}")
