"""A limit of what a run may cost, kept while its chunks are at work."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gradelake.grading.ask.entry import OF_WHAT
from gradelake.grading.ask.recorder import Account
from gradelake.grading.engines import TOKENS
from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.prices import Price
from gradelake.sql.lake.opening import Lake

_TOKENS_PER_BYTE = 0.5  # of a prompt, before anything is measured: twice what English has
_MARGIN = 1.25  # over what chunks took so far
MEASURED, _MANY = 50, 20  # requests whose mean tells of others; and of how many others
UNASKED = 4096  # tokens of a reply of a server that does not heed how many were asked for
_FEW = 8  # requests below which a chunk is not worth halving while others are at work


def replies_so_far(lake: Lake, grader: Grader) -> tuple[float | None, int]:
    """Tokens of a reply of this grader, where it has given enough; and of its longest one."""
    (n, mean, longest), *_ = lake.rows(
        "select count(*), avg(completion_tokens), coalesce(max(completion_tokens), 0) "
        "from lake.raw.replies where grader_id = ? and completion_tokens > 0",
        grader.grader_id,
    )
    return mean if n >= MEASURED else None, longest


@dataclass
class _Reserved:
    cost: float
    pairs: int
    size: float  # bytes of the prompts
    requests: float
    reply: float  # tokens of one
    unasked: float  # what it costs where each reply has `UNASKED` tokens


@dataclass
class Spending:
    """The chunks of a plan, or batches of queries, as long as there is money for them.

    A chunk is given out when what it may cost at most is left beside what was spent and what those
    at work may cost. Where nothing is at work and a chunk is too dear, its first half is tried.
    A server may not heed how long a reply may be, and may do so late. Its first reply comes alone;
    once one was longer than that, all are taken to be as long as the longest; and never is more at
    work, beside a single prompt, than there is money for were each reply `UNASKED` tokens long. So
    the limit is passed by one reply at most, as long as none has more tokens than that.
    What there is no money for now may be given out later: iterate on after each `settle`.
    """

    price: Price
    limit: float  # in the price's currency
    grader: Grader
    chunks: Iterator[Any]  # of `Chunk`, or like it
    reply: float | None = None  # tokens of one so far; then of the chunk with the longest ones
    longest: int = 0  # tokens of the longest reply so far; 0: none came
    asks_server: bool = False  # whether replies may be longer than was asked for
    spent: float = 0.0
    uncounted: float = 0.0  # of that, what was reserved for replies that came without their tokens
    is_over: bool = False  # something is left that there is no money for

    def __post_init__(self) -> None:
        self._allowed = engine_finder.engine_of(self.grader).longest_reply(self.grader)
        self._tries_first = self.asks_server and not self.longest
        self.waiting: list[Any] = []  # what there is no money for
        self._at_work: dict[str, _Reserved] = {}
        self._tokens_per_byte: float | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if not self.waiting:
            self.waiting.append(next(self.chunks))
        while True:
            chunk = self.waiting[-1]
            reserved = self._bound(chunk)
            if self._tries_first and self._at_work:
                raise StopIteration
            if self._tries_first and reserved.requests and chunk.n_prompts > 1:
                rest = chunk.part(range(1, chunk.n_prompts), "b")
                self.waiting[-1:] = [rest, chunk.part([0], "a")]
                continue
            if self._is_money_for(reserved):
                break
            if chunk.n_prompts == 1 or (self._at_work and reserved.requests < 2 * _FEW):
                self.is_over = not self._at_work
                raise StopIteration
            self.waiting[-1:] = reversed(chunk.halves())
        self._at_work[chunk.id] = reserved
        return self.waiting.pop()

    def _is_money_for(self, wanted: _Reserved) -> bool:
        """Whether there is, beside what is at work; of a server also where none of it heeds how
        long a reply may be, unless it is one prompt alone."""
        together = [*self._at_work.values(), wanted]
        left = self.limit - self.spent
        if sum(each.cost for each in together) > left:
            return False
        is_alone = not self._at_work and wanted.requests <= 1
        return is_alone or not self.asks_server or sum(each.unasked for each in together) <= left

    def reserved(self, chunk: Any) -> float:
        """What a chunk that was given out may cost at most."""
        return self._at_work[chunk.id].cost

    def settle(self, account: Account) -> None:
        """A chunk, or a part of it, is back: what it took is spent, and no more is reserved."""
        paid, n = account.replies.paid, account.counts["pairs"]
        tokens = [paid[name] for name in TOKENS]
        # the crew may have halved it: its parts have its id with a letter or more behind
        chunk_id = max((id_ for id_ in self._at_work if account.chunk_id.startswith(id_)), key=len)
        reserved = self._at_work[chunk_id]
        unknown = reserved.cost * paid["uncounted"] / reserved.pairs
        self.uncounted += unknown
        self.spent += self.price.of(*tokens) + unknown
        left = 1 - n / reserved.pairs
        if left:
            reserved.cost *= left
            reserved.requests *= left
            reserved.size *= left
            reserved.unasked *= left
            reserved.pairs -= n
        else:
            del self._at_work[chunk_id]
        self._tries_first &= not reserved.requests
        self._heed(account.replies.longest)
        if left:
            return
        if reserved.requests >= MEASURED and not unknown:
            self._tokens_per_byte = max(self._tokens_per_byte or 0, tokens[0] / reserved.size)
            self.reply = max(self.reply or 0, tokens[2] / reserved.requests)

    def _heed(self, longest: int) -> None:
        """Reserve what replies as long as this one cost, where more was not asked for."""
        if longest <= self.longest:
            return
        self.longest = longest
        if longest > self._allowed:
            for each in self._at_work.values():
                each.cost += self.price.output * (longest - each.reply) * each.requests
                each.reply = longest

    def _bound(self, chunk: Any) -> _Reserved:
        """What a chunk may cost at most."""
        prompt = self.grader.prompt
        size = requests = 0
        for values, times in chunk.to_ask(prompt):
            texts = (text for slot, text in values.items() if slot not in OF_WHAT)
            size += times * (prompt.n_bytes + sum(len(text.encode()) for text in texts))
            requests += times
        if prompt.window:
            n_passages = chunk.pairs.select("query_id", "passage_id").n_unique()
            requests = min(requests, requests // prompt.window + n_passages)
        rate = (
            _TOKENS_PER_BYTE if self._tokens_per_byte is None else self._tokens_per_byte * _MARGIN
        )
        tokens = float(max(self._allowed, self.longest))  # of a reply
        if self.reply is not None and requests >= _MANY and self.longest <= self._allowed:
            tokens = min(tokens, self.reply * _MARGIN)
        cost = self.price.of(rate * size, 0, tokens * requests)
        longest = max(UNASKED, self._allowed, self.longest)
        unasked = self.price.of(rate * size, 0, float(longest * requests))
        return _Reserved(cost, len(chunk), size, requests, tokens, unasked)
