"""How surely a leaderboard agrees with a reference: intervals, a test, and a comparison of two."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from gradelake.analyses.stats.boards import Board, OfficialRanks
from gradelake.analyses.stats.counting import Units
from gradelake.analyses.stats.resample import Spread, in_blocks, or_none, resampled
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.rank_correlation import STATISTICS, correlations, signs

RESAMPLED = ("queries", "systems", "both")
SAME = 1e-12  # correlations closer than this are equal: what is left of rounding in their sums

Reference = Board | OfficialRanks


@dataclass(frozen=True)
class Correlation:
    """One statistic of one label set; `spread` is by what was resampled. `among`: that over queries
    which holds for `n_compared` label sets at once (Bonferroni)."""

    statistic: str
    value: float | None
    p_value: float | None
    spread: dict[str, Spread]
    among: Spread


@dataclass(frozen=True)
class Better:
    """How sure it is that one label set agrees better with the reference than another.

    `probability`: share of replicates in which it does, ties counting half.
    """

    statistic: str
    resampled: str
    difference: float | None
    spread: Spread
    probability: float | None


@dataclass(frozen=True)
class Agreement:
    """One label set's board against the reference, perhaps compared with another's."""

    board: Board
    n_queries: int
    systems: tuple[str, ...]
    correlations: list[Correlation]
    better: list[Better]


@dataclass(frozen=True)
class Drawn:
    """Boards of the systems that a reference has, too, and the units that are drawn of their
    queries: clusters, or queries by themselves.

    `official`: the reference's scores, printed, or its ranks below 0; `reference` is None where it
    has ranks alone, which stay as they are.
    """

    boards: list[Board]
    reference: Board | None
    official: np.ndarray
    systems: list[str]
    queries: list[str]
    units: np.ndarray

    @classmethod
    def of(cls, boards: list[Board], reference: Reference) -> "Drawn":
        """Raises `BadInput` when fewer than two systems are in all of them."""
        systems = shared_systems(boards, reference)
        boards = [board.of(systems) for board in boards]
        theirs = reference.of(systems) if isinstance(reference, Board) else None
        ranks = [] if isinstance(reference, Board) else [reference.ranks[each] for each in systems]
        every = [*boards, theirs] if theirs else boards
        queries = sorted({query for board in every for query in board.queries})
        official = theirs.printed if theirs else -np.array(ranks)
        return cls(boards, theirs, official, systems, queries, units_of(every, queries))

    @property
    def every(self) -> list[Board]:
        """The boards whose queries are drawn."""
        return [*self.boards, self.reference] if self.reference else self.boards

    @property
    def n_units(self) -> int:
        return int(self.units.max()) + 1

    @property
    def n_effective(self) -> float:
        """How many units there are, as far as weights leave them."""
        return min([self.n_units, *(one.units.n_effective for one in self.every if one.counting)])

    def in_units(self, board: Board) -> Units:
        """A board's values by these units."""
        return in_units(board, self.queries, self.units)

    def replicates(
        self, draw: Callable[[np.random.Generator, int], dict], n_replicates: int, seed: int
    ) -> dict:
        """Draw `n_replicates` by `draw(generator, n)`."""
        most = max(self.n_units, len(self.systems) ** 2)
        return in_blocks(draw, n_replicates, seed, most)


