"""Options, the metric put together, and the tool."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from benchmark import registry
from benchmark.errors import UserError
from benchmark.protocols import Adviser
from benchmark.types import JSON, ModelInfo
from metrics.capture.graph import Graph
from metrics.capture.metric import Capture, Setup
from metrics.capture.scoring import Rules, Scores
from tests.unit.metrics.capture.capture_fakes import FakeEncoder, FakeResources

EXACT = "capture:parser=toybox,matching=exact,empty=renormalise,encoder=none"


class WordParser:
    """Every word is an object; a text with a "?" cannot be read."""

    def __init__(self) -> None:
        self.info = ModelInfo("words", "r7", "w7")
        self.read: list[str] = []

    def parse(self, texts: Sequence[str]) -> list[dict[str, JSON] | None]:
        self.read += texts
        return [None if "?" in text else {"objects": list(text.split())} for text in texts]

    def report(self) -> dict[str, JSON]:
        return {"texts": len(self.read)}


def capture(made: list[tuple[str, str, Mapping[str, JSON]]], **options: str) -> Capture:
    """With a `WordParser`, an encoder of two words, and synonyms a and b."""
    encoder = FakeEncoder({"x": (1, 0), "y": (0.6, 0.8)})

    def make(kind: str, spec: str, settings: Mapping[str, JSON]) -> Any:
        made.append((kind, spec, settings))
        return WordParser() if kind == "parsers" else encoder

    resources = FakeResources(synonyms={"a": {"s"}, "b": {"s"}})
    return Capture(Setup.of(options), {"device": "cpu"}, resources=resources, make=make)


def test_defaults_are_the_released_ones() -> None:
    setup = Setup.of({})
    assert setup == Setup()
    assert setup.rules == Rules()
    assert setup.rules.matching == ("exact", "synonym", "soft")
    assert setup.rules.weights == (0.5, 0.5, 0.2)
    assert setup.encoder == "sentence_transformers:sentence-transformers/all-mpnet-base-v2"


def test_options() -> None:
    setup = Setup.of(
        {"matching": "soft+exact", "variant": "paper", "order": "given", "weights": "1,0,2"}
    )
    assert setup.rules.matching == ("exact", "soft")
    assert (setup.rules.variant, setup.rules.order, setup.rules.weights) == (
        "paper",
        "given",
        (1, 0, 2),
    )
    assert Setup.of({"encoder": "none"}).rules.matching == ("exact", "synonym")
    # An encoder without soft matching would do nothing, so none is loaded.
    assert Setup.of({"matching": "exact", "encoder": "miniature"}).encoder == "none"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"match": "exact"},
            "unknown option 'match' of capture: expected parser, encoder, matching",
        ),
        ({"matching": "exact+loose"}, "unknown matching stage 'loose'"),
        ({"matching": "exact+soft", "encoder": "none"}, "soft matching needs an encoder"),
        ({"weights": "1+2"}, r"weights '1\+2' cannot be used"),
        ({"variant": "mine"}, "unknown variant 'mine'"),
    ],
)
def test_options_that_do_not_exist(options: dict[str, str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Setup.of(options)


def test_all_stages_together() -> None:
    made: list[Any] = []
    metric = capture(made)
    (reference, candidate) = metric.graphs(["c a x", "c b y"])
    assert reference is not None
    assert candidate is not None
    (scores,) = metric.scores([(reference, candidate)])
    # c is exact, a and b are synonyms, x and y have the cosine .6: 2.6 of 3.
    assert scores.object == pytest.approx((2.6 / 3, 2.6 / 3, 2.6 / 3), abs=1e-5)
    settings = {"device": "cpu", "stop_words": "trident"}
    assert made[0] == ("parsers", "factual", settings)
    assert [kind for kind, _, _ in made] == ["parsers", "encoders"]


def test_models_are_made_when_needed_and_texts_read_once() -> None:
    made: list[Any] = []
    metric = capture(made, matching="exact")
    metric.scores([(Graph(("a",)), Graph(("a",)))])
    assert made == []
    assert metric.report() == {}
    assert metric.graphs(["a", "b?", "a"]) == [Graph(("a",)), None, Graph(("a",))]
    metric.graphs(["b?", "c"])
    assert metric.report() == {"texts": 3}
    assert metric.encoder is None


def test_it_says_what_decided() -> None:
    made: list[Any] = []
    metric = capture(made)
    unused = metric.describe()
    assert unused["parser"] == {"spec": "factual", "used": False}
    metric.graphs(["x"])
    metric.scores([])
    said = metric.describe()
    assert said["parser"] == {
        "spec": "factual",
        "id": "words",
        "revision": "r7",
        "weights": "w7",
        "preprocessing": "",
    }
    assert said["encoder"]["id"] == "fake"  # type: ignore[call-overload, index]
    assert said["synonyms"] == "fake 1"
    assert len(str(said["stop_words_sha256"])) == 64
    json.dumps(said)


def test_the_tool() -> None:
    tool = registry.create("tools", EXACT)
    assert isinstance(tool, Adviser)
    red, blue = "a red dog on the grass", "a blue dog on the grass"
    same, other, odd = tool.ask(
        [(red, "on the grass, a red dog"), (red, blue), (red, "A dog? No.")]
    )
    assert same["capture"] == pytest.approx(1, abs=2e-6)
    # Objects and relations agree, attributes do not: (.5 + .2) / 1.2.
    assert other["capture"] == pytest.approx(0.7 / 1.2, abs=2e-6)
    assert other["f1_attribute"] == 0
    assert other["reference"] == {
        "objects": ["dog"],
        "attributes": {"dog": ["red"]},
        "relations": [["dog", "in the setting", "grass"]],
    }
    assert (other["malformed_reference"], other["malformed_candidate"]) == (False, False)
    assert (odd["malformed_reference"], odd["malformed_candidate"]) == (False, True)
    assert odd["candidate"] is None
    assert {odd[key] for key in Scores.KEYS} == {None}
    assert set(odd) == set(same)
    json.dumps([same, other, odd])


def test_an_answer_does_not_depend_on_its_company() -> None:
    """With soft matching, whose kernels see batches of whatever is new."""
    spec = "capture:parser=toybox,matching=exact+soft,encoder=miniature:clip-mini"
    pairs = [
        (f"a {a} dog on the grass", f"a {b} duck at night")
        for a in ("red", "blue", "green")
        for b in ("pink", "white")
    ]
    together = registry.create("tools", spec).ask(pairs)
    assert 0 < together[0]["capture"] < 1
    alone = registry.create("tools", spec)
    assert [alone.ask([pair])[0] for pair in pairs[::-1]][::-1] == together
    assert alone.ask(pairs + pairs[:2]) == together + together[:2]
    assert alone.ask([]) == []


def test_an_answer_can_be_changed_without_changing_the_next() -> None:
    tool = registry.create("tools", EXACT)
    tool.ask([("a dog", "a dog")])[0]["capture"] = 7
    assert tool.ask([("a dog", "a dog")])[0]["capture"] == pytest.approx(1, abs=2e-6)


def test_the_tool_says_which_it_is() -> None:
    tool = registry.create("tools", EXACT)
    assert tool.info.id == EXACT
    said = json.loads(tool.info.preprocessing)
    assert (said["matching"], said["empty"], said["variant"]) == (
        ["exact"],
        "renormalise",
        "released",
    )
    assert said["parser"]["id"] == "toybox"
    assert len(said["stop_words_sha256"]) == 64
    soft = registry.create("tools", "capture:parser=toybox,matching=soft,encoder=miniature")
    assert len(soft.info.weights.strip(",")) == 64


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("toybox", "capture:toybox cannot be read at 'toybox': write KEY=VALUE"),
        ("parser=", "cannot be read at 'parser='"),
        ("parser=toybox,matching=exact+soft,encoder=none", "soft matching needs an encoder"),
        ("parser=toy,matching=exact", "unknown parser 'toy'"),
    ],
)
def test_arguments_that_cannot_be_read(argument: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        registry.create("tools", f"capture:{argument}")
