"""What a grader's model costs, and what a plan may come to."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.taken import Taken
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.units import amount

VIEW = "intermediate.int_prices"
# of the tokens that texts of a length have elsewhere, as few and as many they may have here
_FEW, _MANY = 0.7, 1.5


@dataclass(frozen=True)
class Price:
    """The price of a token of a prompt, of one that the provider had cached, and of one of a reply;
    for a grader in batches, what they cost there."""

    currency: str
    input: float
    cached: float
    output: float

    def of(self, prompt_tokens: float, cached_tokens: float, completion_tokens: float) -> float:
        """What these come to; cached ones are among those of prompts."""
        asked = (prompt_tokens - cached_tokens) * self.input + cached_tokens * self.cached
        return asked + completion_tokens * self.output


@dataclass(frozen=True)
class Cost:
    """What a plan may cost. `measured`: `low` to `high` is a 95% interval from what this grader's
    replies in the collection took; else from few tokens to many, with replies like its others, or
    from the shortest to the longest."""

    currency: str | None  # None: it calls no model
    low: float
    high: float
    measured: bool

    def __str__(self) -> str:
        if not self.high:
            return "0"
        return f"{amount(self.low)} to {amount(self.high)} {self.currency}"


def price_of(lake: Lake, grader: Grader, keeps_limit: bool = False) -> Price | None:
    """Today's price of a grader's model; None where `seeds/prices.csv` has none. Raises `BadInput`
    then, and where nothing costs, if a limit of costs is kept by it.

    The lake must have its views (`ensure_views`).
    """
    if keeps_limit and not engine_finder.engine_of(grader).needs_model:
        raise BadInput(f"{grader.name} calls no model: it costs nothing", "Leave --max-cost out.")
    found = lake.rows(
        "select currency, input_price * share, cached_price * share, output_price * share from "
        f"(select *, if(?, batch_share, 1) as share from lake.{VIEW}) "
        "where model = ? and from_date <= ? order by from_date desc limit 1",
        grader.in_batches,
        grader.model,
        datetime.now(UTC).date(),
    )
    if keeps_limit and not found:
        raise BadInput(
            f"{grader.name}: no price of {grader.model}",
            "Add a line to seeds/prices.csv beside gradelake.toml (the included file has the names "
            "of the columns), or leave --max-cost out.",
        )
    return Price(*found[0]) if found else None


def estimated_cost(
    lake: Lake, grader: Grader, prompts: int, n_bytes: int, taken: Taken
) -> Cost | None:
    """What a plan of so many prompts may cost; None where there is no price.

    `n_bytes` is how long the prompts are together; `taken` is what others took.
    """
    engine = engine_finder.engine_of(grader)
    if not engine.needs_model:
        return Cost(None, 0.0, 0.0, True)
    price = price_of(lake, grader)
    if price is None:
        return None
    replies: Any = taken.replies  # a mean of polars may be of anything
    tokens = n_bytes * taken.tokens_per_byte
    asked, cached, said = (replies[f"{name}_tokens"] for name in ("prompt", "cached", "completion"))
    if taken.is_here:
        # of a sum to come: its own spread, and that of the rates that it is told by
        costs = (asked - cached) * price.input + cached * price.cached
        rate = costs.sum() / replies["n_bytes"].sum()
        off = costs - rate * replies["n_bytes"] + said * price.output
        mean = rate * n_bytes + prompts * said.mean() * price.output
        reach = 1.96 * math.sqrt(prompts * off.var() * (1 + prompts / off.len()))
        return Cost(price.currency, max(0.0, mean - reach), mean + reach, True)
    share, fewest, most = 0.0, float(prompts), float(prompts * engine.longest_reply(grader))
    if taken.is_own:
        share = cached.sum() / asked.sum()
        usual = prompts * said.mean()
        fewest, most = max(fewest, _FEW * usual), max(usual, min(most, _MANY * usual))
    return Cost(
        price.currency,
        price.of(_FEW * tokens, _FEW * tokens * share, fewest),
        price.of(_MANY * tokens, 0, most),
        False,
    )
