import pytest

from metrics.caption_tokens import tokens


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("", ""),
        ("  \n\t ", ""),
        ("?!", "?!"),  # a run of marks is no punctuation in pycocoevalcap's list
        ("A dog.\nA cat.", "a dog a cat"),
        ("The dog\u2019s \u201cbone\u201d", "the dog 's bone"),
        ("n't", "n't"),
        ("\U0001f600", ""),
        ("Ünïcode 車", "ünïcode 車"),
    ],
)
def test_tokens(caption: str, expected: str) -> None:
    assert " ".join(tokens(caption)) == expected


def test_a_long_text_takes_no_time() -> None:
    assert len(tokens("a-b " * 20_000)) == 20_000
    assert len(tokens("-" * 100_000)) == 1
    assert tokens("a." * 50_000) == ["a." * 50_000]
