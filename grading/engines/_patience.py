"""Patience with a server that is busy: it is asked again, for so long."""

import time
from collections.abc import Callable

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_exponential

_LONGEST = 60.0  # seconds between two requests, where the server says nothing


class Busy(Exception):
    """The server is to be asked again: in so many `seconds`, where it says so."""

    def __init__(self, reason: str, seconds: float | None = None):
        super().__init__(reason)
        self.seconds = seconds


def patiently(
    patience: float, pause: float, answered_at: Callable[[], float] = lambda: 0.0
) -> AsyncRetrying:
    """What calls a function again as long as it raises `Busy`, and lets the last one through.

    It gives up before a wait that would end more than `patience` seconds after the first `Busy`,
    or after `answered_at()`, when the server last answered anybody.
    """
    longer = wait_exponential(multiplier=2 * (pause or 1.0), max=_LONGEST)
    first_busy: list[float] = []

    def wait(state: RetryCallState) -> float:
        error = state.outcome and state.outcome.exception()
        stated = error.seconds if isinstance(error, Busy) else None
        return longer(state) if stated is None else stated

    def is_over(state: RetryCallState) -> bool:
        now = time.monotonic()
        first_busy[:] = first_busy or [now]
        return now + state.upcoming_sleep > max(first_busy[0], answered_at()) + patience

    return AsyncRetrying(retry=retry_if_exception_type(Busy), wait=wait, stop=is_over, reraise=True)
