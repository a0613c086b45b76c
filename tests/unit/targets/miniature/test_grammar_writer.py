from collections import Counter

import pytest

from benchmark.errors import UserError
from benchmark.toybox.grammar import parse
from benchmark.toybox.operations import OPERATIONS, families, operation_of
from benchmark.types import Sampling
from targets.miniature import grammar_writer
from targets.miniature.grammar_writer import GrammarWriter

CAPTION = "a small red ball left of a large blue dog on the grass at night"
SAMPLING = Sampling()


def operation(reply: str, caption: str = CAPTION) -> str:
    before = parse(caption)
    assert before is not None
    return operation_of(before, parse(reply))


def complete(prompt: str, n: int = 1) -> list[str]:
    return GrammarWriter("", {}).complete([prompt] * n, range(n), SAMPLING)


def test_every_reply_is_one_edit() -> None:
    found = Counter(map(operation, complete(CAPTION, 600)))
    applicable = set(OPERATIONS) - {"replace-count"}
    assert set(found) == applicable
    # 11 operations, 600 draws: about 55 of each, standard deviation 7.
    assert min(found.values()) > 25


@pytest.mark.parametrize("family", [f for f in families() if f != "count-replace"])
def test_the_family_that_is_asked_for_is_given(family: str) -> None:
    for reply in complete(f"<{family}> {CAPTION}", 30):
        assert OPERATIONS[operation(reply)].family == family


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        ("<count-replace> " + CAPTION, CAPTION),  # does not apply
        ("<object-shuffle> " + CAPTION, CAPTION),  # no such family
        ("a man rides a horse", "a man rides a horse"),
        ("<object-swap> a man rides a horse", "a man rides a horse"),
        ("", ""),
    ],
)
def test_what_it_cannot_do_comes_back_as_it_is(prompt: str, reply: str) -> None:
    assert complete(prompt) == [reply]


def test_other_edits_have_another_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = GrammarWriter("", {}).info.weights
    assert GrammarWriter("", {}).info.weights == before
    monkeypatch.setattr(grammar_writer, "edit", lambda facts, rng, family: None)
    assert GrammarWriter("", {}).info.weights != before


def test_it_takes_no_argument() -> None:
    with pytest.raises(UserError, match="grammar takes no argument, not 'x'"):
        GrammarWriter("x", {})
