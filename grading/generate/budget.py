"""A limit of what texts may cost, kept while they are written."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gradelake.grading.generate.asking import Generated
from gradelake.grading.generate.writers import QueryBatch
from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.prices import Price
from gradelake.grading.run.attempts import TRIES

_TOKENS_PER_BYTE = 0.5  # of a prompt: twice what English has


@dataclass
class Budget:
    """What a run spent, and the batches that there is money for.

    A batch is given out when what it may cost at most (each of its prompts with every try, and the
    longest reply) is left beside what was spent and what those at work may cost; one that is too
    dear by itself is halved. A reply that came without its tokens counts as what was reserved.
    """

    grader: Grader
    price: Price
    limit: float | None = None  # in the price's currency; None: none is kept
    spent: float = 0.0
    is_over: bool = False  # something is left that there is no money for
    _at_work: dict[str, float] = field(default_factory=dict)  # by query

    def within(self, batches: Iterable[QueryBatch]) -> Iterator[QueryBatch]:
        """The batches, or the first of their halves, that there is money for."""
        for batch in batches:
            while self._is_too_dear(batch) and batch.n_prompts > 1:
                batch, _ = batch.halves()
                self.is_over = True
            if self._is_too_dear(batch):
                self.is_over = True
                return
            self._at_work |= self._bounds(batch)
            yield batch
            if self.is_over:
                return

    def settle(self, generated: Iterable[Generated]) -> None:
        """Count what these took, and let go of what was reserved for them."""
        for one in generated:
            reserved = self._at_work.pop(one.query_id, 0.0)
            asked = one.tokens - one.reply_tokens
            took = self.price.of(asked, one.cached_tokens, one.reply_tokens)
            self.spent += took if one.tokens or not one.tries else reserved

    def _is_too_dear(self, batch: QueryBatch) -> bool:
        if self.limit is None:
            return False
        at_work = sum(self._at_work.values())
        return self.spent + at_work + sum(self._bounds(batch).values()) > self.limit

    def _bounds(self, batch: QueryBatch) -> dict[str, float]:
        """What each query of a batch may cost at most."""
        reply = engine_finder.engine_of(self.grader).longest_reply(self.grader)
        return {
            name: TRIES * self.price.of(_TOKENS_PER_BYTE * self._bytes(values), 0, reply)
            for name, values in batch.queries
        }

    def _bytes(self, values: Mapping[str, str]) -> int:
        prompt = self.grader.prompt.render(values)
        return len(f"{prompt.system or ''}{prompt.text}".encode())
