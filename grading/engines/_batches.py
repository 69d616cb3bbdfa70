"""OpenAI's Batch API: a file of prompts goes up, and within a day files of replies come down.

A file costs nothing, a batch made of it does. Both carry a name that is made here before anything
is sent, so that after a crash it can be found out whether a batch was made.
"""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gradelake.grading.engines import EngineUnusable, Response
from gradelake.grading.engines._chat import is_of_account, reason_of
from gradelake.grading.engines._client import LONGEST_REPLY, Misshapen, open_client, read_json
from gradelake.grading.engines._connection import Busy, Connection, patiently
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.servers import masked, short

MOST_BYTES = 200_000_000  # of a file that goes up
OVER = ("completed", "expired", "cancelled", "failed")
_ENDPOINT = "/v1/chat/completions"
_MARK = "gradelake"  # of a batch's metadata: its name
_LONGEST_FILE = 1 << 29  # bytes that come down
_FILE_SECONDS = 900.0
_PAGES, _BATCHES_OF_A_PAGE, _FILES_OF_A_PAGE = 1000, 100, 10_000
_NOT_ASKED = ("batch_expired", "batch_cancelled")
_NOT_THERE = "Are base_url and the key those it was sent with?"
_NOT_THE_PROMPT = (401, 404, 429)  # a wrong key or model, too many at once


class Refused(GradelakeError):
    """The provider does not do it; nothing was made. Says why, and perhaps what to do."""


class Unsure(Exception):
    """No answer came: it may have been done, or not."""


@dataclass(frozen=True)
class Batch:
    """A batch as the provider tells of it."""

    id: str
    status: str
    input_file: str
    files: tuple[str, ...]  # of its replies, and of its errors
    n_done: int  # prompts, so far
    reason: str  # why the whole of it failed


@dataclass
class Replies:
    """What was replied to each prompt of a batch, by its id; without an entry no reply came.
    None: nobody asked the model, and the prompt is not to blame; `refused` says why.
    """

    found: dict[str, Response | None] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    of_account: bool = False  # some were, for who pays
    note: str = ""  # what else is to be told


