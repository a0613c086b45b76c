"""Laws of the embedded world's language, over all facts and over any text."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmark.toybox import words
from benchmark.toybox.captions import brief_facts, full_facts, natural_facts
from benchmark.toybox.facts import Facts
from benchmark.toybox.grammar import VOCABULARY, generate, paraphrases, parse, tokens
from benchmark.toybox.operations import OPERATIONS, edit, operation_of
from benchmark.toybox.sampling import sample_scene, scenes
from benchmark.toybox.truth import contradicts, entails, true_of
from tests.toybox_facts import all_facts

seeds = st.integers(0, 2**32 - 1)
word_salad = st.lists(st.sampled_from((*VOCABULARY, ".", "  ", "crimson")), max_size=20).map(
    " ".join
)


@given(all_facts())
def test_what_is_said_is_read_back(facts: Facts) -> None:
    caption = generate(facts)
    assert parse(caption) == facts
    assert parse(f"  {caption.upper().replace(' ', '  ')}. ") == facts
    assert set(tokens(caption)) <= set(VOCABULARY)


@given(st.one_of(st.text(), word_salad))
def test_reading_never_raises_and_is_undone_by_saying(text: str) -> None:
    facts = parse(text)
    if facts is not None:
        said = generate(facts)
        assert parse(said) == facts
        assert tokens(text) == tokens(said) or " ".join(tokens(text)) in {
            " ".join(tokens(other)) for other in paraphrases(facts)
        }


@given(all_facts())
def test_paraphrases_mean_the_same(facts: Facts) -> None:
    others = paraphrases(facts)
    assert len(set(others)) == len(others)
    assert generate(facts) not in others
    for caption in others:
        other = parse(caption)
        assert other is not None, caption
        assert entails(facts, other)
        assert entails(other, facts)
        assert operation_of(facts, other) == "identical"
        assert set(tokens(caption)) <= set(VOCABULARY)


@given(all_facts(), all_facts(), all_facts())
def test_entailment_is_reflexive_and_excludes_contradiction(a: Facts, b: Facts, c: Facts) -> None:
    assert entails(a, a)
    if entails(a, b) and contradicts(a, b):
        assert entails(a, c)
        assert contradicts(a, c)


@given(all_facts(), all_facts(), seeds)
def test_labels_do_not_depend_on_the_wording(a: Facts, b: Facts, seed: int) -> None:
    rng = np.random.default_rng(seed)
    edited = edit(a, rng)
    for hypothesis in (b, *([edited[1]] if edited else [])):
        for caption in paraphrases(hypothesis):
            other = parse(caption)
            assert other is not None
            assert entails(a, other) == entails(a, hypothesis)
            assert contradicts(a, other) == contradicts(a, hypothesis)


@given(all_facts(), seeds)
def test_every_edit_is_a_change_that_is_recognised(facts: Facts, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for name, operation in OPERATIONS.items():
        after = operation.apply(facts, rng)
        if after is not None:
            assert after != facts
            assert operation_of(facts, after) == name
            assert parse(generate(after)) == after


@given(all_facts(), seeds)
def test_edits_of_what_a_scene_can_show_stay_so(facts: Facts, seed: int) -> None:
    assume(len({thing.cls for thing in facts.things}) == len(facts.things))
    assume(facts.place != "room" or facts.light in (None, *words.INDOOR_LIGHTS))
    result = edit(facts, np.random.default_rng(seed))
    if result is not None:
        assert not contradicts(result[1], result[1])


def test_labels_are_sound_on_thousands_of_scenes() -> None:
    """A true caption that names every object entails only what is so, contradicts only what is not.

    The hypotheses are near misses: edits of the premise and of fuller captions, captions of the
    same scene and captions of a scene of the same kind.
    """
    rng = np.random.default_rng(0)
    labels = {"entailed": 0, "open": 0, "contradicted": 0}
    drawn = scenes("train", 4000)
    others = scenes("validation", 4000)
    for scene, other in zip(drawn, others, strict=True):
        premises = [full_facts(scene), natural_facts(scene, rng), scene.facts]
        hypotheses = [brief_facts(scene, rng), natural_facts(scene, rng), brief_facts(other, rng)]
        for base in (*premises, *hypotheses[:2]):
            edited = edit(base, rng)
            assert edited is not None
            hypotheses.append(edited[1])
        for premise in premises:
            assert true_of(premise, scene)
            for hypothesis in hypotheses:
                truth = true_of(hypothesis, scene)
                follows, clashes = entails(premise, hypothesis), contradicts(premise, hypothesis)
                assert not (follows and not truth), (premise, hypothesis)
                assert not (clashes and truth), (premise, hypothesis)
                labels["entailed" if follows else "contradicted" if clashes else "open"] += 1
    assert min(labels.values()) > 5000


@given(all_facts(), st.integers(0, 10**7), seeds)
def test_labels_are_sound_for_any_hypothesis(hypothesis: Facts, scene: int, seed: int) -> None:
    shown = sample_scene(scene)
    premise = natural_facts(shown, np.random.default_rng(seed))
    if entails(premise, hypothesis):
        assert true_of(hypothesis, shown)
    if contradicts(premise, hypothesis):
        assert not true_of(hypothesis, shown)
