import pytest

from metrics.auxiliary import OPERATIONS, SWAPS, Variant, auxiliary_ok


@pytest.mark.parametrize("word", ["no", "not", "empty", "without"])
def test_an_added_negation_fails(word: str) -> None:
    assert not auxiliary_ok("a dog runs", f"a dog {word} runs")
    assert not auxiliary_ok("a dog runs", f"a dog {word.upper()} runs")
    assert auxiliary_ok(f"a dog {word} runs", f"a cat {word} runs")  # it was there
    assert auxiliary_ok(f"a dog {word} runs", "a dog runs")  # removed
    assert auxiliary_ok("a dog runs", f"a dog {word}x runs")  # part of a word


@pytest.mark.parametrize("word", ["never", "none", "isn't"])
def test_other_negations_are_not_looked_for(word: str) -> None:
    assert auxiliary_ok("a dog runs", f"a dog {word} runs")


def test_one_negation_does_not_excuse_another() -> None:
    assert not auxiliary_ok("no dog", "no dog without tail")


def test_punctuation_hides_a_negation_in_the_released_code_only() -> None:
    assert auxiliary_ok("a helmet", "no, a helmet")
    assert not auxiliary_ok("a helmet", "no, a helmet", variant="paper")
    assert auxiliary_ok("a helmet, no", "no, a helmet", variant="paper")


@pytest.mark.parametrize("operation", SWAPS)
@pytest.mark.parametrize(
    ("text", "adversarial", "released", "paper"),
    [
        ("a baby on a bed", "a bed on a baby", True, True),
        ("a baby on a bed", "a baby on a bed", False, False),
        ("a baby on a bed", "a bed on a child", False, False),
        ("a dog and a cat", "a big dog and a cat", False, False),
        ("a dog and a dog and a cat", "a cat and a dog and a cat", True, False),  # a set only
        # The period stays before a space: "field." is not "field".
        ("a dog in a field. ", "a field in a dog.", False, True),
        ("a dog in a field.", "a field in a dog.", True, True),
        ("a dog, a cat", "a cat, a dog", False, True),
        ("a ball and an egg", "an egg and a ball", True, True),
        ("a red ball and an old egg", "an old ball and a red egg", True, True),
        ("a red ball and a red egg and old", "an old ball and a red egg and red", False, True),
        ("one two three", "three one two", True, True),  # a phrase and a word exchanged
        ("one two three four", "two one four three", True, False),  # two exchanges
        ("hot dog and cat", "cat and hot dog", True, True),
        ("", "", False, False),
    ],
)
def test_swaps(operation: str, text: str, adversarial: str, released: bool, paper: bool) -> None:
    assert auxiliary_ok(text, adversarial, operation) is released
    assert auxiliary_ok(text, adversarial, operation, "paper") is paper


@pytest.mark.parametrize("operation", [None, *sorted(set(OPERATIONS) - set(SWAPS))])
@pytest.mark.parametrize("variant", ["released", "paper"])
def test_other_operations_are_not_checked(operation: str | None, variant: Variant) -> None:
    assert auxiliary_ok("two cats", "anything at all", operation, variant)
    assert not auxiliary_ok("two cats", "not two cats", operation, variant)


def test_empty_rewrite_passes() -> None:
    assert auxiliary_ok("a dog", "")
