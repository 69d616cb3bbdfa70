"""Asking a search engine over HTTP: at its pace, patiently, and at its own address only."""

import json
import os
import time
from http.client import HTTPException
from threading import Event, Lock
from typing import Any
from urllib.request import Request

from gradelake.ingest.engines.settings import SearchEngine
from gradelake.sql.common import console
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.servers import SHORTEST_KEY, masked, reply_within, retry_after, short

TRIES = 5
PAUSE = 1.0  # seconds after the first try that failed; after the next one twice as long
_PATIENCE = 600.0  # seconds that an engine may ask to wait
_TOLD = 2.0  # seconds of waiting that are told of
_LONGEST_ANSWER = 8 << 20  # bytes
_PART = 1 << 16


class Unanswered(Exception):
    """A query that got no answer; the message says why."""


class GivenUp(Unanswered):
    """No query will get one."""


class Asking:
    """Asks one engine, from several threads if need be. What its headers hold appears nowhere else.

    Proxies of the environment are used. Raises `BadInput` for headers that cannot be sent.
    """

    def __init__(self, engine: SearchEngine, where: str):
        self.engine, self._where = engine, where
        self._headers = {"Accept": "application/json"}
        if engine.body:
            self._headers["Content-Type"] = "application/json"
        for header, variable in engine.headers.items():
            value = os.environ.get(variable, "").strip()
            if not (value and value.isascii() and value.isprintable()):
                what = "cannot be sent: it is one line of ASCII" if value else "holds nothing"
                raise BadInput(f"{where}: headers: {variable} {what}", f"export {variable}=...")
            self._headers[header] = value
        secrets = [self._headers[header] for header in engine.headers]
        secrets += [word for secret in secrets for word in secret.split()]  # "Bearer ..."
        self._secrets = [secret for secret in secrets if len(secret) >= SHORTEST_KEY]
        self._turns = Lock()
        self._next = 0.0  # when it may be asked again, by whichever thread
        self._ended = Event()
        self._is_there = False  # it said something, at least once

    def end(self) -> None:
        """Threads that wait to ask ask no more."""
        self._ended.set()

    def ask(self, request: dict[str, str | None]) -> tuple[int, str, float]:
        """The status and the text of an answer, and the seconds it took. Raises `Unanswered`."""
        for n in range(1, TRIES + 1):
            started = self._its_turn()
            try:
                status, headers, text = self._sent(request)
            except (OSError, HTTPException) as error:
                why, seconds = self._short(f"no answer: {getattr(error, 'reason', error)}"), None
            else:
                self._is_there = True
                if 200 <= status < 300:
                    return status, text, time.monotonic() - started
                why, seconds = self._short(f"HTTP {status}: {text}"), retry_after(headers)
                self._require_another_try(status, headers, why)
            if seconds and seconds > _PATIENCE:
                raise GivenUp(f"{why}; it asks to wait {console.duration(seconds)}")
            seconds = seconds or PAUSE * 2 ** (n - 1)
            if n < TRIES:
                if seconds >= _TOLD:
                    console.tell(f"{self._where}: {why}; waiting {console.duration(seconds)}")
                with self._turns:
                    self._next = max(self._next, time.monotonic() + seconds)
        raise (Unanswered if self._is_there else GivenUp)(f"{why} (tried {TRIES} times)")

    def _require_another_try(self, status: int, headers: Any, why: str) -> None:
        if 300 <= status < 400:
            target = self._short(headers.get("location") or "nowhere")
            hint = "Queries go to the address in gradelake.toml only; name the right one in url."
            raise GivenUp(f"redirects to {target!r}. {hint}")
        if status in (401, 403):
            names = ", ".join(self.engine.headers.values())
            raise GivenUp(f"{why}. " + (f"Is {names} right?" if names else "It wants a key."))
        if status != 429 and status < 500:
            raise Unanswered(why)

    def _its_turn(self) -> float:
        """Wait until the engine may be asked; returns when that is."""
        wait = 0.0
        while not self._ended.wait(wait):
            with self._turns:
                now = time.monotonic()
                wait = self._next - now
                if wait <= 0:
                    self._next = now + 1 / self.engine.per_second
                    return now
        raise GivenUp("it was given up before this query was asked")

    def _sent(self, request: dict[str, str | None]) -> tuple[int, Any, str]:
        url, body = str(request["url"]), request["body"]
        data = body.encode() if body else None
        asked = Request(url, data, self._headers, method=request["method"])
        content = bytearray()
        with reply_within(self.engine.timeout, asked) as reply:
            while part := reply.read1(_PART):
                content += part
                if len(content) > _LONGEST_ANSWER:
                    raise Unanswered(f"the answer is longer than {_LONGEST_ANSWER >> 20} MiB")
            if reply.length:
                raise ConnectionError("the answer broke off")
        is_answer, charset = 200 <= reply.status < 300, reply.headers.get_content_charset()
        text = _text(content, charset) if is_answer else content.decode(errors="replace")
        if text is None:
            raise Unanswered(
                "the answer is not UTF-8, and its Content-Type names no other charset that it is in"
            )
        return reply.status, reply.headers, self._without_secrets(text)

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = masked(text, secret)
        return text

    def _short(self, text: str) -> str:
        return short(self._without_secrets(text), "")


def _text(content: bytearray, charset: str | None) -> str | None:
    """An answer in the charset that its header names, or else in JSON's own; None where it is not.
    Nothing is put in the place of what cannot be read: two ids would become one."""
    try:
        return content.decode(charset or json.detect_encoding(content))
    except (LookupError, UnicodeError):
        return None
