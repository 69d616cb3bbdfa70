"""What is asked to be graded, and the chunks it is done in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.prompt import Prompt

FAILURES = ("no_reply", "refused", "unreadable")  # why there is no grade

if TYPE_CHECKING:  # workers, who need no lake, import this
    from gradelake.grading.plan.prices import Cost


@dataclass(frozen=True)
class GradingRequest:
    collection: str
    grader: Grader
    rubric_version: int | None = None  # None: the newest
    query_ids: tuple[str, ...] | None = None  # None: all
    limit: int | None = None  # pairs; None: all
    retry: tuple[str, ...] = ()  # `FAILURES` that are asked about again
    reread: bool = False  # read replies to the same prompts again, and ask nothing


@dataclass(frozen=True)
class Chunk:
    """A few hundred pairs, graded, stored and, after a crash, repeated together.

    `pairs` has a row per pair: query_id, passage_id, passage_sha256, query_sha256 (null where the
    prompt shows none of its texts), item_id, gold_sha256 (null where the grader compares with no
    gold answers), prompt_no (0-based; pairs with the same one get the same answer), is_leader (the
    first pair of its prompt).
    `asks` has a row per prompt, in the order of prompt_no: the ids of what it is about (`OF_WHAT`),
    the texts query (and description and
    narrative, where the prompt shows them), passage, item, answer (null where none is verified;
    called scores where the prompt shows those), the item's gold_answers, and the reply where it is
    known.
    """

    id: str
    pairs: pl.DataFrame
    asks: pl.DataFrame

    def __len__(self) -> int:
        return self.pairs.height

    @property
    def n_prompts(self) -> int:
        return self.asks.height

    @property
    def prompts(self) -> list[dict[str, str]]:
        """The values of each prompt's slots."""
        rows = self.asks.drop("gold_answers", "reply").to_dicts()
        return [{slot: text for slot, text in row.items() if text is not None} for row in rows]

    @property
    def gold_answers(self) -> list[list[str] | None]:
        return self.asks["gold_answers"].to_list()

    @property
    def replies(self) -> list[str | None]:
        """What the model replied to each prompt before, when its item had other gold answers."""
        return self.asks["reply"].to_list()

    def to_ask(self, prompt: Prompt) -> Iterator[tuple[dict[str, str], int]]:
        """The values of each prompt that is to be answered, and how often it is asked with them."""
        verifies = prompt.target == "verify"
        for values, gold, reply in zip(self.prompts, self.gold_answers, self.replies, strict=True):
            if reply is None:
                yield values, len(gold or [""]) if verifies else 1

    def part(self, numbers: Sequence[int], mark: str) -> "Chunk":
        """A part of the chunk: these prompts with their pairs, in this order; the id gets a mark
        behind it."""
        kept = pl.DataFrame(
            {"prompt_no": numbers, "new_no": range(len(numbers))},
            schema=dict.fromkeys(("prompt_no", "new_no"), pl.UInt32),
        )
        pairs = self.pairs.join(kept, on="prompt_no", how="inner", maintain_order="left")
        pairs = pairs.with_columns(prompt_no="new_no").select(self.pairs.columns)
        return replace(self, id=f"{self.id}{mark}", pairs=pairs, asks=self.asks[list(numbers)])

    def halves(self) -> "tuple[Chunk, Chunk]":
        middle = self.n_prompts // 2
        return self.part(range(middle), "a"), self.part(range(middle, self.n_prompts), "b")


@dataclass(frozen=True)
class Totals:
    """A plan in numbers; pairs of (passage, item), or (answer, nugget)."""

    graded: int
    failed: int = 0
    missing: int = 0
    under_way: int = 0  # a provider's batch is to answer them
    retried: int = 0  # missing, and failed before
    reusable: int = 0  # missing, but the very same prompt was answered before
    shared: int = 0  # of these, those that were answered for another collection
    without_text: int = 0  # passages of the pool that the lake has no text of
    asked: int = 0  # pairs that a prompt is to be answered for
    prompts: int = 0  # to be answered: one for each of them, or for a window of them
    prompt_tokens: int = 0
    tokens_measured: bool = False  # whether they come from earlier grades, or from text lengths
    pairs_per_second: float | None = None  # measured in earlier runs of this grader
    cost: "Cost | None" = None  # None: there is no price of the model
    missing_of: dict[str, int] = field(default_factory=dict)  # by query
    queries_without: dict[str, int] = field(default_factory=dict)  # by slot that is empty there

    @property
    def wanted(self) -> int:
        return self.graded + self.missing + self.under_way

    @property
    def seconds(self) -> float | None:
        """What is asked may take; None before anything was measured."""
        return self.asked / self.pairs_per_second if self.pairs_per_second else None

    def as_object(self, grader: Grader) -> dict[str, Any]:
        of_pairs = ("wanted", "graded", "failed", "missing", "under_way", "reusable", "shared")
        others = ("prompts", "prompt_tokens", "tokens_measured", "pairs_per_second", "seconds")
        return {
            "grader": grader.name,
            "grader_id": grader.grader_id,
            **{f"{name}_pairs": getattr(self, name) for name in of_pairs},
            **{name: getattr(self, name) for name in others},
            "cost": self.cost and vars(self.cost),
            "passages_without_text": self.without_text,
            "queries_without": self.queries_without,
        }
