"""Ratings of systems that battled each other, and how surely they have them.

Bradley and Terry, Rank analysis of incomplete block designs (Biometrika 1952): one system beats
another as often as the logistic function of the difference of their strengths says. A tie is half a
win to either.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from gradelake.analyses.stats.boards import UNIT, Board
from gradelake.analyses.stats.counting import Units
from gradelake.analyses.stats.ranks import ranks_of
from gradelake.analyses.stats.resample import Spread, in_blocks, resampled
from gradelake.sql.lake.opening import Lake

MEAN, SCALE = 1000, 400 / np.log(10)  # as chess: 400 more win ten times as often as they lose
TIES = 1.0  # with an average system that everyone gets, so that who never lost has a rating
BATTLES = """
    select query_id, system, opponent, outcome
    from lake.marts.battles
    where collection = ? and grader = ?
"""
AGREEMENT = """
    select assessor, coalesce(other_assessor, 'the judge') as other, n_battles, n_same, kappa
    from lake.marts.battle_agreement
    where collection = ? and grader = ? and reveal = 'before'
    order by other_assessor nulls first, assessor
"""


@dataclass(frozen=True)
class Rated:
    """One system. `rating` is 1000 on average; None is what resampling cannot tell."""

    system: str
    rank: int
    rating: float
    low: float | None
    high: float | None
    best_rank: int | None
    worst_rank: int | None
    n_battles: int
    wins: int
    losses: int
    ties: int


def agreement_of(lake: Lake, collection: str, board: Board) -> list[dict[str, Any]]:
    """How well people agree with the judge, before they saw its verdict, and with each other."""
    return lake.objects(AGREEMENT, collection, board.label_set.split("/")[0])


def wins_of(lake: Lake, collection: str, board: Board) -> np.ndarray:
    """(queries, systems, systems): how often the one beat the other, a tie one half to either."""
    rows = {query: number for number, query in enumerate(board.queries)}
    columns = {system: number for number, system in enumerate(board.systems)}
    wins = np.zeros((len(rows), len(columns), len(columns)))
    for query, *pair, outcome in lake.rows(BATTLES, collection, board.label_set.split("/")[0]):
        if query in rows:  # else it weighs nothing, or is of another segment
            one, other = (columns[system] for system in pair)
            won = {"win": 1.0, "tie": 0.5, "loss": 0.0}[outcome]
            wins[rows[query], one, other] += won
            wins[rows[query], other, one] += 1 - won
    return wins


def strengths(wins: np.ndarray) -> np.ndarray:
    """(..., systems, systems) -> (..., systems): of most likelihood, 0 on average, by Newton's
    method. `TIES` with a system of strength 0 are added to everyone's battles."""
    n = wins.shape[-1]
    found, battles = np.zeros(wins.shape[:-1]), wins + np.swapaxes(wins, -1, -2)
    for _ in range(100):
        chances, level = expit(found[..., :, None] - found[..., None, :]), expit(found)
        slope = (wins - battles * chances).sum(axis=-1) + TIES * (0.5 - level)
        curve = -battles * chances * (1 - chances)
        own = TIES * level * (1 - level) - curve.sum(axis=-1)
        step = np.linalg.solve(curve + own[..., None] * np.eye(n), slope[..., None])[..., 0]
        found += np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-9:
            break
    return found - found.mean(axis=-1, keepdims=True)


def rate(
    board: Board,
    wins: np.ndarray,
    *,
    n_replicates: int = 1000,
    seed: int = 1,
    confidence: float = 0.95,
) -> list[Rated]:
    """Ratings, the best first, with intervals (Student's, with the bootstrap's standard error) and
    the ranks of resampled queries; queries count by their weights, clusters as a whole. Who won all
    battles, or lost all, has no interval. Where queries are too few to tell two systems apart, each
    may have any rank."""
    n = len(board.systems)
    units = Units.of(np.rint(wins.reshape(len(wins), -1) * UNIT), board.counting)
    n_units, values = len(units.sizes), units.totals / UNIT

    def replicates(generator: np.random.Generator, size: int) -> dict[str, np.ndarray]:
        drawn = resampled(generator, size, n_units) @ values
        return {"strengths": strengths(drawn.reshape(size, n, n))}

    points = strengths(values.sum(axis=0).reshape(n, n))
    ranks, drawn = ranks_of(np.round(points, 9)), None
    if n_units > 1:
        drawn = in_blocks(replicates, n_replicates, seed, max(n_units, 4 * n * n))["strengths"]
        tails = [(1 - confidence) / 2, (1 + confidence) / 2]
        drawn_ranks = ranks_of(np.round(drawn, 9))
        low, high = np.quantile(drawn_ranks, tails, axis=0, method="inverted_cdf")
        best, worst = np.minimum(low, ranks), np.maximum(high, ranks)
        if 2.0 ** (1 - len(board.queries)) > 1 - confidence:  # of two equals, one wins all so often
            best, worst = np.full(n, 1), np.full(n, n)
    met = wins + np.swapaxes(wins, 1, 2)
    found = []
    for one in np.argsort(ranks, kind="stable"):
        won, lost, tied = (
            int(((wins[:, one] == worth) & (met[:, one] > 0)).sum()) for worth in (1, 0, 0.5)
        )
        spread = Spread(None, None, None, 0)
        if drawn is not None and max(won, lost, tied) < won + lost + tied:
            spread = Spread.around(points[one], drawn[:, one], units.n_effective, confidence)
        found.append(
            Rated(
                board.systems[one],
                int(ranks[one]),
                MEAN + SCALE * float(points[one]),
                _rating(spread.low),
                _rating(spread.high),
                None if drawn is None else int(best[one]),
                None if drawn is None else int(worst[one]),
                won + lost + tied,
                won,
                lost,
                tied,
            )
        )
    return found


def _rating(strength: float | None) -> float | None:
    return None if strength is None else MEAN + SCALE * strength
