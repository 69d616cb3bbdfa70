"""What readers deep down have to say of a file that they can read: who brings it in says it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_heard: ContextVar[dict[str, None] | None] = ContextVar("heard", default=None)


def note(text: str) -> None:
    """Say something, once, to whoever listens."""
    heard = _heard.get()
    if heard is not None:
        heard[text] = None


@contextmanager
def listening() -> Iterator[dict[str, None]]:
    """Within it, what is noted, in its order."""
    heard: dict[str, None] = {}
    before = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(before)
