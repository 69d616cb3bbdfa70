"""Which systems differ by more than chance: all pairs, corrected for how many there are."""

from dataclasses import dataclass

import numpy as np

from gradelake.analyses.stats.boards import UNIT, Board
from gradelake.analyses.stats.counting import Units
from gradelake.analyses.stats.resample import ELEMENTS, in_blocks, student_reach
from gradelake.sql.common.errors import BadInput

EXACT = 1 << 14  # with at most this many sign patterns all are tried: up to 14 queries
CORRECTIONS = ("p", "p_holm", "p_bh", "p_tukey")


@dataclass(frozen=True)
class Pairs:
    """All pairs of systems of a board; arrays have shape (pairs,).

    `difference` is the mean of `first` less that of `second`; the `p` are two-sided.
    """

    board: Board
    is_exact: bool
    n_replicates: int
    first: np.ndarray
    second: np.ndarray
    difference: np.ndarray
    p: np.ndarray
    p_tukey: np.ndarray

    def reach(self, alpha: float) -> np.ndarray:
        """How far Student's interval of each difference, at 1 - alpha, reaches to each side; NaN
        of one query."""
        units = differences_of(self.board.units, self.first, self.second)
        return student_reach(units.n_effective, 1 - alpha) * units.standard_errors / UNIT

    @property
    def p_holm(self) -> np.ndarray:
        return holm(self.p)

    @property
    def p_bh(self) -> np.ndarray:
        return benjamini_hochberg(self.p)

    @property
    def least_p(self) -> float:
        """What no p can fall below: there are only so many sign patterns."""
        n = 2 ** (len(self.board.units.sizes) - 1) if self.is_exact else self.n_replicates + 1
        return 1 / n

    def significant(self, correction: str, alpha: float) -> np.ndarray:
        """1 where the first system is significantly better, -1 the second, else 0."""
        return np.where(getattr(self, correction) <= alpha, np.sign(self.difference), 0)


def compare_pairs(board: Board, n_replicates: int = 10_000, seed: int = 1) -> Pairs:
    """Test all pairs of systems. Raises `BadInput` for a board with one system.

    - p: the paired randomisation test, Smucker, Allan and Carterette, A comparison of statistical
      significance tests for information retrieval evaluation (CIKM 2007): under the null
      hypothesis the two systems' values of a query are exchangeable. All sign patterns for up to
      14 queries, else `n_replicates` random ones.
    - p_holm, p_bh: corrected by Holm (1979) and by Benjamini and Hochberg (1995).
    - p_tukey: the randomised Tukey HSD, Carterette, Multiple testing in statistical analysis of
      systems-based information retrieval experiments (TOIS 2012): against the largest difference
      between any two systems when each query's values are shuffled among all.

    Where queries have weights or come in clusters, "a query" is a cluster: its weighted sums are
    exchanged as a whole.
    """
    if len(board.systems) < 2:
        raise BadInput(f"the leaderboard of {board.label_set!r} has one system; a pair needs two")
    first, second = np.triu_indices(len(board.systems), k=1)
    differences = differences_of(board.units, first, second).totals
    p, is_exact = randomisation_test(differences, n_replicates, seed, board.units.slack)
    p_tukey = tukey_hsd(board.units, n_replicates, seed)
    difference = differences.sum(axis=0) / (len(board.queries) * UNIT)
    return Pairs(board, is_exact, n_replicates, first, second, difference, p, p_tukey)


def differences_of(units: Units, first: np.ndarray, second: np.ndarray) -> Units:
    """Of the columns `first` less the columns `second`."""
    return Units(units.totals[:, first] - units.totals[:, second], units.sizes)


def randomisation_test(
    differences: np.ndarray, n_replicates: int, seed: int, slack: float = 0.0
) -> tuple[np.ndarray, bool]:
    """(two-sided p of the mean of each column being 0, whether all sign patterns were tried).

    `differences`: (queries, comparisons), whole numbers, so that sums are exact; those that are
    less far than the observed by `slack` are as far (`Units`).
    """
    n_queries, n_comparisons = differences.shape
    observed = np.abs(differences.sum(axis=0)) - slack
    if 2**n_queries <= EXACT:
        patterns = ((np.arange(2**n_queries)[:, None] >> np.arange(n_queries)) & 1) * 2.0 - 1.0
        size = max(1, ELEMENTS // n_comparisons)
        extreme = (
            _as_extreme(patterns[start : start + size] @ differences, observed)
            for start in range(0, len(patterns), size)
        )
        return sum(extreme, np.zeros(n_comparisons)) / len(patterns), True

    def replicates(generator: np.random.Generator, n: int) -> dict:
        flips = generator.integers(0, 2, size=(n, n_queries)) * 2.0 - 1.0
        return {"count": _as_extreme(flips @ differences, observed)[None, :]}

    counts = in_blocks(replicates, n_replicates, seed, n_comparisons)["count"]
    return (counts.sum(axis=0) + 1) / (n_replicates + 1), False


def _as_extreme(sums: np.ndarray, observed: np.ndarray) -> np.ndarray:
    return (np.abs(sums) >= observed).sum(axis=0)


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
