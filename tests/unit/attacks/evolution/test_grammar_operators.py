from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attacks.evolution.grammar_operators import GrammarOperators
from attacks.evolution.operators import ASPECTS
from benchmark.toybox import words
from benchmark.toybox.facts import Facts
from benchmark.toybox.grammar import parse
from benchmark.toybox.painting import scene_of
from tests.unit.attacks.evolution.asking import result


def facts_of(text: str | None) -> Facts:
    assert text is not None
    facts = parse(text)
    assert facts is not None, text
    return facts


def pool(n: int, seed: int = 0) -> list[str]:
    return result(GrammarOperators().initial(n, np.random.default_rng(seed)))


def explored(groups: Sequence[Sequence[str]], seed: int = 0) -> list[str | None]:
    return result(GrammarOperators().explore(groups, np.random.default_rng(seed)))


def test_the_pool_holds_all_four_kinds_equally_often_and_no_caption_twice() -> None:
    captions = pool(40)
    assert len({*captions}) == 40
    kinds = Counter(
        "counted" if facts.count > 1 else len(facts.things) for facts in map(facts_of, captions)
    )
    assert kinds == {1: 10, 2: 10, 3: 10, "counted": 10}


def test_captions_say_all_but_the_materials() -> None:
    for facts in map(facts_of, pool(40)):
        assert facts.place
        assert facts.light
        assert (facts.relation is not None) == (len(facts.things) == 2)
        for thing in facts.things:
            assert thing.colour
            assert thing.size
            assert not thing.material


def test_the_same_randomness_makes_the_same_captions() -> None:
    assert pool(12, seed=5) == pool(12, seed=5) != pool(12, seed=6)
    parents = [pool(2)]
    assert explored(parents, seed=5) == explored(parents, seed=5)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000))
def test_children_are_made_of_their_parents_parts_and_can_be_painted(seed: int) -> None:
    parents = pool(2, seed)
    (child,) = explored([parents], seed)
    facts, said = facts_of(child), [facts_of(text) for text in parents]
    assert child not in parents
    assert {*facts.things} <= {thing for one in said for thing in one.things}
    assert facts.place in {one.place for one in said}
    assert facts.light in {one.light for one in said} or facts.place == "room"
    assert scene_of(facts, 0) is not None


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000))
def test_mutants_are_new_and_can_be_painted(seed: int) -> None:
    parents = pool(2, seed)
    ((first, second),) = result(GrammarOperators().mutate([parents], np.random.default_rng(seed)))
    for parent, mutant in zip(parents, (first, second), strict=True):
        facts = facts_of(mutant)
        assert mutant != parent
        assert scene_of(facts, 0) is not None
        assert all(thing.material is None and thing.size for thing in facts.things)
        assert (facts.relation is not None) == (len(facts.things) == 2)


def test_every_edit_is_drawn() -> None:
    text = "a small red duck left of a large blue mug on the grass at night"
    groups = [[text]] * 400
    mutants = result(GrammarOperators().mutate(groups, np.random.default_rng(0)))
    before = facts_of(text)
    seen = {facts_of(mutant) for (mutant,) in mutants}
    assert {len(facts.things) for facts in seen} == {1, 2, 3}
    assert {facts.place for facts in seen} == {*words.PLACES}
    assert {facts.light for facts in seen} == {*words.LIGHTS}
    assert {facts.relation for facts in seen if len(facts.things) == 2} == {*words.RELATIONS}
    assert before not in seen


@pytest.mark.parametrize("aspect", ASPECTS)
def test_a_rewrite_changes_one_aspect(aspect: str) -> None:
    text = "a small red duck left of a large blue mug on the grass at night"
    before = facts_of(text)
    for seed in range(20):
        (after,) = result(GrammarOperators().rewrite([text], [aspect], np.random.default_rng(seed)))
        facts = facts_of(after)
        if aspect == "background":
            assert facts.place != before.place
            assert facts.things == before.things
        if aspect == "weather":
            assert facts.light != before.light
            assert facts.place == before.place
        if aspect == "attribute":
            assert {t.cls for t in facts.things} == {"duck", "mug"}
        if aspect in ("subject", "object", "attribute"):
            assert (facts.place, facts.light) == (before.place, before.light)
            assert facts.things != before.things


def test_what_the_grammar_cannot_read_is_a_failure_and_not_an_error() -> None:
    operators = GrammarOperators()
    rng = np.random.default_rng(0)
    assert result(operators.explore([["a monk", "a red duck"]], rng)) == [None]
    assert result(operators.mutate([["a monk"]], rng)) == [[None]]
    assert operators.failures == 2
    assert operators.calls == 0
    assert not operators.exhausted


def test_questions_have_captions_for_answers_and_depend_on_their_seed_alone() -> None:
    text = "a small red duck left of a large blue mug on the grass at night"
    together = result(GrammarOperators().questions([text, "a monk", text], [1, 2, 1]))
    assert together[0] == together[2]
    assert together[1] == []
    assert len(together[0]) == 3
    assert all(parse(question.reference or "") for question in together[0])
    assert result(GrammarOperators().questions([text], [9])) != together[:1]
