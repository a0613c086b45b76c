"""Errors that a person can mend."""


class UserError(ValueError):
    """A mistake in what was asked: one line that names the value, the reason and the remedy.

    The command line prints it as `error: ...` and exits with code 2.
    """
