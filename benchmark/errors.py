"""Errors that a person can mend."""

from typing import Literal


class UserError(ValueError):
    """A mistake in what was asked: one line that names the value, the reason and the remedy.

    The command line prints it as `error: ...` and exits with code 2.
    """


class NoAnswerError(ValueError):
    """A model was reached and gave no answer: it refused, or what came back was empty.

    What is made of it is missing, never wrong and never 0.
    """

    def __init__(self, message: str, reason: Literal["refused", "empty"]) -> None:
        super().__init__(message)
        self.reason = reason
