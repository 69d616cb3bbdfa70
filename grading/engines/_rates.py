"""Requests and tokens per minute, which all of a user's processes on one machine share."""

import asyncio
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gradelake.grading.engines import EngineUnusable, Setting
from gradelake.sql.common.cache import cache_folder
from gradelake.sql.common.checked import Count

RATES: Mapping[str, Setting] = {
    "requests_per_minute": Setting(Count, None, "to base_url, of all processes here", False),
    "tokens_per_minute": Setting(Count, None, "of prompts and replies, the same", False),
}
_TOKEN = 4  # characters: what a token is taken to be until the server has counted


class Rates:
    """Spaces requests evenly: servers enforce what they allow a minute over less than one.

    A file in the user's cache says from when on the next request may go; it is locked while it is
    read and written. Without limits nothing waits, and there is no file.
    """

    def __init__(self, settings: Mapping[str, Any], *endpoint: str):
        """`settings` has the limits, each perhaps None; `endpoint` is what they are for."""
        limits = {"requests": "requests_per_minute", "tokens": "tokens_per_minute"}
        # seconds that one of each takes
        self.pace = {key: 60.0 / settings[n] for key, n in limits.items() if settings[n]}
        name = hashlib.sha256("\0".join(endpoint).encode()).hexdigest()[:16]
        self.file = cache_folder() / "rates" / f"{name}.json"
        self._turn = asyncio.Lock()  # so that only one is promised a time

    async def wait(self, text: str, reply_tokens: int) -> int:
        """Wait until a request with this text may go; the tokens that it was taken to cost."""
        tokens = len(text) // _TOKEN + reply_tokens
        if self.pace:
            async with self._turn:
                cost = {"requests": 1, "tokens": tokens}
                with self._locked() as (free, now):
                    start = max(now, *(free[key] for key in self.pace))
                    # the next may go later, by what this one costs
                    free |= {key: start + cost[key] * pace for key, pace in self.pace.items()}
                await asyncio.sleep(start - now)
        return tokens

    def correct(self, expected: int, tokens: int) -> None:
        """Heed how many tokens a request and its reply had in the end."""
        if "tokens" in self.pace:
            with self._locked() as (free, _):
                free["tokens"] += (tokens - expected) * self.pace["tokens"]

    @contextmanager
    def _locked(self) -> Iterator[tuple[dict[str, float], float]]:
        """The times from which on the limits allow more, to be changed under the lock, and now."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a+", encoding="utf-8") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX)
                stream.seek(0)
                now = time.time()
                free = _times(stream.read(), now)
                yield free, now
                os.ftruncate(stream.fileno(), 0)
                stream.write(json.dumps(free | {"written": now}))
        except OSError as error:
            raise EngineUnusable(
                f"{self.file}: {error.strerror}: processes share requests_per_minute and "
                "tokens_per_minute by that file",
                "Let it be written, or name a folder that can be in XDG_CACHE_HOME.",
            ) from None


def _times(text: str, now: float) -> dict[str, float]:
    """The times in the file; now where there are none, or the clock was set back."""
    free = {"requests": now, "tokens": now}
    try:
        stored = json.loads(text)
        if stored["written"] <= now:
            free = {key: float(stored[key]) for key in free}
    except (ValueError, LookupError, TypeError):
        pass
    return free
