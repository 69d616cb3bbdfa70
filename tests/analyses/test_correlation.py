"""`gradelake stats correlation`: figures of the marts, intervals and tests as scipy has them."""

import numpy as np
import pytest
from scipy import stats

from gradelake.analyses.stats.boards import OfficialRanks
from gradelake.analyses.stats.correlation import RESAMPLED, agreement
from gradelake.analyses.stats.resample import ON_ONE, UNMOVED, resampled
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.rank_correlation import STATISTICS
from tests.analyses.boards import board, random_board
from tests.sql.test_rank_correlation import plain_tau_ap


def official(*ranks: float) -> OfficialRanks:
    return OfficialRanks("official", {f"s{n}": rank for n, rank in enumerate(ranks, start=1)})


def statistic(found, name):
    return next(one for one in found.correlations if one.statistic == name)


def plain(predicted, reference) -> dict[str, float]:
    """The statistics of two lists of scores, one by one."""
    if len(set(predicted)) == 1 or len(set(reference)) == 1:
        return dict.fromkeys(STATISTICS, np.nan)
    return {
        "spearman": stats.spearmanr(predicted, reference)[0],
        "kendall": stats.kendalltau(predicted, reference)[0],
        "tau_ap": plain_tau_ap(predicted, reference),
    }


def plain_replicates(ours, reference, n_replicates, seed):
    """Bootstrap by copying rows and columns; draws as the first block makes them."""
    (sequence,) = np.random.SeedSequence(seed).spawn(1)
    generator = np.random.Generator(np.random.PCG64(sequence))
    by_query = resampled(generator, n_replicates, ours.values.shape[0]).astype(int)
    by_system = resampled(generator, n_replicates, ours.values.shape[1]).astype(int)
    found = {kind: {name: [] for name in STATISTICS} for kind in RESAMPLED}
    for queries, systems in zip(by_query, by_system, strict=True):
        rows = np.repeat(np.arange(len(queries)), queries)
        columns = np.repeat(np.arange(len(systems)), systems)
        scores = np.round(ours.values[rows].mean(axis=0) / 1e10 + 1e-12, 4)
        if isinstance(reference, OfficialRanks):
            theirs = fixed = -np.array([reference.ranks[s] for s in ours.systems])
        else:
            fixed = reference.printed
            theirs = np.round(reference.values[rows].mean(axis=0) / 1e10 + 1e-12, 4)
        for kind, values in {
            "queries": plain(scores, theirs),
            "systems": plain(ours.printed[columns], fixed[columns]),
            "both": plain(scores[columns], theirs[columns]),
        }.items():
            for name, value in values.items():
                found[kind][name].append(value)
    return found


@pytest.mark.parametrize(
    ("shape", "reference"),
    [
        ((9, 6), official(6, 5, 3.5, 3.5, 2, 1)),
        ((9, 6), random_board(9, 6, 99, "assessor:a")),
        ((5, 2), official(2, 1)),
        ((1, 5), official(1, 2, 3, 4, 5)),
    ],
)
def test_intervals_are_those_of_resampling_copies_one_by_one(shape, reference):
    ours = random_board(*shape, seed=5)
    found = agreement(ours, reference, n_replicates=200, seed=11, confidence=0.9)
    expected = plain_replicates(ours, reference, 200, 11)
    drawn = {"queries": shape[0], "systems": shape[1], "both": min(shape)}
    for one in found.correlations:
        for kind in RESAMPLED:
            values = np.array(expected[kind][one.statistic])
            spread = one.spread[kind]
            assert spread.undefined == np.isnan(values).sum()
            assert spread.standard_error == pytest.approx(np.nanstd(values, ddof=1), abs=1e-9)
            if drawn[kind] == 1:
                assert spread.low is spread.high is None, "one query says nothing of others"
                assert spread.no_interval == ON_ONE
                continue
            if np.nanmax(values) - np.nanmin(values) < 1e-12:
                assert spread.low is spread.high is None, "no width says nothing of others"
                assert spread.no_interval == UNMOVED
                continue
            low, high = students_on_angles(one.value, values, drawn[kind], 0.9)
            assert (spread.low, spread.high) == pytest.approx((low, high), abs=1e-6)


@np.errstate(invalid="ignore")
def students_on_angles(point, values, n_drawn, confidence):
    """scipy's t interval of the correlation's angle, as a correlation."""
    error = np.nanstd(np.arccos(np.clip(values, -1, 1)), ddof=1) / np.sqrt(1 - 1 / n_drawn)
    centre = np.arccos(min(point, 1))
    low, high = stats.t.interval(confidence, n_drawn - 1, centre, error)
    return np.cos(np.clip(high, 0, np.pi)), np.cos(np.clip(low, 0, np.pi))


def test_an_interval_holds_its_own_point_where_every_replicate_correlates_less():
    """Official ranks were made from these very queries: other draws of them cannot but lose."""
    ours = random_board(40, 30, seed=6)
    ranks = dict(zip(ours.systems, stats.rankdata(-ours.printed), strict=True))
    found = agreement(ours, OfficialRanks("official", ranks), n_replicates=500)
    for one in found.correlations:
        assert one.value == pytest.approx(1)
        assert one.spread["queries"].low < 0.995
        assert one.spread["queries"].high == pytest.approx(1)


