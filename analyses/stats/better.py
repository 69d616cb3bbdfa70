"""Is one system better than another? The one place that decides it, and words it."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gradelake.analyses.stats.resample import or_none
from gradelake.analyses.stats.significance import ALIKE, Pairs, can_be_tested
from gradelake.sql.common.counted import counted
from gradelake.sql.shown.kinds import Interval, said_p, shown

BETTER = "better"
NOT_SHOWN = "not shown"
TOO_FEW = "too few"
ONE_QUERY = "one query"
NO_SPREAD = "no spread"
SAME = "same"
UNTESTED = {ONE_QUERY: "one has most of the weight", NO_SPREAD: "all differ by the same"}


@dataclass(frozen=True)
class Decided:
    """What the values of systems `a` and `b` on the same queries say of all queries like these.

    `difference` is the mean of `b` less that of `a`; `low` and `high` bound it at `confidence`, and
    leave out 0 exactly where `p` <= 1 - `confidence`. `n_clusters` is None where each query is news
    of its own. `verdict`:

    - better: p <= alpha. Which of the two is, the sign of the difference says.
    - not shown: p > alpha.
    - too few: the two differ on so few queries that no p could be as low as alpha. The interval
      is at the most confidence that so few sign patterns allow.
    - one query: one query, or cluster, has most of the weight; no interval, no p.
    - no spread: queries have weights or clusters, and all differ by the same; no interval, no p.
    - same: equal on every query.
    """

    a: str
    b: str
    measure: str
    n_queries: int
    n_clusters: int | None
    segment: str | None
    is_weighted: bool
    difference: float
    low: float | None
    high: float | None
    confidence: float
    p: float | None
    alpha: float
    verdict: str
    n_differ: int
    least_p: float
    greatest_share: float
    is_better: str = "is better than"

    def as_object(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def better(self) -> str:
        """Who is ahead, by chance or not; `b` where neither is."""
        return self.a if self.difference < 0 else self.b

    @property
    def worse(self) -> str:
        return self.b if self.difference < 0 else self.a

    @property
    def interval(self) -> str:
        """`-0.012 to 0.034`, of B less A; "" where there is none."""
        if self.low is None:
            return ""
        return shown("difference", Interval(self.low, self.high))

    @property
    def sentence(self) -> str:
        """The answer in words, without a full stop."""
        both, on = f"{self.b} and {self.a}", self._on()
        if self.verdict == SAME:
            each = "" if self.n_queries == 1 else "each of "
            return f"{both} have the same {self.measure} on {each}{on}"
        doubt = f" ({self.doubt})" if self.doubt else ""
        by = f"by {shown('difference', abs(self.difference))} of {self.measure} on {on}{doubt}"
        if self.verdict == BETTER:
            return f"{self.better} {self.is_better} {self.worse} {by}"
        if not self.difference:
            ahead = f"{both} have the same mean {self.measure} on {on}{doubt}"
        elif self.verdict == NOT_SHOWN:
            return f"No significant difference between {both}: {self.better} is ahead {by}"
        else:
            ahead = f"{self.better} is ahead of {self.worse} {by}"
        return ahead if self.verdict == NOT_SHOWN else f"{self._why_not()}: {ahead}"

    def _on(self) -> str:
        said = counted(self.n_queries, "queries")
        said += f" in {counted(self.n_clusters, 'clusters')}" if self.n_clusters else ""
        said += f" of {self.segment}" if self.segment else ""
        return said + (" by their weights" if self.is_weighted else "")

    @property
    def doubt(self) -> str:
        """`0.012 to 0.034, p = 0.021`, seen from the system that is ahead."""
        if self.low is None or self.high is None:
            return ""
        low, high = (self.low, self.high) if self.difference > 0 else (-self.high, -self.low)
        ends = shown("difference", Interval(low, high))
        if self.verdict == TOO_FEW:
            return f"{shown('percent', self.confidence)} interval {ends}"
        return f"{ends}, {said_p(self.p)}"

    def _why_not(self) -> str:
        if self.verdict == ONE_QUERY:
            if self.n_queries == 1:
                return "No conclusion can be drawn from one query"
            what = "cluster of queries" if self.n_clusters else "query"
            share = shown("percent", self.greatest_share)
            return f"One {what} carries {share} of the weight, so nothing is said of others"
        if self.verdict == NO_SPREAD:
            what = "clusters" if self.n_clusters else "queries"
            return f"All {what} differ by the same, so nothing is said of others"
        few = counted(self.n_differ, "queries")
        if self.n_differ < self.n_queries:
            few = f"{self.b} and {self.a} differ on {few}, which"
        least = shown("p", self.least_p)
        return f"{few} cannot show a difference by this test (the least p is {least})"


def verdicts(pairs: Pairs, alpha: float) -> list[str]:
    """The verdict of each pair, as `Decided` has them."""
    is_one = pairs.units.n_effective < ALIKE

    is_tested = can_be_tested(pairs.units) if pairs.by_student else pairs.n_differ > 0

    def verdict(p: float, n_differ: int, least_p: float, is_tested: bool) -> str:
        if not n_differ:
            return SAME
        if is_one or not is_tested:
            return ONE_QUERY if is_one else NO_SPREAD
        if p <= alpha:
            return BETTER
        return TOO_FEW if least_p > alpha else NOT_SHOWN

    return list(map(verdict, pairs.p, pairs.n_differ, pairs.least_p_each, is_tested))


def decide(pairs: Pairs, alpha: float = 0.05) -> list[Decided]:
    """Each pair of systems: `a` is the second of the pair, `b` the first."""
    board, sizes = pairs.board, pairs.units.sizes
    low, high = pairs.intervals(alpha)
    weighted = board.counting is not None and bool(np.ptp(board.counting.weights) > 1e-9)
    share = float(sizes.max() / sizes.sum())
    return [
        Decided(
            a=board.systems[pairs.second[at]],
            b=board.systems[pairs.first[at]],
            measure=board.measure,
            n_queries=len(board.queries),
            n_clusters=len(sizes) if len(sizes) < len(board.queries) else None,
            segment=board.segment,
            is_weighted=weighted,
            difference=round(float(pairs.difference[at]), 10) + 0.0,
            low=_rounded(low[at]),
            high=_rounded(high[at]),
            confidence=pairs.confidence(alpha),
            p=None if np.isnan(low[at]) else float(pairs.p[at]),
            alpha=alpha,
            verdict=verdict,
            n_differ=int(pairs.n_differ[at]),
            least_p=float(pairs.least_p_each[at]),
            greatest_share=share,
        )
        for at, verdict in enumerate(verdicts(pairs, alpha))
    ]


def queries_of_half(adds: np.ndarray) -> int | None:
    """How few queries, or clusters, carry half of a difference of which each has added something;
    None where there is none.

    What it says of these queries is a fact; of others it says how much hangs on few.
    """
    total = adds.sum()
    if abs(total) <= len(adds):  # what rounding leaves
        return None
    largest = np.sort(adds * np.sign(total))[::-1]
    return int(np.searchsorted(np.cumsum(largest), abs(total) / 2) + 1)


def _rounded(value: float) -> float | None:
    found = or_none(value)
    return None if found is None else round(found, 10) + 0.0
