import io
import sys

import pytest

from benchmark.progress import Progress, State, clock_text, eta, line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("state", "seconds", "expected"),
    [
        (State(done=10, total=40), 5.0, 15.0),  # 2 a second, 30 to go
        (State(done=30, total=40, resumed=20), 5.0, 5.0),  # 10 in 5 s, 10 to go
        (State(done=40, total=40), 5.0, 0.0),
        (State(done=20, total=40, resumed=20), 5.0, None),
        (State(done=10, total=None), 5.0, None),
        (State(done=0, total=40), 5.0, None),
        (State(done=5, total=40), 0.0, None),
    ],
)
def test_eta_follows_the_pace_of_this_sitting(
    state: State, seconds: float, expected: float | None
) -> None:
    assert eta(state, seconds) == expected


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (5.4, "0:05"), (59.6, "1:00"), (130, "2:10"), (3723, "1:02:03")],
)
def test_clock_text(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (
            State(done=120, total=240, successes=31, queries=480),
            "120/240 samples, 31 successes, 480 queries, 0:10 to go",
        ),
        (
            State(done=3, total=3, errors=1, queries=8),
            "3/3 samples, 0 successes, 1 errors, 8 queries",
        ),
        (State(done=7), "7 samples, 0 successes, 0 queries"),
        (
            State(done=4, total=10, successes=4, queries=900, underway=6, rounds=7),
            "4/10 samples, 4 successes, 900 queries, 6 in generation 7, 0:15 to go",
        ),
        (
            State(done=0, total=10, queries=6, underway=6, rounds=1),
            "0/10 samples, 0 successes, 6 queries",
        ),
    ],
)
def test_line(state: State, expected: str) -> None:
    assert line(state, 10.0) == expected


def test_without_a_terminal_a_line_comes_every_five_seconds_and_at_the_end() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress(stream, clock=clock) as progress:
        for done in range(1, 13):
            clock.now += 1
            progress.show(State(done=done, total=12))
    shown = [text.split(" ")[0] for text in stream.getvalue().splitlines()]
    assert shown == ["5/12", "10/12", "12/12"]


def test_the_last_state_is_not_said_twice() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress(stream, clock=clock) as progress:
        clock.now += 5
        progress.show(State(done=1, total=1))
    assert len(stream.getvalue().splitlines()) == 1


def test_a_run_that_fails_still_says_how_far_it_came() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    progress.show(State(done=3, total=9))
    progress.__exit__(OSError, OSError("disk"), None)
    assert stream.getvalue().startswith("3/9 samples")


def test_quiet_is_quiet() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress(stream, quiet=True, clock=clock) as progress:
        clock.now += 60
        progress.show(State(done=1))
        progress.say("a remark")
    assert stream.getvalue() == ""


def test_a_remark_is_a_line_of_its_own() -> None:
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress.say("cache [bold] is damaged")
    assert stream.getvalue() == "cache [bold] is damaged\n"


def test_nothing_done_says_nothing() -> None:
    stream = io.StringIO()
    with Progress(stream):
        pass
    assert stream.getvalue() == ""


def test_a_signal_handler_writes_past_the_buffers(capfd: pytest.CaptureFixture[str]) -> None:
    Progress(sys.stderr).interrupt("finishing")
    assert capfd.readouterr().err == "\nfinishing\n"
    stream = io.StringIO()
    Progress(stream).interrupt("finishing")
    assert stream.getvalue() == "finishing\n"


def test_a_terminal_shows_a_live_line() -> None:
    stream = Terminal()
    with Progress(stream) as progress:
        progress.show(State(done=3, total=9, successes=2, queries=12))
        progress.say("cache [bold] is damaged")
    text = stream.getvalue()
    assert "3/9 samples, 2 successes, 12 queries" in text
    assert "cache [bold] is damaged" in text
