"""Replicates: the same from the same seed, whoever computes them, and few in memory at once."""

import tracemalloc

import numpy as np
import pytest

from gradelake.analyses.stats.correlation import agreement
from gradelake.analyses.stats.decisions import decision_errors
from gradelake.analyses.stats.ranks import rank_uncertainty
from gradelake.analyses.stats.resample import ELEMENTS, Spread, in_blocks, resampled
from gradelake.analyses.stats.significance import compare_pairs, randomisation_test
from gradelake.analyses.stats.top import top_agreement
from tests.analyses.boards import random_board


def draw(generator, n):
    return {"draws": resampled(generator, n, 5), "first": generator.random(n)}


def test_the_number_of_threads_changes_nothing():
    many = in_blocks(draw, 1000, 1, ELEMENTS // 100, workers=4)
    alone = in_blocks(draw, 1000, 1, ELEMENTS // 100, workers=1)
    assert many.keys() == alone.keys()
    assert all(np.array_equal(many[key], alone[key]) for key in alone)


def test_another_seed_and_another_block_draw_something_else():
    first = in_blocks(draw, 300, 1, ELEMENTS // 100)["first"]
    assert not np.array_equal(first, in_blocks(draw, 300, 2, ELEMENTS // 100)["first"])
    assert len(np.unique(first)) == 300


def test_an_interval_cuts_both_tails_and_leaves_out_what_is_undefined():
    values = np.array([*range(101), np.nan, np.nan], dtype=float)
    found = Spread.of(values, 0.9)
    assert (found.low, found.high) == pytest.approx((5, 95))
    assert found.undefined == 2
    assert Spread.of(np.array([np.nan]), 0.9) == Spread(None, None, None, 1)


N = 3_000  # queries, and replicates: 9 million numbers, 72 MB, if all were there at once
BOARD = random_board(N, 3, seed=1)
PAIRS = compare_pairs(BOARD, n_replicates=10)


@pytest.mark.parametrize(
    "work",
    [
        lambda: randomisation_test(BOARD.values[:, :1] - BOARD.values[:, 1:2], N, 1),
        lambda: rank_uncertainty(BOARD, n_replicates=N, pairs=PAIRS),
        lambda: agreement(BOARD, BOARD, n_replicates=N),
        lambda: top_agreement(BOARD, BOARD, [2], n_replicates=N),
        lambda: decision_errors(PAIRS, PAIRS, 0.05, ["p"], n_replicates=N),
    ],
    ids=["signs", "ranks", "correlation", "top", "decisions"],
)
def test_replicates_of_many_queries_take_little_memory(work):
    tracemalloc.start()
    try:
        work()
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
