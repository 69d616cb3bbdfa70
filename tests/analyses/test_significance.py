"""`gradelake stats significance`: tests of all pairs, against scipy, statsmodels, plain Python."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from gradelake.analyses.stats.counting import Units
from gradelake.analyses.stats.significance import (
    agreement_on_pairs,
    compare_pairs,
    holm,
    randomisation_test,
    tukey_hsd,
)
from gradelake.sql.common.errors import BadInput
from tests.analyses.boards import board, random_board
from tests.tiers import first_of


def test_up_to_14_queries_the_p_is_exact_as_scipys():
    pairs = compare_pairs(random_board(9, 4, seed=1))
    assert pairs.is_exact
    for first, second, p in zip(pairs.first, pairs.second, pairs.p, strict=True):
        exact = stats.permutation_test(
            (pairs.board.values[:, first], pairs.board.values[:, second]),
            lambda a, b: (a - b).sum(),
            permutation_type="samples",
            n_resamples=np.inf,
        )
        assert p == pytest.approx(exact.pvalue, abs=1e-12)


def test_beyond_14_queries_random_patterns_come_close_to_all_of_them():
    differences = np.array([[1, 2, -1, 3, 1, -2, 2, 1, 1, -1, 2, 1, 0, 1, 1]], dtype=float).T
    patterns = np.array(list(product([1, -1], repeat=15)))
    exact = (np.abs(patterns @ differences) >= differences.sum()).mean()
    (p,), is_exact = randomisation_test(differences, 20_000, seed=1)
    assert not is_exact
    assert p == pytest.approx(exact, abs=4 * np.sqrt(exact / 20_000))


def test_equal_systems_and_a_single_query_are_never_significant():
    equal = compare_pairs(board([[0.5, 0.5, 0.5]] * 20), n_replicates=100)
    for p in (equal.p, equal.p_holm, equal.p_bh, equal.p_tukey):
        assert p.tolist() == [1, 1, 1]
    assert compare_pairs(board([[0.1, 0.9]]), n_replicates=100).p.tolist() == [1]


@pytest.mark.parametrize("seed", first_of(1, 0, 1, 2))
def test_corrections_are_those_of_statsmodels(seed):
    pairs = compare_pairs(random_board(12, 6, seed))
    assert pairs.p_holm == pytest.approx(multipletests(pairs.p, method="holm")[1])
    assert pairs.p_bh == pytest.approx(multipletests(pairs.p, method="fdr_bh")[1])
    ties = np.array([0.01, 0.04, 0.01, 0.5, 0.04])
    assert holm(ties) == pytest.approx(multipletests(ties, method="holm")[1])


def test_tukeys_p_is_the_share_of_shuffles_with_as_large_a_range():
    values = np.array([[1, 5, 2], [0, 4, 4], [3, 6, 1]], dtype=float)
    ranges = [
        np.ptp(np.sum(rows, axis=0)) for rows in product(*(list(permutations(r)) for r in values))
    ]
    totals = values.sum(axis=0)
    observed = np.array([totals[0] - totals[1], totals[0] - totals[2], totals[1] - totals[2]])
    exact = [(np.array(ranges) >= abs(difference)).mean() for difference in observed]
    assert tukey_hsd(Units.of(values, None), 40_000, seed=1) == pytest.approx(exact, abs=0.01)


def test_agreement_on_pairs_counts_directions():
    ours = compare_pairs(board([[0.1, 0.5, 0.9, 0.9]] * 8))
    theirs = compare_pairs(board([[0.5, 0.1, 0.9, 0.8]] * 8))
    # (1,2): opposite; (1,3), (1,4), (2,3), (2,4): both; (3,4): equal here, significant there
    assert agreement_on_pairs(ours, theirs, "p", 0.05) == {
        "both": 4,
        "opposite": 1,
        "only": 0,
        "only_reference": 1,
        "neither": 0,
    }
    assert agreement_on_pairs(theirs, ours, "p", 0.05)["only"] == 1
    assert agreement_on_pairs(ours, theirs, "p", 0.001)["neither"] == 6


def test_no_p_falls_below_what_the_number_of_patterns_allows():
    few = compare_pairs(board([[0.1, 0.9]] * 8))
    assert few.p.tolist() == [few.least_p] == [2 / 256]
    many = compare_pairs(board([[0.1, 0.9]] * 30), n_replicates=999)
    assert many.p.tolist() == [many.least_p] == [0.001]


def test_one_system_has_no_pairs():
    with pytest.raises(BadInput, match="has one system; a pair needs two"):
        compare_pairs(board([[0.5], [0.6]]))
