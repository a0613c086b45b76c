import numpy as np
import pytest

from metrics.capture.matching import Synonyms, all_same, match, phrase, soft_gain
from tests.unit.metrics.capture.capture_fakes import FakeResources

NAMES = {"car": {"auto", "car"}, "automobile": {"auto"}, "fire_truck": {"fire_engine"}}


def synonyms(substring: str = "off") -> tuple[Synonyms, FakeResources]:
    resources = FakeResources(synonyms=NAMES)
    return Synonyms(resources.lemma_names, substring), resources  # type: ignore[arg-type]


def test_equal_elements_pair_once() -> None:
    found = match(["a", "a", "b"], ["c", "a", "b", "b"])
    assert (found.matched, found.candidates_left, found.references_left) == (2, ("a",), ("c", "b"))
    assert (found.candidates, found.references) == (3, 4)


def test_the_first_free_reference_is_taken_not_the_best() -> None:
    found = match(["ab", "a"], ["abc", "ax"], same=lambda a, b: a in b or b in a)
    assert (found.matched, found.candidates_left, found.references_left) == (2, (), ())
    found = match(["a", "ab"], ["abc", "ax"], same=lambda a, b: a in b or b in a)
    assert (found.matched, found.candidates_left, found.references_left) == (1, ("ab",), ("ax",))


def test_exact_matches_come_before_synonyms() -> None:
    found = match(["a", "b"], ["b", "a"], same=lambda a, b: True)
    assert found.matched == 2
    found = match(["x", "a"], ["a"], same=lambda a, b: True)
    assert found.candidates_left == ("x",)  # "a" had its equal before "x" could take it


def test_without_the_exact_stage_equal_elements_need_to_be_the_same() -> None:
    assert match(["a"], ["a"], exact=False).matched == 0
    assert match(["a"], ["a"], exact=False, same=lambda a, b: a == b).matched == 1


@pytest.mark.parametrize(
    ("substring", "pairs"),
    [
        (
            "released",
            {("man", "woman"), ("truck", "fire truck"), ("car", "automobile"), ("", "cat")},
        ),
        ("token", {("truck", "fire truck"), ("car", "automobile")}),
        ("off", {("car", "automobile")}),
    ],
)
def test_what_containing_makes_of_words(substring: str, pairs: set[tuple[str, str]]) -> None:
    same, _ = synonyms(substring)
    asked = [("man", "woman"), ("truck", "fire truck"), ("car", "automobile"), ("", "cat")]
    asked += [("car", "truck"), ("fire engine", "truck fire")]
    assert {pair for pair in asked if same(*pair)} == pairs
    assert {(a, b) for a, b in asked if same(b, a)} == pairs


def test_spaces_become_underscores_and_words_are_looked_up_once() -> None:
    same, resources = synonyms()
    for _ in range(3):
        assert not same("fire truck", "car")
        assert same("car", "automobile")
    assert sorted(resources.looked_up) == ["automobile", "car", "fire_truck"]
    assert same.score("car", "automobile") == pytest.approx(1 / (2 + 1e-6))


def test_relations_are_the_same_in_every_part() -> None:
    same = all_same(synonyms()[0])
    assert same(("car", "car", "car"), ("automobile", "car", "automobile"))
    assert not same(("car", "on", "car"), ("car", "in", "car"))
    assert phrase(("car", "on", "road")) == "car on road"


def test_soft_gains_by_hand() -> None:
    cosines = np.array([[0.5, -0.2, 0.1], [0.4, 0.3, -0.6]])
    # Maxima of rows: .5 .4; of columns: .5 .3 .1.
    assert soft_gain(cosines, mean=False) == pytest.approx((0.9, 0.9))
    assert soft_gain(cosines, mean=True) == pytest.approx((0.45, 0.3))
