"""Patience with a server that is busy: it is asked again, for so long."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

_LONGEST = 60.0  # seconds between two requests, where the server says nothing


class Busy(Exception):
    """The server is to be asked again: in so many `seconds`, where it says so."""

    def __init__(self, reason: str, seconds: float | None = None):
        super().__init__(reason)
        self.seconds = seconds


async def patiently(
    ask: Callable[[], Awaitable[Any]],
    patience: float,
    pause: float,
    answered_at: Callable[[], float] = lambda: 0.0,
) -> Any:
    """What `ask` brings, called again as long as it raises `Busy`; the last one goes through.

    It gives up before a wait that would end more than `patience` seconds after the first `Busy`,
    or after `answered_at()`, when the server last answered anybody.
    """
    longer, first_busy = 2 * (pause or 1.0), 0.0
    while True:
        try:
            return await ask()
        except Busy as error:
            now = time.monotonic()
            first_busy = first_busy or now
            seconds = min(longer, _LONGEST) if error.seconds is None else error.seconds
            if now + seconds > max(first_busy, answered_at()) + patience:
                raise
        longer *= 2
        await asyncio.sleep(seconds)
