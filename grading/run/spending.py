"""A limit of what a run may cost, kept while its chunks are at work."""

from collections.abc import Iterator
from dataclasses import dataclass

from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.prices import Price
from gradelake.grading.plan.request import Chunk
from gradelake.grading.run.attempts import TOKENS
from gradelake.grading.run.worker import Graded

_TOKENS_PER_BYTE = 0.5  # of a prompt, before anything is measured: twice what English has
_MARGIN = 1.25  # over what chunks took so far
MEASURED, _MANY = 50, 20  # requests whose mean tells of others; and of how many others


@dataclass
class _Reserved:
    cost: float
    pairs: int
    size: int  # bytes of the prompts
    requests: int


@dataclass
class Spending:
    """The chunks of a plan, as long as there is money for them.

    A chunk is given out when what it may cost at most is left beside what was spent and what those
    at work may cost. Where nothing is at work and a chunk is too dear, its first half is tried.
    What there is no money for now may be given out later: iterate on after each `settle`.
    """

    price: Price
    limit: float  # in the price's currency
    grader: Grader
    chunks: Iterator[Chunk]
    reply: float | None = None  # tokens of one so far; then of the chunk with the longest ones
    spent: float = 0.0
    uncounted: float = 0.0  # of that, what was reserved for replies that came without their tokens
    is_over: bool = False  # something is left that there is no money for

    def __post_init__(self) -> None:
        self._longest = engine_finder.engine_of(self.grader).longest_reply(self.grader)
        self.waiting: list[Chunk] = []  # what there is no money for
        self._at_work: dict[str, _Reserved] = {}
        self._tokens_per_byte: float | None = None

    def __iter__(self) -> Iterator[Chunk]:
        return self

    def __next__(self) -> Chunk:
        if not self.waiting:
            self.waiting.append(next(self.chunks))
        while True:
            chunk = self.waiting[-1]
            reserved = self._bound(chunk)
            at_work = sum(each.cost for each in self._at_work.values())
            if self.spent + at_work + reserved.cost <= self.limit:
                break
            if self._at_work or chunk.n_prompts == 1:
                self.is_over = not self._at_work
                raise StopIteration
            self.waiting[-1:] = reversed(chunk.halves())
        self._at_work[chunk.id] = reserved
        return self.waiting.pop()

    def reserved(self, chunk: Chunk) -> float:
        """What a chunk that was given out may cost at most."""
        return self._at_work[chunk.id].cost

    def settle(self, graded: Graded) -> None:
        """A chunk, or a part of it, is back: what it took is spent, and no more is reserved."""
        counts = graded.counts
        tokens = [counts.get(name, 0) for name in TOKENS]
        # the crew may have halved it: its parts have its id with a letter or more behind
        chunk_id = max((id_ for id_ in self._at_work if graded.chunk_id.startswith(id_)), key=len)
        reserved = self._at_work[chunk_id]
        unknown = reserved.cost * counts.get("uncounted", 0) / reserved.pairs
        self.uncounted += unknown
        self.spent += self.price.of(*tokens) + unknown
        share = counts["pairs"] / reserved.pairs
        if share < 1:
            reserved.cost *= 1 - share
            reserved.pairs -= counts["pairs"]
            return
        del self._at_work[chunk_id]
        if reserved.requests >= MEASURED and not unknown:
            self._tokens_per_byte = max(self._tokens_per_byte or 0, tokens[0] / reserved.size)
            self.reply = max(self.reply or 0, tokens[2] / reserved.requests)

    def _bound(self, chunk: Chunk) -> _Reserved:
        """What a chunk may cost at most."""
        prompt = self.grader.prompt
        frame = len(prompt.text.encode())
        size = requests = 0
        for values, gold, reply in zip(
            chunk.prompts, chunk.gold_answers, chunk.replies, strict=True
        ):
            if reply is None:
                times = len(gold or [""]) if prompt.target == "verify" else 1
                size += times * (frame + sum(len(text.encode()) for text in values.values()))
                requests += times
        if prompt.window:
            n_passages = chunk.pairs.select("query_id", "passage_id").n_unique()
            requests = min(requests, requests // prompt.window + n_passages)
        rate = (
            _TOKENS_PER_BYTE if self._tokens_per_byte is None else self._tokens_per_byte * _MARGIN
        )
        reply_tokens = float(self._longest)
        if self.reply is not None and requests >= _MANY:
            reply_tokens = min(reply_tokens, self.reply * _MARGIN)
        cost = self.price.of(rate * size, 0, reply_tokens * requests)
        return _Reserved(cost, len(chunk), size, requests)
