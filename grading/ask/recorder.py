"""Asks an engine for one chunk at a time: what was answered before is not asked again, and every
reply is kept when it comes. Runs where the engine does."""

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from gradelake.grading.ask.entry import OF_WHAT, Asked, LogEntry, Segment, hash_of, room_for
from gradelake.grading.engines import TOKENS, Engine, EngineUnusable, Response
from gradelake.grading.prompts.prompt import Prompt, Rendered


@dataclass(frozen=True)
class Place:
    """Where a run's entries are kept as they come, and what it asks for."""

    folder: Path
    about: Asked

    @property
    def mark(self) -> Path:
        """The file by which a worker knows the run's own folder. On another machine a folder of the
        same name may be there, and the driver would never find the replies there."""
        return self.folder / f".{self.about.run_id}.run"


@dataclass
class Replies:
    """What came of a chunk's requests, what it took of what came before, and the ids of those of
    either that it made something of."""

    chunk_id: str = ""
    entries: list[LogEntry] = field(default_factory=list)
    recalled: list[LogEntry] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    useless: set[str] = field(default_factory=set)  # which nobody is to be given again

    @property
    def paid(self) -> dict[str, int]:
        """The tokens of its requests, and how many replies came without their account."""
        responses = [entry.response for entry in self.entries]
        found = {name: sum(getattr(each, name) or 0 for each in responses) for name in TOKENS}
        found["uncounted"] = sum(
            each.error is None and None in (each.prompt_tokens, each.completion_tokens)
            for each in responses
        )
        return found

    @property
    def longest(self) -> int:
        """Tokens of the longest of them."""
        return max((entry.response.completion_tokens or 0 for entry in self.entries), default=0)


@dataclass
class Account:
    """What a worker made of a chunk; `counts` has its `pairs`, or queries, and what is counted
    beside them."""

    chunk_id: str
    counts: dict[str, int]
    notes: list[str] = field(default_factory=list, kw_only=True)  # of the engine, for people
    stack: dict[str, Any] = field(default_factory=dict, kw_only=True)  # what the engine runs on
    replies: Replies = field(default_factory=Replies, kw_only=True)


class NotAnswered(EngineUnusable):
    """A prompt that the chunk did not come to."""


class Recorder:
    """An engine with the replies that are not to be asked for again. Thread-safe."""

    def __init__(self, engine: Engine, place: Place, known: Iterable[LogEntry]):
        self.engine, self.place = engine, place
        self.is_shared = place.mark.exists()
        self._known: dict[str, deque[LogEntry]] = defaultdict(deque)
        self._lock = threading.Lock()
        for entry in known:
            if entry.asked and entry.state == "answered":
                self._known[entry.asked].append(entry)

    def take(self, asked: str) -> LogEntry | None:
        """A reply that came before; each is given once."""
        with self._lock:
            entries = self._known.get(asked)
            return entries.popleft() if entries else None