def agreement(
    board: Board,
    reference: Reference,
    against: Board | None = None,
    *,
    n_replicates: int = 10_000,
    seed: int = 1,
    confidence: float = 0.95,
    n_compared: int = 1,
) -> Agreement:
    """Correlations of a board with a reference, over the systems that both have.

    Scores are rounded to 4 decimals first, in replicates too. Queries, systems, or both are drawn
    with replacement, clusters of queries as a whole; boards over the same queries get the same
    draws, and a board's mean is over those of its own queries that were drawn, by their weights.
    An official leaderboard's ranks stay as they are.

    Drawn queries make a noisier board than the one observed, so replicates correlate less than
    boards of as many other queries do, by far where the official ranks' own queries are drawn for
    one side only. The intervals therefore lie around the point (`Spread.around`): they are for the
    mean correlation of boards of as many queries and systems, not for the one that endlessly many
    would give. tests/benchmarks/README.md has how often they hold it.

    The p-value is of a permutation test: the share of `n_replicates` random orders of the systems'
    scores, and the order observed, that correlate as highly (one-sided; (b + 1) / (B + 1): Phipson
    and Smyth, Permutation p-values should never be zero, 2010).

    Raises `BadInput` when fewer than two systems are in all of them.
    """
    drawn_from = Drawn.of([board] if against is None else [board, against], reference)
    drawn = drawn_from.replicates(_correlating(drawn_from), n_replicates, seed)
    tell, n_systems = drawn_from.n_effective, len(drawn_from.systems)
    sizes = dict(zip(RESAMPLED, (tell, n_systems, min(tell, n_systems)), strict=True))
    official = signs(drawn_from.official)
    ours, *others = (correlations(signs(one.printed), official) for one in drawn_from.boards)
    found, better = [], []
    for statistic in STATISTICS:
        point = float(ours[statistic])
        of_statistic = {kind: drawn[0, kind, statistic] for kind in RESAMPLED}
        spread = {
            kind: Spread.around(point, of_statistic[kind], n_drawn, confidence, is_correlation=True)
            for kind, n_drawn in sizes.items()
        }
        among = Spread.around(
            point,
            of_statistic["queries"],
            tell,
            1 - (1 - confidence) / n_compared,
            is_correlation=True,
        )
        p_value = _p_value(point, drawn["permuted", statistic])
        found.append(Correlation(statistic, or_none(point), p_value, spread, among))
        for other, (kind, n_drawn) in product(others, sizes.items()):
            differences = drawn[0, kind, statistic] - drawn[1, kind, statistic]
            by = point - other[statistic]
            better.append(_better(statistic, kind, by, differences, n_drawn, confidence))
    systems = tuple(drawn_from.systems)
    return Agreement(drawn_from.boards[0], len(drawn_from.queries), systems, found, better)


def _correlating(drawn_from: Drawn) -> Callable[[np.random.Generator, int], dict]:
    """What `in_blocks` calls: correlations of boards whose queries, systems, or both are drawn, and
    of the first board's scores in random order."""
    boards, official = drawn_from.boards, drawn_from.reference
    n_units, n_systems = drawn_from.n_units, len(drawn_from.systems)
    means = [means_of(drawn_from.in_units(one)) for one in boards]
    official_means = means_of(drawn_from.in_units(official)) if official else None
    official_signs = signs(drawn_from.official)
    printed_signs = [signs(one.printed) for one in boards]

    def replicates(generator: np.random.Generator, n: int) -> dict:
        by_query = resampled(generator, n, n_units)
        by_system = resampled(generator, n, n_systems)
        drawn_official = signs(official_means(by_query)) if official_means else official_signs
        found: dict[tuple, np.ndarray] = {}
        for which, (mean, printed) in enumerate(zip(means, printed_signs, strict=True)):
            drawn = signs(mean(by_query))
            kinds = {
                "queries": correlations(drawn, drawn_official, np.ones_like(by_system)),
                "systems": correlations(printed, official_signs, by_system),
                "both": correlations(drawn, drawn_official, by_system),
            }
            for kind, values in kinds.items():
                for statistic, value in values.items():
                    found[which, kind, statistic] = value
        order = generator.permuted(np.tile(np.arange(n_systems), (n, 1)), axis=1)
        shuffled = correlations(signs(boards[0].printed[order]), official_signs)
        for statistic, value in shuffled.items():
            found["permuted", statistic] = value
        return found

    return replicates