class Batches:
    """The batches of an engine's account."""

    def __init__(self, engine: Any):
        """`engine`: one of `openai`, which reads the replies."""
        self.engine = engine
        self.connection: Connection = engine.connection
        self.settings = engine.grader.settings
        self.client = open_client(self.connection.where, self.connection.key, _LONGEST_FILE)

    def make(self, name: str, lines: list[bytes]) -> Batch:
        """Send prompts (`line`) as a batch of this name.

        Raises `Refused` where there is none now, `Unsure` where there may be one, and
        `EngineUnusable` before there can be any.
        """
        content = b"".join(lines)
        upload = (f"{name}.jsonl", content, "application/jsonl")
        file = self._politely(
            lambda: self.client.files.create(file=upload, purpose="batch"), _FILE_SECONDS
        )
        file_id = self._text(file, "id")
        made = self._politely(
            lambda: self.client.batches.create(
                input_file_id=file_id,
                endpoint=_ENDPOINT,
                completion_window="24h",
                metadata={_MARK: name},
            ),
            once=True,
        )
        try:
            return self._batch(made)
        except EngineUnusable as error:
            raise Unsure(error.message) from None

    def settle(self, name: str) -> Batch | None:
        """The batch of this name; None where there is none and never will be.

        A request to make it may still be on its way. It names an uploaded file: once that is gone
        it comes to nothing.
        """
        files = [
            self._text(file, "id")
            for file in self._pages(self.client.files.list, _FILES_OF_A_PAGE)
            if getattr(file, "filename", None) == f"{name}.jsonl"
        ]
        found = self._find(name, files)
        if found or not files:
            return found
        for file in files:
            self.forget(file)
        return self._find(name, files)

    def _find(self, name: str, files: list[str]) -> Batch | None:
        for batch in self._pages(self.client.batches.list, _BATCHES_OF_A_PAGE):
            metadata = getattr(batch, "metadata", None)
            named = metadata.get(_MARK) if isinstance(metadata, dict) else None
            if named == name or getattr(batch, "input_file_id", None) in files:
                return self._batch(batch)
        return None

    def _pages(self, listing: Callable[..., Any], size: int) -> Iterator[Any]:
        """All entries of a list; what is not found in it is not there."""
        after: dict[str, str] = {}
        for _ in range(_PAGES):
            page = self._politely(partial(listing, limit=size, **after))
            entries = getattr(page, "data", None) or []
            yield from entries
            if not (entries and getattr(page, "has_more", False)):
                return
            after = {"after": self._text(entries[-1], "id")}
        raise self.connection.unusable("the list of batches does not end")

    def look(self, batch_id: str) -> Batch:
        """A batch as it is now. Raises `Refused` where there is none."""
        batch = self._batch(self._politely(partial(self.client.batches.retrieve, batch_id)))
        if batch.id != batch_id:
            raise Refused(f"asked for the batch {batch_id}, it tells of another")
        return batch

    def forget(self, file_id: str) -> None:
        """Remove a file that was sent; it may be gone."""
        with suppress(Refused):
            self._politely(partial(self.client.files.delete, file_id))

    # --- what comes down --------------------------------------------------------------------------

    def replies(self, batch: Batch, ids: set[str]) -> Replies:
        """What came down of a batch of prompts with these ids.

        Raises `Refused` where a file is gone, or another model answered, or the files answer other
        prompts alone: what was paid for once would be so again.
        """
        replies = Replies()
        found, n_others = replies.found, 0
        for file in batch.files:
            content = self._politely(partial(self.client.files.content, file), _FILE_SECONDS)
            for line in content.content.splitlines():
                entry = _entry(line)
                prompt = getattr(entry, "custom_id", None)
                if not isinstance(prompt, str) or prompt not in ids or found.get(prompt):
                    n_others += bool(line.strip())
                else:
                    found[prompt] = self._answer(entry, replies)
        note = f"{n_others:,} lines of the batch's files answer none of its prompts"
        if n_others and not found:
            raise Refused(note, "Ask the provider whose prompts these are.")
        if n_others and batch.status == "completed":
            for prompt in ids - found.keys():
                found[prompt] = Response(error=f"no reply came: {note}", is_final=True)
        replies.note = note if n_others else ""
        return replies

    def _answer(self, entry: Any, replies: Replies) -> Response | None:
        error, reply = getattr(entry, "error", None), getattr(entry, "response", None)
        status, body = getattr(reply, "status_code", None), getattr(reply, "body", None)
        if getattr(error, "code", None) in _NOT_ASKED:
            return None
        if status == 200 and error is None:
            try:
                return self.engine.read(body)
            except Misshapen as misshapen:
                return Response(error=reason_of(misshapen, self.connection.key))
            except EngineUnusable as other:  # another model answered; so it will the next time
                raise Refused(other.message, other.hint) from None
        problem = error or getattr(body, "error", None)
        words = [getattr(problem, part, None) for part in ("code", "message")]
        text = ": ".join(str(part) for part in (status, *words) if part) or "no reply"
        text = short(text, self.connection.key)
        of_account = is_of_account(status, text)
        if of_account or status in _NOT_THE_PROMPT:
            replies.refused[text] += 1
            replies.of_account |= of_account
            return None
        return Response(error=text)

    # --- asking -----------------------------------------------------------------------------------

    def _politely(
        self, call: Callable[[], Awaitable[Any]], seconds: float | None = None, once: bool = False
    ) -> Any:
        """What a request brings, asked for again while the server is busy or cannot be reached.

        `once`: it is not sent again unless it was refused for now (429). Raises `Refused`,
        `Unsure`, and `EngineUnusable` when patience is at its end.
        """
        ask = partial(self._sent, call, seconds or self.settings["timeout"], once)
        asked = patiently(ask, self.settings["patience"], self.settings["pause"])
        try:
            return self.engine.run(asked)
        except Busy as error:
            raise self.connection.unusable(
                str(error), "Is it running? The same command continues."
            ) from None

    async def _sent(self, call: Callable[[], Awaitable[Any]], seconds: float, once: bool) -> Any:
        openai, connection = self.connection.openai, self.connection
        try:
            return await connection.sent(call(), seconds)
        except openai.RateLimitError as error:
            raise connection.busy(error) from None
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise connection.unusable(error, connection.key_hint) from None
        except (TimeoutError, openai.OpenAIError, ValueError) as error:
            reason = f"no reply within {seconds:g} seconds"
            if str(error):
                reason = connection.reason(error)
            if isinstance(error, openai.APIStatusError):
                connection.refuse_redirect(error)
                if error.status_code < 500:
                    hint = _NOT_THERE if error.status_code == 404 else None
                    raise Refused(reason, hint) from None
            if once:
                raise Unsure(reason) from None
            if isinstance(error, Misshapen) or isinstance(error.__cause__, Misshapen):
                raise Refused(reason) from None
            raise Busy(reason) from None

    def _batch(self, described: Any) -> Batch:
        """Raises `EngineUnusable` for what is no batch."""
        files = [getattr(described, f"{kind}_file_id", None) for kind in ("output", "error")]
        errors = getattr(getattr(described, "errors", None), "data", None)
        first = errors[0] if isinstance(errors, list) and errors else None
        words = [getattr(first, part, None) for part in ("code", "message")]
        done = getattr(getattr(described, "request_counts", None), "completed", None)
        reason = ": ".join(str(part) for part in words if part) or "it does not say why"
        return Batch(
            id=self._text(described, "id"),
            status=self._text(described, "status"),
            input_file=str(getattr(described, "input_file_id", "")),
            files=tuple(file for file in files if isinstance(file, str) and file),
            n_done=done if isinstance(done, int) else 0,
            reason=short(reason, self.connection.key),
        )

    def _text(self, thing: Any, name: str) -> str:
        """A text that a reply must have, without the key in it. Raises `EngineUnusable`."""
        value, key = getattr(thing, name, None), self.connection.key
        if not isinstance(value, str) or not value or masked(value, key) != value:
            raise self.connection.unusable(f"the reply has no {name}: is this a batch API?")
        return value


def _entry(line: bytes) -> Any:
    """What is told of a prompt; None where nothing is."""
    try:
        return read_json(line) if len(line) <= LONGEST_REPLY else None
    except ValueError:
        return None


def line(prompt: str, body: dict[str, Any]) -> bytes:
    """The prompt of this id in the file of a batch."""
    entry = {"custom_id": prompt, "method": "POST", "url": _ENDPOINT, "body": body}
    return json.dumps(entry, ensure_ascii=False).encode() + b"\n"
