import pytest

from benchmark.questions import Question, named, read_choice

CHOICES = ("duck", "mug", "coffee mug", "car")


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ("A", "duck"),
        ("b", "mug"),
        ("B.", "mug"),
        ("(C)", "coffee mug"),
        ("**D**", "car"),
        ("c) coffee mug", "coffee mug"),
        ("D: car", "car"),
        ("Answer: B", "mug"),
        ("The answer is D because of its wheels.", "car"),
        ("I would choose option C.", "coffee mug"),
        ("A duck.", "duck"),
        ("a mug", "mug"),
        ("It's a coffee mug!", "coffee mug"),
        ("Cars", "car"),
        ("The answer is a car", "car"),
        ("<think>A or B? A is a duck.</think>B", "mug"),
        ("B. duck", None),
        ("A duck or a car", None),
        ("A. duck\nB. mug", None),
        ("E", None),
        ("Answer: E, a car", None),
        ("a horse", None),
        ("a cartoon", None),
        ("I cannot tell.", None),
        ("<think>B", None),
        ("", None),
    ],
)
def test_a_choice_is_read_but_never_guessed(reply: str, choice: str | None) -> None:
    assert read_choice(reply, CHOICES) == choice


def test_what_is_part_of_a_longer_name_is_not_named() -> None:
    assert named("a Coffee  Mug beside ducks", CHOICES) == {"coffee mug", "duck"}
    assert named("a coffee mug and a mug", CHOICES) == {"coffee mug", "mug"}
    assert named("c++ (old)", ("c++", "(old)")) == {"c++", "(old)"}


def test_choices_have_letters() -> None:
    assert Question("What?", ("duck", "mug"), "mug").listed == "A. duck\nB. mug"
