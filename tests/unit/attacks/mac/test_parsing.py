import doctest
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attacks.mac import parsing
from attacks.mac.parsing import parse_released, parse_reply

GOLDEN = json.loads((Path(__file__).parents[3] / "golden" / "mac_generation.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["parser"], ids=range(len(GOLDEN["parser"])))
def test_the_released_parser_is_reproduced(case: dict[str, str]) -> None:
    assert parse_released(case["decoded"]) == case["caption"]


@pytest.mark.parametrize(
    ("reply", "caption"),
    [
        ("A horse rides a man.", "A horse rides a man."),
        ("Generated Caption: A horse rides a man", "A horse rides a man"),
        ("generated caption : A horse rides a man", "A horse rides a man"),
        ("**Generated Caption:** A horse rides a man", "A horse rides a man"),
        ('Generated Caption: "A horse rides a man"', "A horse rides a man"),
        ('"Generated Caption: A horse rides a man"', "A horse rides a man"),
        ("Generated Caption:\n\n  A horse rides  a man\n\nNote: swapped.", "A horse rides a man"),
        ("Generated Caption: - a horse rides a man", "a horse rides a man"),
        ("1. a horse rides a man", "a horse rides a man"),
        ("Sure! Here is the new caption:\n\n- “A horse rides a man”", "A horse rides a man"),
        ("Here's one: A horse rides a man", "A horse rides a man"),
        ("'A horse's man rides'", "A horse's man rides"),
        ('"A horse rides a man" (I swapped the nouns.)', "A horse rides a man"),
        ("Generated Caption: a cat\nGenerated Caption: a dog", "a dog"),
        ("<think>Generated Caption: a cat?</think>\n\nGenerated Caption: a dog", "a dog"),
        # What looks like decoration but belongs to the caption stays.
        ('"Stop" sign on a corner', '"Stop" sign on a corner'),
        ('a 6" ruler', 'a 6" ruler'),
        ("a clock that shows 12:30", "a clock that shows 12:30"),
        ("a dog (brown) runs", "a dog (brown) runs"),
        # No caption at all.
        ("", ""),
        ("Generated Caption:", ""),
        (' \n"" \n- ', ""),
    ],
)
def test_a_caption_is_found_whatever_is_around_it(reply: str, caption: str) -> None:
    assert parse_reply(reply) == caption


@given(st.lists(st.sampled_from([*"ab \n\"'`*-.:()", "Generated Caption:", "Here: "])))
def test_a_caption_that_was_read_is_read_as_itself(parts: list[str]) -> None:
    caption = parse_reply("".join(parts))
    assert parse_reply(caption) == caption
    assert "\n" not in caption


def test_examples() -> None:
    assert doctest.testmod(parsing).failed == 0