def shared_systems(boards: list[Board], reference: Reference) -> list[str]:
    """The systems that all of them have, in the order of the first board. Raises `BadInput` where
    there are fewer than two."""
    theirs = reference.systems if isinstance(reference, Board) else reference.ranks
    shared = set(theirs).intersection(*(board.systems for board in boards))
    if len(shared) < 2:
        raise BadInput(
            f"{len(shared)} of the systems of {boards[0].label_set!r} are in the reference too; "
            "a correlation needs two",
            "Are systems named as in the reference?",
        )
    return [system for system in boards[0].systems if system in shared]


def units_of(boards: Iterable[Board], queries: list[str]) -> np.ndarray:
    """(queries,): the number of the cluster of each, or of the query itself."""
    cluster_of = {query: query for query in queries}
    for board in boards:
        if board.counting:
            cluster_of |= dict(zip(board.queries, board.counting.clusters, strict=True))
    return np.unique([cluster_of[query] for query in queries], return_inverse=True)[1]


def in_units(board: Board, queries: list[str], units: np.ndarray) -> Units:
    """A board's values summed by the units of these queries; 0 where it has none of a unit's."""
    of_queries, weights = board.on(queries)
    values = np.zeros((units.max() + 1, len(board.systems)))
    np.add.at(values, units, of_queries)
    return Units(values, np.bincount(units, weights))


def settled(boards: list[Units]) -> list[Units]:
    """Boards over the same systems and units, with each system's mean moved towards the others', so
    that resampled they differ as much between systems as these boards do themselves.

    Means differ by chance as well: resampled they do so twice, more pairs are significant than on
    boards of as many other queries, and shares of them vary less. The covariance of the means over
    systems, between and within boards, less that of chance, is what is left: means are moved by the
    linear map that gives it and moves them least (Olkin and Pukelsheim, The distance between two
    random vectors with given dispersion matrices, 1982).
    """
    n, n_systems = boards[0].totals.shape
    if n < 2:
        return boards
    means = np.array([board.means - board.means.mean() for board in boards])
    chance = [board.residuals - board.residuals.mean(axis=1, keepdims=True) for board in boards]
    within = np.array([[(one * other).sum() for other in chance] for one in chance])
    between = means @ means.T / (n_systems - 1)
    left = _power(between - within * n / (n - 1) / (n_systems - 1), 1)
    half, inverse = _power(between, 0.5), _power(between, -0.5)
    moved = inverse @ _power(half @ left @ half, 0.5) @ inverse @ means - means
    return [
        Units(board.totals + board.sizes[:, None] * by, board.sizes)
        for board, by in zip(boards, moved, strict=True)
    ]


def _power(matrix: np.ndarray, power: float) -> np.ndarray:
    """A power of a symmetric matrix, without what is not above 0 in it."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > 1e-9 * np.abs(values).max()
    return (vectors[:, kept] * values[kept] ** power) @ vectors[:, kept].T


def means_of(board: Units) -> Callable[[np.ndarray], np.ndarray]:
    """How often each unit counts -> scores of the systems, in units of 0.0001, rounded."""
    values, own = board.totals, board.sizes

    def means(times: np.ndarray) -> np.ndarray:
        # a replicate without any of the board's queries has no scores: all systems tie
        n = times @ own
        n = np.where(n > 0, n, 1)
        return np.floor(times @ values / (n[:, None] * 1e6) + 0.5)

    return means


def _p_value(point: float, permuted: np.ndarray) -> float | None:
    if np.isnan(point):
        return None
    return float(((permuted >= point - SAME).sum() + 1) / (permuted.size + 1))


def _better(
    statistic: str,
    kind: str,
    point: float,
    differences: np.ndarray,
    n_drawn: float,
    confidence: float,
) -> Better:
    defined = differences[~np.isnan(differences)]
    share = (defined > SAME).mean() + (np.abs(defined) <= SAME).mean() / 2 if defined.size else None
    spread = Spread.around(point, differences, n_drawn, confidence)
    return Better(statistic, kind, or_none(point), spread, or_none(share))
