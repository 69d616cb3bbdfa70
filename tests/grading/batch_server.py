"""`misbehaving.Server` with OpenAI's Batch API, and a bill.

Prompts of a batch are answered, and billed, when it is made, each by the script that its words
would get online; a client learns of it when the batch is over: at the first look, unless `hold`.
"""

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from werkzeug import Request

from tests.grading.misbehaving import Asked, Reply, Server, answer, refuse, sent

STEPS = ("upload", "create", "list batches", "list files", "look", "download", "delete")


@dataclass
class Made:
    """A batch. `answers` are lines of its files: replies, and errors."""

    id: str
    input_file: str
    metadata: dict[str, str]
    lines: list[dict[str, Any]]
    answers: tuple[list[Any], list[Any]] = field(default_factory=lambda: ([], []))
    status: str = "in_progress"
    over: str = "completed"  # what it will be
    looks: int = 0
    errors: Any = None


def by_length(asked: Asked) -> Reply:
    """A grade, for a token for every four characters and one for the reply."""
    usage = {"prompt_tokens": len(asked.text) // 4, "completion_tokens": 1}
    return answer(str(len(asked.text) % 4), usage=usage)


class BatchServer(Server):
    def __init__(self) -> None:
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, Made] = {}
        self.hold = False
        self.looks = 1  # until a batch is over
        self.expires_after: int | None = None  # prompts of each batch
        self.fails: str | None = None  # why batches are refused when they are looked at
        self.changes: Callable[[list[Any]], list[Any]] = lambda lines: lines  # of what comes down
        self.steps: list[str] = []
        self.refusals: dict[str, list[Reply]] = {}  # of steps, one after the other
        # (step, or number of requests from now; once it is done; seconds later)
        self.kill: tuple[str | int, bool, float] | None = None
        self.killed_at: list[str] = []
        self.victim: int | None = None  # the client's process
        self._numbers = iter(range(1, 10**9))
        super().__init__()
        self.on("", by_length)

    # --- the bill ---------------------------------------------------------------------------------

    @property
    def replies(self) -> list[tuple[str, dict[str, Any]]]:
        """(prompt, completion) of all that was billed in batches."""
        found = []
        for made in self.batches.values():
            texts = {line["custom_id"]: _text_of(line["body"]) for line in made.lines}
            for one in made.answers[0]:
                found.append((texts[one["custom_id"]], one["response"]["body"]))
        return found

    def times_billed(self) -> Counter[str]:
        """How often each prompt was."""
        return Counter(text for text, _ in self.replies)

    def bill(self, price: Callable[[int, int, int], float]) -> float:
        """What it comes to, by the price of (prompt, cached, completion) tokens."""
        total = 0.0
        for _, body in self.replies:
            used = body["usage"]
            cached = used.get("prompt_tokens_details", {}).get("cached_tokens", 0)
            total += price(used["prompt_tokens"], cached, used["completion_tokens"])
        return total

    # --- batches ----------------------------------------------------------------------------------

    def reply(self, request: Request) -> Reply:
        if not request.path.startswith(("/v1/files", "/v1/batches")):
            return super().reply(request)
        step = _step(request.method, request.path)
        self.steps.append(step)
        if self.refusals.get(step):
            return self.refusals[step].pop(0)
        if self.kill and isinstance(self.kill[0], int):
            self.kill = (self.kill[0] - 1 or step, *self.kill[1:])
        if self.kill and self.kill[:2] == (step, False):
            self._kill()
        reply = self._done(step, request)
        if self.kill and self.kill[:2] == (step, True):
            self._kill()
        return reply

    def _kill(self) -> None:
        assert self.kill
        step, _, later = self.kill
        self.kill = None
        self.killed_at.append(str(step))
        if later:
            timer = threading.Timer(later, _kill, (self.victim,))
            timer.daemon = True
            timer.start()
        else:
            _kill(self.victim)

    def _done(self, step: str, request: Request) -> Reply:
        parts = request.path.split("/")
        if step == "upload":
            (file,) = request.files.values()
            name, content = file.filename, file.read()
            id_ = f"file-{next(self._numbers)}"
            self.files[id_] = (name, content)
            return sent({"id": id_, "object": "file", "filename": name, "bytes": len(content)})
        if step == "create":
            wanted = request.get_json()
            if wanted["input_file_id"] not in self.files:
                return refuse(404, "no such file")
            return sent(self._told(self._make(wanted)))
        if step == "list files":
            return sent(
                {"data": [{"id": id_, "filename": name} for id_, (name, _) in self.files.items()]}
            )
        if step == "list batches":
            return self._page(request.args)
        if step == "look":
            made = self.batches.get(parts[-1])
            if made is None:
                return refuse(404, "no such batch")
            self._go_on(made)
            return sent(self._told(made))
        if step == "download":
            if parts[-2] not in self.files:
                return refuse(404, "no such file")
            return Reply(self.files[parts[-2]][1], kind="application/octet-stream")
        self.files.pop(parts[-1], None)
        return sent({"id": parts[-1], "deleted": True})

    def _page(self, query: dict[str, str]) -> Reply:
        newest_first = list(reversed(self.batches.values()))
        ids = [made.id for made in newest_first]
        start = ids.index(query["after"]) + 1 if "after" in query else 0
        page = newest_first[start : start + min(3, int(query.get("limit", 20)))]
        more = start + len(page) < len(ids)
        return sent({"data": [self._told(made) for made in page], "has_more": more})

    def _make(self, wanted: dict[str, Any]) -> Made:
        _, content = self.files[wanted["input_file_id"]]
        lines = [json.loads(line) for line in content.splitlines()]
        id_ = f"batch_{next(self._numbers)}"
        made = Made(id_, wanted["input_file_id"], wanted.get("metadata") or {}, lines)
        self.batches[id_] = made
        if self.fails:
            made.over, made.errors = "failed", {"data": [{"code": "bad", "message": self.fails}]}
            return made
        most = len(lines) if self.expires_after is None else self.expires_after
        for line in lines[:most]:
            reply = self.reply_to(Asked(time.monotonic(), _text_of(line["body"]), {}, line["body"]))
            made.answers[reply.status != 200].append(
                {
                    "id": "r",
                    "custom_id": line["custom_id"],
                    "response": {"status_code": reply.status, "body": json.loads(reply.body)},
                    "error": None,
                }
            )
        for line in lines[most:]:
            made.over = "expired"
            error = {"code": "batch_expired", "message": "not executed in time"}
            made.answers[1].append(
                {"id": "r", "custom_id": line["custom_id"], "response": None, "error": error}
            )
        return made

    def _go_on(self, made: Made) -> None:
        made.looks += 1
        if not self.hold and made.looks >= self.looks:
            made.status = made.over

    def _told(self, made: Made) -> dict[str, Any]:
        told: dict[str, Any] = {
            "id": made.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": made.input_file,
            "completion_window": "24h",
            "status": made.status,
            "metadata": made.metadata,
            "errors": made.errors if made.status == "failed" else None,
            "created_at": 1,
        }
        if made.status in ("completed", "expired"):
            for kind, lines in zip(("output", "error"), made.answers, strict=True):
                if lines:
                    id_ = f"file-{made.id}-{kind}"
                    text = "".join(json.dumps(line) + "\n" for line in self.changes(lines))
                    self.files.setdefault(id_, (id_, text.encode()))
                    told[f"{kind}_file_id"] = id_
        return told


def _kill(process: int | None) -> None:
    assert process
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _step(method: str, path: str) -> str:
    if method == "DELETE":
        return "delete"
    if path == "/v1/files":
        return "upload" if method == "POST" else "list files"
    if path == "/v1/batches":
        return "create" if method == "POST" else "list batches"
    return "download" if path.endswith("/content") else "look"


def _text_of(body: dict[str, Any]) -> str:
    return body["messages"][-1]["content"]
