"""A client of OpenAI's API for servers that nobody vouches for."""

import base64
import json
import re
from functools import cache
from types import SimpleNamespace
from typing import Any

SHORTEST_KEY = 8  # characters; a shorter one may be a word of the scale
LONGEST_REPLY = 4 << 20  # bytes: reasoning of 100,000 words is less
_OF_TRANSFER = (b"content-encoding", b"content-length", b"transfer-encoding")
_DATED = re.compile(r"[-@](\d{3,4}|\d{8}|\d{4}-\d\d-\d\d)")


class Misshapen(ValueError):
    """What came back is not a chat completion; the message says why."""


def read_json(text: bytes) -> Any:
    """What JSON says, its objects as namespaces. Raises `ValueError`."""
    try:
        return json.loads(text, object_hook=lambda fields: SimpleNamespace(**fields))
    except RecursionError:
        raise Misshapen("the reply is nested too deep") from None


def careful(kind: type, longest_reply: int = LONGEST_REPLY, **options: Any) -> Any:
    """A client of httpx's `kind` that follows no redirect and reads no reply without end.

    It waits for ever: whoever asks limits the whole reply; this would be for each part of it.
    Proxies of the environment are used. Raises `Misshapen` for a reply that is too long.
    """

    class Client(kind):
        async def send(self, request: Any, **options: Any) -> Any:
            streamed = await super().send(request, **(options | {"stream": True}))
            content = bytearray()
            try:
                async for part in streamed.aiter_bytes():  # as it is once decompressed
                    content += part
                    if len(content) > longest_reply:
                        raise Misshapen(f"the reply is longer than {longest_reply >> 20} MiB")
            finally:
                await streamed.aclose()
            headers = [each for each in streamed.headers.raw if each[0].lower() not in _OF_TRANSFER]
            return type(streamed)(
                streamed.status_code, headers=headers, content=bytes(content), request=request
            )

    return Client(follow_redirects=False, timeout=None, verify=_certificates(), **options)


@cache
def _certificates() -> Any:
    """Those of all clients: reading them takes as long as a request."""
    import httpx

    return httpx.create_ssl_context()


def open_client(
    base_url: str, key: str, longest_reply: int = LONGEST_REPLY, at_speed: bool = False
) -> Any:
    """A client of OpenAI's library that is `careful`, and tries once.

    `at_speed`: by aiohttp, for many requests at once; it complains when it is not closed.
    """
    import openai

    kind = openai.DefaultAioHttpClient if at_speed else openai.DefaultAsyncHttpxClient
    return openai.AsyncOpenAI(
        base_url=base_url,
        api_key=key or "none",  # servers of one's own often want no key
        timeout=None,
        max_retries=0,
        http_client=careful(kind, longest_reply),
    )


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


def masked(text: str, key: str) -> str:
    """A server's words without the key, should they repeat it, in whichever form."""
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
