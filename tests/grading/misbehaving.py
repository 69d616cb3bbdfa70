"""An HTTP server that speaks OpenAI's chat API, and misbehaves as it is told.

    server.on("steel", refuse(500), answer("3"))    # first a 500, then grades

Each prompt that holds the word gets the next reply of its script; the last one repeats. A reply
may also be a function of the request, e.g. to look at its length.
"""

import itertools
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_httpserver.httpserver import HTTPServerBase
from werkzeug import Request, Response

logging.getLogger("werkzeug").setLevel(logging.ERROR)


@dataclass(frozen=True)
class Asked:
    """One request: when it came, what the user's message said, and all of it."""

    at: float
    text: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What to send. `delay` comes before it; `drip` between its bytes; both in seconds."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    delay: float = 0.0
    drip: float = 0.0
    stated_length: int | None = None  # more than there is: the body breaks off
    hang_up: bool = False  # no reply at all
    endless: bool = False  # the body again and again


ASKED_FOR = "the model that was asked for"
Script = Reply | Callable[[Asked], Reply]


def answer(
    content: Any = "3",
    delay: float = 0.0,
    usage: Any = None,
    logprobs: Any = None,
    finish_reason: str = "stop",
    model: Any = ASKED_FOR,
    **of_message: Any,
) -> Reply:
    """A chat completion; `logprobs` are (token, logprob) pairs of its first token."""
    if isinstance(logprobs, list):
        top = [{"token": token, "logprob": value, "bytes": None} for token, value in logprobs]
        logprobs = {"content": [{**top[0], "top_logprobs": top}]}
    choice = {
        "index": 0,
        "finish_reason": finish_reason,
        "logprobs": logprobs,
        "message": {"role": "assistant", "content": content, **of_message},
    }
    if usage is None:
        usage = {
            "prompt_tokens": 10,
            "completion_tokens": 1,
            "total_tokens": 11,
            "prompt_tokens_details": {"cached_tokens": 4},
        }
    return sent(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": model,
            "choices": [choice],
            "usage": usage,
        },
        delay=delay,
    )


def sent(content: Any, **options: Any) -> Reply:
    """Anything, as JSON."""
    return Reply(json.dumps(content).encode(), **options)


def refuse(status: int, message: str = "it went wrong", code: str = "", **headers: str) -> Reply:
    """An error as OpenAI words it; `Retry_After="3"` is a header."""
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    return Reply(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


def echo(status: int) -> Callable[[Asked], Reply]:
    """An error that repeats the key it was sent."""
    return lambda asked: refuse(status, f"you sent {asked.headers.get('authorization')}")


class Server(HTTPServerBase):
    """Listens on a free port of the loopback; `stop` and `start` keep the port."""

    def __init__(self):
        super().__init__("127.0.0.1", 0, threaded=True)
        self.asked: list[Asked] = []
        self.most_open = 0
        self._open = 0
        self._scripts: dict[str, list[Script]] = {}
        self._lock = threading.Lock()
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def on(self, word: str, *script: Script) -> None:
        """What happens to prompts with this word; "" means all others."""
        self._scripts[word] = list(script)

    def forget(self) -> None:
        """All scripts, and all that was asked."""
        self._scripts.clear()
        self.asked.clear()

    def about(self, word: str) -> list[Asked]:
        """The requests whose message holds the word."""
        return [asked for asked in self.asked if word in asked.text]

    def gaps(self, word: str = "") -> list[float]:
        """Seconds between one request and the next."""
        times = [asked.at for asked in self.about(word)]
        return [after - before for before, after in itertools.pairwise(times)]

    def stop(self) -> None:
        if self.is_running():
            super().stop()

    def thread_target(self) -> None:
        self.server.serve_forever(0.05)  # seconds that `stop` waits at most

    def dispatch(self, request: Request) -> Response:
        with self._lock:
            self._open += 1
            self.most_open = max(self.most_open, self._open)
        try:
            reply = self.reply(request)
            time.sleep(reply.delay)
        finally:
            with self._lock:
                self._open -= 1
        if reply.hang_up:
            request.environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        return _AsItIs(_parts(reply), reply.status, headers=_headers(reply))

    def reply(self, request: Request) -> Reply:
        """What is sent back."""
        is_form = "form" in request.headers.get("Content-Type", "")  # who asks Google for a token
        body = {} if is_form else json.loads(request.get_data() or "{}")
        headers = {name.lower(): value for name, value in request.headers.items()}
        text = _last_text(body) or request.path
        return self.reply_to(Asked(time.monotonic(), text, headers, body))

    def reply_to(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            word = next((word for word in self._scripts if word and word in asked.text), "")
            script = self._scripts.get(word) or [answer()]
            reply = script.pop(0) if len(script) > 1 else script[0]
        reply = reply if isinstance(reply, Reply) else reply(asked)
        model = json.dumps(asked.body.get("model"))
        return replace(reply, body=reply.body.replace(b'"%s"' % ASKED_FOR.encode(), model.encode()))


class _AsItIs(Response):
    """With the headers that it has, however wrong they are."""

    automatically_set_content_length = False

    def get_wsgi_headers(self, environ: Any) -> Any:
        return self.headers


def _headers(reply: Reply) -> dict[str, str]:
    length = str(reply.stated_length or len(reply.body))
    sized = {} if reply.endless else {"Content-Length": length}
    return {"Content-Type": reply.kind, **sized, **reply.headers}


def _parts(reply: Reply) -> Iterator[bytes]:
    """The body as it is sent."""
    if reply.drip:
        for byte in reply.body:
            yield bytes([byte])
            time.sleep(reply.drip)
    else:
        yield reply.body
    while reply.endless:
        yield reply.body


def _last_text(body: dict[str, Any]) -> str:
    """What the last message says, in OpenAI's API, Anthropic's or Gemini's; nothing without one."""
    last = (body.get("messages") or body.get("contents") or [{}])[-1]
    content = last.get("content") or last.get("parts") or ""
    return content if isinstance(content, str) else "".join(part["text"] for part in content)
