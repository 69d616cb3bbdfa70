"""Asking servers that nobody vouches for: within a time, how long they ask to wait, and their words
without our secrets."""

import base64
import email.utils
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Timer
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from gradelake.sql.common.halves import without_halves

SHORTEST_KEY = 8  # characters; a shorter one may be a word of the scale
_LONGEST_ERROR = 500  # characters of a server's words that are kept
_LONGEST_WAIT = 1e9  # seconds; who asks for more than 30 years asks for nothing


class NoRedirects(HTTPRedirectHandler):
    """A redirect is an answer: urllib would go on elsewhere, with what was meant for one server."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Deadline:
    """Ends connections at a time, whatever their servers send: a timeout of Python's sockets begins
    anew with every byte."""

    def __init__(self, seconds: float):
        self.is_over = False
        self._ends = time.monotonic() + seconds
        self._open: list[socket.socket] = []
        self._timer = Timer(seconds, self._end)
        self._timer.daemon = True
        self._timer.start()

    def connect(self, address: Any, _: Any = None, source: Any = None) -> socket.socket:
        """Connect as `socket.create_connection` does, within what is left of the time."""
        left = max(self._ends - time.monotonic(), 0.001)
        connected = socket.create_connection(address, left, source)
        self._open.append(connected.dup())  # TLS takes the other one away
        if self.is_over:
            self._end()
        return connected

    def _end(self) -> None:
        self.is_over = True
        for each in self._open:
            with suppress(OSError):  # it has ended by itself
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._timer.cancel()
        for each in self._open:
            each.close()


def _connecting(kind: type, deadline: _Deadline) -> Callable[..., Any]:
    def connection(*arguments: Any, **options: Any) -> Any:
        made = kind(*arguments, **options)
        made._create_connection = deadline.connect
        return made

    return connection


@contextmanager
def reply_within(seconds: float, request: Request) -> Iterator[Any]:
    """A server's reply, whatever its status. Proxies of the environment are used.

    Raises `TimeoutError` where it was not sent and read to its end by then, `OSError` or
    `HTTPException` where there is none.
    """
    deadline = _Deadline(seconds)

    class Plain(HTTPHandler):
        def http_open(self, req: Request) -> Any:
            return self.do_open(_connecting(HTTPConnection, deadline), req)

    class Secure(HTTPSHandler):
        def https_open(self, req: Request) -> Any:
            return self.do_open(_connecting(HTTPSConnection, deadline), req)

    try:
        try:
            reply: Any = build_opener(NoRedirects, Plain, Secure).open(request, timeout=seconds)
        except HTTPError as error:
            reply = error
        with reply:
            yield reply
        is_late = deadline.is_over
    except (OSError, HTTPException) as error:
        is_late = deadline.is_over or isinstance(getattr(error, "reason", error), TimeoutError)
        if not is_late:
            raise
    finally:
        deadline.close()
    if is_late:
        raise TimeoutError(f"timed out after {seconds:g} s")


def retry_after(headers: Any) -> float | None:
    """Seconds that a server asks to wait: a number, or a date (RFC 9110, section 10.2.3)."""
    stated = headers.get("retry-after")
    if not stated:
        return None
    try:
        seconds = float(stated)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(stated).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return seconds if 0 < seconds < _LONGEST_WAIT else None


def short(text: str, key: str) -> str:
    """A server's words on one line, cut where they are long, without the key."""
    text = " ".join(masked(text, key).split())
    return text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR]}..."


def masked(text: str, key: str) -> str:
    """A server's words without the key, should they repeat it, in whichever form; and without
    halves of characters."""
    text = without_halves(text)
    return _forms(key).sub("***", text) if key else text


@cache
def _forms(key: str) -> re.Pattern[str]:
    """A key as it is, with characters of it quoted as in addresses, JSON or HTML, in hex, or in
    base64 with whatever around it; each perhaps broken by white space."""
    if len(key) < SHORTEST_KEY:
        return re.compile(re.escape(key))
    plain = [
        rf"(?:{re.escape(c)}|%(?i:{n:02x})|\\u(?i:{n:04x})|&#0*{n};|&#(?i:x0*{n:x});)"
        for c, n in ((c, ord(c)) for c in key)
    ]
    forms = [plain, [f"(?i:{digit})" for digit in key.encode().hex()]]
    for n_before in range(3):
        coded = base64.b64encode(bytes(n_before) + key.encode()).decode().rstrip("=")
        # the first characters hold what stands before, too, and the last one what follows
        whole = coded[(0, 2, 3)[n_before] : (n_before + len(key)) * 8 // 6]
        forms.append([{"+": "[+-]", "/": "[/_]"}.get(c, c) for c in whole])
    return re.compile("|".join(r"(?:\s|\\+[nrt])*".join(form) for form in forms))
