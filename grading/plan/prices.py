"""What a grader's model costs, and what a plan may come to."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime

from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.sql.common.counted import amount
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.opening import Lake

VIEW = "intermediate.int_prices"
# before anything is measured, tokens are estimated from lengths of texts, of these two shares
_FEW, _MANY = 0.7, 1.5
_ENOUGH = 30  # grades whose mean says what others will cost


@dataclass(frozen=True)
class Price:
    """Of a token of a prompt, of one that the provider had cached, and of one of a reply; of a
    grader in batches, what they cost there."""

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
    """What a plan may cost. `measured`: `low` to `high` is a 95 % interval from what this grader's
    grades took; else from few tokens and short replies to many tokens and the longest replies."""

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
    lake: Lake, grader: Grader, pairs: int, prompts: int, prompt_tokens: int
) -> Cost | None:
    """What a plan of so many pairs in so many prompts may cost; None where there is no price.

    `prompt_tokens` is what the prompts may have together.
    """
    engine = engine_finder.engine_of(grader)
    if not engine.needs_model:
        return Cost(None, 0.0, 0.0, True)
    price = price_of(lake, grader)
    if price is None:
        return None
    ((n, mean, variance),) = lake.rows(
        "select count(cost), avg(cost), var_samp(cost) from (select "
        "(prompt_tokens - coalesce(cached_tokens, 0)) * $input "  # not every endpoint tells them
        "+ coalesce(cached_tokens, 0) * $cached "
        "+ completion_tokens * $output as cost from lake.raw.grades "
        "where grader_id = $grader_id and prompt_tokens > 0)",
        input=price.input,
        cached=price.cached,
        output=price.output,
        grader_id=grader.grader_id,
    )
    if n >= _ENOUGH:
        # of a sum to come: its own spread, and that of the mean that it is told by
        reach = 1.96 * math.sqrt(pairs * variance * (1 + pairs / n))
        return Cost(price.currency, max(0.0, pairs * mean - reach), pairs * mean + reach, True)
    longest = prompts * engine.longest_reply(grader)
    return Cost(
        price.currency,
        price.of(_FEW * prompt_tokens, 0, prompts),
        price.of(_MANY * prompt_tokens, 0, longest),
        False,
    )
