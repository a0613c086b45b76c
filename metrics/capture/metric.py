"""The whole metric: which parser, which encoder, which rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from benchmark import __version__, registry
from benchmark.errors import UserError
from benchmark.protocols import GraphParser, PhraseEncoder
from benchmark.types import JSON, ModelInfo
from metrics.capture.encoders import PhraseVectors
from metrics.capture.graph import Graph
from metrics.capture.matching import Synonyms
from metrics.capture.resources import NltkResources, TextResources
from metrics.capture.scoring import STAGES, Rules, Scores, score_graphs, settings_of
from metrics.capture.stop_words import stop_words

PARSER = "factual"
ENCODER = "sentence_transformers:sentence-transformers/all-mpnet-base-v2"
NO_ENCODER = "none"

Make = Callable[[str, str, Mapping[str, JSON]], Any]


@dataclass(frozen=True, slots=True)
class Setup:
    """All that decides a score: rules, and the specs of parser, encoder and stop list."""

    rules: Rules = field(default_factory=Rules)
    parser: str = PARSER
    encoder: str = ENCODER
    stop_words: str = "trident"

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "Setup":
        """Read options as they are typed, such as {"matching": "exact+synonym", "parser": "toybox"}.

        Without "matching" all stages are used that the encoder allows. Without "soft" among them no
        encoder is used.

        Raises:
            UserError: An option is unknown or its value cannot be used.
        """
        if strange := sorted(options.keys() - set(OPTIONS)):
            raise UserError(
                f"unknown option {strange[0]!r} of capture: expected {', '.join(OPTIONS)}"
            )
        encoder = options.get("encoder", ENCODER)
        default = STAGES[:2] if encoder == NO_ENCODER else STAGES
        asked = options.get("matching", "+".join(default)).replace(",", "+").split("+")
        known = [stage for stage in STAGES if stage in asked]
        if "soft" in known and encoder == NO_ENCODER:
            raise UserError(
                "soft matching needs an encoder: name one, or leave soft out of the matching"
            )
        rules = {key: options[key] for key in _RULES if key in options}
        return cls(
            Rules(
                # In the order of the stages; what is unknown comes along, to be refused by name.
                cast(Any, (*known, *(stage for stage in asked if stage not in known))),
                **cast(Any, rules),
                weights=_weights(options.get("weights", "0.5+0.5+0.2")),
            ),
            options.get("parser", PARSER),
            encoder if "soft" in known else NO_ENCODER,
            options.get("stop_words", "trident"),
        )


_RULES = ("variant", "empty", "substring", "order")
OPTIONS = ("parser", "encoder", "matching", *_RULES, "weights", "stop_words")


class Capture:
    """Reads captions and compares them. Parser and encoder are made when first needed.

    Args:
        setup: What to use.
        settings: For the models: "device", "batch_size".
        resources: Synonyms, nltk's by default.
        make: What makes a registered object from (kind, spec, settings).

    Raises:
        UserError: Synonyms are needed and nltk or its data are missing; there is no such stop list.
    """

    def __init__(
        self,
        setup: Setup,
        settings: Mapping[str, JSON] | None = None,
        *,
        resources: TextResources | None = None,
        make: Make = registry.create,
    ) -> None:
        self.setup = setup
        self._settings = dict(settings or {})
        self._make = make
        self._resources = resources or NltkResources()
        self._stop_words = stop_words(setup.stop_words)
        self._graphs: dict[str, Graph | None] = {}
        self._synonyms = None
        if "synonym" in setup.rules.matching:
            self._wordnet = self._resources.version  # fails now, if at all
            self._synonyms = Synonyms(self._resources.lemma_names, setup.rules.substring)

    @cached_property
    def parser(self) -> GraphParser:
        """The parser, made on first use."""
        settings = {**self._settings, "stop_words": self.setup.stop_words}
        return cast(GraphParser, self._make("parsers", self.setup.parser, settings))

    @cached_property
    def encoder(self) -> PhraseEncoder | None:
        """The encoder, made on first use; None without soft matching."""
        if self.setup.encoder == NO_ENCODER:
            return None
        return cast(PhraseEncoder, self._make("encoders", self.setup.encoder, self._settings))

    @cached_property
    def _similarity(self) -> PhraseVectors | None:
        return None if self.encoder is None else PhraseVectors(self.encoder)

    def graphs(self, texts: Sequence[str]) -> list[Graph | None]:
        """The graph of each text, None where the parser cannot read it. A text is read once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._graphs]
        if new:
            for text, parsed in zip(new, self.parser.parse(new), strict=True):
                self._graphs[text] = None if parsed is None else Graph.from_json(parsed)
        return [self._graphs[text] for text in texts]

    def scores(self, pairs: Sequence[tuple[Graph, Graph]]) -> list[Scores]:
        """Compare each (reference, candidate)."""
        return score_graphs(
            pairs, self.setup.rules, same=self._synonyms, similarity=self._similarity
        )

    def describe(self) -> dict[str, JSON]:
        """Everything that decides a score, with versions and hashes; of models, those made so far."""
        said: dict[str, JSON] = {
            **settings_of(self.setup.rules),
            "parser": self._model_of("parser", self.setup.parser),
            "encoder": self._model_of("encoder", self.setup.encoder),
            "stop_words": self._stop_words.name,
            "stop_words_sha256": self._stop_words.sha256,
            "version": __version__,
        }
        if self._synonyms is not None:
            said["synonyms"] = self._wordnet
        return said

    def report(self) -> dict[str, JSON]:
        """What the parser has to say of what it has read so far."""
        report = getattr(self.__dict__.get("parser"), "report", None)
        return {} if report is None else dict(report())

    def _model_of(self, what: str, spec: str) -> JSON:
        model = self.__dict__.get(what)
        if model is None:
            return {"spec": spec, "used": False}
        info: ModelInfo = model.info
        said: dict[str, JSON] = {
            "spec": spec,
            "id": info.id,
            "revision": info.revision,
            "weights": info.weights,
            "preprocessing": info.preprocessing,
        }
        return said


def _weights(text: str) -> tuple[float, float, float]:
    try:
        objects, attributes, relations = map(float, text.replace(",", "+").split("+"))
    except ValueError:
        raise UserError(
            f"weights {text!r} cannot be used: give those of objects, attributes and relations,"
            " such as 0.5+0.5+0.2"
        ) from None
    return objects, attributes, relations
