"""What commands that ask models tell: progress now and then, and the first of many lines."""

import time
from collections.abc import Callable

from gradelake.sql.common import console

EVERY = 10.0  # seconds between lines of progress
SHOWN = 10  # lines of one kind; --json has all


def now_and_then(line: Callable[..., str]) -> Callable[..., None]:
    """A function to be called often; every ten seconds it tells what `line` makes of its
    arguments."""
    told = time.monotonic()

    def tell(*about: object) -> None:
        nonlocal told
        if time.monotonic() - told >= EVERY:
            told = time.monotonic()
            console.tell(line(*about))

    return tell


def warn_first(lines: list[str]) -> None:
    """The first lines, and how many there are besides."""
    for line in lines[:SHOWN]:
        console.warn(line)
    if len(lines) > SHOWN:
        console.warn(f"and {len(lines) - SHOWN:,} more like these (--json has all)")
