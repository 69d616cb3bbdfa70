"""What every request passes: hosts, sizes, who asks, what they may do, and what browsers may do."""

import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gradelake.serve.people import Person
from gradelake.serve.sessions import Sessions
from gradelake.sql.common import console
from gradelake.sql.common.errors import GradelakeError

LARGEST = 1_000_000  # bytes of a request: a sheet of a rubric is the largest that anybody sends
_POLICY = "; ".join(
    (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:",
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    )
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_FAILURES, _SECONDS = 10, 60  # of signing in, before the next must wait


@dataclass
class Guard:
    """ASGI middleware. `on_error` answers for what no page foresees; `trust_header`: the header in
    which a proxy names who asks."""

    app: ASGIApp
    sessions: Sessions
    hosts: frozenset[str]
    on_error: Callable[[Request, Exception], Awaitable[Response]]
    trust_header: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse with 400 (host), 403 (another site's form), 413 (too large)."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, has_begun = Headers(scope=scope), False

        async def guarded(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    answered.setdefault(name, value)
                answered.setdefault("cache-control", "no-store")
            await send(message)

        async def refuse(status: int, text: str) -> None:
            refusal = PlainTextResponse(text, status, {"connection": "close"})
            await refusal(scope, receive, guarded)

        if refused := self._refused(scope, headers):
            await refuse(*refused)
            return
        state = scope.setdefault("state", {})
        try:
            state["person"], state["token_of"] = self._who(scope, headers)
        except (GradelakeError, OSError) as error:  # nobody is known, and no page can be made
            console.warn(f"nobody can sign in: {error}")
            await refuse(503, "Nobody can sign in: the server's terminal says why.")
            return
        size = 0

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > LARGEST:
                raise HTTPException(413, f"The request is larger than {LARGEST:,} bytes.")
            return message

        try:
            await self.app(scope, counted, guarded)
        except Exception as error:  # not left to what stands before the guard: it has no policy
            answer = await self.on_error(Request(scope), error)
            if has_begun:  # it cannot be taken back: the connection ends
                raise
            await answer(scope, receive, guarded)

    def _refused(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Why a request is not looked at, if it is not."""
        host = headers.get("host", "").lower()
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name not in self.hosts:  # a name that somebody points at this address
            return (
                400,
                "This server does not answer to that name; see gradelake serve --allow-host.",
            )
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 9 or int(length) > LARGEST:
            return 413, f"The request is larger than {LARGEST:,} bytes."
        if scope["method"] in ("GET", "HEAD"):
            return None
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return 403, "This was sent by another site."
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "This was sent by another site."
        return None

    def _who(self, scope: Scope, headers: Headers) -> tuple[Person | None, str]:
        """Who asks, and what their forms' token is made of."""
        if self.trust_header:
            names = headers.getlist(self.trust_header)
            person = self.sessions.people.named(names[0]) if len(names) == 1 else None
            return person, f"named {names}"
        cookie = Request(scope).cookies.get(self.sessions.cookie, "")
        return self.sessions.person(cookie), cookie


def person_of(request: Request, role: str) -> Person:
    """Who asks. Raises 401 where nobody is signed in, and 403 for one who may not."""
    person = request.state.person
    if person is None:
        raise HTTPException(401, "Sign in first: open the link that you were given.")
    if not person.may(role):
        raise HTTPException(
            403,
            f"You are signed in as {person.name}, {person.role}; this is for {role}s. "
            "An operator can change that, under People.",
        )
    return person


def check_token(request: Request, token: str | None) -> None:
    """Raise 403 unless the token is the session's."""
    sessions: Sessions = request.app.state.sessions
    if not token or not sessions.fits(token, request.state.token_of):
        raise HTTPException(403, "This form belongs to another session: reload the page.")


@dataclass
class Attempts:
    """How often signing in failed lately, by address: after 10 in a minute the next must wait."""

    failed: dict[str, deque[float]] = field(default_factory=dict)

    def check(self, address: str) -> None:
        """Raise 429 for an address that failed too often."""
        times = self.failed.get(address, deque())
        while times and times[0] < time.monotonic() - _SECONDS:
            times.popleft()
        if len(times) >= _FAILURES:
            headers = {"retry-after": str(_SECONDS)}
            raise HTTPException(429, "Too many attempts: wait a minute.", headers)

    def fail(self, address: str) -> None:
        if len(self.failed) > 10_000:  # addresses are cheap to whoever has many
            self.failed.clear()
        self.failed.setdefault(address, deque()).append(time.monotonic())