class Asking:
    """An engine as one chunk asks it."""

    def __init__(self, recorder: Recorder, chunk_id: str):
        self.engine, self._recorder = recorder.engine, recorder
        self.replies = Replies(chunk_id)
        self.of_prompts: dict[str, list[LogEntry]] = defaultdict(list)  # in the order they came
        self.given = Counter[str]()  # how many of these `replaying` gave: to each prompt its own
        place = recorder.place
        self._segment = Segment(place.folder, place.about, chunk_id) if recorder.is_shared else None
        self._hash()

    @property
    def grader(self):
        return self.engine.grader

    def set_decoding(self, decoding: Mapping[str, float | int]) -> None:
        self.engine.set_decoding(decoding)
        self._hash()

    def set_prompt(self, prompt: Prompt) -> None:
        self.engine.set_prompt(prompt)
        self._hash()

    def _hash(self) -> None:
        self.hash_of = hash_of(self.engine.grader, self._recorder.place.about.round)

    def score(self, prompts: Sequence[Rendered]) -> list[Response]:
        """One response per prompt, in order. Raises `EngineUnusable` as engines do, and where there
        is no room to keep what would be answered."""
        if not self.engine.asks_model:
            return self.engine.score(prompts)
        hashes = {id(prompt): self.hash_of(prompt) for prompt in prompts}
        found = [self._recall(hashes[id(prompt)]) for prompt in prompts]
        missing = [n for n, response in enumerate(found) if response is None]
        if missing:
            answers = self._ask([prompts[n] for n in missing], hashes)
            for n, response in zip(missing, answers, strict=True):
                found[n] = response
        return [response for response in found if response is not None]

    def _recall(self, asked: str) -> Response | None:
        entry = self._recorder.take(asked)
        if entry is None:
            return None
        self.of_prompts[asked].append(entry)
        self.replies.recalled.append(entry)
        return replace(entry.response, is_recalled=True)

    def _ask(self, prompts: Sequence[Rendered], hashes: Mapping[int, str]) -> list[Response]:
        if self._segment:
            if not self._recorder.place.mark.exists():  # the command was killed, and began anew
                raise EngineUnusable("the run that this worker is of has ended")
            longest = self.engine.longest_reply(self.engine.grader)
            self._segment.make_room(room_for(len(prompts), longest))
        return self.engine.score_each(prompts, partial(self._keep, hashes))

    def _keep(
        self, hashes: Mapping[int, str], prompt: Rendered, response: Response, seconds: float
    ) -> None:
        response.mend()
        if response.probabilities is not None:  # of any kind of number
            response.probabilities = [float(each) for each in response.probabilities]
        asked = hashes.get(id(prompt)) or self.hash_of(prompt)  # one by which it tries the server
        before = self.of_prompts[asked]
        about: dict[str, Any] = {name: prompt.values.get(name) for name in OF_WHAT}
        about["prompt_bytes"] = prompt.n_bytes
        entry = LogEntry(
            asked, self.replies.chunk_id, len(before) + 1, seconds, replace(response), **about
        )
        before.append(entry)
        if self._segment:
            self._segment.add(entry)
        self.replies.entries.append(entry)

    def discard_reply(self, prompt: Rendered) -> None:
        """The newest reply to a prompt is of no use: another run is to ask anew."""
        self.replies.useless.add(self.of_prompts[self.hash_of(prompt)][-1].reply_id)

    def close(self) -> Replies:
        """The chunk is done: all its replies were read. Returns them."""
        both = self.replies.entries, self.replies.recalled
        self.replies.read = {entry.reply_id for each in both for entry in each}
        return self._closed()

    def broken_off(self) -> Replies:
        """It cannot be gone on with: what `replaying` made something of was read."""
        return self._closed()

    def _closed(self) -> Replies:
        if self._segment:
            self._segment.close()
        return self.replies

    @contextmanager
    def replaying(self) -> Iterator[Any]:
        """What to ask instead of the engine, which answers no more: it has what was answered. Where
        that does not suffice the block ends, and has read nothing."""
        replay = _Replay(self)
        try:
            yield replay
        except NotAnswered:
            return
        self.replies.read |= replay.used
        self.given = replay.given


class _Replay:
    """Gives what a chunk was answered, in the order it came. Raises `NotAnswered` beyond that."""

    def __init__(self, asking: Asking):
        self._asking, self.given = asking, asking.given.copy()
        self.used: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._asking, name)

    def discard(self) -> None:
        """End the block: nothing is made of what was given."""
        raise NotAnswered("it says nothing yet")

    def score(self, prompts: Sequence[Rendered]) -> list[Response]:
        return [self._next(self._asking.hash_of(prompt)) for prompt in prompts]

    def _next(self, asked: str) -> Response:
        came, n = self._asking.of_prompts.get(asked, ()), self.given[asked]
        if n >= len(came):
            raise NotAnswered("it was not asked")
        self.given[asked] += 1
        self.used.add(came[n].reply_id)
        return replace(came[n].response)
