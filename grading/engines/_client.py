"""A client of OpenAI's API for servers that nobody vouches for."""

import json
import re
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from types import SimpleNamespace
from typing import Any

LONGEST_REPLY = 4 << 20  # bytes: reasoning of 100,000 words is less
_OF_TRANSFER = (b"content-encoding", b"content-length", b"transfer-encoding")
_OF_ONE = (b"content-length", b"idempotency-key")  # headers of one request
# what came of a request, for OpenAI's library to read: a response or an exception
_came: ContextVar[Any] = ContextVar("came", default=None)
_DATED = re.compile(r"[-@](\d{3,4}|\d{8}|\d{4}-\d\d-\d\d)")


class Misshapen(ValueError):
    """What came back is not a chat completion; the message says why."""


def read_json(text: bytes) -> Any:
    """What JSON says, its objects as namespaces. Raises `ValueError`."""
    try:
        return json.loads(text, object_hook=lambda fields: SimpleNamespace(**fields))
    except RecursionError:
        raise Misshapen("the reply is nested too deep") from None


def careful(
    kind: type,
    longest_reply: int = LONGEST_REPLY,
    heed: Callable[[bytes], None] | None = None,
    **options: Any,
) -> Any:
    """A client of `kind`, httpx2's or httpx's, that follows no redirect and reads no endless reply.

    It waits for ever: whoever asks limits the whole reply; this would be for each part of it.
    Proxies of the environment are used. `heed` sees each reply as it came. Raises `Misshapen` for
    a reply that is too long.
    """

    class Client(kind):
        sent: Any = None  # the last request

        async def send(self, request: Any, **options: Any) -> Any:
            if (came := _came.get()) is not None:
                if isinstance(came, Exception):
                    raise came
                return came
            self.sent = request
            streamed = await super().send(request, **(options | {"stream": True}))
            content = bytearray()
            try:
                async for part in streamed.aiter_bytes():  # as it is once decompressed
                    content += part
                    if len(content) > longest_reply:
                        raise Misshapen(f"the reply is longer than {longest_reply >> 20} MiB")
            finally:
                await streamed.aclose()
            if heed:
                heed(bytes(content))
            headers = [each for each in streamed.headers.raw if each[0].lower() not in _OF_TRANSFER]
            return type(streamed)(
                streamed.status_code, headers=headers, content=bytes(content), request=request
            )

    return Client(follow_redirects=False, timeout=None, verify=_certificates(), **options)


@cache
def _certificates() -> Any:
    """The certificates of all clients: reading them takes as long as a request."""
    import httpx2

    return httpx2.create_ssl_context()


def open_client(
    base_url: str, key: str, longest_reply: int = LONGEST_REPLY, http: Any = None
) -> Any:
    """A client of OpenAI's library that tries once, by `http`, or else what is `careful`."""
    import openai

    return openai.AsyncOpenAI(
        base_url=base_url,
        api_key=key or "none",  # servers of one's own often want no key
        timeout=None,
        max_retries=0,
        http_client=http or careful(openai.DefaultAsyncHttpxClient, longest_reply),
    )


class Poster:
    """Posts bodies to one address by a client of OpenAI's library, at speed.

    By aiohttp, which complains when it is not closed. The library takes more than half of the time
    to put together a request that differs from the last one by its body alone: the first is its
    own, the others are copies of it. What comes of one that fails goes through the library, so
    that errors are what it makes of them.
    """

    def __init__(self, base_url: str, key: str, path: str):
        import openai

        self.http = careful(openai.DefaultAioHttpClient)
        self.client = open_client(base_url, key, http=self.http)
        self.address = f"{base_url.rstrip('/')}/{path}"
        self._headers: list[tuple[bytes, bytes]] = []

    async def post(self, body: dict[str, Any]) -> bytes:
        """The reply. Raises what the library does."""
        if not (first := self.http.sent):
            return await self._by_library(body)
        if not self._headers:
            headers = first.headers.raw
            self._headers = [each for each in headers if each[0].lower() not in _OF_ONE]
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        request = type(first)(
            first.method,
            first.url,
            headers=self._headers,
            content=content.encode(),
            extensions=first.extensions,
        )
        try:
            came = await self.http.send(request)
            if came.is_success:
                return came.content
        except Exception as error:
            came = error
        token = _came.set(came)
        try:
            return await self._by_library(body)
        finally:
            _came.reset(token)

    async def _by_library(self, body: dict[str, Any]) -> bytes:
        return await self.client.post(self.address, cast_to=bytes, body=body)


def is_same_model(asked: str, answering: str) -> bool:
    """Whether a model may answer for the one asked for: it has its name, or its name and a date.

    Some servers leave out whose model it is, or add it: `openai/gpt-4o`.
    """
    asked, answering = asked.lower(), answering.lower()
    if ("/" in asked) != ("/" in answering):
        asked, answering = asked.rpartition("/")[2], answering.rpartition("/")[2]
    if asked == answering:
        return True
    undated = asked.removesuffix("-latest")
    return answering.startswith(undated) and bool(_DATED.fullmatch(answering[len(undated) :]))
