import pytest

from benchmark.errors import UserError
from benchmark.settings import Setting, of_defaults
from benchmark.types import JSON


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (Setting("integer", ""), "an integer"),
        (Setting("integer", "", minimum=1), "an integer of at least 1"),
        (
            Setting("integer", "", minimum=1, words=("auto",)),
            'an integer of at least 1 or "auto"',
        ),
        (Setting("number", "", minimum=0, maximum=1), "a number from 0 to 1"),
        (Setting("text", ""), "a text"),
        (Setting("text", "", choices=("a", "b")), '"a" or "b"'),
        (Setting("text", "", entry="judges"), "a name from `list judges`"),
        (Setting("list of names", ""), "a list of names"),
        (Setting("list of names", "", entry="criteria"), "a list of names from `list criteria`"),
        (Setting("true or false", ""), "true or false"),
    ],
)
def test_what_is_expected_is_put_into_words(setting: Setting, text: str) -> None:
    assert setting.expected == text


@pytest.mark.parametrize(
    ("setting", "good", "bad"),
    [
        (Setting("integer", "", minimum=1, maximum=3), [1, 3], [0, 4, 1.0, True, "1", None]),
        (Setting("integer", "", words=("auto",)), [7, "auto"], ["far"]),
        (Setting("number", "", minimum=0), [0, 0.5, float("inf")], [-1, True, "1", float("nan")]),
        (Setting("text", ""), ["", "x"], [1, None, ["x"]]),
        (Setting("text", "", choices=("a",)), ["a"], ["b", "A"]),
        (Setting("true or false", ""), [True, False], [0, 1, "true"]),
        (Setting("list of names", ""), [[], ["a", "b"]], ["a", [1], None]),
    ],
)
def test_values_are_accepted_or_not(setting: Setting, good: list[JSON], bad: list[JSON]) -> None:
    assert all(setting.accepts(value) for value in good)
    assert not any(setting.accepts(value) for value in bad)


def test_a_plugins_defaults_say_what_type_each_setting_has() -> None:
    defaults: dict[str, JSON] = {"a": True, "b": 1, "c": 0.5, "d": "x", "e": ["y"]}
    shapes = {key: setting.shape for key, setting in of_defaults(defaults).items()}
    assert shapes == {
        "a": "true or false",
        "b": "integer",
        "c": "number",
        "d": "text",
        "e": "list of names",
    }


def test_a_default_without_a_type_is_refused() -> None:
    with pytest.raises(UserError, match="default a = None must be a number, a text"):
        of_defaults({"a": None})
