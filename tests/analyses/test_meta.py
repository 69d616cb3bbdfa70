"""`stats meta` against scipy, and against sums over pairs written out."""

import numpy as np
import pytest
from scipy import stats

from gradelake.analyses.stats.meta import meta_evaluation
from gradelake.sql.common.errors import BadInput
from tests.analyses.boards import board


def ap_of(theirs, ours):
    """Mean share of those above a system in `theirs` that are above it in `ours`, too."""
    shares = []
    for one in range(len(theirs)):
        above = [other for other in range(len(theirs)) if theirs[other] > theirs[one]]
        if above:
            shares.append(sum(ours[other] > ours[one] for other in above) / len(above))
    return 2 * np.mean(shares) - 1


def gap_of(theirs, ours):
    order = sorted(range(len(ours)), key=lambda n: (-ours[n], n))
    shares = []
    for place, one in enumerate(order):
        gaps = [theirs[other] - theirs[one] for other in order[:place]]
        if any(gaps):
            shares.append(sum(gap for gap in gaps if gap > 0) / sum(map(abs, gaps)))
    return 2 * np.mean(shares) - 1


@pytest.mark.parametrize("seed", range(20))
def test_each_statistic_is_scipys_or_its_sum_over_pairs(seed):
    dice = np.random.default_rng(seed)
    made = [np.round(dice.beta(2, 3, (6, 9)), 1 + seed % 2) for _ in range(2)]
    judge, truth = (board(each) for each in made)
    ours, theirs = (each.mean(axis=0).round(10) for each in made)
    found = meta_evaluation(judge, truth, [5]).statistics
    top = theirs >= sorted(theirs)[-5]
    assert found == pytest.approx(
        {
            "kendall": stats.kendalltau(ours, theirs)[0],
            "spearman": stats.spearmanr(ours, theirs)[0],
            "pearson": stats.pearsonr(ours, theirs)[0],
            "tauap_b": (ap_of(ours, theirs) + ap_of(theirs, ours)) / 2,
            "tau_gap": gap_of(theirs, ours),
            "kendall@5": stats.kendalltau(ours[top], theirs[top])[0],
        },
        nan_ok=True,
    )


def test_only_queries_that_both_have_count_where_that_is_asked_for():
    values = np.array([[3, 2, 1], [1, 2, 3], [1, 2, 3]]) / 4
    judge, truth = board(values[:2], queries=("1", "2")), board(values, queries=("1", "2", "3"))
    assert meta_evaluation(judge, truth).statistics["kendall"] is None  # its systems tie
    shared = meta_evaluation(board(values[:1], queries=("1",)), truth, only_shared=True)
    assert (shared.n_queries, shared.statistics["kendall"]) == (1, 1.0)
    with pytest.raises(BadInput, match="share no query"):
        meta_evaluation(board(values[:1], queries=("9",)), truth, only_shared=True)