def test_two_systems_leave_half_of_the_replicates_over_systems_undefined_and_say_so():
    found = agreement(board([[0.2, 0.8]]), official(2, 1), n_replicates=4000)
    kendall = statistic(found, "kendall")
    assert kendall.value == 1
    # one system drawn twice: 2 of 4 draws
    assert kendall.spread["systems"].undefined == pytest.approx(2000, abs=120)
    assert kendall.spread["systems"].no_interval == UNMOVED
    assert kendall.spread["queries"].undefined == 0


def test_equal_scores_have_no_correlation_interval_or_p():
    found = agreement(board([[0.5, 0.5, 0.5]] * 4), official(1, 2, 3), n_replicates=50)
    for one in found.correlations:
        assert (one.value, one.p_value) == (None, None)
        assert {(s.low, s.undefined) for s in one.spread.values()} == {(None, 50)}


def test_scores_that_differ_beyond_4_decimals_only_tie():
    values = [[0.50001, 0.50002, 0.9]]
    found = agreement(board(values), official(2, 1, 3), n_replicates=10)
    assert statistic(found, "kendall").value == pytest.approx(
        stats.kendalltau([0.5, 0.5, 0.9], [-2, -1, -3])[0]
    )


@pytest.mark.parametrize("name", ["spearman", "kendall"])
def test_the_p_value_is_that_of_scipys_permutation_test(name):
    ours = random_board(12, 6, seed=2)
    ranks = official(5, 6, 3, 4, 1, 2)
    found = agreement(ours, ranks, n_replicates=20_000, seed=3)
    theirs = -np.array([ranks.ranks[s] for s in ours.systems])
    function = {"spearman": stats.spearmanr, "kendall": stats.kendalltau}[name]
    exact = stats.permutation_test(
        (ours.printed,),
        lambda x: function(x, theirs)[0],
        permutation_type="pairings",
        alternative="greater",
        n_resamples=np.inf,
    )
    one = statistic(found, name)
    assert one.value == pytest.approx(exact.statistic)
    assert 0.001 < exact.pvalue < 0.5
    assert one.p_value == pytest.approx(exact.pvalue, abs=4 * np.sqrt(exact.pvalue / 20_000))


def test_no_p_value_is_zero():
    best = board([np.linspace(0, 0.9, 10)])
    found = agreement(best, official(*range(10, 0, -1)), n_replicates=99)
    assert statistic(found, "kendall").p_value == 1 / 100


def test_a_board_that_is_right_on_every_query_is_surely_better_than_one_that_is_wrong():
    right = board([[0.1, 0.2, 0.3, 0.4]] * 5)
    wrong = board([[0.4, 0.3, 0.2, 0.1]] * 5, "judge:y")
    found = agreement(right, official(4, 3, 2, 1), wrong, n_replicates=400)
    over = {(b.statistic, b.resampled): b for b in found.better}
    assert over["kendall", "queries"].probability == 1
    assert over["kendall", "queries"].difference == 2
    # replicates that drew one system only have no correlation, and are said
    assert over["kendall", "systems"].probability == 1
    assert over["kendall", "systems"].spread.undefined > 0


def test_the_same_queries_are_drawn_for_both_sides_of_a_comparison():
    ours, theirs = random_board(9, 6, 1), random_board(9, 6, 2, "judge:y")
    ranks = official(6, 5, 4, 3, 2, 1)
    found = agreement(ours, ranks, theirs, n_replicates=200, seed=4, confidence=0.8)
    one, other = (plain_replicates(b, ranks, 200, 4)["both"]["kendall"] for b in (ours, theirs))
    differences = np.array(one) - np.array(other)
    both = next(b for b in found.better if (b.statistic, b.resampled) == ("kendall", "both"))
    error = np.nanstd(differences, ddof=1) * np.sqrt(6 / 5)  # 9 queries, 6 systems
    expected = stats.t.interval(0.8, 5, both.difference, error)
    assert (both.spread.low, both.spread.high) == pytest.approx(expected, abs=1e-9)
    defined = differences[~np.isnan(differences)]
    share = (defined > 1e-9).mean() + (abs(defined) <= 1e-9).mean() / 2
    assert both.probability == pytest.approx(share)


def test_a_mean_is_over_the_drawn_queries_that_the_board_has():
    # the reference has a query more; draws without any of the board's queries are undefined
    ours = board([[0.1, 0.9, 0.5]], queries=["q1"])
    theirs = board([[0.1, 0.9, 0.5]] * 2, "assessor:a", queries=["q1", "q2"])
    found = agreement(ours, theirs, n_replicates=4000)
    kendall = statistic(found, "kendall")
    assert found.n_queries == 2
    assert kendall.spread["queries"].undefined == pytest.approx(1000, abs=110)
    assert kendall.spread["queries"].no_interval == UNMOVED


def test_systems_without_an_official_rank_are_left_out():
    found = agreement(board([[0.1, 0.2, 0.3]]), official(2, 1), n_replicates=10)
    assert found.systems == ("s1", "s2")
    with pytest.raises(BadInput, match="1 of the systems of 'judge:x' are in the reference too"):
        agreement(board([[0.1, 0.2, 0.3]]), official(1), n_replicates=10)
