"""Which systems differ by more than chance: all pairs, corrected for how many there are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from gradelake.analyses.stats.boards import UNIT, Board
from gradelake.analyses.stats.counting import Units
from gradelake.analyses.stats.resample import in_blocks, on_all_cores, student_reach
from gradelake.sql.common.errors import BadInput
from gradelake.sql.shown.kinds import shown

EXACT = 1 << 14  # with at most this many sign patterns all are tried: up to 14 queries
REPLICATES = 10_000  # random sign patterns otherwise: everywhere as many, so that all say the same
BLOCK = 512  # sign patterns, and pairs, of which a core sums the products at once
ALIKE = 2.0  # effective queries: of fewer, one has most of the weight, and nothing can be tested
CORRECTIONS = ("p", "p_holm", "p_bh", "p_tukey")


@dataclass(frozen=True)
class Pairs:
    """All pairs of systems of a board; arrays have shape (pairs,).

    `difference` is the mean of `first` less that of `second`. The `p` are two-sided; `p` and
    `p_tukey` are NaN where nothing can be tested.
    """

    board: Board
    n_replicates: int
    seed: int
    first: np.ndarray
    second: np.ndarray

    @cached_property
    def units(self) -> Units:
        """The differences: of queries, or of clusters of these."""
        return differences_of(self.board.units, self.first, self.second)

    @property
    def n_queries(self) -> int:
        return len(self.board.queries)

    @property
    def difference(self) -> np.ndarray:
        return self.units.totals.sum(axis=0) / (self.n_queries * UNIT)

    @property
    def by_student(self) -> bool:
        """Whether queries have weights or clusters: then it is Student's test, else sign flips."""
        return bool(np.ptp(self.units.sizes) > 1e-9) or len(self.units.sizes) < self.n_queries

    @property
    def is_exact(self) -> bool:
        """Whether all sign patterns are tried."""
        return not self.by_student and 2**self.n_queries <= EXACT

    @property
    def test(self) -> str:
        """Its name, for people."""
        if self.by_student:
            n_effective = shown("ratio", self.units.n_effective)
            return f"Student's paired t, {n_effective} effective queries"
        patterns = "all" if self.is_exact else f"{self.n_replicates:,} random"
        return f"paired randomisation test, {patterns} sign patterns"

    @property
    def correction(self) -> str:
        """How `p_tukey` heeds that all systems are compared at once, in words."""
        return "Student's t and Holm" if self.by_student else "randomised Tukey HSD"

    @cached_property
    def n_differ(self) -> np.ndarray:
        """On how many queries that count the two systems differ."""
        values, counting = self.board.values, self.board.counting
        if counting is not None:
            values = values[counting.weights > 0]
        return np.count_nonzero(values[:, self.first] != values[:, self.second], axis=0)

    @cached_property
    def p(self) -> np.ndarray:
        if self.by_student:
            return student_p(self.units)
        return randomisation_test(self.units.totals, self.n_replicates, self.seed)[0]

    @cached_property
    def p_tukey(self) -> np.ndarray:
        """Where systems are compared by sign flips, never below `p`: what holds among all systems
        holds for two of them. Weights and clusters have no shuffle, and take Holm's p."""
        if self.by_student:
            return self.p_holm
        return np.maximum(self.p, tukey_hsd(self.board.units, self.n_replicates, self.seed))

    @property
    def p_holm(self) -> np.ndarray:
        return _of_tested(holm, self.p)

    @property
    def p_bh(self) -> np.ndarray:
        return _of_tested(benjamini_hochberg, self.p)

    @property
    def least_p(self) -> float:
        """What no p can fall below: there are only so many sign patterns."""
        if self.by_student:
            return 0.0
        n = 2 ** (self.n_queries - 1) if self.is_exact else self.n_replicates + 1
        return 1 / n

    @property
    def least_p_each(self) -> np.ndarray:
        """The least p of each pair: flips of queries on which two do not differ change nothing."""
        if self.by_student:
            return np.zeros(len(self.first))
        return np.maximum(self.least_p, 2.0 ** (1 - self.n_differ))

    def confidence(self, alpha: float) -> float:
        """The confidence of `intervals`: 1 - alpha, or the most that so few sign patterns allow."""
        return 1 - max(alpha, self.least_p)

    def intervals(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """(low, high) of each difference: the values that the test does not reject at `alpha`.

        So they leave out 0 exactly where p <= alpha. NaN where nothing can be tested.
        """
        if self.by_student:
            reach = student_reach(self.units.n_effective, 1 - alpha) * self.units.standard_errors
            reach = np.where(can_be_tested(self.units), reach / UNIT, np.nan)
            return self.difference - reach, self.difference + reach
        ends = flipped_ends(self.units.totals, alpha, self.n_replicates, self.seed)
        low, high = (end / UNIT for end in ends)
        return low, high

    def significant(self, correction: str, alpha: float) -> np.ndarray:
        """1 where the first system is significantly better, -1 the second, else 0."""
        return np.where(getattr(self, correction) <= alpha, np.sign(self.difference), 0)


def compare_pairs(board: Board, n_replicates: int = REPLICATES, seed: int = 1) -> Pairs:
    """Test all pairs of systems. Raises `BadInput` for a board with one system.

    - p, intervals: by one procedure. Without weights the paired randomisation test, Smucker, Allan
      and Carterette, A comparison of statistical significance tests for information retrieval
      evaluation (CIKM 2007): under the null hypothesis the two systems' values of a query are
      exchangeable. All sign patterns for up to 14 queries, else `n_replicates` random ones, the
      same for every pair and board of as many queries. The interval inverts it (`flipped_ends`).
      Where queries have weights or come in clusters, flips of unequal sums do not test the mean:
      Student's test, with the effective number of queries (`Units.n_effective`).
    - p_holm, p_bh: corrected by Holm (1979) and by Benjamini and Hochberg (1995).
    - p_tukey: the randomised Tukey HSD, Carterette, Multiple testing in statistical analysis of
      systems-based information retrieval experiments (TOIS 2012): against the largest difference
      between any two systems when each query's values are shuffled among all.
    """
    if len(board.systems) < 2:
        raise BadInput(f"the leaderboard of {board.label_set!r} has one system; a pair needs two")
    first, second = np.triu_indices(len(board.systems), k=1)
    return Pairs(board, n_replicates, seed, first, second)


def differences_of(units: Units, first: np.ndarray, second: np.ndarray) -> Units:
    """The columns `first` less the columns `second`."""
    return Units(units.totals[:, first] - units.totals[:, second], units.sizes)


def can_be_tested(units: Units) -> np.ndarray:
    """(columns,): whether Student's test has what it needs, a spread and more than one query."""
    if units.n_effective < ALIKE:
        return np.zeros(units.totals.shape[1], dtype=bool)
    # equal differences leave what rounding to whole numbers leaves
    return units.standard_errors > 1


def student_p(units: Units) -> np.ndarray:
    """Two-sided p of the mean of each column being 0, by Student's t with as many degrees of
    freedom as units of one size would have, less one. 1 where all are 0; NaN where nothing can be
    tested: one unit has most of the weight, or all differences are equal."""
    from scipy.special import stdtr

    tested = can_be_tested(units)
    errors = np.where(tested, units.standard_errors, 1)
    p = 2 * stdtr(units.n_effective - 1, -np.abs(units.means) / errors)
    return np.where(units.totals.any(axis=0), np.where(tested, p, np.nan), 1.0)


def randomisation_test(
    differences: np.ndarray, n_replicates: int, seed: int, slack: float = 0.0
) -> tuple[np.ndarray, bool]:
    """(two-sided p of the mean of each column being 0, whether all sign patterns were tried).

    `differences`: (queries, comparisons), whole numbers, so that sums are exact; those that are
    less far than the observed by `slack` are as far.
    """
    is_exact, patterns = _sign_patterns(len(differences), n_replicates, seed)

    def n_extreme(start: int) -> np.ndarray:
        own = differences[:, start : start + BLOCK]
        observed = np.abs(own.sum(axis=0)) - slack
        return sum((np.abs(sums) >= observed).sum(axis=0) for sums in _flipped(own, patterns))

    n = len(patterns)
    counts = np.concatenate(on_all_cores(n_extreme, range(0, differences.shape[1], BLOCK)))
    return counts / n if is_exact else (counts + 1) / (n + 1), is_exact


def flipped_ends(
    differences: np.ndarray, alpha: float, n_replicates: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """(low, high): the shifts d of each column that `randomisation_test` of the differences less d
    does not reject at `alpha`, or at its least p where that is greater.

    A sign pattern parts the queries in two. It is as extreme as the observed one exactly where d
    lies between the means of both parts: (S - n d)^2 <= (S' - n' d)^2, with S' and n' the flipped
    sum and number, is a product of two factors, one of each part. So p falls from the mean to both
    sides, and the ends are order statistics of those lesser and greater means.
    """
    n_queries, n_columns = differences.shape
    is_exact, patterns = _sign_patterns(n_queries, n_replicates, seed)
    # the least number of patterns with a p above alpha
    n_kept = int(alpha * len(patterns) + 1e-9) + 1
    if not is_exact:
        n_kept = int(alpha * (len(patterns) + 1) + 1e-9)
    # one pattern and its reverse leave a part empty, and bound nothing
    n_kept = max(n_kept, 3 if is_exact else 1)
    if n_queries < 2:
        return np.full(n_columns, np.nan), np.full(n_columns, np.nan)
    turned = patterns.sum(axis=1, dtype=float)
    with np.errstate(divide="ignore"):
        # of a pattern that leaves a part empty: inf, times that part's sum of 0
        one_each, other_each = 2 / (n_queries + turned), 2 / (n_queries - turned)
    empty = np.abs(turned) == n_queries

    def both_ends(start: int) -> np.ndarray:
        own = differences[:, start : start + BLOCK // 8]
        flipped = np.ascontiguousarray(np.vstack([*_flipped(own, patterns)]).T)
        sums = own.sum(axis=0)[:, None]
        with np.errstate(invalid="ignore"):
            one, other = (sums + flipped) / 2 * one_each, (sums - flipped) / 2 * other_each
        found = []
        for of_both, nowhere, place in (
            (np.minimum, -np.inf, n_kept - 1),
            (np.maximum, np.inf, len(patterns) - n_kept),
        ):
            means = of_both(one, other)
            means[:, empty] = nowhere
            means.partition(place, axis=1)
            found.append(means[:, place])
        return np.stack(found)

    low, high = np.hstack(on_all_cores(both_ends, range(0, n_columns, BLOCK // 8)))
    return low, high


@lru_cache(4)
def _sign_patterns(n_queries: int, n_replicates: int, seed: int) -> tuple[bool, np.ndarray]:
    """(whether they are all there are, 1 and -1 of shape (patterns, queries), a byte each)."""
    if 2**n_queries <= EXACT:
        every = np.arange(2**n_queries)[:, None] >> np.arange(n_queries)
        return True, ((every & 1) * 2 - 1).astype(np.int8)

    def replicates(generator: np.random.Generator, n: int) -> dict:
        return {
            "flips": generator.integers(0, 2, (n, n_queries), np.int8) * np.int8(2) - np.int8(1)
        }

    return False, in_blocks(replicates, n_replicates, seed, n_queries)["flips"]


def _flipped(differences: np.ndarray, patterns: np.ndarray) -> Iterator[np.ndarray]:
    """The columns' sums by each sign pattern, (patterns, columns), in blocks of patterns."""
    for start in range(0, len(patterns), BLOCK):
        yield patterns[start : start + BLOCK].astype(float) @ differences


def _of_tested(adjust: Callable[[np.ndarray], np.ndarray], p: np.ndarray) -> np.ndarray:
    """Corrected for how many pairs were tested; the others stay NaN."""
    tested = ~np.isnan(p)
    adjusted = np.full_like(p, np.nan)
    adjusted[tested] = adjust(p[tested])
    return adjusted


def holm(p: np.ndarray) -> np.ndarray:
    """Adjusted p-values, (..., pairs): Holm, A simple sequentially rejective multiple test
    procedure (1979)."""
    order = np.argsort(p, axis=-1)
    factors = np.arange(p.shape[-1], 0, -1)
    stepped = np.maximum.accumulate(np.take_along_axis(p, order, -1) * factors, axis=-1)
    return _as_ordered(stepped, order)


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """Adjusted p-values, (..., pairs): Benjamini and Hochberg (1995)."""
    order = np.argsort(-p, axis=-1)  # not by scipy.stats, whose import takes a second
    factors = p.shape[-1] / np.arange(p.shape[-1], 0, -1)
    stepped = np.minimum.accumulate(np.take_along_axis(p, order, -1) * factors, axis=-1)
    return _as_ordered(stepped, order)


def _as_ordered(stepped: np.ndarray, order: np.ndarray) -> np.ndarray:
    adjusted = np.empty_like(stepped)
    np.put_along_axis(adjusted, order, np.minimum(1, stepped), -1)
    return adjusted


def tukey_hsd(units: Units, n_replicates: int, seed: int) -> np.ndarray:
    """p of the differences of all pairs of columns, as `compare_pairs` has them. Ranges that are
    smaller than the observed by the slack are as large."""
    values = units.totals
    first, second = np.triu_indices(values.shape[1], k=1)
    observed = values.sum(axis=0)[first] - values.sum(axis=0)[second]
    ranges = np.sort(shuffled_ranges(values, n_replicates, seed))
    at_least = n_replicates - np.searchsorted(ranges, np.abs(observed) - units.slack, side="left")
    return (at_least + 1) / (n_replicates + 1)


def shuffled_ranges(values: np.ndarray, n_replicates: int, seed: int) -> np.ndarray:
    """(replicates,): the largest difference of two columns' sums where each row was shuffled."""

    def replicates(generator: np.random.Generator, n: int) -> dict:
        shuffled = generator.permuted(np.broadcast_to(values, (n, *values.shape)), axis=2)
        return {"range": np.ptp(shuffled.sum(axis=1), axis=1)}

    return in_blocks(replicates, n_replicates, seed, values.size)["range"]


OUTCOMES = ("both", "opposite", "only", "only_reference", "neither")


def agreement_on_pairs(
    pairs: Pairs, reference: Pairs, correction: str, alpha: float
) -> dict[str, int]:
    """How many pairs both find significant, and in which direction, or one, or neither.

    Moffat, Scholer and Thomas, Models and metrics: IR evaluation as a user process (ADCS 2012),
    call them active agreement, active disagreement, mixed (two kinds) and passive agreement. Both
    must be over the same systems in the same order.
    """
    ours, theirs = (one.significant(correction, alpha) for one in (pairs, reference))
    counts = (
        (ours * theirs > 0),
        (ours * theirs < 0),
        (ours != 0) & (theirs == 0),
        (ours == 0) & (theirs != 0),
        (ours == 0) & (theirs == 0),
    )
    return {name: int(count.sum()) for name, count in zip(OUTCOMES, counts, strict=True)}
