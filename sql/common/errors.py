"""Errors meant for people: what is wrong, where, and what to do. The exit code is part of each."""

from gradelake.sql.common.halves import without_halves

# what to do about a table or column that a release does not have
NOT_BUILT_YET = (
    "What is read may have been built before there was such a one: `gradelake build` makes a "
    "release that has it, which is read without --release."
)


def how_to_install(extra: str) -> str:
    """How an optional part is installed: from the package, and from a clone."""
    return f"pip install 'gradelake[{extra}]' (in a clone: pip install '.[{extra}]')"


class GradelakeError(Exception):
    """Something a person can act on. Printed as one message, without a stack trace.

    `hint` says what to do next; `exit_code` is what the command line leaves with.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None):
        self.message = without_halves(message)  # it goes to other processes, logs and tables
        self.hint = hint and without_halves(hint)
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class WorkFailed(GradelakeError):
    """The request was fine, the work could not be done (exit code 1)."""


class Busy(WorkFailed):
    """Another process holds a lock that was not to be waited for."""


class Unreachable(WorkFailed):
    """The server of the lake's catalog is gone; it may come back."""


class BadInput(GradelakeError):
    """Wrong usage, a wrong setting or unusable input (exit code 2)."""

    exit_code = 2


class NotThere(BadInput):
    """Nothing is called so: no collection, release, queue, question."""


class NothingPublished(BadInput):
    """The lake has no release yet."""
