"""How surely a system has its rank: intervals, rank ranges, and who cannot be told apart."""

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_letters

import numpy as np

from gradelake.analyses.stats.boards import UNIT, Board
from gradelake.analyses.stats.counting import Units
from gradelake.analyses.stats.resample import in_blocks, or_none, resampled, student_reach
from gradelake.analyses.stats.significance import REPLICATES, Pairs, compare_pairs
from gradelake.sql.common.counted import counted


@dataclass(frozen=True)
class RankedSystem:
    """One system of a board; errors, intervals and ranges are None where there is one query only.

    `low` and `high` bound its mean over queries, `best_rank` and `worst_rank` its rank. `groups` is
    a string of letters; systems that share one are not shown to differ.
    """

    system: str
    rank: int
    score: float
    stderr: float | None
    low: float | None
    high: float | None
    best_rank: int | None
    worst_rank: int | None
    groups: str


@dataclass(frozen=True)
class RankUncertainty:
    """A board's systems, the best first. A group is the places of its systems, in order;
    `correction`: how the groups heed that all systems are compared at once, in words."""

    board: Board
    confidence: float
    alpha: float
    correction: str
    systems: list[RankedSystem]
    groups: list[tuple[int, ...]]

    @property
    def too_few(self) -> str:
        """What there is to say where no two differ, nor could two that were compared alone."""
        n = len(self.board.queries)
        # of two equal systems, one wins all n queries so often
        if len(self.groups) > 1 or len(self.systems) < 2 or 2.0 ** (1 - n) <= self.alpha:
            return ""
        return f"{counted(n, 'queries', 'are')} too few to tell two systems apart."

    @property
    def leads(self) -> str:
        """Whether the best is one of several: chance may have put it first."""
        top, n = self.top, len(self.systems)
        if n < 2:
            return "There is no other system to compare it with."
        if len(top) == n:
            few = f": {self.too_few}" if self.too_few else "."
            return f"No two systems differ significantly{few}"
        if len(top) == 1:
            return f"{top[0]} is significantly better than every other system."
        return f"The first {len(top)}, {top[0]} to {top[-1]}, do not differ significantly."

    @property
    def top(self) -> list[str]:
        """The best system, and those that are not shown to differ from it."""
        places = {place for group in self.groups if group[0] == 0 for place in group}
        return [one.system for place, one in enumerate(self.systems) if place in places]


def rank_uncertainty(
    board: Board,
    *,
    n_replicates: int = REPLICATES,
    seed: int = 1,
    confidence: float = 0.95,
    alpha: float = 0.05,
    pairs: Pairs | None = None,
) -> RankUncertainty:
    """Scores and ranks of a board, and how far other queries of the kind would move them.

    `pairs` are those of `compare_pairs`, where they are known. Clusters of queries are resampled
    as a whole, and queries count by their weights.

    - low, high: Student's t interval of the mean over queries.
    - best_rank, worst_rank: percentiles of the ranks that a system has in boards of resampled
      queries (Hall and Miller, Using the bootstrap to quantify the authority of an empirical
      ranking, Annals of Statistics 2009), and the rank observed; of ties each has the best rank.
      Of few queries they are too narrow: where no two systems are shown to differ, each may have
      any rank.
    - groups: see `_groups`.
    """
    n_queries, n_systems = board.values.shape
    # means as the leaderboard has them: to 10 decimals, of ties the first by name first
    order = np.argsort(-np.rint(board.units.totals.sum(axis=0) / n_queries), kind="stable")
    units = Units(board.units.totals[:, order], board.units.sizes)
    n_units, totals = len(units.sizes), units.totals.sum(axis=0)
    means = totals / (n_queries * UNIT)
    ranks = ranks_of(np.rint(totals / n_queries))
    errors = half = best = worst = np.full(n_systems, np.nan)
    if n_units > 1:
        errors = units.standard_errors / UNIT
        half = errors * student_reach(units.n_effective, confidence)
        low, high = _resampled_ranks(units, n_replicates, seed, confidence)
        best, worst = np.minimum(low, ranks), np.maximum(high, ranks)
    groups: list[tuple[int, ...]] = [(0,)]
    correction = ""
    if n_systems > 1:
        pairs = pairs or compare_pairs(board, n_replicates, seed)
        groups, correction = _groups(pairs, alpha, order), pairs.correction
    if len(groups) == 1 and n_queries > 1:
        best, worst = np.full(n_systems, 1), np.full(n_systems, n_systems)
    found = []
    for place, system in enumerate(order):
        name = board.systems[system]
        rank, score = int(ranks[place]), round(float(means[place]), 10)
        error, lower, upper = (
            or_none(figures[place]) for figures in (errors, means - half, means + half)
        )
        best_rank, worst_rank = _whole(best[place]), _whole(worst[place])
        letters = "".join(letter(n) for n, group in enumerate(groups) if place in group)
        found.append(
            RankedSystem(name, rank, score, error, lower, upper, best_rank, worst_rank, letters)
        )
    return RankUncertainty(board, confidence, alpha, correction, found, groups)


