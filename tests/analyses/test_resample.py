"""Replicates: the same from the same seed, whoever computes them."""

import numpy as np
import pytest

from gradelake.analyses.stats.resample import ELEMENTS, Spread, in_blocks, resampled


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
