"""Ratings of battles, beside a likelihood that is maximised as it is written."""

import numpy as np
import pytest
from scipy.optimize import minimize

from gradelake.analyses.stats.battles import MEAN, SCALE, TIES, rate, strengths
from gradelake.analyses.stats.boards import Board


def arena(n_queries: int, n_systems: int, seed: int) -> np.ndarray:
    """Battles of one half of the pairs, with ties."""
    generator = np.random.default_rng(seed)
    wins = np.zeros((n_queries, n_systems, n_systems))
    for query in range(n_queries):
        for one in range(n_systems):
            for other in range(one):
                if generator.random() < 0.5:
                    won = generator.choice([0, 0.5, 1], p=[0.2, 0.2, 0.6])
                    wins[query, one, other], wins[query, other, one] = won, 1 - won
    return wins


def board(wins: np.ndarray) -> Board:
    queries, systems, _ = wins.shape
    values = np.zeros((queries, systems))
    names = (tuple(map(str, range(n))) for n in (queries, systems))
    return Board("g/battles", 1, "WinRate", *names, values, np.zeros(systems))


def test_strengths_are_of_most_likelihood():
    wins = arena(12, 6, 1).sum(axis=0)

    def unlikelihood(found: np.ndarray) -> float:
        total = TIES / 2 * (np.log1p(np.exp(-found)) + np.log1p(np.exp(found))).sum()
        for one in range(6):
            for other in range(6):
                total += wins[one, other] * np.log1p(np.exp(found[other] - found[one]))
        return total

    best = minimize(unlikelihood, np.zeros(6), tol=1e-12).x
    np.testing.assert_allclose(strengths(wins), best - best.mean(), atol=1e-5)


def test_who_never_lost_has_a_rating_and_resampling_says_how_surely():
    wins = arena(30, 5, 2)
    wins[:, 4] = wins[:, 4] + wins[:, :, 4]  # the last wins all of its battles
    wins[:, :, 4] = 0
    found = rate(board(wins), wins, n_replicates=300)
    first, *others = found
    assert (first.system, first.rank, first.best_rank, first.worst_rank) == ("4", 1, 1, 1)
    assert (first.losses, first.ties) == (0, 0)
    assert first.low is None  # resampled, it wins all again
    assert [one.worst_rank for one in rate(board(wins[:5]), wins[:5])] == [5] * 5  # too few
    assert np.mean([one.rating for one in found]) == pytest.approx(MEAN)
    for one in others:
        assert one.low < one.rating < one.high
        assert one.best_rank <= one.rank <= one.worst_rank
    ten_to_one = strengths(np.array([[0, 1e6], [1e5, 0]])) * SCALE
    assert ten_to_one[0] - ten_to_one[1] == pytest.approx(400, abs=0.1)


def test_one_query_says_nothing_of_how_surely():
    wins = arena(1, 4, 3)
    assert {one.low for one in rate(board(wins), wins)} == {None}
