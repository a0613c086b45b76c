"""What a person sees while a run goes on: one live line on a terminal, else a plain line now and then."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TextIO

EVERY_SECONDS = 5.0
"""How often a plain line is written where there is no terminal."""


@dataclass(frozen=True, slots=True)
class State:
    """Where a run stands. `resumed` of the `done` samples were there before this sitting.

    `underway` samples are in flight; on average they have had candidates scored `rounds` times.
    """

    done: int = 0
    total: int | None = None
    resumed: int = 0
    successes: int = 0
    errors: int = 0
    queries: int = 0
    underway: int = 0
    rounds: int = 0


def eta(state: State, seconds: float) -> float | None:
    """Seconds to go, from the pace of this sitting; None as long as there is no pace."""
    fresh = state.done - state.resumed
    if state.total is None or fresh <= 0 or seconds <= 0:
        return None
    return (state.total - state.done) * seconds / fresh


def line(state: State, seconds: float) -> str:
    """One line: "120/240 samples, 31 successes, 480 queries, 0:20 to go"."""
    total = "" if state.total is None else f"/{state.total}"
    parts = [f"{state.done}{total} samples", f"{state.successes} successes"]
    if state.errors:
        parts.append(f"{state.errors} errors")
    parts.append(f"{state.queries} queries")
    if state.rounds > 1:  # a single one is over before anybody reads of it
        parts.append(f"{state.underway} in generation {state.rounds}")
    left = eta(state, seconds)
    if left is not None and state.done != state.total:
        parts.append(f"{clock_text(left)} to go")
    return ", ".join(parts)


def clock_text(seconds: float) -> str:
    """Seconds as 0:05, 2:10 or 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Progress:
    """Shows states on a stream. As a context manager it leaves the stream tidy, whatever happens.

    Args:
        stream: Where to write, normally stderr.
        text: Puts a state and the seconds since the start into words.
        quiet: Write nothing at all.
        clock: Seconds, monotonic; tests pass their own.
    """

    def __init__(
        self,
        stream: TextIO,
        text: Callable[[State, float], str] = line,
        *,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._text = text
        self._stream = stream
        self._quiet = quiet
        self._clock = clock
        self._start = clock()
        self._written = self._start
        self._state = State()
        self._shown = State()
        self._live = _Live(stream) if not quiet and stream.isatty() else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
        elif self._state != self._shown and not self._quiet:
            self._write()

    def show(self, state: State) -> None:
        """Show where the run stands; called as often as one likes."""
        self._state = state
        now = self._clock()
        if self._live is not None:
            self._live.show(state, self._text(state, now - self._start))
        elif not self._quiet and now - self._written >= EVERY_SECONDS:
            self._write()

    def say(self, text: str) -> None:
        """Write a line of its own, above the live one."""
        if self._live is not None:
            self._live.say(text)
        elif not self._quiet:
            self._emit(text)

    def interrupt(self, text: str) -> None:
        """Write a line from a signal handler, past the buffers that the signal may have cut into."""
        if self._quiet:
            return
        try:
            os.write(self._stream.fileno(), f"\n{text}\n".encode())
        except (OSError, ValueError):  # A stream without a file, or one that is closed.
            self._emit(text)

    def _write(self) -> None:
        now = self._clock()
        self._written, self._shown = now, self._state
        self._emit(self._text(self._state, now - self._start))

    def _emit(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()


class _Live:
    """The line that rewrites itself, by rich; imported here because `list` must not wait for it."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        self._console = Console(file=stream)
        self._bar = Bar(
            BarColumn(bar_width=24), TextColumn("{task.description}"), console=self._console
        )
        self._task = self._bar.add_task("starting", total=None)
        self._bar.start()

    def show(self, state: State, text: str) -> None:
        self._bar.update(self._task, completed=state.done, total=state.total, description=text)

    def say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def stop(self) -> None:
        self._bar.stop()
