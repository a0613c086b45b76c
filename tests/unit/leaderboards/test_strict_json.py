import pytest

from leaderboards import limits
from leaderboards.strict_json import MalformedError, load_lines, load_object, loads


def test_plain_json_is_read() -> None:
    assert loads(b'{"a": [1, 2.5, null, true, "\\u00e9"]}') == {"a": [1, 2.5, None, True, "é"]}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"a": 1, "a": 1}', "key 'a' is there twice"),
        (b'{"b": {"a": 1, "a": 2}}', "key 'a' is there twice"),
        (b"NaN", "NaN is not a number"),
        (b"-Infinity", "-Infinity is not a number"),
        (b"[1e400]", "1e400 is too large"),
        (b"\xff", "byte 0 is not UTF-8"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b"{} {}", "not JSON"),
        (b"", "not JSON"),
        (b"9" * 5000, "not JSON"),
        (b"[" * 1_000_000, "nested deeper"),
        (b"[" * (limits.DEPTH + 2) + b"]" * (limits.DEPTH + 2), "nested deeper"),
    ],
)
def test_what_may_be_read_in_two_ways_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(MalformedError, match=reason):
        loads(data)


def test_depth_is_allowed_up_to_the_limit() -> None:
    loads(b"[" * limits.DEPTH + b"]" * limits.DEPTH)


def test_an_object_is_an_object() -> None:
    with pytest.raises(MalformedError, match="a list where a JSON object is expected"):
        load_object(b"[]")


def test_each_line_stands_for_itself() -> None:
    lines = list(load_lines(b'{"a": 1}\n\n[]\n{"a": 2}\n'))
    assert [number for number, _ in lines] == [1, 2, 3, 4]
    assert lines[0][1] == {"a": 1}
    assert lines[3][1] == {"a": 2}
    assert isinstance(lines[1][1], MalformedError)
    assert isinstance(lines[2][1], MalformedError)
