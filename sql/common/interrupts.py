"""Ctrl-C that is neither lost nor leaves a process hanging."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_IMPORTING = "<frozen importlib"
_LATER = 0.02  # seconds

_held: list[object] = []  # what no signal may interrupt
_put_off: set[int] = set()  # signals that will be sent again
_raised = 0


def heed_ctrl_c() -> None:
    """Make SIGINT raise `KeyboardInterrupt` where it can be caught.

    Raised in a destructor or in the callback of a weak reference it would be dropped by Python: it
    is raised again. For imports see `after_imports`.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return  # somebody else's
    signal.signal(signal.SIGINT, after_imports(interrupt))
    others = sys.unraisablehook

    def dropped(unraisable: "sys.UnraisableHookArgs") -> None:
        if unraisable.exc_type is KeyboardInterrupt:
            _send_later(signal.SIGINT)
        else:
            others(unraisable)

    sys.unraisablehook = dropped


def after_imports(leave: Callable[[], object]) -> Callable[[int, FrameType | None], None]:
    """A handler of a signal that calls `leave`, which raises, but not while a module is imported.

    An exception from outside may leave Python's import lock taken, and whatever thread imports next
    waits forever; and DuckDB, which imports pandas when it needs it, ignores all exceptions there.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        if _held:
            _send_later(number)
            return
        while frame:
            if frame.f_code.co_filename.startswith(_IMPORTING):
                _send_later(number)
                return
            frame = frame.f_back
        leave()

    return handle


@contextmanager
def held() -> Iterator[Callable[[], None]]:
    """Within it signals wait, until what it yields is called. Not for long work."""
    this = object()

    def let_go() -> None:
        if this in _held:
            _held.remove(this)

    _held.append(this)
    try:
        yield let_go
    finally:
        let_go()


@contextmanager
def handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Within it SIGINT and SIGTERM are for `handler`. In the process's main thread."""
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


def is_interruption(error: BaseException) -> bool:
    """Whether an exception is a Ctrl-C: DuckDB makes a RuntimeError of one within a query."""
    return isinstance(error, KeyboardInterrupt) or (
        isinstance(error, RuntimeError) and str(error) == "Query interrupted"
    )


def n_interrupted() -> int:
    """How many times `KeyboardInterrupt` was raised: libraries with a bare `except:` ignore it."""
    return _raised


def interrupt() -> NoReturn:
    """Raise `KeyboardInterrupt`, and count it."""
    global _raised
    _raised += 1
    raise KeyboardInterrupt


def _send_later(number: int) -> None:
    """Once, however often it came, to the main thread, which may be waiting for something."""
    if number in _put_off:
        return
    _put_off.add(number)

    def send() -> None:
        _put_off.discard(number)
        main = threading.main_thread().ident
        assert main is not None  # only a thread that has not begun has none
        signal.pthread_kill(main, number)

    again = threading.Timer(_LATER, send)
    again.daemon = True
    again.start()
