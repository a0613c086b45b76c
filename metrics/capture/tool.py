"""CAPTURE as a tool that attacks ask."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.errors import UserError
from benchmark.types import JSON, SCORE_DIGITS, ModelInfo
from metrics.capture.graph import Graph
from metrics.capture.metric import Capture, Setup
from metrics.capture.scoring import Scores

Pair = tuple[str, str]


class CaptureTool:
    """`capture:parser=toybox,matching=exact+synonym,empty=renormalise,...` (an `Adviser`).

    The argument holds options of `metric.OPTIONS`, separated by commas; stages of matching and weights
    are joined by "+". Every text and every pair is worked on once.
    """

    def __init__(self, argument: str = "", settings: Mapping[str, JSON] | None = None) -> None:
        self._capture = Capture(Setup.of(_options(argument)), settings)
        models: Sequence[Any] = [m for m in (self._capture.parser, self._capture.encoder) if m]
        described = json.dumps(self._capture.describe(), sort_keys=True)
        self.info = ModelInfo(
            f"capture:{argument}",
            revision=",".join(model.info.revision for model in models),
            weights=",".join(model.info.weights for model in models),
            preprocessing=described,
        )
        self._known: dict[Pair, dict[str, JSON]] = {}

    def ask(self, items: Sequence[Pair]) -> list[dict[str, JSON]]:
        """The scores and graphs of each (reference text, candidate text).

        An answer has "capture", "precision_object", "recall_object", "f1_object", the same of attribute
        and relation, "reference" and "candidate" (graphs as `Graph.as_json` gives them, None of what
        the parser cannot read), "malformed_reference" and "malformed_candidate". Without both graphs
        every number is None. Numbers have `SCORE_DIGITS` digits.
        """
        new = [pair for pair in dict.fromkeys(map(_pair, items)) if pair not in self._known]
        texts = [text for pair in new for text in pair]
        graphs = dict(zip(texts, self._capture.graphs(texts), strict=True))
        both: dict[Pair, tuple[Graph, Graph]] = {}
        for reference, candidate in new:
            a, b = graphs[reference], graphs[candidate]
            if a is not None and b is not None:
                both[reference, candidate] = (a, b)
        scored = dict(zip(both, self._capture.scores(list(both.values())), strict=True))
        for pair in new:
            self._known[pair] = _answer(graphs[pair[0]], graphs[pair[1]], scored.get(pair))
        return [dict(self._known[_pair(item)]) for item in items]


def _answer(
    reference: Graph | None, candidate: Graph | None, scores: Scores | None
) -> dict[str, JSON]:
    numbers = dict.fromkeys(Scores.KEYS) if scores is None else scores.as_json()
    return {
        **{key: None if v is None else round(v, SCORE_DIGITS) for key, v in numbers.items()},
        "reference": None if reference is None else reference.as_json(),
        "candidate": None if candidate is None else candidate.as_json(),
        "malformed_reference": reference is None,
        "malformed_candidate": candidate is None,
    }


def _pair(item: Sequence[str]) -> Pair:
    reference, candidate = item
    return reference, candidate


def _options(argument: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in argument.split(","))):
        key, equals, value = part.partition("=")
        if not equals or not value:
            raise UserError(
                f"capture:{argument} cannot be read at {part!r}: write KEY=VALUE, separated by commas,"
                " such as capture:parser=toybox,matching=exact,encoder=none"
            )
        options[key.strip()] = value.strip()
    return options