def _resampled_ranks(
    units: Units, n_replicates: int, seed: int, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Percentiles of each system's rank in boards of resampled units."""
    n_units, n_systems = units.totals.shape

    def replicates(generator: np.random.Generator, n: int) -> dict:
        # of one size for all systems, which no rank depends on
        return {"ranks": ranks_of(resampled(generator, n, n_units) @ units.totals)}

    drawn = in_blocks(replicates, n_replicates, seed, max(n_units, n_systems**2))["ranks"]
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(drawn, tails, axis=0, method="inverted_cdf")
    return low, high


def _groups(pairs: Pairs, alpha: float, order: np.ndarray) -> list[tuple[int, ...]]:
    """Every largest set of systems, by their places in this order, of which no two are shown to
    differ at `alpha` among all systems (`Pairs.p_tukey`): the compact letter display of Piepho (An
    algorithm for a letter-based representation of all-pairwise comparisons, JCGS 2004). Two that
    share no letter differ when compared alone, too."""
    alike = np.eye(len(order), dtype=bool)
    alike[pairs.first, pairs.second] = pairs.significant("p_tukey", alpha) == 0
    alike |= alike.T
    return largest_sets(alike[np.ix_(order, order)])


def largest_sets(alike: np.ndarray) -> list[tuple[int, ...]]:
    """Every largest set of places of which all are `alike`, a symmetric matrix; the first by place
    first.

    Bron and Kerbosch, Algorithm 457: finding all cliques of an undirected graph (Communications of
    the ACM 16, 1973), with a pivot. Sets of places are the bits of whole numbers.
    """
    n = len(alike)
    beside = [
        sum(1 << int(other) for other in np.flatnonzero(row) if other != place)
        for place, row in enumerate(alike)
    ]
    found: list[int] = []
    waiting = [(0, (1 << n) - 1, 0)]  # chosen, candidates, and those that were tried before
    while waiting:
        chosen, candidates, tried = waiting.pop()
        if not candidates | tried:
            found.append(chosen)
            continue
        left = candidates | tried
        pivot = max(_bits(left), key=lambda one: (candidates & beside[one]).bit_count())
        for place in _bits(candidates & ~beside[pivot]):
            more = chosen | 1 << place
            waiting.append((more, candidates & beside[place], tried & beside[place]))
            candidates &= ~(1 << place)
            tried |= 1 << place
    return sorted(tuple(_bits(one)) for one in found)


def _bits(number: int) -> Iterator[int]:
    """The places of its ones, from the lowest."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def letter(group: int) -> str:
    """a to z, A to Z, then again with a dash."""
    return ascii_letters[group % 52] + "'" * (group // 52)


def ranks_of(scores: np.ndarray) -> np.ndarray:
    """1 and how many are higher: (..., systems) -> (..., systems)."""
    return 1 + (scores[..., None, :] > scores[..., :, None]).sum(axis=-1)


def _whole(value: float) -> int | None:
    return None if np.isnan(value) else int(value)
