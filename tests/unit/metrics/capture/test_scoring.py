from typing import Any

import pytest

from benchmark.errors import UserError
from metrics.capture.graph import Graph
from metrics.capture.scoring import Part, Rules, Scores, average, score_graphs
from tests.unit.metrics.capture.capture_fakes import StoredCosines

CAR = Graph(("car", "road"), {"car": ("red",)}, (("car", "on", "road"),))
BLUE = Graph(("car", "sky"), {"car": ("blue",)}, ())


def scores(reference: Graph, candidate: Graph, **rules: Any) -> Scores:
    rules.setdefault("matching", ("exact",))
    return score_graphs([(reference, candidate)], Rules(**rules))[0]


def test_equal_graphs() -> None:
    assert scores(CAR, CAR).capture == pytest.approx(1, abs=1e-5)
    assert scores(CAR, CAR, variant="paper").capture == pytest.approx(0.5, abs=1e-5)


def test_by_hand() -> None:
    # Objects: 1 of 2 on both sides, F1 = .5; attributes and relations: nothing.
    found = scores(CAR, BLUE)
    assert found.object == pytest.approx((0.5, 0.5, 0.5), abs=1e-5)
    assert found.attribute == found.relation == (0, 0, 0)
    assert found.capture == pytest.approx(0.5 * 0.5 / 1.2, abs=1e-5)
    assert scores(CAR, BLUE, weights=(1, 0, 1)).capture == pytest.approx(0.25, abs=1e-5)


def test_precision_is_of_the_candidate_and_recall_of_the_reference() -> None:
    two = Graph(("car", "road"))
    four = Graph(("car", "road", "sky", "tree"))
    assert scores(two, four).object == pytest.approx((0.5, 1, 2 / 3), abs=1e-5)
    assert scores(four, two).object == pytest.approx((1, 0.5, 2 / 3), abs=1e-5)


def test_a_type_that_the_reference_lacks_is_left_out_only_if_asked_for() -> None:
    bare = Graph(("car",))
    assert scores(bare, bare).capture == pytest.approx(0.5 / 1.2, abs=1e-5)
    assert scores(bare, CAR, empty="renormalise").capture == pytest.approx(2 / 3, abs=1e-5)
    found = scores(bare, bare, empty="renormalise")
    assert found.capture == pytest.approx(1, abs=1e-5)
    assert (found.attribute, found.relation) == (None, None)
    assert found.as_json()["f1_attribute"] is None
    # What the reference has and the candidate lacks is punished as ever.
    assert scores(CAR, bare, empty="renormalise").capture == scores(CAR, bare).capture


def test_of_nothing_there_is_a_score_only_by_the_released_rule() -> None:
    assert scores(Graph(), CAR).capture == 0
    assert scores(Graph(), CAR, empty="renormalise").capture is None


def test_attributes_lose_their_owners() -> None:
    a = Graph((), {"car": ("red",), "bus": ("white",)})
    b = Graph((), {"car": ("white",), "bus": ("red",)})
    assert scores(a, b).attribute == pytest.approx((1, 1, 1), abs=1e-5)


def test_soft_matches_are_summed_or_averaged() -> None:
    table = {"a": {"x": 0.6, "y": 0.2}, "b": {"x": 0.5, "y": 0.4}}
    reference, candidate = Graph(("x", "y", "z")), Graph(("a", "b", "z"))
    # Left: a, b and x, y. Row maxima .6 .5, column maxima .6 .4; z matched: 1.
    for variant, said, known in (("released", 2.1, 2.0), ("paper", 1.55, 1.5)):
        rules = Rules(matching=("exact", "soft"), variant=variant)  # type: ignore[arg-type]
        similarity = StoredCosines(table)
        (found,) = score_graphs([(reference, candidate)], rules, similarity=similarity)
        assert found.object is not None
        assert found.object[:2] == pytest.approx((said / 3, known / 3), abs=1e-5)
        p, r = said / 3, known / 3
        half = p * r / (p + r)
        assert found.object.f1 == pytest.approx(half if variant == "paper" else 2 * half, abs=1e-5)
        assert similarity.learnt == {"a", "b", "x", "y"}


def test_nothing_is_learnt_where_one_side_has_nothing_left() -> None:
    similarity = StoredCosines({})
    rules = Rules(matching=("exact", "soft"))
    score_graphs([(Graph(("x",)), Graph(("x", "y")))], rules, similarity=similarity)
    assert similarity.learnt == set()


def test_sorted_matching_forgets_the_order_and_given_does_not() -> None:
    def near(a: str, b: str) -> bool:
        return a in b or b in a

    reference = Graph(("cartwheel", "carpet"))
    for order, captures in (("sorted", 1), ("given", 2)):
        rules = Rules(matching=("exact", "synonym"), order=order)  # type: ignore[arg-type]
        found = {
            score_graphs([(reference, Graph(objects))], rules, same=near)[0].capture
            for objects in (("car", "cart"), ("cart", "car"))
        }
        assert len(found) == captures


def test_relations_are_soft_as_phrases() -> None:
    a, b = Graph((), {}, (("car", "on", "road"),)), Graph((), {}, (("bus", "on", "road"),))
    similarity = StoredCosines({"bus on road": {"car on road": 0.8}})
    (found,) = score_graphs([(a, b)], Rules(matching=("exact", "soft")), similarity=similarity)
    assert found.relation == pytest.approx((0.8, 0.8, 0.8), abs=1e-5)


def test_averages_leave_out_what_is_missing() -> None:
    a = Scores(0.5, Part(1, 0.5, 0.25), None, None)
    b = Scores(None, Part(0, 0.5, 0.75), Part(1, 1, 1), None)
    assert average([a, b]) == Scores(0.5, Part(0.5, 0.5, 0.5), Part(1, 1, 1), None)


def test_keys() -> None:
    assert list(scores(CAR, CAR).as_json()) == list(Scores.KEYS)
    assert Scores.KEYS[:5] == (
        "capture",
        "precision_object",
        "recall_object",
        "f1_object",
        "precision_attribute",
    )
    row = Scores(0.1, Part(1, 2, 3), Part(4, 5, 6), Part(7, 8, 9)).as_json()
    assert (row["recall_object"], row["f1_attribute"], row["precision_relation"]) == (2, 6, 7)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"matching": ()}, "needs stages, each once"),
        ({"matching": ("exact", "exact")}, "needs stages, each once"),
        ({"matching": ("exact", "loose")}, "unknown matching stage 'loose'"),
        ({"variant": "code"}, "unknown variant 'code': expected one of released, paper"),
        ({"empty": "zero"}, "unknown empty"),
        ({"substring": "yes"}, "unknown substring"),
        ({"order": "random"}, "unknown order"),
        ({"weights": (0, 0, 0)}, "weights .* cannot be used"),
        ({"weights": (1, -1, 1)}, "weights .* cannot be used"),
    ],
)
def test_rules_that_do_not_exist(rules: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        Rules(**rules)


def test_a_stage_needs_its_means() -> None:
    with pytest.raises(ValueError, match="`same`"):
        score_graphs([], Rules(matching=("synonym",)))
    with pytest.raises(ValueError, match="`similarity`"):
        score_graphs([], Rules(matching=("soft",)))
